//! The member's account: PIN, password, and the devices that are signed in.

use super::frame::Shell;
use super::show;
use crate::app::{self, Outcome, credentials, own_profile};
use crate::auth::Member;
use crate::auth::sign_in;
use crate::documents::qr;
use crate::domain::ids::MemberId;
use crate::domain::{passkey, password, when};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::queries::board;
use crate::store::tables::{languages, members, reminders, sessions};
use crate::web::{Form, form, form_status, read_form, refused_form};
use askama::Template;

pub(crate) const PATH: &str = "/me/account";
const SESSION_ID_CHARS_MAX: usize = 64;
const LANGUAGE_CHARS_MAX: usize = 5;
const CHOICE_CHARS_MAX: usize = 10;
const DONE: [(&str, &str); 13] = [
    ("photo", "kiosk.done_photo"),
    ("no-photo", "kiosk.done_no_photo"),
    ("profile", "me.done_profile"),
    ("email", "me.done_email"),
    ("phone", "me.done_phone"),
    ("language", "me.done_language"),
    ("reminders", "me.done_reminders"),
    ("board", "me.done_reminders"),
    ("before", "me.done_before"),
    ("password", "me.done_password"),
    ("device", "me.done_device"),
    ("devices", "me.done_devices"),
    ("stays", "leaving.done_stays"),
];

#[derive(Template)]
#[template(path = "member/account.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    username: String,
    number: MemberId,
    /// The e-mail address, and whether it is confirmed.
    email: String,
    is_confirmed: bool,
    /// The telephone number, and whether it is confirmed.
    phone: String,
    is_phone_confirmed: bool,
    /// A new PIN, shown once.
    pin: Option<Pin>,
    devices: Vec<Device>,
    /// The language that the member chose for mails and papers.
    chosen: Option<Language>,
    /// Whether boards in the hall show the member by number.
    by_number: bool,
    /// How the member is reminded: name, key of the words, whether chosen.
    reminded_by: Vec<(&'static str, &'static str, bool)>,
    /// Why the password was not changed.
    problem: Option<String>,
}

impl Page {
    /// The languages as options: tag, name, whether chosen.
    fn languages(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        Language::ALL.into_iter().map(|one| (one.tag(), one.name(), self.chosen == Some(one)))
    }
}

struct Pin {
    digits: String,
    /// SVG.
    qr: String,
}

struct Device {
    session_id: String,
    name: String,
    seen: String,
    is_this: bool,
}

/// The redirect to the page, with the message about what was done unless it was so before.
pub(super) fn done_if(outcome: Outcome, done: &str) -> Reply {
    match outcome {
        Outcome::Done => reply::see_other(&format!("{PATH}?done={done}")),
        Outcome::Unchanged => reply::see_other(PATH),
    }
}

/// `GET /me/account`
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None, None)
}

/// What people call a browser; an app goes by the name that it gives itself.
fn device_name(user_agent: String) -> Option<String> {
    let called = if user_agent.starts_with("Mozilla/") { passkey::called(&user_agent) } else { None };
    called.or(Some(user_agent)).filter(|name| !name.is_empty())
}

fn page(site: &Site, call: &Call, member: &Member, pin: Option<Pin>, problem: Option<String>) -> Answer {
    let shell = Shell::after_action(site, call, member, PATH, &DONE)?;
    let (zone, language, now) = (site.time_zone()?, call.language(), site.now());
    let (profile, listed, chosen, reminded, by_number) = site.store.read(|tx| {
        let profile = members::find(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
        let chosen = languages::find_chosen(tx, member.id())?;
        let reminded = reminders::find_choice(tx, member.id())?.map(|choice| choice.reminded_by).unwrap_or_default();
        let by_number = board::is_by_number(tx, member.id())?;
        Ok((profile, sessions::list_of_member(tx, member.id(), now)?, chosen, reminded, by_number))
    })?;
    let device = |one: sessions::Listed| Device {
        session_id: one.session_id(),
        is_this: one.token_hash == *member.session(),
        seen: language.say(&Text::new("me.device_seen").with("when", when::moment(language, &zone, one.seen_at))),
        name: device_name(one.user_agent).unwrap_or_else(|| shell.say("me.device_unknown")),
    };
    let devices = listed.into_iter().map(device).collect();
    let status = form_status(problem.is_some());
    let page = Page {
        shell,
        username: profile.username,
        number: member.id(),
        email: profile.email,
        is_confirmed: profile.email_verified,
        phone: profile.phone,
        is_phone_confirmed: profile.phone_verified,
        pin,
        devices,
        by_number,
        reminded_by: own_profile::REMINDED_BY.map(|(name, key)| (name, key, name == reminded)).into(),
        chosen: chosen.and_then(|tag| Language::find(&tag)),
        problem,
    };
    Ok(show(status, language, &page))
}

/// `POST /me/account/pin`: makes a new PIN and shows it once, with number and PIN as a QR code.
pub(crate) fn renew_pin(site: &Site, call: &Call, member: &Member) -> Answer {
    let number = read_form(call, Form::number)?;
    let made = app::change(site, member, call.language(), |cx| match cx.is_first_sending(number)? {
        true => credentials::renew_pin(cx, &cx.own()?).map(Some),
        false => Ok(None),
    })?;
    let Some(digits) = made else { return Ok(reply::see_other(&format!("{PATH}?done=before"))) };
    let qr = qr::svg(&format!("{} {digits}", member.id())).ok_or_else(Failure::broken)?;
    page(site, call, member, Some(Pin { digits, qr }), None)
}

/// `POST /me/account/password`: needs the current password; ends all other sessions.
pub(crate) fn change_password(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut form = form(call)?;
    let [current, new, again] = ["current", "password", "again"].map(|name| form.required(name, fields::secret));
    let changed = form.finish().and_then(|()| {
        let profile = site.store.read(|tx| members::find(tx, member.id())?.ok_or_else(Failure::not_signed_in))?;
        let tunnel = site.name()?;
        let owner = profile.owner(&tunnel);
        let refused = |text: Text| Failure::field("password", text);
        password::check_form(&new, &owner).map_err(refused)?;
        if !password::is_same(&new, &again) {
            return Err(Failure::field("again", Text::new("field.not_confirmed")));
        }
        // Judging the strength takes milliseconds, so the current password comes first: its failed attempts are limited.
        let proven = sign_in::check_own_password(site, call, member.id(), &current)?.at("current")?;
        if password::is_same(&new, &current) {
            return Err(refused(Text::new("me.password_same")));
        }
        password::check(&new, &owner).map_err(refused)?;
        let password_hash = site.hash(&new);
        app::change(site, member, call.language(), |cx| {
            credentials::change_password(cx, &cx.own()?, &proven, &password_hash, member.session())
        })
    });
    match changed {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=password"))),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, None, Some(problem))),
    }
}

/// `POST /me/account/language`: the language of mails and papers; without one it is that of each sign-in.
pub(crate) fn choose_language(site: &Site, call: &Call, member: &Member) -> Answer {
    let tag = read_form(call, |form| form.line("language", LANGUAGE_CHARS_MAX))?;
    let language = Language::ALL.into_iter().find(|one| one.tag() == tag);
    if language.is_none() && !tag.is_empty() {
        return Err(Failure::field("language", Text::new("field.missing")));
    }
    app::change(site, member, call.language(), |cx| own_profile::choose_language(cx, language))?;
    Ok(reply::see_other(&format!("{PATH}?done=language")))
}

/// `POST /me/account/reminders`: how the member is reminded of flights and ends.
pub(crate) fn choose_reminders(site: &Site, call: &Call, member: &Member) -> Answer {
    let by = read_form(call, |form| form.line("by", LANGUAGE_CHARS_MAX))?;
    app::change(site, member, call.language(), |cx| own_profile::choose_reminders(cx, &by))?;
    Ok(reply::see_other(&format!("{PATH}?done=reminders")))
}

/// `POST /me/account/board`: whether boards in the hall show the member by number.
pub(crate) fn choose_board(site: &Site, call: &Call, member: &Member) -> Answer {
    let by_number = read_form(call, |form| form.line("by", CHOICE_CHARS_MAX))? == "number";
    app::change(site, member, call.language(), |cx| own_profile::choose_board(cx, by_number))?;
    Ok(reply::see_other(&format!("{PATH}?done=board")))
}

/// `POST /me/account/devices`: ends one session, or without its name all others.
pub(crate) fn end_sessions(site: &Site, call: &Call, member: &Member) -> Answer {
    let one = read_form(call, |form| form.optional("session", fields::line(SESSION_ID_CHARS_MAX)))?;
    let done = if one.is_some() { "device" } else { "devices" };
    app::change(site, member, call.language(), |cx| match &one {
        Some(session_id) => credentials::end_session(cx, session_id),
        None => credentials::end_sessions(cx, &cx.own()?, Some(member.session())),
    })?;
    Ok(reply::see_other(&format!("{PATH}?done={done}")))
}
