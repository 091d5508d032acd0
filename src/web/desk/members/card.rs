//! A member's card: identity, status, actions, and a tab for each part of the record.

use super::PART;
use super::list_tabs::{self, Line};
use super::security::{self, Security};
use super::status::{self, Status};
use super::time_form::TimeForm;
use super::timeline;
use crate::app::seen;
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::date::in_words as date_in_words;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::{joins, media, suppressed};
use crate::web::badge::{self, Badge};
use crate::web::flights_today::{self, FlightsToday};
use crate::web::years::{self, Year};
use crate::web::{Frame, form_status, initials, pages_beside, path_id, query_text, show as shown, skipped};
use askama::Template;

const DONE: [(&str, &str); 21] = [
    ("joined", "join.done"),
    ("unjoined", "join.done_undone"),
    ("apart", "join.done_apart"),
    ("before", "desk.done_before"),
    ("card", "desk.done_card"),
    ("settled", "card.done_settled"),
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
/// The first is the default.
const TABS: [(&str, &str); 6] = [
    ("logbook", "desk.tab_logbook"),
    ("timeline", "desk.tab_timeline"),
    ("bookings", "desk.tab_bookings"),
    ("payments", "desk.tab_payments"),
    ("messages", "desk.tab_messages"),
    ("security", "desk.tab_security"),
];

/// Tabs about the credentials and the messages of an account, shown only to clerks who may serve it.
const SERVED_TABS: [&str; 2] = ["messages", "security"];

#[derive(Template)]
#[template(path = "desk/member.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    person: Person,
    /// Text for a tab without lines.
    nothing: String,
    tabs: Vec<Tab>,
    /// Name of the open tab.
    tab: &'static str,
    lines: Vec<Line>,
    pager: Pager,
    standing: Status,
    /// Years in the logbook or the timeline.
    years: Vec<Year>,
    /// Range of the shown lines, such as `1–100 of 312`; empty where all are shown or not counted.
    counted: String,
    /// Whether the clerk may serve the account.
    may_serve: bool,
    /// Badge of the waiver, where the site requires one.
    waiver: Option<Badge>,
    /// In the security tab.
    security: Option<Security>,
    time: TimeForm,
    flights_today: FlightsToday,
    ban: BanForm,
    note: NoteForm,
    card: CardForm,
    /// The mark of the stored note.
    seen_note: String,
    today: String,
    /// Label of the links that correct a line.
    correct: String,
}

impl Page {
    /// Whether a booking of the member waits for the check-in.
    fn is_expected(&self) -> bool {
        self.standing.booking.as_ref().is_some_and(|next| next.open)
    }
}

/// The values of the form that bans, as typed.
#[derive(Default)]
pub(super) struct BanForm {
    pub reason: String,
    pub until: String,
    pub problem: Option<String>,
}

/// The note for colleagues as it is edited.
pub(super) struct NoteForm {
    pub text: String,
    pub problem: Option<String>,
}

/// The number of a card or wristband, as typed.
#[derive(Default)]
pub(super) struct CardForm {
    pub number: String,
    pub problem: Option<String>,
}

/// A form of the card that was refused.
pub(super) enum Refused {
    Time(TimeForm),
    Ban(BanForm),
    Note(NoteForm),
    Card(CardForm),
}

/// The forms that the card shows as they were sent.
#[derive(Default)]
struct Forms {
    time: Option<TimeForm>,
    ban: BanForm,
    note: Option<NoteForm>,
    card: CardForm,
}

impl Forms {
    fn of(refused: Option<Refused>) -> Forms {
        match refused {
            Some(Refused::Time(time)) => Forms { time: Some(time), ..Forms::default() },
            Some(Refused::Ban(ban)) => Forms { ban, ..Forms::default() },
            Some(Refused::Note(note)) => Forms { note: Some(note), ..Forms::default() },
            Some(Refused::Card(card)) => Forms { card, ..Forms::default() },
            None => Forms::default(),
        }
    }
}

struct Tab {
    name: &'static str,
    text: String,
    shown: bool,
}

/// Queries of the pages with newer and with older lines.
struct Pager {
    newer: Option<String>,
    older: Option<String>,
}

impl Pager {
    /// Removes the extra line whose presence says that there are older ones.
    fn of(tab: &str, skip: i64, lines: &mut Vec<Line>) -> Pager {
        let to = |skip: i64| format!("tab={tab}&skip={skip}");
        let (newer, older) = pages_beside(lines, list_tabs::LINES_MAX, skip);
        Pager { newer: newer.map(to), older: older.map(to) }
    }
}

struct Person {
    member_id: MemberId,
    name: String,
    initials: String,
    has_photo: bool,
    level: String,
    badges: Vec<Badge>,
    /// Role of a staff account.
    role: Option<String>,
    facts: Vec<Fact>,
}

struct Fact {
    label: String,
    value: String,
    badge: Option<Badge>,
}

/// `GET /desk/members/{member_id}`: the card with the tab `tab`, after `skip` of its lines. The number of an account that was
/// joined leads to the card of the one that survived.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let survivor = site.store.read(|tx| Ok(joins::survivor_of(tx, member_id)?))?;
    if survivor != member_id {
        return Ok(reply::see_other(&format!("{PART}/{survivor}")));
    }
    page(site, call, clerk, member_id, None)
}

/// The card, with the form that was refused, if any.
pub(super) fn page(site: &Site, call: &Call, clerk: &Clerk, member_id: MemberId, refused: Option<Refused>) -> Answer {
    let (zone, now, language) = (site.time_zone()?, site.now(), call.language());
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let (tab, skip) = match &refused {
        Some(Refused::Ban(_)) => ("security", 0),
        _ => asked_tab(call),
    };
    let (person, mut lines, security, denial, (standing, years, may_serve, flights_today)) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let may_serve = clerk.denial(&account).is_none();
        let denial = clerk.denial(&account).filter(|_| SERVED_TABS.contains(&tab));
        let standing = status::read(site, tx, &profile, &zone, language)?;
        let view = list_tabs::ViewContext { site, zone: &zone, language, now };
        let person = person(site, tx, &frame, &profile, &zone)?;
        let (lines, years) = match denial {
            Some(_) => Default::default(),
            None => record(tx, &view, tab, member_id, skip)?,
        };
        let security = match tab {
            "security" if denial.is_none() => Some(security::of(tx, &view, clerk, &profile, call.query().has("all"))?),
            _ => None,
        };
        let flights_today = flights_today::read(site, tx, &zone, language, member_id)?;
        Ok((person, lines, security, denial, (standing, years, may_serve, flights_today)))
    })?;
    let nothing = call.say(denial.unwrap_or_else(|| nothing_in(tab)));
    let pager = Pager::of(tab, skip, &mut lines);
    let (years, all) = years;
    add_year_headings(&mut lines, &years);
    let counted = counted(call, skip, lines.len() as i64, all);
    let tabs = TABS.map(|(name, key)| Tab { name, text: call.say(key), shown: name == tab });
    let status = form_status(refused.is_some());
    let today = zone.date(now);
    let Forms { time, ban, note, card } = Forms::of(refused);
    let time = time.unwrap_or_else(|| TimeForm {
        date: today.clone(),
        minutes: flights_today.proposed.map(|minutes| minutes.to_string()).unwrap_or_default(),
        problem: None,
    });
    let waiver = super::waiver::find_badge(site, member_id, language)?;
    let page = Page {
        note: note.unwrap_or_else(|| NoteForm { text: standing.note.clone(), problem: None }),
        card,
        seen_note: seen::mark(&[&standing.note]),
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
        pager,
        security,
        time,
        flights_today,
        ban,
        today,
        correct: call.say("card.correct"),
    };
    Ok(shown(status, language, &page))
}

/// The lines of a tab; its years and the total number of lines, where these are counted.
type Record = (Vec<Line>, (Vec<Year>, i64));

fn record(
    tx: &Read,
    view: &list_tabs::ViewContext,
    tab: &str,
    member_id: MemberId,
    skip: i64,
) -> Result<Record, Failure> {
    let uncounted = |lines| (lines, (Vec::new(), 0));
    Ok(match tab {
        "logbook" => {
            let lines = list_tabs::logbook(tx, view, member_id, skip)?;
            let (mut years, all) = years::list(tx, view.zone, member_id)?;
            let is_shown = |year| lines.iter().any(|line| line.year == Some(year));
            years::add_flown(tx, view.zone, member_id, view.now, &mut years, is_shown)?;
            (lines, (years, all))
        }
        "timeline" => (timeline::list(tx, view, member_id, skip)?, timeline::years(tx, view, member_id)?),
        "bookings" => uncounted(list_tabs::bookings(tx, view, member_id, skip)?),
        "payments" => uncounted(list_tabs::payments(tx, view, member_id, skip)?),
        "messages" => uncounted(list_tabs::messages(tx, view, member_id, skip)?),
        _ => uncounted(Vec::new()),
    })
}

/// Adds a heading with the year and its flight time above the first line of each year.
fn add_year_headings(lines: &mut [Line], years: &[Year]) {
    let mut last = None;
    for line in lines {
        if line.year != last {
            last = line.year;
            let year = years.iter().find(|one| Some(one.year) == last);
            line.heading = year.map(|one| (one.year.to_string(), one.flown.clone()));
        }
    }
}

/// `1–100 of 312`; empty where one page holds all lines.
fn counted(call: &Call, skip: i64, shown: i64, all: i64) -> String {
    if all <= shown || shown == 0 {
        return String::new();
    }
    let text =
        Text::new("card.counted").with_count("from", skip + 1).with_count("to", skip + shown).with_count("all", all);
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

/// The tab that the query names, and how many of its lines to skip.
fn asked_tab(call: &Call) -> (&'static str, i64) {
    let tab = query_text(call, "tab");
    let tab = TABS.iter().find(|(name, _)| tab == *name).map_or(TABS[0].0, |(name, _)| name);
    (tab, skipped(call))
}

fn person(site: &Site, tx: &Read, frame: &Frame, profile: &Profile, zone: &TimeZone) -> Result<Person, Failure> {
    let (now, language) = (site.now(), frame.language());
    let status = badge::member_status(site, tx, profile.member_id, now, language)?;
    let name = profile.display_name().to_owned();
    let day = |moment: Moment| when::day(language, zone, moment);
    let confirmed = |yes: bool| match yes {
        true => Badge::new("good", frame.say("desk.confirmed")),
        false => Badge::new("soon", frame.say("desk.unconfirmed")),
    };
    let plain = |key: &'static str, value: String| Fact { label: frame.say(key), value, badge: None };
    let reached = |key: &'static str, value: &str, yes: bool| Fact {
        label: frame.say(key),
        value: value.to_owned(),
        badge: (!value.is_empty()).then(|| confirmed(yes)),
    };
    let bounced = suppressed::find(tx, &profile.email)?.map(|mark| {
        Badge::new(
            "bad",
            language.say(&Text::new("desk.mail_bounced").with("day", when::day(language, zone, mark.since))),
        )
    });
    let mut facts = vec![
        plain("desk.fact_username", profile.username.clone()),
        plain("desk.fact_screen_name", profile.screen_name.clone()),
        reached("desk.fact_email", &profile.email, profile.email_verified),
        reached("desk.fact_phone", &profile.phone, profile.phone_verified),
        // A date of birth is stored as midnight UTC.
        plain("desk.fact_born", profile.dob.map(|dob| date_in_words(language, dob)).unwrap_or_default()),
        plain("desk.fact_country", profile.country.clone()),
        plain("desk.fact_joined", day(profile.join_date)),
        plain("desk.fact_paid", profile.paid_until.map(day).unwrap_or_default()),
    ];
    if let (Some(fact), true) = (facts.iter_mut().find(|fact| fact.value == profile.email), bounced.is_some()) {
        fact.badge = bounced;
    }
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
        level: status.level,
        badges: status.badges,
        role: role.map(|key| frame.say(key)),
        facts: facts.into_iter().filter(|fact| !fact.value.is_empty()).collect(),
    })
}
