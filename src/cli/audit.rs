//! `tunneldesk audit …`: lists the audit log, and verifies its hashes.

use super::output::Done;
use super::shell::Shell;
use super::streams::Streams;
use super::{CommandError, CommandResult, Row, Table, done, failed, refused, shown_moment, text};
use crate::domain::audit_break::Break;
use crate::domain::local_time::TimeZone;
use crate::keys::hex;
use crate::moment::Moment;
use crate::ops::audit::{Walk, walk};
use crate::site::Site;
use crate::store::tables::audit::{self, Filter, HashedRow};
use crate::store::tables::{members, partners};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// The kinds of actors: the word before the colon.
const ACTOR_KINDS: [&str; 5] = ["member", "cli", "partner", "job", "sender"];
/// The kinds of subjects. There is one site, so `site` has no colon.
const SUBJECT_KINDS: [&str; 6] = ["member", "partner", "tunnel", "payment", "backup", audit::SITE];

/// Rows that a table shows without `--limit`.
const LISTED_USUAL: i64 = 50;
/// Rows that are read at a time for JSON.
const PAGE_ROWS: i64 = 1_000;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused; 2 failed, and for `verify`: the log is not what was written.")]
pub(super) enum Audit {
    /// List actions, newest first
    List(List),
    /// Read all of the log: that no row was changed, removed or put in, and that the backups remember the same
    Verify,
}

#[derive(Args)]
pub(super) struct List {
    /// Only since then: 2026-11-21, 2026-11-21T12:00 (the site's time; with Z: UTC), Unix seconds, or 90m, 24h, 7d ago
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only by one: a member's name or number, a client-id, or cli, member, partner, job, sender for all of a kind
    #[arg(long)]
    actor: Option<String>,
    /// Only to one: a member's name or number, a client-id, or site, member, partner, tunnel, payment, backup for all of a kind
    #[arg(long)]
    subject: Option<String>,
    /// Only one action, as the list names it: member.banned
    #[arg(long)]
    action: Option<String>,
    /// Rows to list: 50 unless it is said, or with --json all
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: Option<i64>,
    /// Only rows before this one: the next page begins with the last number of the one before
    #[arg(long, value_name = "NUMBER")]
    before: Option<i64>,
}

impl Audit {
    pub(super) fn run(&self, site: &Shell, streams: &mut Streams) -> CommandResult {
        match self {
            Audit::List(list) => list.run(site, streams),
            Audit::Verify => verify(&walk(site, streams.progress)?),
        }
    }
}

impl List {
    fn run(&self, site: &Shell, streams: &mut Streams) -> CommandResult {
        let named =
            |name: &Option<String>, kinds: &[&str]| name.as_deref().map(|name| resolve(site, name, kinds)).transpose();
        let filter = Filter {
            actor: named(&self.actor, &ACTOR_KINDS)?,
            subject: named(&self.subject, &SUBJECT_KINDS)?,
            action: self.action.clone(),
            since: self.since.as_deref().map(|when| moment(when, site.now(), &site.time_zone()?)).transpose()?,
            until: None,
            before: self.before,
        };
        if site.lists_all() {
            return for_machines(site, filter, self.limit.unwrap_or(i64::MAX), streams);
        }
        let rows = site.store.read(|tx| Ok(audit::list(tx, &filter, self.limit.unwrap_or(LISTED_USUAL))?))?;
        let Some(last) = rows.last() else { return text("no such action is in the log") };
        let seq = last.row.seq;
        let older = site.store.read(|tx| Ok(audit::count(tx, &Filter { before: Some(seq), ..filter })?))?;
        let left_out = match older {
            0 => String::new(),
            more => format!("\n… and {more} more: --before {seq}, or a larger --limit"),
        };
        Ok(Box::new(Table::new(rows).foot(left_out)))
    }
}

/// Prints up to `limit` rows as JSON. Rows are read and printed page by page, because the audit log grows for as long
/// as the site runs.
fn for_machines(site: &Site, mut filter: Filter, limit: i64, streams: &mut Streams) -> CommandResult {
    let mut left = limit;
    let mut before_row = '[';
    while left > 0 {
        let rows = site.store.read(|tx| Ok(audit::list(tx, &filter, left.min(PAGE_ROWS))?))?;
        let Some(last) = rows.last() else { break };
        filter.before = Some(last.row.seq);
        left -= rows.len() as i64;
        let mut page = String::new();
        for row in &rows {
            page.push(before_row);
            page += &row.value().to_string();
            before_row = ',';
        }
        (streams.part)(&page).map_err(|e| failed(format!("cannot write the result: {e}")))?;
    }
    text(if before_row == '[' { "[]" } else { "]" })
}

impl Row for HashedRow {
    const HEADINGS: &'static [&'static str] = &["NUMBER", "WHEN", "ACTOR", "ACTION", "SUBJECT", "FROM", ""];

    fn cells(&self) -> Vec<String> {
        let row = &self.row;
        let detail = match serde_json::from_str::<Value>(&row.detail) {
            Ok(Value::Object(values)) => {
                values.iter().map(|(name, value)| format!("{name} {}", shown_as(name, value))).collect()
            }
            _ => vec![row.detail.clone()],
        };
        vec![
            row.seq.to_string(),
            shown_moment(row.at),
            row.actor.clone(),
            row.action.clone(),
            row.subject.clone(),
            row.origin.clone(),
            detail.join(", "),
        ]
    }

    fn value(&self) -> Value {
        let row = &self.row;
        json!({
            "seq": row.seq, "at": row.at, "actor": row.actor, "action": row.action, "subject": row.subject, "from": row.origin,
            "detail": serde_json::from_str::<Value>(&row.detail).unwrap_or_else(|_| row.detail.as_str().into()),
            "hash": hex(&self.hash),
        })
    }
}

/// A value of a row's detail as people read it: one whose name ends with `_at` is a moment.
fn shown_as(name: &str, value: &Value) -> String {
    match value.as_i64().filter(|_| name.ends_with("_at")) {
        Some(moment) => shown_moment(Moment(moment)),
        None => value_text(value),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// The stored form of an actor or subject. A kind, alone or before a colon, has that form already; any other name is a
/// member's number, username or address, or a partner's client-id.
fn resolve(site: &Site, name: &str, kinds: &[&str]) -> Result<String, CommandError> {
    if kinds.contains(&name.split(':').next().unwrap_or(name)) {
        return Ok(name.to_owned());
    }
    // An erased member is still in the audit log, so the number need not be that of a member.
    if let Ok(member_id) = name.parse::<i64>() {
        return Ok(format!("member:{member_id}"));
    }
    let (member, partner) = site.store.read(|tx| {
        Ok::<_, crate::http::failure::Failure>((members::find_account(tx, name)?, partners::find(tx, name)?))
    })?;
    match (member, partner) {
        (Some(account), _) => Ok(format!("member:{}", account.member_id)),
        (None, Some(_)) => Ok(format!("partner:{name}")),
        (None, None) => Err(refused(format!(
            "nobody goes by {name}: give a username, an e-mail address, a number, a client-id, or one of these, alone or as \
             the list shows it, like member:7: {}",
            kinds.join(", ")
        ))),
    }
}

/// A moment as it is typed, in the site's time zone unless it ends with Z or an offset.
fn moment(text: &str, now: Moment, zone: &TimeZone) -> Result<Moment, CommandError> {
    let ago = |unit: char, seconds: i64| {
        let count: i64 = text.strip_suffix(unit)?.parse().ok().filter(|count| *count >= 0)?;
        Some(Moment(now.0.saturating_sub(count.saturating_mul(seconds))))
    };
    let ago = ago('m', 60).or_else(|| ago('h', 3_600)).or_else(|| ago('d', 86_400));
    let seconds = || text.parse().ok().map(Moment);
    let date = || {
        text.strip_suffix('Z').map_or_else(|| zone.parse_moment(text), |written| TimeZone::UTC.parse_moment(written))
    };
    ago.or_else(seconds).or_else(date).ok_or_else(|| {
        refused(format!("--since {text} is no moment: give 2026-11-21, 2026-11-21T12:00, Unix seconds, 90m, 24h or 7d"))
    })
}

fn verify(walk: &Walk) -> CommandResult {
    let mut values =
        json!({ "sound": walk.broken.is_none(), "rows": walk.rows, "head": walk.head, "witnesses": walk.witnesses });
    let Some(broken) = &walk.broken else {
        let backups = match walk.witnesses {
            0 => "no backup remembers it yet".to_owned(),
            1 => "1 backup remembers the same".to_owned(),
            many => format!("{many} backups remember the same"),
        };
        let words =
            format!("The audit log is intact: {} rows, {backups}.\nThe last fingerprint is {}.", walk.rows, walk.head);
        return done(words, values);
    };
    values["row"] = json!(broken.row());
    values["broken"] = json!(broken);
    // What is left may be what somebody else wrote, all of it.
    let are = if matches!(broken, Break::EndDiffers { .. }) { "fit together" } else { "are intact" };
    let words = format!(
        "the audit log is not what was written: {broken}; rows 1 to {} {are}. Keep the database and the backups: they \
         are evidence",
        walk.rows
    );
    Err(CommandError::FailedReport(Box::new(Done { words, values })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_a_number_or_a_time_ago() {
        let now = 1_800_000_000;
        let read = |text| moment(text, Moment(now), &TimeZone::UTC).ok();
        assert_eq!(read("2027-01-15"), Some(Moment(1_799_971_200)));
        assert_eq!(read("2027-01-15T08:00"), Some(Moment(now)));
        assert_eq!(read("2027-01-15T08:00:00Z"), Some(Moment(now)));
        assert_eq!(
            moment("2027-01-15T08:00", Moment(now), &TimeZone::named("Europe/Zurich")).ok(),
            Some(Moment(now - 3_600))
        );
        assert_eq!(moment("2027-01-15T08:00Z", Moment(now), &TimeZone::named("Europe/Zurich")).ok(), Some(Moment(now)));
        assert_eq!(
            moment("2027-01-15T10:00:00+02:00", Moment(now), &TimeZone::named("Europe/Zurich")).ok(),
            Some(Moment(now))
        );
        assert_eq!(read("1799999999"), Some(Moment(now - 1)));
        assert_eq!(
            (read("90m"), read("24h"), read("7d")),
            (Some(Moment(now - 5_400)), Some(Moment(now - 86_400)), Some(Moment(now - 604_800)))
        );
        for odd in ["", "yesterday", "7 d", "-1d", "2027-13-01", "m"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
