//! A member's card: who it is and how they stand, what can be done here, and a tab for each part of the record.

use super::PART;
use super::lines::{self, Line};
use super::security::{self, Security};
use super::standing::{self as stand, Standing};
use super::time::TimeForm;
use super::timeline;
use super::years::{self, Year};
use crate::auth::Clerk;
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::date::in_words as date_in_words;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::media;
use crate::store::tables::members::{self, Profile};
use crate::web::logged::{self, Logged};
use crate::web::mark::{self, Mark};
use crate::web::{Frame, asked, called, done, initials, show as shown, skipped};
use askama::Template;
use http::StatusCode;

const DONE: [(&str, &str); 16] = [
    ("card", "desk.done_card"),
    ("no-card", "desk.done_no_card"),
    ("note", "card.done_note"),
    ("edited", "card.done_edited"),
    ("address", "card.done_address"),
    ("recorded", "card.done_recorded"),
    ("corrected", "card.done_corrected"),
    ("deleted", "card.done_deleted"),
    ("time", "desk.done_time"),
    ("photo", "desk.done_photo"),
    ("no-photo", "desk.done_no_photo"),
    ("sessions", "desk.done_sessions"),
    ("factor", "desk.done_factor"),
    ("email", "desk.done_email"),
    ("banned", "desk.done_banned"),
    ("lifted", "desk.done_lifted"),
];
/// The first is shown unless another is asked for.
const TABS: [(&str, &str); 6] = [
    ("logbook", "desk.tab_logbook"),
    ("timeline", "desk.tab_timeline"),
    ("bookings", "desk.tab_bookings"),
    ("payments", "desk.tab_payments"),
    ("messages", "desk.tab_messages"),
    ("security", "desk.tab_security"),
];

/// Tabs that show what opens an account and what its owner is told: shown to a clerk who may serve the account.
const SERVED_TABS: [&str; 2] = ["messages", "security"];

/// Lines that a card passes over at the most: more than anybody has.
const SKIP_MAX: i64 = 100_000;

#[derive(Template)]
#[template(path = "desk/member.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    person: Person,
    /// The sentence where the tab has no lines.
    nothing: String,
    tabs: Vec<Tab>,
    /// The one that is shown.
    tab: &'static str,
    lines: Vec<Line>,
    turns: Turns,
    standing: Standing,
    /// Of the logbook and the timeline.
    years: Vec<Year>,
    /// Which lines of how many are shown; empty where that is not counted.
    counted: String,
    /// Whether the clerk may serve the account.
    may_serve: bool,
    /// How the waiver stands, where the site asks for one.
    waiver: Option<Mark>,
    /// In the tab of that name alone.
    security: Option<Security>,
    time: TimeForm,
    /// What the logbook has of today already.
    logged: Logged,
    today: String,
    /// The word that leads to the correction of a line.
    correct: String,
}

struct Tab {
    name: &'static str,
    text: String,
    shown: bool,
}

/// Where the lines go on: queries of the card's address.
struct Turns {
    newer: Option<String>,
    older: Option<String>,
}

impl Turns {
    /// Takes the line too many off, which says that there are older ones.
    fn of(tab: &str, skip: i64, lines: &mut Vec<Line>) -> Turns {
        let to = |skip: i64| format!("tab={tab}&skip={skip}");
        let has_older = lines.len() as i64 > lines::LINES_MAX;
        lines.truncate(lines::LINES_MAX as usize);
        Turns {
            newer: (skip > 0).then(|| to((skip - lines::LINES_MAX).max(0))),
            older: has_older.then(|| to(skip + lines::LINES_MAX)),
        }
    }
}

struct Person {
    member_id: i64,
    name: String,
    initials: String,
    has_photo: bool,
    level: String,
    marks: Vec<Mark>,
    /// Of an account of somebody who works here.
    role: Option<String>,
    /// The facts about the member: a label and a value, and a word beside it.
    facts: Vec<Fact>,
}

struct Fact {
    label: String,
    value: String,
    mark: Option<Mark>,
}

/// `GET /desk/members/{member_id}`: the card, with the tab that `tab` names, after `skip` lines of it.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    page(site, call, clerk, member_id, None)
}

/// The card, with the form for flight time as it was sent where that was refused.
pub(crate) fn page(site: &Site, call: &Call, clerk: &Clerk, member_id: i64, refused: Option<TimeForm>) -> Answer {
    let (zone, now, language) = (site.time_zone()?, site.now(), call.language());
    let mut frame = Frame::of(site, call, clerk, PART)?;
    frame.done = done(call, &DONE);
    let (tab, skip) = asked_tab(call);
    let (person, mut lines, security, denial, (standing, years, may_serve, logged)) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let may_serve = clerk.denial(&account).is_none();
        let denial = clerk.denial(&account).filter(|_| SERVED_TABS.contains(&tab));
        let standing = stand::read(site, tx, &profile, &zone, language)?;
        let place = lines::Place { site, zone: &zone, language, now };
        let person = person(site, tx, &frame, &profile, &zone)?;
        let (lines, years) = match denial {
            Some(_) => Default::default(),
            None => record(tx, &place, tab, member_id, skip)?,
        };
        let security = match tab {
            "security" if denial.is_none() => Some(security::of(tx, &place, clerk, &profile, call.query().has("all"))?),
            _ => None,
        };
        let logged = logged::today(site, tx, &zone, language, member_id)?;
        Ok((person, lines, security, denial, (standing, years, may_serve, logged)))
    })?;
    let nothing = call.say(denial.unwrap_or_else(|| nothing_in(tab)));
    let turns = Turns::of(tab, skip, &mut lines);
    let (years, all) = years;
    head_by_year(&mut lines, &years);
    let counted = counted(call, skip, lines.len() as i64, all);
    let tabs = TABS.map(|(name, key)| Tab { name, text: call.say(key), shown: name == tab });
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let today = zone.date(now);
    let time = refused.unwrap_or_else(|| TimeForm {
        date: today.clone(),
        minutes: logged.proposed.map(|minutes| minutes.to_string()).unwrap_or_default(),
        problem: None,
    });
    let waiver = super::waiver::find_mark(site, member_id, language)?;
    let page = Page {
        standing,
        years,
        counted,
        may_serve,
        waiver,
        frame,
        person,
        nothing,
        tabs: tabs.into(),
        tab,
        lines,
        turns,
        security,
        time,
        logged,
        today,
        correct: call.say("card.correct"),
    };
    Ok(shown(status, language, &page))
}

/// The lines of a tab after `skip` newer ones; the years of the tab, and how many lines it has in all, where that is counted.
type Record = (Vec<Line>, (Vec<Year>, i64));

fn record(tx: &Read, place: &lines::Place, tab: &str, member_id: i64, skip: i64) -> Result<Record, Failure> {
    let uncounted = |lines| (lines, (Vec::new(), 0));
    Ok(match tab {
        "logbook" => {
            let lines = lines::logbook(tx, place, member_id, skip)?;
            let (mut years, all) = years::list(tx, place.zone, member_id)?;
            let is_shown = |year| lines.iter().any(|line| line.year == Some(year));
            years::add_flown(tx, place.zone, member_id, place.now, &mut years, is_shown)?;
            (lines, (years, all))
        }
        "timeline" => (timeline::list(tx, place, member_id, skip)?, timeline::years(tx, place, member_id)?),
        "bookings" => uncounted(lines::bookings(tx, place, member_id, skip)?),
        "payments" => uncounted(lines::payments(tx, place, member_id, skip)?),
        "messages" => uncounted(lines::messages(tx, place, member_id, skip)?),
        _ => uncounted(Vec::new()),
    })
}

/// Puts the year, and what it has, above the first line of each.
fn head_by_year(lines: &mut [Line], years: &[Year]) {
    let mut last = None;
    for line in lines {
        if line.year != last {
            last = line.year;
            let year = years.iter().find(|one| Some(one.year) == last);
            line.heading = year.map(|one| (one.year.to_string(), one.flown.clone()));
        }
    }
}

/// `1–100 of 312`, where a page does not hold all.
fn counted(call: &Call, skip: i64, shown: i64, all: i64) -> String {
    if all <= shown || shown == 0 {
        return String::new();
    }
    let text = Text::new("card.counted").with("from", skip + 1).with("to", skip + shown).with("all", all);
    call.language().say(&text)
}

fn nothing_in(tab: &str) -> &'static str {
    match tab {
        "timeline" => "desk.no_timeline",
        "bookings" => "desk.no_bookings",
        "payments" => "desk.no_payments",
        "messages" => "desk.no_messages",
        _ => "desk.no_logbook",
    }
}

/// The tab, and how many newer lines of it are passed over.
fn asked_tab(call: &Call) -> (&'static str, i64) {
    let tab = asked(call, "tab");
    let tab = TABS.iter().find(|(name, _)| tab == *name).map_or(TABS[0].0, |(name, _)| name);
    (tab, skipped(call).min(SKIP_MAX))
}

fn person(site: &Site, tx: &Read, frame: &Frame, profile: &Profile, zone: &TimeZone) -> Result<Person, Failure> {
    let (now, language) = (site.now(), frame.language());
    let stand = mark::of(site, tx, profile.member_id, now, language)?;
    let name = called(&profile.real_name, &profile.screen_name, &profile.username).to_owned();
    let day = |moment: i64| when::day(language, zone, moment);
    let confirmed = |yes: bool| match yes {
        true => Mark::new("good", frame.say("desk.confirmed")),
        false => Mark::new("soon", frame.say("desk.unconfirmed")),
    };
    let plain = |key: &'static str, value: String| Fact { label: frame.say(key), value, mark: None };
    let reached = |key: &'static str, value: &str, yes: bool| Fact {
        label: frame.say(key),
        value: value.to_owned(),
        mark: (!value.is_empty()).then(|| confirmed(yes)),
    };
    let facts = vec![
        plain("desk.fact_username", profile.username.clone()),
        plain("desk.fact_screen_name", profile.screen_name.clone()),
        reached("desk.fact_email", &profile.email, profile.email_verified),
        reached("desk.fact_phone", &profile.phone, profile.phone_verified),
        // Midnight of a birthday is kept in UTC.
        plain("desk.fact_born", profile.dob.map(|dob| date_in_words(language, dob)).unwrap_or_default()),
        plain("desk.fact_country", profile.country.clone()),
        plain("desk.fact_joined", day(profile.join_date)),
        plain("desk.fact_paid", profile.paid_until.map(day).unwrap_or_default()),
    ];
    let role = match profile.role {
        Role::Member => None,
        Role::Desk => Some("desk.role_desk"),
        Role::Admin => Some("desk.role_admin"),
        Role::Sync => Some("desk.role_sync"),
    };
    Ok(Person {
        member_id: profile.member_id,
        initials: initials(&name),
        name,
        has_photo: media::exists(tx, profile.member_id)?,
        level: stand.level,
        marks: stand.marks,
        role: role.map(|key| frame.say(key)),
        facts: facts.into_iter().filter(|fact| !fact.value.is_empty()).collect(),
    })
}
