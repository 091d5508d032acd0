//! `tunneldesk import`: imports a list of members, logbook entries or bookings from CSV, as a whole or not at all.

use super::shell::Shell;
use super::streams::Streams;
use super::{CommandError, CommandResult, done, failed, refused};
use crate::app::import_export::{self, Attention, Difference, GivenRole, ImportCounts, Kind, Mistake, Mode, Refusal};
use crate::app::{Change, RankedActor};
use crate::domain::audit::Subject;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::Path;

/// Mistakes that an import shows; a dry run shows every mistake.
const MISTAKES_SHOWN: usize = 50;

#[derive(Args)]
pub(super) struct Import {
    #[command(subcommand)]
    list: List,
}

const HELP: &str = "CSV in UTF-8 with a line of headings; commas, semicolons or tabs, as spreadsheets write it. Moments are a \
    day of the site (2026-11-21, 21.11.2026, 2026/11/21 or 20261121), a time of its clock (2026-11-21 14:30), a moment with its \
    offset (2026-11-21T14:30:00+01:00, or Z for UTC) or Unix seconds. A list is taken whole or not at \
    all, in one transaction; the same list again changes nothing. What `tunneldesk export` writes can be imported as it is: members \
    first (with --roles where staff is among them), then bookings, then the logbook. Exit codes: 0 done; 1 refused, with every mistake by line and column; 2 failed.";

#[derive(Subcommand)]
enum List {
    /// Members. A member whose username is known already is left unchanged
    #[command(
        after_help = HELP,
        long_about = "Columns: username, real_name, email (needed); screen_name, email_confirmed_at, phone, phone_confirmed_at, \
        country, country_code, dob, tunnel, role, terms_accepted_at, paid_until, banned_at, join_date, language.\n\n\
        A username that is here already with the same address is passed over, and its member stays as he is, or gets the \
        values of the list with --update; with another address it is a mistake. paid_until is the last day that is paid for. Passwords do not move along: members set one by the way back in for a forgotten password, \
        which needs a confirmed address. A row with another role than member gives the rights of staff, so it is a mistake \
        without --roles."
    )]
    Members(MembersFrom),
    /// Logbook entries of any kind. An entry that is here already, value for value, is not entered again
    #[command(
        after_help = HELP,
        long_about = "Columns: username, kind (time, skill or safety), entry_date (needed); minutes (needed for time; 15 or \
        0:15), status, tunnel, skill (its number in the catalogue), instructor, approval_date, comment, comments_instructor, \
        comment_denial, author, opening, booking.\n\nPeople are named by username. What is open counts as signed, as it did \
        where it comes from. An entry that is here already, value for value, is not entered again; two alike in one list are \
        two. opening: entries of one opening balance have the same number there. booking: CLIENT-ID/registration/NUMBER."
    )]
    Logbook(From),
    /// Bookings of partners. One that is here already must be the same
    #[command(
        after_help = HELP,
        long_about = "Columns: client_id, username, flight_date, minutes_booked, tunnel_id (needed); registration_id, \
        purchase_id, purchase_date, product_id, checkin_time.\n\nThe partner must be known here by its client-id \
        (`tunneldesk partner add --client-id`). A booking is known by its registration_id, else by purchase_id and flight, \
        else by member and flight; one that is here already with other values is a mistake. History and flight time are not \
        made from bookings that are imported."
    )]
    Bookings(From),
}

#[derive(Args)]
struct MembersFrom {
    #[command(flatten)]
    from: From,
    /// Change known members where the list has other values: name, screen name, country, day of birth, tunnel, paid_until,
    /// join_date and language, never how a member is reached or signs in, a role, a ban, or staff. With --dry-run each change
    /// is shown
    #[arg(long)]
    update: bool,
    /// Take roles above member (desk, admin, sync) from the list too
    #[arg(long)]
    roles: bool,
}

#[derive(Args)]
struct From {
    file: std::path::PathBuf,
    /// Only say what would be done, or every mistake
    #[arg(long)]
    dry_run: bool,
}

impl Import {
    fn parts(&self) -> (Kind, &From, [&'static str; 2]) {
        match &self.list {
            List::Members(members) => (Kind::Members, &members.from, ["member", "members"]),
            List::Logbook(from) => (Kind::Logbook, from, ["entry", "entries"]),
            List::Bookings(from) => (Kind::Bookings, from, ["booking", "bookings"]),
        }
    }

    pub(super) fn file(&self) -> &Path {
        &self.parts().1.file
    }

    pub(super) fn run(&self, site: &Shell, streams: &mut Streams) -> CommandResult {
        let (kind, from, what) = self.parts();
        let (list, bytes) = streams.attached.as_mut().ok_or_else(|| failed("the list did not come along"))?;
        let action = match kind {
            Kind::Members => "members.imported",
            Kind::Logbook => "entries.imported",
            Kind::Bookings => "bookings.imported",
        };
        let (update, roles) = match &self.list {
            List::Members(members) => (members.update, members.roles),
            _ => (false, false),
        };
        let mode = Mode { dry: from.dry_run, update, roles };
        let record =
            |cx: &Change, taken: &ImportCounts| cx.record(action, &Subject::Site, &import_export::audit_detail(taken));
        let owner = RankedActor::owner(site.actor());
        let attention = Attention { progress: streams.progress, beside: Some((&owner, &record)), look: None };
        let outcome = import_export::import(site, kind, *list, *bytes, mode, attention);
        let ImportCounts { new, changed, same, changes, roles } =
            outcome.map_err(|refusal| trouble(refusal, from.dry_run))?;
        if !from.dry_run {
            tracing::info!(what = what[1], new, changed, same, "a list was imported from the shell");
        }
        let verb = if from.dry_run { "No mistake. Would take" } else { "Took" };
        let what = if new == 1 { what[0] } else { what[1] };
        let updated = match (changed, from.dry_run) {
            (0, _) => String::new(),
            (_, true) => format!("; would change {changed}"),
            (_, false) => format!("; changed {changed}"),
        };
        let rest = match same {
            0 => String::new(),
            1 => "; one is here already and stays as it is".to_owned(),
            many => format!("; {many} are here already and stay as they are"),
        };
        let listed: String = changes.iter().map(|change| format!("\n  {}", difference(change))).collect();
        let shown = if from.dry_run { listed } else { String::new() };
        let said = format!("{verb} {new} {what}{}{updated}{rest}.{shown}", roles_text(&roles));
        let roles: Vec<_> =
            roles.iter().map(|given| json!({ "username": given.username, "role": given.role.name() })).collect();
        let values = json!({
            "new": new, "changed": changed, "same": same, "roles": roles, "dry_run": from.dry_run, "changes": changes,
        });
        done(said, values)
    }
}

/// Which of the new members have more rights than a member.
fn roles_text(roles: &[GivenRole]) -> String {
    let given: Vec<_> = roles.iter().map(|given| format!("{} as {}", given.username, given.role.name())).collect();
    if given.is_empty() { String::new() } else { format!(", among them {}", given.join(", ")) }
}

fn difference(change: &Difference) -> String {
    let Difference { line, of, field, from, to } = change;
    format!("line {line}, {of}: {field} {from:?} becomes {to:?}")
}

fn trouble(refusal: Refusal, all: bool) -> CommandError {
    match refusal {
        Refusal::Failed(failure) => failure.into(),
        Refusal::Unreadable(text) => refused(format!("nothing was taken: {}", text.in_english())),
        Refusal::Mistakes(mistakes, count) => refused(mistake_list(&mistakes, count, all)),
    }
}

fn mistake_list(mistakes: &[Mistake], count: u64, all: bool) -> String {
    let most = if all { mistakes.len() } else { MISTAKES_SHOWN };
    let s = if count == 1 { "" } else { "s" };
    let mut lines = vec![format!("nothing was taken, because the list has {count} mistake{s}:")];
    lines.extend(mistakes.iter().take(most).map(|mistake| format!("  {mistake}")));
    let more = (count + 1).saturating_sub(lines.len() as u64);
    if more > 0 {
        let hint = if all { "" } else { "; --dry-run shows all" };
        lines.push(format!("  … and {more} more{hint}"));
    }
    lines.join("\n")
}
