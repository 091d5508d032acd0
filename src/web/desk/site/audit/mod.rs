//! The audit log in words, the newest rows first, and the verification of its hash chain. For admins.

mod words;

use super::PART;
use crate::auth::Clerk;
use crate::domain::audit_action;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::ops::audit::Verify;
use crate::ops::audit::{VERIFIED, begin_verifying};
use crate::ops::on_demand;
use crate::site::Site;
use crate::store::tables::audit::{self, Filter, HashedRow};
use crate::web::desk::members::lookup::{Lookup, find_member};
use crate::web::{Frame, form_status, query_text, show as shown};
use askama::Template;
use words::{Named, Namer};

const ROWS_SHOWN: usize = 50;

#[derive(Template)]
#[template(path = "desk/audit.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    filter: FilterInput,
    problem: Option<String>,
    actions: Vec<(&'static str, String)>,
    /// The next page begins before the row with this number.
    older: Option<i64>,
    verdict: Verdict,
}

struct Row {
    seq: i64,
    at: String,
    actor: Named,
    action: String,
    subject: Named,
    origin: String,
}

/// The values of the filter, as typed.
#[derive(Clone)]
struct FilterInput {
    person: String,
    /// The subject of the actions.
    about: String,
    action: String,
    day: String,
    before: Option<i64>,
}

struct Verdict {
    /// CSS class.
    tone: &'static str,
    text: String,
    under_way: bool,
}

/// `GET /desk/site/audit`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?);
    // Read before the rows, so that a verification reported as complete has its row in the list.
    let verdict = verdict(site, call, &zone)?;
    let input = FilterInput::read(call);
    let (found, problem) = match input.filter(site, &zone) {
        Ok(filter) => (site.store.read(|tx| Ok(audit::list(tx, &filter, ROWS_SHOWN as i64 + 1)?))?, None),
        Err(stop) => (Vec::new(), Some(call.say(stop.denial()?))),
    };
    let older = found.get(ROWS_SHOWN).and(found.get(ROWS_SHOWN - 1)).map(|last| last.row.seq);
    let mut namer = Namer::new(site, call);
    let rows = found.iter().take(ROWS_SHOWN).map(|kept| row(&mut namer, &zone, kept));
    let status = form_status(problem.is_some());
    let page = Page {
        rows: rows.collect::<Result<_, Failure>>()?,
        actions: actions(site, call),
        verdict,
        filter: input,
        problem,
        older,
        frame,
    };
    Ok(shown(status, call.language(), &page))
}

/// `POST /desk/site/audit`: starts a verification, whose result becomes an audit row.
pub(crate) fn verify(site: &Site, _: &Call, clerk: &Clerk) -> Answer {
    begin_verifying(site, clerk.actor());
    Ok(reply::see_other(&format!("{PART}/audit#verdict")))
}

impl FilterInput {
    fn read(call: &Call) -> FilterInput {
        FilterInput {
            person: query_text(call, "person"),
            about: query_text(call, "about"),
            action: query_text(call, "what"),
            day: query_text(call, "day"),
            before: query_text(call, "before").parse().ok(),
        }
    }

    /// The filter for the store, or the key of the problem.
    fn filter(&self, site: &Site, zone: &TimeZone) -> Result<Filter, Stop<&'static str>> {
        let actor = FilterInput::log_name(site, &self.person)?;
        let subject = FilterInput::log_name(site, &self.about)?;
        let day = match (self.day.as_str(), zone.start_of_date(&self.day)) {
            ("", _) => None,
            (_, Some(start)) => Some(zone.day(start, 0)),
            (_, None) => return Err(Stop::Denied("audit.no_day")),
        };
        let action = audit_action::is_known(&self.action).then(|| self.action.clone());
        let (since, until) = (day.map(|day| day.from), day.map(|day| day.to));
        Ok(Filter { actor, subject, action, since, until, before: self.before })
    }

    /// The name of a member in the log. A number alone is accepted, because erased members stay in the log.
    fn log_name(site: &Site, typed: &str) -> Result<Option<String>, Stop<&'static str>> {
        if typed.is_empty() {
            return Ok(None);
        }
        match (site.store.read(|tx| find_member(tx, typed))?, typed.parse::<MemberId>()) {
            (Lookup::One(member_id), _) | (Lookup::Nobody, Ok(member_id)) => Ok(Some(format!("member:{member_id}"))),
            (Lookup::Nobody, Err(_)) => Err(Stop::Denied("audit.nobody")),
            (Lookup::Two, _) => Err(Stop::Denied("desk.member_two")),
        }
    }

    fn is_narrow(&self) -> bool {
        [&self.person, &self.about, &self.action, &self.day].iter().any(|typed| !typed.is_empty())
            || self.before.is_some()
    }
}

fn row(namer: &mut Namer, zone: &TimeZone, kept: &HashedRow) -> Result<Row, Failure> {
    let row = &kept.row;
    Ok(Row {
        seq: row.seq,
        at: namer.moment(zone, row.at),
        actor: namer.actor(&row.actor)?,
        action: namer.action(row)?,
        subject: namer.subject(&row.subject)?,
        origin: namer.origin(&row.origin),
    })
}

/// Prefixes of actions that occur only on sites that require waivers.
const WAIVER_ACTIONS: [&str; 5] = ["waiver.", "consent.", "emergency.", "text.", "guardian."];

/// Name and text of each action, by its text, for the filter.
fn actions(site: &Site, call: &Call) -> Vec<(&'static str, String)> {
    let occurs =
        |action: &&str| site.config.waiver.required || !WAIVER_ACTIONS.iter().any(|part| action.starts_with(part));
    let named = audit_action::all().filter(occurs).map(|action| (action, words::action_text(call.language(), action)));
    let mut named: Vec<_> = named.collect();
    named.sort_unstable_by(|one, other| one.1.cmp(&other.1));
    named
}

/// The result of the last verification, or that one is in progress.
fn verdict(site: &Site, call: &Call, zone: &TimeZone) -> Result<Verdict, Failure> {
    let say = |tone, text: Text| Verdict { tone, text: call.language().say(&text), under_way: false };
    match on_demand::last::<Verify>(site) {
        Some(run) if run.outcome.is_none() => {
            let text = Text::new("audit.under_way").with("at", when::moment(call.language(), zone, run.began_at));
            return Ok(Verdict { under_way: true, ..say("soon", text) });
        }
        Some(run) if matches!(run.outcome, Some(Err(_))) => {
            let why = run.outcome.and_then(Result::err).unwrap_or_default();
            return Ok(say("bad", Text::new("audit.failed").with("why", why)));
        }
        _ => {}
    }
    let last = site.store.read(|tx| Ok(audit::find_last(tx, VERIFIED)?))?;
    let Some(last) = last else { return Ok(say("soon", Text::new("audit.never"))) };
    let (sound, text) = words::verification_text(call.language(), zone, &last.row);
    Ok(say(if sound { "good" } else { "bad" }, text))
}
