//! Who comes on a day, by the hour: a line each, with what is out of the ordinary.

use crate::app::flights::Signatures;
use crate::domain::age;
use crate::domain::booking::{Standing, membership_in_force};
use crate::domain::catalogue::LevelKey;
use crate::domain::currency;
use crate::domain::local_time::{Day, TimeZone};
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::bookings::{self, Arrival};
use crate::web::Frame;
use crate::web::mark::{Mark, PROGRAMMES};
use askama::Template;

/// Lines on one page: more than the largest site has on a Saturday. A page with so many is just under 100 KB.
const ROWS_MAX: i64 = 320;
const HOUR_SECONDS: i64 = 3600;
const QUARTER_SECONDS: i64 = 900;

/// The arrivals of a day, rendered once for each language, whoever looks.
#[derive(Template)]
#[template(path = "desk/today_arrivals.html", config = "assets/templates/askama.toml")]
pub(super) struct Arrivals {
    frame: Frame,
    /// Hours that are over, folded.
    earlier: Vec<Hour>,
    folded: String,
    hours: Vec<Hour>,
    counted: String,
    nobody: &'static str,
    /// The label of the quarters' figures; empty where there are none.
    load: String,
    /// Arrivals that are on the page before and after this one, and where these are.
    before: i64,
    before_path: String,
    later: i64,
    later_path: String,
}

/// The arrivals of one hour.
pub(super) struct Hour {
    /// `14:00`.
    clock: String,
    /// Whether it is this one.
    now: bool,
    load: Vec<Load>,
    rows: Vec<Row>,
}

/// The bookings of a quarter of an hour.
struct Load {
    /// `:15`.
    clock: String,
    minutes: i64,
    /// Whether that is more than the tunnel has.
    over: bool,
}

struct Row {
    booking_id: i64,
    member_id: i64,
    name: String,
    clock: String,
    minutes: i64,
    marks: Vec<Mark>,
    banned: bool,
    no_show: bool,
    /// When they came.
    arrived: Option<String>,
}

/// Whose day, when, and from which of its arrivals on.
pub(super) struct Question<'a> {
    pub(super) zone: &'a TimeZone,
    pub(super) day: Day,
    pub(super) now: i64,
    pub(super) skip: i64,
    pub(super) language: Language,
}

/// The arrivals of a day, as many as fit on one page; those of today's hours that are over are folded.
pub(super) fn of(site: &Site, tx: &Read, question: &Question) -> Result<Arrivals, Failure> {
    let Question { zone, day, now, skip, language } = *question;
    let span = (day.from, day.to);
    let is_today = (day.from..day.to).contains(&now);
    let mut hours = list(site, tx, question)?;
    let shown = hours.iter().map(|hour| hour.rows.len() as i64).sum::<i64>();
    let over = if is_today && skip == 0 { hours.iter().position(|hour| hour.now).unwrap_or(hours.len()) } else { 0 };
    // People are late: the hour before this one stays in sight.
    let later = hours.split_off(over.saturating_sub(1).min(hours.len()));
    let folded = hours.iter().flat_map(|hour| &hour.rows);
    let here = folded.clone().filter(|row| row.arrived.is_some()).count();
    let folded = Text::new("desk.folded_earlier").with("expected", folded.count()).with("here", here);
    let (expected, arrived) = bookings::count_arrivals(tx, site.tunnel_id, day.from, day.to)?;
    let counted = Text::new("desk.counted").with("here", arrived).with("expected", expected);
    let has = site.config.minutes_per_quarter_hour;
    let load = (has > 0).then(|| language.say(&Text::new("desk.load").with("minutes", has)));
    let at = |skip: i64| format!("/desk?day={}&skip={}", zone.date(day.from), skip.max(0));
    let skip = skip.min(expected);
    let mut arrivals = Arrivals {
        frame: Frame::bare(language),
        earlier: hours,
        folded: language.say(&folded),
        hours: later,
        counted: language.say(&counted),
        nobody: if is_today { "desk.nobody_comes" } else { "desk.nobody_on_day" },
        load: load.unwrap_or_default(),
        before: skip,
        before_path: at(skip - ROWS_MAX),
        later: expected - skip - shown,
        later_path: at(skip + shown),
    };
    if has > 0 {
        let load = bookings::list_load(tx, site.tunnel_id, span, QUARTER_SECONDS)?;
        arrivals.put_load(zone, day, &load, has);
    }
    Ok(arrivals)
}

impl Arrivals {
    /// Puts what is booked in each quarter at its hour.
    fn put_load(&mut self, zone: &TimeZone, day: Day, load: &[(i64, i64)], has: i64) {
        for (quarter, minutes) in load {
            let clock = zone.clock(day.from + quarter * QUARTER_SECONDS);
            let hours = self.earlier.iter_mut().chain(&mut self.hours);
            if let Some(hour) = hours.into_iter().find(|hour| hour.clock[..2] == clock[..2]) {
                hour.load.push(Load { clock: clock[2..].to_owned(), minutes: *minutes, over: *minutes > has });
            }
        }
    }
}

fn list(site: &Site, tx: &Read, question: &Question) -> Result<Vec<Hour>, Failure> {
    let Question { zone, day, now, skip, .. } = *question;
    let this_hour = (day.from..day.to).contains(&now).then(|| now - now.rem_euclid(HOUR_SECONDS));
    let mut hours: Vec<Hour> = Vec::new();
    let signatures = Signatures::read(site, tx, (day.from, day.to))?;
    for found in bookings::list_arrivals(tx, site.tunnel_id, (day.from, day.to), (ROWS_MAX, skip), now)? {
        let clock = zone.clock(found.flight_date);
        let full = format!("{}:00", &clock[..2]);
        let begins = found.flight_date - found.flight_date.rem_euclid(HOUR_SECONDS);
        let row = row(site, tx, question, &signatures, found, clock)?;
        match hours.last_mut() {
            Some(hour) if hour.clock == full => hour.rows.push(row),
            _ => {
                // The first hour that is not over stands for this one where nobody comes now.
                let now = this_hour.is_some_and(|now| begins >= now) && !hours.iter().any(|hour| hour.now);
                hours.push(Hour { now, clock: full, load: Vec::new(), rows: vec![row] });
            }
        }
    }
    Ok(hours)
}

fn row(
    site: &Site,
    tx: &Read,
    question: &Question,
    signatures: &Signatures,
    found: Arrival,
    clock: String,
) -> Result<Row, Failure> {
    let marks = marks(site, tx, question, signatures, &found)?;
    Ok(Row {
        booking_id: found.booking_id,
        member_id: found.member_id,
        name: found.name,
        clock,
        minutes: found.minutes_booked,
        marks,
        banned: found.banned,
        no_show: found.no_show,
        arrived: found.arrived_at.map(|at| question.zone.clock(at)),
    })
}

/// The marks for whatever is out of the ordinary at the time of the flight, the gravest first.
fn marks(
    site: &Site,
    tx: &Read,
    question: &Question,
    signatures: &Signatures,
    found: &Arrival,
) -> Result<Vec<Mark>, Failure> {
    let at = found.flight_date.max(question.now);
    let say = |tone, text: Text| Mark::new(tone, question.language.say(&text));
    let mut marks = Vec::new();
    if found.no_show {
        marks.push(say("bad", Text::new("desk.mark_no_show")));
    }
    if found.banned {
        marks.push(say("bad", Text::new("desk.mark_banned")));
    }
    let standing = Standing {
        banned: found.banned,
        email_confirmed: true,
        paid_until: found.paid_until,
        holds_flyer_1: found.holds_flyer_1,
    };
    if !membership_in_force(&standing, site.config.yearly_fee_cents, at) {
        marks.push(say("bad", Text::new("desk.mark_unpaid")));
    }
    if signatures.find_denial(found.member_id, found.dob, at, question.zone.noon_utc(at)).is_some() {
        marks.push(say("bad", Text::new("papers.mark")));
    }
    for key in lapsed(tx, found, at)? {
        let programme = question.language.say(&Text::new(key));
        marks.push(say("bad", Text::new("desk.mark_lapsed").with("programme", programme)));
    }
    if found.first_time {
        marks.push(say("plain", Text::new("desk.mark_first_time")));
    }
    if let Some(age) = found.dob.and_then(|dob| age::on(dob, question.zone.noon_utc(found.flight_date))) {
        if age.years < age::ADULT_YEARS {
            marks.push(say("soon", Text::new("desk.mark_minor").with("years", age.years)));
        }
        if age.birthday {
            marks.push(say("good", Text::new("desk.mark_birthday")));
        }
    }
    Ok(marks)
}

/// The programmes that have lapsed, by the keys of their names.
fn lapsed(tx: &Read, found: &Arrival, at: i64) -> Result<Vec<&'static str>, Failure> {
    if found.holds_more {
        // An instructor needs trainings too; few members are instructors.
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
    let standing = currency::Standing { held: &held, last_flight: found.last_flight, trained: &[] };
    let current = currency::of(&standing, at).flyer.current;
    Ok(if current { Vec::new() } else { vec!["programme.flyer"] })
}
