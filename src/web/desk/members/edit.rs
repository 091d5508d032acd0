//! Correction of a member's names, e-mail address, telephone number and date of birth.

use super::PART;
use super::heading::{self, Heading};
use crate::app;
use crate::app::card::{self, Edited, Person};
use crate::app::person::AGE_SECONDS_MAX;
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::{country, phone};
use crate::http::Answer;
use crate::http::body::Field;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::field_types::Email;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::{email_tokens, tunnels};
use crate::web::{Form, Frame, form_error_text, form_status, path_id, read_form, show};
use askama::Template;

const REAL_NAME_CHARS_MAX: usize = 100;
const SCREEN_NAME_CHARS_MAX: usize = 60;
const PHONE_CHARS_MAX: usize = 32;
/// The field that says that the form carries the values it was shown with.
const SEEN: &str = "seen";

#[derive(Template)]
#[template(path = "desk/edit.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    sent: EditInput,
    /// The values that are stored when the page is made.
    seen: EditInput,
    /// A text about the address that waits for its owner's confirmation.
    waiting_email: Option<String>,
    today: String,
    problem: Option<String>,
}

/// The values of the form, as typed.
#[derive(Clone, Default, PartialEq)]
struct EditInput {
    real_name: String,
    screen_name: String,
    email: String,
    withdraws_address: bool,
    phone: String,
    /// `1990-05-31`, or empty.
    dob: String,
}

/// `GET /desk/members/{member_id}/edit`
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// A field of the form. Where the clerk left it as the page had shown it (`seen_…`), the stored value stays: somebody else
/// may have changed it since. A field that both changed is added to `changed`.
fn typed(form: &mut Form, name: &'static str, chars_max: usize, stored: &str, changed: &mut Changed) -> String {
    let typed = form.line(name, chars_max);
    if !form.has(SEEN) {
        return typed;
    }
    let seen = form.line(&format!("seen_{name}"), chars_max);
    if seen == typed {
        return stored.to_owned();
    }
    if seen != stored && typed != stored {
        changed.push((name, stored.to_owned()));
    }
    typed
}

/// The fields that somebody else changed since the page was made, with what they are now.
type Changed = Vec<(&'static str, String)>;

/// Keys of the labels of the fields.
const LABELS: [(&str, &str); 5] = [
    ("real_name", "card.real_name"),
    ("screen_name", "desk.fact_screen_name"),
    ("email", "desk.fact_email"),
    ("phone", "desk.fact_phone"),
    ("dob", "desk.fact_born"),
];

/// What the changed fields are now, each after its label.
fn changed_text(call: &Call, changed: &Changed) -> String {
    let labelled = |(name, now): &(&'static str, String)| {
        let label = LABELS.iter().find(|(one, _)| one == name).map_or("", |(_, key)| *key);
        call.language().labelled(&call.say(label), now)
    };
    let now: Vec<String> = changed.iter().map(labelled).collect();
    call.language().say(&Text::new("desk.changed_meanwhile").with("now", now.join(" · ")))
}

/// `POST /desk/members/{member_id}/edit`: a new e-mail address takes effect once its owner has confirmed it.
pub(crate) fn save(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let stored = site.store.read(|tx| members::find(tx, member_id)?.ok_or_else(Failure::not_found))?;
    let (stored, mut changed) = (EditInput::of(stored), Changed::new());
    let sent = read_form(call, |form| EditInput {
        real_name: typed(form, "real_name", REAL_NAME_CHARS_MAX, &stored.real_name, &mut changed),
        screen_name: typed(form, "screen_name", SCREEN_NAME_CHARS_MAX, &stored.screen_name, &mut changed),
        email: typed(form, "email", 254, &stored.email, &mut changed),
        withdraws_address: form.has("withdraw_address"),
        phone: typed(form, "phone", PHONE_CHARS_MAX, &stored.phone, &mut changed),
        dob: typed(form, "dob", 40, &stored.dob, &mut changed),
    })?;
    if !changed.is_empty() {
        let problem = changed_text(call, &changed);
        return page(site, call, clerk, Some((sent, problem)));
    }
    let person = match judge(site, member_id, &sent) {
        Ok(person) => person,
        Err(stop) => {
            let problem = call.language().say(&stop.denial()?);
            return page(site, call, clerk, Some((sent, problem)));
        }
    };
    let saved = app::change(site, clerk, call.language(), |cx| {
        let now = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
        if EditInput::of(now) == stored { card::edit_person(cx, member_id, &person).map(Some) } else { Ok(None) }
    });
    match saved.transpose() {
        // Somebody else saved between the look at the stored values and the change.
        None => save(site, call, clerk),
        Some(Ok(Edited::AddressToConfirm)) => Ok(reply::see_other(&format!("{PART}/{member_id}?done=address"))),
        Some(Ok(_)) => Ok(reply::see_other(&format!("{PART}/{member_id}?done=edited"))),
        Some(Err(failure)) => {
            let problem = form_error_text(failure, call.language())?;
            page(site, call, clerk, Some((sent, problem)))
        }
    }
}

/// The values to store, or the first problem.
fn judge(site: &Site, member_id: MemberId, sent: &EditInput) -> Result<Person, Stop<Text>> {
    let (profile, home) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        Ok((profile, tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.country).unwrap_or_default()))
    })?;
    if sent.real_name.is_empty() {
        return Err(Stop::Denied(Text::new("card.name_missing")));
    }
    let country =
        [&profile.country_code, &profile.country, &home].into_iter().find(|code| country::find_dialled(code).is_some());
    let phone = match sent.phone.as_str() {
        "" => Ok(String::new()),
        same if same == profile.phone => Ok(profile.phone.clone()),
        typed => phone::parse(country.map_or("", |code| code), typed),
    };
    let email = match sent.email.as_str() {
        "" => Ok(String::new()),
        typed => Email::read(&typed.into()),
    };
    let (phone, email) = (phone.map_err(Stop::Denied)?, email.map_err(Stop::Denied)?);
    let now = site.now();
    // A date of birth is stored as midnight UTC.
    let dob = Some(sent.dob.as_str()).filter(|dob| !dob.is_empty()).map(|dob| TimeZone::UTC.start_of_date(dob));
    let is_unchanged = shown_dob(profile.dob) == sent.dob;
    let dob = if is_unchanged { profile.dob.map(Some) } else { dob };
    if let Some(dob) = dob
        && !is_unchanged
        && !dob.is_some_and(|dob| (now - AGE_SECONDS_MAX + 1..=now).contains(&dob))
    {
        return Err(Stop::Denied(Text::new("card.dob")));
    }
    let (real_name, screen_name) = (sent.real_name.clone(), sent.screen_name.clone());
    let withdraws_address = sent.withdraws_address;
    Ok(Person { real_name, screen_name, email, withdraws_address, phone, dob: dob.flatten() })
}

/// A day of birth as the form shows it.
fn shown_dob(dob: Option<Moment>) -> String {
    dob.map(|dob| TimeZone::UTC.date(dob)).unwrap_or_default()
}

impl EditInput {
    fn of(profile: Profile) -> EditInput {
        let Profile { real_name, screen_name, email, phone, dob, .. } = profile;
        EditInput { real_name, screen_name, email, withdraws_address: false, phone, dob: shown_dob(dob) }
    }
}

fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<(EditInput, String)>) -> Answer {
    let member_id = path_id(call, 0)?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let (heading, profile, waiting_email, account) = site.store.read(|tx| {
        let heading = heading::read(site, tx, call, member_id)?;
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let waiting = email_tokens::find_address_change(tx, member_id, site.now())?;
        Ok((heading, profile, waiting, members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?))
    })?;
    if let Some(key) = clerk.denial(&account) {
        return Err(Failure::not_allowed().saying(Text::new(key)));
    }
    let status = form_status(refused.is_some());
    let seen = EditInput::of(profile);
    let (sent, problem) = match refused {
        Some((sent, problem)) => (sent, Some(problem)),
        None => (seen.clone(), None),
    };
    let waiting_email = waiting_email.map(|email| frame.tell(&Text::new("card.email_waits").with("email", email)));
    let page = Page { frame, heading, sent, seen, waiting_email, today: site.time_zone()?.date(site.now()), problem };
    Ok(show(status, call.language(), &page))
}
