//! The members by level and currency. Currency is derived from each logbook, so everybody is looked at; that is done by
//! key, a few hundred in a snapshot, and kept for some minutes.

use super::{PART, tables};
use crate::call::Call;
use crate::desk::mark::{DAY_SECONDS, PROGRAMMES, SOON_DAYS};
use crate::desk::today::hall;
use crate::desk::{Frame, show as shown};
use crate::domain::catalogue::Catalogue;
use crate::failure::Failure;
use crate::gate::Clerk;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::{Read, holdings, reports, standing};
use askama::Template;
use http::StatusCode;
use std::sync::{Mutex, PoisonError};

/// Members that are looked at in one snapshot.
const MEMBERS_AT_ONCE: i64 = 500;
const KEPT_SECONDS: i64 = 600;

/// How many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// When they were counted, in Unix seconds.
    pub at: i64,
    pub members: i64,
    /// Members who hold no level.
    pub beginners: i64,
    /// Holders of each level, in the catalogue's order.
    pub levels: Vec<i64>,
    /// Of each programme those who are current for long, current for some days yet, and lapsed.
    pub programmes: [[i64; 3]; PROGRAMMES.len()],
}

/// The members as they were counted last.
#[derive(Default)]
pub struct Census(Mutex<Option<Counts>>);

impl Census {
    /// Counts them where that was long ago. Who asks meanwhile waits for the same answer.
    fn take(&self, site: &Site) -> Result<Counts, Failure> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = site.now();
        if let Some(counts) = kept.as_ref().filter(|counts| (0..KEPT_SECONDS).contains(&(now - counts.at))) {
            return Ok(counts.clone());
        }
        let counts = count(site, now)?;
        *kept = Some(counts.clone());
        Ok(counts)
    }
}

fn count(site: &Site, now: i64) -> Result<Counts, Failure> {
    let mut counts = Counts { at: now, levels: vec![0; site.catalogue.levels().count()], ..Counts::default() };
    let mut after = 0;
    loop {
        let last = site.store.read(|tx| {
            let ids = reports::list_member_ids(tx, after, MEMBERS_AT_ONCE)?;
            ids.iter().try_for_each(|id| counts.add(tx, site.catalogue, *id, now))?;
            Ok(ids.last().copied())
        })?;
        site.store.rest();
        match last {
            Some(last) => after = last,
            None => return Ok(counts),
        }
    }
}

impl Counts {
    fn add(&mut self, tx: &Read, catalogue: &Catalogue, member_id: i64, now: i64) -> Result<(), Failure> {
        let held = holdings::list(tx, member_id)?;
        self.members += 1;
        self.beginners += i64::from(held.is_empty());
        if held.is_empty() {
            return Ok(());
        }
        for (place, level) in catalogue.levels().enumerate() {
            self.levels[place] += i64::from(held.iter().any(|one| one.key() == level.key()));
        }
        let stand = standing::read(tx, member_id, now)?;
        for (place, (cat_group, _)) in PROGRAMMES.iter().enumerate() {
            let holds = held.iter().any(|one| one.cat_group == *cat_group);
            let Some(currency) = stand.currency.find(cat_group).filter(|_| holds) else { continue };
            let left = currency.renewal.map_or(0, |renewal| (renewal - now).div_euclid(DAY_SECONDS));
            let state = match (currency.current, left >= SOON_DAYS) {
                (true, true) => 0,
                (true, false) => 1,
                (false, _) => 2,
            };
            self.programmes[place][state] += 1;
        }
        Ok(())
    }
}

#[derive(Template)]
#[template(path = "desk/report_members.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    at: String,
    members: i64,
    beginners: i64,
    levels: Vec<Level>,
    programmes: Vec<Programme>,
}

struct Level {
    name: String,
    holders: i64,
    /// Of the drawing's 100 units.
    width: String,
}

struct Programme {
    name: String,
    current: i64,
    soon: i64,
    lapsed: i64,
    /// Where the parts of the bar begin and how long they are, of the drawing's 100 units.
    parts: [(String, String); 3],
}

/// `GET /desk/reports/members`
pub fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, hall) = (Frame::of(site, call, clerk, PART)?, hall(site)?);
    let counts = site.census.take(site)?;
    let most = counts.levels.iter().copied().max().unwrap_or(0).max(1);
    let of_hundred = |part: i64, whole: i64| format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64);
    let held = site.catalogue.levels().zip(&counts.levels).filter(|(_, holders)| **holders > 0);
    let level = |(level, holders): (&crate::domain::catalogue::Level, &i64)| Level {
        name: level.name.clone(),
        holders: *holders,
        width: of_hundred(*holders, most),
    };
    let programme = |((_, key), states): (&(&str, &'static str), &[i64; 3])| {
        let [current, soon, lapsed] = *states;
        let whole = current + soon + lapsed;
        let part = |begin: i64, length: i64| (of_hundred(begin, whole), of_hundred(length, whole));
        let parts = [part(0, current), part(current, soon), part(current + soon, lapsed)];
        Programme { name: call.say(key), current, soon, lapsed, parts }
    };
    let programmes = PROGRAMMES.iter().zip(&counts.programmes).filter(|(_, states)| states.iter().sum::<i64>() > 0);
    let page = Page {
        frame,
        at: hall.stamp(counts.at),
        members: counts.members,
        beginners: counts.beginners,
        levels: held.map(level).collect(),
        programmes: programmes.map(programme).collect(),
    };
    Ok(shown(StatusCode::OK, call.language(), &page))
}

/// `GET /desk/reports/members.csv`: levels with their holders, then programmes with their states.
pub fn csv(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let counts = site.census.take(site)?;
    let held = site.catalogue.levels().zip(&counts.levels);
    let levels = held.map(|(level, holders)| {
        vec!["level".to_owned(), level.name.clone(), "holders".to_owned(), holders.to_string()]
    });
    let states = ["current", "soon", "lapsed"];
    let programmes = PROGRAMMES.iter().zip(&counts.programmes).flat_map(|((_, key), counted)| {
        let name = call.say(key);
        states.iter().zip(counted).map(move |(state, members)| {
            vec!["currency".to_owned(), name.clone(), (*state).to_owned(), members.to_string()]
        })
    });
    Ok(tables::file("members.csv", &["kind", "name", "state", "members"], levels.chain(programmes)))
}
