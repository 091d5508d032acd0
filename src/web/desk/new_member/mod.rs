//! *New member*: registration at the desk, with a flight now if wanted.

pub(crate) mod welcome;

use crate::app;
use crate::app::bookings::Full;
use crate::app::flights;
use crate::app::person::{self, Person};
use crate::app::registration::{self, Denial, Registration};
use crate::app::signup::{given, person_fields};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::body::{Flattened, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::field_types::{FlightMinutes, Whole};
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::account_claims::Alike;
use crate::store::tables::tunnels;
use crate::web::desk::members::lookup::name_of;
use crate::web::form_state::FormState;
use crate::web::{Frame, form_pairs, form_status, new_form_number, query_text, read_form_number, show as shown};
use askama::Template;
use http::StatusCode;

const PART: &str = "/desk/members";

#[derive(Template)]
#[template(path = "desk/new_member.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    form: FormState,
    languages: Vec<(&'static str, &'static str, bool)>,
    minutes: Vec<i64>,
    /// The latest day of birth.
    today: String,
    alike: Vec<Alike>,
    /// Key of the text above `alike`.
    about_alike: &'static str,
    /// Whether the clerk may say that this is somebody else.
    may_go_on: bool,
    /// Whether the clerk has said so.
    is_somebody_else: bool,
    /// The begin of the quarter of an hour that has no room; the same form sent again books it all the same.
    full_quarter: Option<Moment>,
    /// The parent of the child who is registered: ID, and who that is in words.
    parent: Option<(MemberId, String)>,
}

impl Page {
    /// The problems of fields that the page does not show.
    fn other_problems(&self) -> impl Iterator<Item = &str> {
        self.form.other_problems(&["real_name", "email", "dob", "phone", "language", "terms", "other_minutes"])
    }
}

crate::body! {
    pub(crate) struct NewMember {
        person: Flattened<Person>,
        number: Whole,
        /// Minutes to book now.
        minutes: Option<FlightMinutes>,
        /// The same, typed.
        other_minutes: Option<FlightMinutes>,
    }
}

/// `GET /desk/new-member`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, FormState::empty(), None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, mut form: FormState, denial: Option<Denial>) -> Answer {
    let (frame, zone) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?);
    let status = if denial.is_some() { StatusCode::CONFLICT } else { form_status(form.has_problems()) };
    let mut full_quarter = None;
    let (alike, about_alike) = match denial {
        Some(Denial::EmailTaken(owner)) => (vec![owner], "newcomer.taken"),
        Some(Denial::Alike(alike)) => (alike, "newcomer.alike"),
        Some(Denial::SentBefore(made)) => {
            // What is typed now is a new form.
            form.number = new_form_number();
            (vec![made], "newcomer.sent_before")
        }
        Some(Denial::Full(Full(begins))) => {
            full_quarter = Some(begins);
            (Vec::new(), "newcomer.alike")
        }
        None => (Vec::new(), "newcomer.alike"),
    };
    let chosen = Some(form.typed("language")).filter(|tag| !tag.is_empty()).unwrap_or(call.language().tag());
    let page = Page {
        languages: Language::ALL.map(|one| (one.tag(), one.name(), one.tag() == chosen)).into(),
        minutes: site.config.usual_minutes.clone(),
        today: zone.date(site.now()),
        parent: parent(site, call, &form)?,
        is_somebody_else: alike.is_empty() && !form.typed("somebody_else").is_empty(),
        full_quarter,
        frame,
        form,
        alike,
        about_alike,
        may_go_on: about_alike == "newcomer.alike",
    };
    Ok(shown(status, call.language(), &page))
}

/// `POST /desk/new-member`: makes an account; where minutes are given, books them now and checks in.
pub(crate) fn register(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = form_pairs(call)?;
    let read = match read(site, &typed) {
        Ok(read) => read,
        Err(failure) => {
            return FormState::refused(typed, failure, call, call.language(), |form| {
                page(site, call, clerk, form, None)
            });
        }
    };
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let minutes = read.minutes.or(read.other_minutes);
    let (email, phone) = (text(&read.person.email), text(&read.person.phone));
    let registration = Registration {
        real_name: &read.person.real_name,
        email: &email,
        dob: read.person.dob,
        phone: &phone,
        language: Language::find(given(&typed, "language")).unwrap_or_default(),
        minutes,
        full_quarter: given(&typed, "full_quarter").parse().ok().map(Moment),
        child_of: parent_id(site, given(&typed, "child_of")),
        form_number: read.number,
        is_somebody_else: !given(&typed, "somebody_else").is_empty(),
    };
    match app::try_change(site, clerk, call.language(), |cx| registration::register(cx, &registration)) {
        Ok(member_id) => {
            let done = match minutes {
                None => "registered",
                Some(_) if site.store.read(|tx| flights::find_denial(site, tx, member_id, site.now()))?.is_some() => {
                    "waits"
                }
                Some(_) => "here",
            };
            Ok(reply::see_other(&format!("/desk/members/{member_id}/welcome?done={done}")))
        }
        Err(Stop::Denied(denial)) => page(site, call, clerk, FormState::sent(typed), Some(denial)),
        Err(Stop::Failed(failure)) => {
            let again = |form| page(site, call, clerk, form, None);
            FormState::refused(typed, failure, call, call.language(), again)
        }
    }
}

/// The number of the parent whom the form names; on a site without waivers nobody acts for another.
fn parent_id(site: &Site, named: &str) -> Option<MemberId> {
    named.parse().ok().filter(|_| site.config.waiver.required)
}

/// The parent whom the form or, at first, the address names.
fn parent(site: &Site, call: &Call, form: &FormState) -> Result<Option<(MemberId, String)>, Failure> {
    let named = query_text(call, "child_of");
    let sent = form.typed("child_of");
    let Some(parent_id) = parent_id(site, if sent.is_empty() { &named } else { sent }) else { return Ok(None) };
    let name = site.store.read(|tx| name_of(tx, parent_id))?;
    let said = |name: String| call.language().say(&Text::new("newcomer.child_of").with("name", name));
    Ok(name.map(|name| (parent_id, said(name))))
}

/// Judges the form by the rules of signing up and reports all problems together.
fn read(site: &Site, typed: &[(String, String)]) -> Result<NewMember, Failure> {
    let fields = person_fields(typed, &["real_name", "email", "dob", "phone", "number", "minutes", "other_minutes"]);
    let home =
        site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?.map_or_else(String::new, |one| one.country);
    let ParsedBody { mut read, mut fields } = ParsedBody::<NewMember>::read(fields);
    person::judge(&mut read.person, site.now(), &home, &mut fields);
    fields.check("number", &read.number, |number| read_form_number(&(*number).into()).map(drop));
    if given(typed, "terms").is_empty() {
        fields.refuse("terms", Text::new("field.terms"));
    }
    if Language::find(given(typed, "language")).is_none() {
        fields.refuse("language", Text::new("field.one_of").with("values", Language::tags()));
    }
    ParsedBody { read, fields }.finish()
}
