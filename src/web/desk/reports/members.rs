//! The report of members by level and currency.

use super::census::Counts;
use super::{PART, tables};
use crate::auth::Clerk;
use crate::domain::catalogue::Level as Held;
use crate::domain::catalogue::names;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::number::grouped;
use crate::site::Site;
use crate::web::badge::PROGRAMMES;
use crate::web::desk::reports::census::Census;
use crate::web::{Frame, show as shown};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/report_members.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// Whether a count is in progress, so that the page refreshes itself.
    under_way: bool,
    shown: Option<Drawn>,
}

struct Drawn {
    at: String,
    members: String,
    /// Whether there is exactly one member.
    alone: bool,
    beginners: String,
    levels: Vec<Level>,
    programmes: Vec<Programme>,
}

struct Level {
    name: String,
    holders: String,
    /// Width of the bar, of 100 units.
    width: String,
}

struct Programme {
    name: String,
    current: String,
    soon: String,
    lapsed: String,
    /// Begin and length of the parts of the bar, of 100 units.
    parts: [(String, String); 3],
}

/// `GET /desk/reports/members`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?);
    let taken = site.state::<Census>().take(site)?;
    let counted = taken.counts.map(|counts| draw(site, call, &zone, &counts));
    Ok(shown(StatusCode::OK, call.language(), &Page { frame, under_way: taken.under_way, shown: counted }))
}

fn draw(site: &Site, call: &Call, zone: &TimeZone, counts: &Counts) -> Drawn {
    let number = |number| grouped(call.language(), number);
    let most = counts.levels.iter().copied().max().unwrap_or(0).max(1);
    let of_hundred = |part: i64, whole: i64| format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64);
    let held = site.catalogue.levels().zip(&counts.levels).filter(|(_, holders)| **holders > 0);
    let level = |(level, holders): (&Held, &i64)| Level {
        name: names::say(call.language(), &level.name).to_owned(),
        holders: number(*holders),
        width: of_hundred(*holders, most),
    };
    let programme = |((_, key), states): (&(&str, &'static str), &[i64; 3])| {
        let [current, soon, lapsed] = *states;
        let whole = current + soon + lapsed;
        let part = |begin: i64, length: i64| (of_hundred(begin, whole), of_hundred(length, whole));
        let parts = [part(0, current), part(current, soon), part(current + soon, lapsed)];
        Programme { name: call.say(key), current: number(current), soon: number(soon), lapsed: number(lapsed), parts }
    };
    let programmes = PROGRAMMES.iter().zip(&counts.programmes).filter(|(_, states)| states.iter().sum::<i64>() > 0);
    Drawn {
        at: when::moment(call.language(), zone, counts.at),
        members: number(counts.members),
        alone: counts.members == 1,
        beginners: number(counts.beginners),
        levels: held.map(level).collect(),
        programmes: programmes.map(programme).collect(),
    }
}

/// `GET /desk/reports/members.csv`: levels with their holders, then programmes with their states. Before the first count is
/// complete, the reply leads to the page.
pub(crate) fn csv(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let Some(counts) = site.state::<Census>().take(site)?.counts else {
        return Ok(reply::see_other("/desk/reports/members"));
    };
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
    tables::file(call, "members.csv", &["kind", "name", "state", "members"], levels.chain(programmes))
}
