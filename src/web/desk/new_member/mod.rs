//! *New member*: somebody at the desk becomes one, and flies at once.

pub(crate) mod welcome;

use crate::app;
use crate::app::import_export::cell::read_birthday_of_form;
use crate::app::person::{self, Person};
use crate::app::registration::{self, Denial, Newcomer};
use crate::auth::Clerk;
use crate::domain::username;
use crate::http::Answer;
use crate::http::body::{Flattened, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{FlightMinutes, Whole};
use crate::http::fields::{self, Fields};
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::account_claims::Alike;
use crate::store::tables::tunnels;
use crate::web::{Frame, form_number, show as shown};
use askama::Template;
use http::StatusCode;
use serde_json::{Map, Value};

/// Under the members, where it belongs.
const PART: &str = "/desk/members";
/// The flights that can be booked at once, in minutes.
const MINUTES: [i64; 5] = [10, 15, 20, 30, 60];

#[derive(Template)]
#[template(path = "desk/new_member.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    typed: Typed,
    languages: Vec<(&'static str, &'static str, bool)>,
    minutes: &'static [i64],
    /// The latest day of birth.
    today: String,
    /// Fields, and what is wrong with each.
    problems: Vec<(String, String)>,
    alike: Vec<Alike>,
    /// Whether one of those has confirmed the address, so that it cannot be another's.
    taken: bool,
}

/// The form as it was filled in.
#[derive(Default)]
struct Typed {
    real_name: String,
    email: String,
    dob: String,
    phone: String,
    language: String,
    terms: bool,
    number: i64,
}

impl Page {
    fn problem(&self, field: &str) -> Option<&str> {
        self.problems.iter().find(|(named, _)| named == field).map(|(_, text)| text.as_str())
    }

    /// The problems that belong to no field of the page.
    fn others(&self) -> impl Iterator<Item = &str> {
        const SHOWN: [&str; 6] = ["real_name", "email", "dob", "phone", "language", "terms"];
        self.problems.iter().filter(|(field, _)| !SHOWN.contains(&field.as_str())).map(|(_, text)| text.as_str())
    }
}

crate::body! {
    pub(crate) struct NewMember {
        person: Flattened<Person>,
        number: Whole,
        /// To fly now.
        minutes: Option<FlightMinutes>,
    }
}

/// `GET /desk/new-member`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = Typed { number: form_number(), language: call.language().tag().to_owned(), ..Typed::default() };
    page(site, call, clerk, typed, Vec::new(), None)
}

fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    typed: Typed,
    problems: Vec<(String, String)>,
    denial: Option<Denial>,
) -> Answer {
    let (frame, zone) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?);
    let status = match &denial {
        Some(_) => StatusCode::CONFLICT,
        None if problems.is_empty() => StatusCode::OK,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let (alike, taken) = match denial {
        Some(Denial::EmailTaken(owner)) => (vec![owner], true),
        Some(Denial::Alike(alike)) => (alike, false),
        None => (Vec::new(), false),
    };
    let page = Page {
        languages: Language::AT_KIOSK.map(|one| (one.tag(), one.name(), one.tag() == typed.language)).into(),
        minutes: &MINUTES,
        today: zone.date(site.now()),
        frame,
        typed,
        problems,
        alike,
        taken,
    };
    Ok(shown(status, call.language(), &page))
}

/// `POST /desk/new-member`: an account, and where minutes are given a booking of now with its check-in.
pub(crate) fn register(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let pairs: Vec<(String, String)> = call.form()?.ok_or_else(Failure::unsupported_type)?.into_iter().collect();
    let given = |name: &str| {
        let found = pairs.iter().find(|(field, _)| field == name).map(|(_, text)| text.trim().to_owned());
        found.unwrap_or_default()
    };
    let typed = Typed {
        real_name: given("real_name"),
        email: given("email"),
        dob: given("dob"),
        phone: given("phone"),
        language: given("language"),
        terms: !given("terms").is_empty(),
        number: given("number").parse().unwrap_or_default(),
    };
    let read = match read(site, &pairs, &typed) {
        Ok(read) => read,
        Err(failure) if failure.problems().is_empty() => return Err(failure),
        Err(failure) => {
            let say =
                |problem: &crate::http::failure::Problem| (problem.field.clone(), call.language().say(&problem.text));
            let problems = failure.problems().iter().map(say).collect();
            return page(site, call, clerk, typed, problems, None);
        }
    };
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let (email, phone) = (text(&read.person.email), text(&read.person.phone));
    let newcomer = Newcomer {
        real_name: &read.person.real_name,
        email: &email,
        dob: read.person.dob,
        phone: &phone,
        language: Language::of_member(&typed.language).unwrap_or_default(),
        minutes: read.minutes,
        form_number: read.number,
        is_somebody_else: !given("somebody_else").is_empty(),
    };
    match app::change(site, clerk, call.language(), |cx| registration::register(cx, &newcomer))? {
        Ok(member_id) => {
            let deed = if read.minutes.is_some() { "here" } else { "registered" };
            Ok(reply::see_other(&format!("/desk/members/{member_id}/welcome?done={deed}")))
        }
        Err(denial) => page(site, call, clerk, typed, Vec::new(), Some(denial)),
    }
}

/// Judges the form by the rules of signing up; every mistake is named at once.
fn read(site: &Site, pairs: &[(String, String)], typed: &Typed) -> Result<NewMember, Failure> {
    const READ: [&str; 6] = ["real_name", "email", "dob", "phone", "number", "minutes"];
    let said = pairs.iter().filter(|(name, text)| READ.contains(&name.as_str()) && !text.trim().is_empty());
    let mut map: Map<String, Value> = said.map(|(name, text)| (name.clone(), text.clone().into())).collect();
    // Until the owner chooses one.
    map.insert("username".to_owned(), username::derived(&typed.real_name).into());
    let mut fields = Fields::new(map);
    fields.convert("dob", read_birthday_of_form);
    let home =
        site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?.map_or_else(String::new, |one| one.country);
    let ParsedBody { mut read, mut fields } = ParsedBody::<NewMember>::read(fields);
    person::judge(&mut read.person, site.now(), &home, &mut fields);
    fields.check("number", &read.number, |number| {
        match fields::whole_in(1..=i64::from(u32::MAX) + 1)(&(*number).into()) {
            Ok(_) => Ok(()),
            Err(text) => Err(text),
        }
    });
    if !typed.terms {
        fields.refuse("terms", Text::new("field.terms"));
    }
    if Language::of_member(&typed.language).is_none() {
        let tags = [&Language::ALL[..], &[Language::Italian]].concat();
        let tags = tags.into_iter().map(Language::tag).collect::<Vec<_>>().join(", ");
        fields.refuse("language", Text::new("field.one_of").with("values", tags));
    }
    ParsedBody { read, fields }.finish()
}
