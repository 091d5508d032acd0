//! The facts about the database: whether it takes writes and is intact, and whether the audit log is.

use super::{Depth, moment_text, or_unreadable, unreadable, zone_of};
use crate::domain::health::{Fact, State};
use crate::i18n::language::Text;
use crate::keys::hex;
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::off_site::OffSite;
use crate::ops::standby::epoch;
use crate::ops::{audit as walks, audit_end};
use crate::site::Site;
use crate::store::Condition;
use crate::store::alarm;
use crate::store::integrity::{self, Verdict};
use crate::store::tables::{audit, tunnels};

/// What the figure of the audit log says.
const AUDIT_ROWS: &str = "Rows of the audit log that were compared.";

pub(crate) fn store(site: &Site) -> Fact {
    let fenced = epoch::fenced(&site.config.data);
    let condition = match site.store.writer().condition() {
        // A machine that was replaced says so while it is stopped too.
        Condition::Healthy if fenced.is_some() => Condition::Replaced,
        condition => condition,
    };
    let trouble = match condition {
        Condition::Healthy => None,
        Condition::Full => Some(("health.store.full", "health.store.full_next")),
        Condition::Suspect => Some(("health.store.doubted", "health.store.doubted_next")),
        Condition::Damaged => Some(("health.store.damaged", "health.integrity.next")),
        Condition::Replaced => Some(("health.store.replaced", "health.store.replaced_next")),
        Condition::Stopped => Some(("health.store.stopped", "health.store.next")),
        Condition::ReadOnly => Some(("health.store.read_only", "health.store.read_only_next")),
    };
    if let Some((text, next)) = trouble {
        let other = fenced.and_then(|fenced| fenced.url).filter(|_| condition == Condition::Replaced);
        let other = other.map(|url| Text::new("health.store.replaced_by").with("url", url));
        return Fact::judged("store", State::Alarm, Text::new(text).followed_by(other), Text::new(next));
    }
    if let Some(time) = site.store.writer().hangs_for() {
        let text = Text::new("health.store.hangs").with("seconds", time.as_secs());
        return Fact::judged("store", State::Alarm, text, Text::new("health.store.hangs_next"));
    }
    let read = site.store.read(|tx| Ok(tunnels::find_site(tx)?));
    or_unreadable("store", read.map(|_| Fact::ok("store", Text::new("health.store"))))
}

/// A quick check names the newest backup, which was verified when it was made.
pub(crate) fn integrity(site: &Site, depth: Depth) -> Fact {
    if let Some(alarm) = alarm::find(&site.config.data, alarm::Kind::Damage) {
        let text =
            Text::new("health.integrity.since").with("at", moment_text(site, alarm.since)).with("what", alarm.cause);
        return Fact::judged("integrity", State::Alarm, text, Text::new("health.integrity.next"));
    }
    if let Some(alarm) = alarm::find(&site.config.data, alarm::Kind::Changed) {
        let text =
            Text::new("health.integrity.changed").with("at", moment_text(site, alarm.since)).with("what", alarm.cause);
        return Fact::judged("integrity", State::Alarm, text, Text::new("health.integrity.changed_next"));
    }
    if let Some(alarm) = alarm::find(&site.config.data, alarm::Kind::Corrected) {
        let text = Text::new("health.integrity.corrected")
            .with("at", moment_text(site, alarm.since))
            .with("what", alarm.cause);
        return Fact::judged("integrity", State::Warning, text, Text::new("health.integrity.corrected_next"));
    }
    let newest = local_store(&site.config.data).list().into_iter().next();
    let by_backup = || match &newest {
        Some(backup) => Text::new("health.integrity.copy").with("at", moment_text(site, backup.manifest.made_at)),
        None => Text::new("health.integrity.none"),
    };
    if depth == Depth::Quick {
        return Fact::ok("integrity", by_backup());
    }
    match integrity::check_store(&site.store, || false) {
        Err(cause) => unreadable("integrity", &cause),
        Ok(Verdict::Sound) => Fact::ok("integrity", Text::new("health.integrity")),
        Ok(Verdict::Unfinished) => Fact::ok("integrity", Text::new("health.integrity.part").followed_by([by_backup()])),
        Ok(Verdict::Damaged(what)) => {
            alarm::raise(&site.config.data, alarm::Kind::Damage, site.now(), &what);
            let text = Text::new("health.integrity.damaged").with("what", what);
            Fact::judged("integrity", State::Alarm, text, Text::new("health.integrity.next"))
        }
    }
}

/// Whether acknowledged writes of an earlier process were missing in the WAL.
pub(crate) fn lost_writes(site: &Site) -> Fact {
    match alarm::find(&site.config.data, alarm::Kind::LostLog) {
        None => Fact::ok("lost_writes", Text::new("health.lost_writes")),
        Some(alarm) => {
            let text = Text::new("health.lost_writes.some")
                .with("at", moment_text(site, alarm.since))
                .with("cause", alarm.cause);
            let next = Text::new("health.lost_writes.next");
            let next = match OffSite::of(site) {
                // The off-site copy began anew at that start. Where the last write is not known, the second before is the
                // end of the copy from before.
                Some(_) => Text::new("health.lost_writes.off_site")
                    .with("moment", zone_of(site).date_time_offset(alarm.last_good.unwrap_or(alarm.since - 1)))
                    .followed_by([next]),
                None => next,
            };
            Fact::judged("lost_writes", State::Alarm, text, next)
        }
    }
}

/// A quick check compares the last row with the end in the site's row.
pub(crate) fn audit(site: &Site, depth: Depth) -> Fact {
    let next = || Text::new("health.audit.next");
    if depth == Depth::Full {
        let walked = walks::walk(site, &mut |_, _, _| ());
        return or_unreadable(
            "audit",
            walked.map(|walk| match walk.broken {
                None => {
                    let text = Text::new("health.audit.whole")
                        .with_count("rows", walk.rows)
                        .with("head", first_digits(&walk.head));
                    Fact::ok("audit", text.with_count("backups", walk.witnesses))
                        .with_figure("rows", AUDIT_ROWS, walk.rows)
                }
                Some(broken) => {
                    let text = Text::new("health.audit.broken").with("row", broken.row());
                    Fact::judged("audit", State::Alarm, text, next())
                }
            }),
        );
    }
    let seen = site.store.read(|tx| {
        let head = audit::head(tx)?;
        let broken = audit_end::judge(tx, &site.config.data)?;
        let is_kept = broken.is_none() && audit::is_end_marked(tx)?;
        Ok((head, audit::list_after(tx, head.seq - 1, 2)?, is_kept))
    });
    or_unreadable(
        "audit",
        seen.map(|(head, last, is_kept)| {
            let ends_there = match &*last {
                [] => head.seq == 0,
                [only] => only.row.seq == head.seq && only.hash == head.hash,
                _ => false,
            };
            let text =
                Text::new("health.audit").with_count("rows", head.seq).with("head", first_digits(&hex(&head.hash)));
            let fact = if ends_there && is_kept {
                Fact::ok("audit", text)
            } else {
                Fact::judged("audit", State::Alarm, Text::new("health.audit.broken").with("row", head.seq), next())
            };
            fact.with_figure("rows", AUDIT_ROWS, head.seq)
        }),
    )
}

/// The first digits, enough to compare by eye.
fn first_digits(hash: &str) -> &str {
    &hash[..hash.len().min(16)]
}
