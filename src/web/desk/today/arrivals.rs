//! The arrivals of a day by the hour: one line a booking, with badges for whatever needs attention.

use crate::app::flights::Signatures;
use crate::domain::age;
use crate::domain::booking::{Standing, membership_in_force};
use crate::domain::catalogue::LevelKey;
use crate::domain::currency;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::{Day, TimeZone};
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::bookings::{self, Arrival};
use crate::web::Frame;
use crate::web::badge::{Badge, PROGRAMMES};
use askama::Template;
use std::collections::{BTreeSet, HashMap};

/// Lines on one page, just under 100 KB: more than a large tunnel has on a Saturday.
const ROWS_MAX: i64 = 312;
const HOUR_SECONDS: i64 = 3600;
const QUARTER_SECONDS: i64 = 900;

/// The arrivals of a day, rendered once a language for all clerks.
#[derive(Template)]
#[template(path = "desk/today_arrivals.html", config = "assets/templates/askama.toml")]
pub(super) struct Arrivals {
    frame: Frame,
    /// Past hours, collapsed.
    earlier: Vec<Hour>,
    folded: String,
    hours: Vec<Hour>,
    counted: String,
    nobody: &'static str,
    /// Key of the text about check-in on another day; empty for today.
    no_check_in: &'static str,
    /// Explanation of the minutes per quarter hour; empty where the site does not count them.
    load: String,
    /// Number of arrivals before and after this page, and the paths of those pages.
    before: i64,
    before_path: String,
    later: i64,
    later_path: String,
}

/// The arrivals of one hour.
pub(super) struct Hour {
    /// `14:00`.
    clock: String,
    /// Whether this is the current hour.
    now: bool,
    /// Whether the hour that counts as the current one is still to come.
    next: bool,
    load: Vec<Load>,
    rows: Vec<Row>,
}

/// The bookings of a quarter of an hour.
struct Load {
    /// `:15`.
    clock: String,
    minutes: i64,
    /// Whether more minutes are booked than the tunnel has.
    over: bool,
}

struct Row {
    booking_id: BookingId,
    member_id: MemberId,
    name: String,
    dob: Option<Moment>,
    /// Number and year of birth, where another arrival has the same name.
    apart: String,
    clock: String,
    minutes: i64,
    badges: Vec<Badge>,
    may_check_in: bool,
    /// Time of the check-in.
    arrived: Option<String>,
}

/// The day to show, and from which arrival on.
pub(super) struct DayQuery<'a> {
    pub(super) zone: &'a TimeZone,
    pub(super) day: Day,
    pub(super) now: Moment,
    pub(super) skip: i64,
    pub(super) language: Language,
}

/// Reads one page of the arrivals of a day. Past hours of today are collapsed.
pub(super) fn of(site: &Site, tx: &Read, query: &DayQuery) -> Result<Arrivals, Failure> {
    let DayQuery { zone, day, now, skip, language } = *query;
    let is_today = (day.from..day.to).contains(&now);
    let mut hours = list(site, tx, query)?;
    let shown = hours.iter().map(|hour| hour.rows.len() as i64).sum::<i64>();
    let over = if is_today && skip == 0 { hours.iter().position(|hour| hour.now).unwrap_or(hours.len()) } else { 0 };
    // Members arrive late: the previous hour stays visible.
    let later = hours.split_off(over.saturating_sub(1).min(hours.len()));
    let folded = hours.iter().flat_map(|hour| &hour.rows);
    let here = folded.clone().filter(|row| row.arrived.is_some()).count();
    let folded = Text::new("desk.folded_earlier").with_count("expected", folded.count()).with_count("here", here);
    let (expected, arrived) = bookings::count_arrivals(tx, site.tunnel_id, day.from, day.to)?;
    let counted = Text::new("desk.counted").with_count("here", arrived).with_count("expected", expected);
    let has = site.config.minutes_per_quarter_hour;
    let load = (has > 0).then(|| language.say(&Text::new("desk.load").with_count("minutes", has)));
    let at = |skip: i64| format!("/desk?day={}&skip={}", zone.date(day.to - 1), skip.max(0));
    let skip = skip.min(expected);
    let mut arrivals = Arrivals {
        frame: Frame::bare(language),
        earlier: hours,
        folded: language.say(&folded),
        hours: later,
        counted: language.say(&counted),
        no_check_in: match now {
            _ if expected == 0 || is_today => "",
            now if now < day.from => "desk.check_in_later",
            _ => "desk.check_in_over",
        },
        nobody: if is_today { "desk.nobody_comes" } else { "desk.nobody_on_day" },
        load: load.unwrap_or_default(),
        before: skip,
        before_path: at(skip - ROWS_MAX),
        later: expected - skip - shown,
        later_path: at(skip + shown),
    };
    if has > 0 {
        // The hours of the evening before are over.
        let day = zone.day(day.to - 1, 0);
        let load = bookings::list_load(tx, site.tunnel_id, (day.from, day.to), QUARTER_SECONDS)?;
        arrivals.put_load(zone, day, &load, has);
    }
    Ok(arrivals)
}

impl Arrivals {
    /// Adds the minutes booked in each quarter to its hour.
    fn put_load(&mut self, zone: &TimeZone, day: Day, load: &[(i64, i64)], has: i64) {
        for (quarter, minutes) in load {
            let clock = zone.clock(day.from + quarter * QUARTER_SECONDS);
            let hours = self.earlier.iter_mut().chain(&mut self.hours).rev();
            if let Some(hour) = hours.into_iter().find(|hour| hour.clock[..2] == clock[..2]) {
                hour.load.push(Load { clock: clock[2..].to_owned(), minutes: *minutes, over: *minutes > has });
            }
        }
    }
}

fn list(site: &Site, tx: &Read, query: &DayQuery) -> Result<Vec<Hour>, Failure> {
    let DayQuery { zone, day, now, skip, .. } = *query;
    let this_hour = (day.from..day.to).contains(&now).then(|| now.rounded_down(HOUR_SECONDS));
    let mut hours: Vec<Hour> = Vec::new();
    let signatures = Signatures::read(site, tx, (day.from, day.to))?;
    for found in bookings::list_arrivals(tx, site.tunnel_id, (day.from, day.to), (ROWS_MAX, skip), now)? {
        let clock = zone.clock(found.flight_date);
        let full = format!("{}:00", &clock[..2]);
        let begins = found.flight_date.rounded_down(HOUR_SECONDS);
        let row = row(site, tx, query, &signatures, found, clock)?;
        match hours.last_mut() {
            Some(hour) if hour.clock == full => hour.rows.push(row),
            _ => {
                // The first hour that is not over counts as the current one where no booking is in the current hour.
                let now = this_hour.is_some_and(|now| begins >= now) && !hours.iter().any(|hour| hour.now);
                hours.push(Hour {
                    now,
                    next: now && this_hour.is_some_and(|now| begins > now),
                    clock: full,
                    load: Vec::new(),
                    rows: vec![row],
                });
            }
        }
    }
    tell_apart(&mut hours, query);
    Ok(hours)
}

/// Adds to arrivals of the same name what tells them apart.
fn tell_apart(hours: &mut [Hour], query: &DayQuery) {
    let mut owners: HashMap<String, BTreeSet<MemberId>> = HashMap::new();
    for row in hours.iter().flat_map(|hour| &hour.rows) {
        owners.entry(row.name.to_lowercase()).or_default().insert(row.member_id);
    }
    let has_namesakes = |row: &&mut Row| owners.get(&row.name.to_lowercase()).is_some_and(|all| all.len() > 1);
    for row in hours.iter_mut().flat_map(|hour| &mut hour.rows).filter(has_namesakes) {
        let text = match row.dob {
            Some(dob) => Text::new("desk.apart_born").with("year", TimeZone::UTC.year(dob)),
            None => Text::new("desk.apart"),
        };
        row.apart = query.language.say(&text.with("number", row.member_id));
    }
}

fn row(
    site: &Site,
    tx: &Read,
    query: &DayQuery,
    signatures: &Signatures,
    found: Arrival,
    clock: String,
) -> Result<Row, Failure> {
    let badges = badges(site, tx, query, signatures, &found)?;
    Ok(Row {
        booking_id: found.booking_id,
        member_id: found.member_id,
        name: found.name,
        dob: found.dob,
        apart: String::new(),
        clock,
        minutes: found.minutes_booked,
        badges,
        may_check_in: (query.day.from..query.day.to).contains(&query.now) && !found.banned && !found.no_show,
        arrived: found.arrived_at.map(|at| query.zone.clock(at)),
    })
}

/// Badges for whatever needs attention at the time of the flight, the most serious first.
fn badges(
    site: &Site,
    tx: &Read,
    query: &DayQuery,
    signatures: &Signatures,
    found: &Arrival,
) -> Result<Vec<Badge>, Failure> {
    let at = found.flight_date.max(query.now);
    let say = |tone, text: Text| Badge::new(tone, query.language.say(&text));
    let mut badges = Vec::new();
    if found.no_show {
        badges.push(say("bad", Text::new("desk.mark_no_show")));
    }
    if found.banned {
        badges.push(say("bad", Text::new("desk.mark_banned")));
    }
    let standing = Standing {
        banned: found.banned,
        email_confirmed: true,
        paid_until: found.paid_until,
        holds_flyer_1: found.holds_flyer_1,
    };
    if !membership_in_force(&standing, site.config.yearly_fee_cents, at) {
        badges.push(say("bad", Text::new("desk.mark_unpaid")));
    }
    if signatures.find_denial(found.member_id, found.dob, at, query.zone).is_some() {
        badges.push(say("bad", Text::new("papers.mark")));
    }
    for key in lapsed(tx, query.zone, found, at)? {
        let programme = query.language.say(&Text::new(key));
        badges.push(say("bad", Text::new("desk.mark_lapsed").with("programme", programme)));
    }
    if found.first_time {
        badges.push(say("plain", Text::new("desk.mark_first_time")));
    }
    if let Some(age) = found.dob.and_then(|dob| age::on(dob, query.zone.noon_utc(found.flight_date))) {
        if age.years < age::ADULT_YEARS {
            badges.push(say("soon", Text::new("desk.mark_minor").with("years", age.years)));
        }
        if age.birthday {
            badges.push(say("good", Text::new("desk.mark_birthday")));
        }
    }
    Ok(badges)
}

/// Keys of the names of the programmes that have lapsed.
fn lapsed(tx: &Read, zone: &TimeZone, found: &Arrival, at: Moment) -> Result<Vec<&'static str>, Failure> {
    if found.holds_more {
        // The currency of an instructor depends on trainings too; few members are instructors.
        let flyer = standing::read(tx, found.member_id, at)?;
        let held = crate::store::queries::holdings::list(tx, found.member_id)?;
        let lapsed = PROGRAMMES.iter().filter(|(cat_group, _)| {
            held.iter().any(|level| level.cat_group == *cat_group)
                && flyer.currency.find(cat_group).is_some_and(|currency| !currency.current)
        });
        return Ok(lapsed.map(|(_, key)| *key).collect());
    }
    if !found.holds_flyer_1 {
        return Ok(Vec::new());
    }
    let held = [LevelKey { cat_group: "Flyer", cat_id: "1", track: "" }];
    let standing = currency::Standing { held: &held, last_flight: found.last_flight, trained: &[], zone };
    let current = currency::of(&standing, at).flyer.current;
    Ok(if current { Vec::new() } else { vec!["programme.flyer"] })
}
