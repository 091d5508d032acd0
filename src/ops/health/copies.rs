//! The facts about the copies of the site: off site, and on the standby.

use super::{moment_text, shown_bytes};
use crate::domain::health::{self, Fact, OFF_SITE_BASE_SECONDS_ALARM, OFF_SITE_SECONDS_ALARM, State};
use crate::domain::standby::Wait;
use crate::i18n::language::Text;
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::off_site::mount::is_same_disk;
use crate::ops::replication;
use crate::ops::standby::{self, epoch};
use crate::site::Site;

/// Whether the off-site copy is as new as the local backup.
pub(crate) fn off_site_backup(site: &Site) -> Fact {
    let Some(off_site) = OffSite::of(site) else {
        let (text, next) = (Text::new("health.off_site_backup.none"), Text::new("health.off_site_backup.next_first"));
        return Fact::judged("off_site_backup", State::Warning, text, next);
    };
    let target = off_site.target();
    let is_bucket = target.path().is_none();
    let next = if is_bucket { "health.off_site_backup.next_store" } else { "health.off_site_backup.next" };
    let next = Text::new(next).with("dir", target);
    // Listing the target may take seconds, so the snapshot of the database is released first.
    site.store.release();
    // A failing bucket answers slowly; the replication thread knows of its trouble.
    let watched = replication::status(site).filter(|_| is_bucket);
    let trouble = watched.as_ref().and_then(|status| status.trouble.clone());
    let known = watched.and_then(|_| off_site.newest_known());
    let newest = match (trouble, known) {
        (Some(trouble), _) => Err(trouble),
        (None, Some(known)) => Ok(Some(known)),
        (None, None) => off_site.list().map(|listing| listing.backups.into_iter().next()),
    };
    let newest = match newest {
        Ok(newest) => newest,
        Err(cause) => {
            let text = match cause == off_site.no_answer() {
                true => Text::new("health.off_site_backup.silent").with("dir", target),
                false => Text::new("health.off_site_backup.refused").with("cause", cause),
            };
            return Fact::judged("off_site_backup", State::Alarm, text, next);
        }
    };
    let made_at = |backup: &Backup| backup.manifest.made_at;
    let (local, copied) = (local_store(&site.config.data).list().first().map(made_at), newest.as_ref().map(made_at));
    let text = match copied {
        Some(at) => Text::new("health.off_site_backup").with("dir", target).with("at", moment_text(site, at)),
        None => Text::new("health.off_site_backup.empty").with("dir", target),
    };
    let state = match (local, copied) {
        (Some(local), Some(copied)) => health::backup(local - copied, site.config.backup.every_hours * 3_600),
        (Some(_), None) => State::Alarm,
        (None, _) => State::Ok,
    };
    let on_same_disk = state == State::Ok && target.path().is_some_and(|dir| is_same_disk(&site.config.data, &dir));
    let fact = match on_same_disk {
        true => {
            let text = text.followed_by([Text::new("health.off_site_backup.same_disk")]);
            Fact::judged("off_site_backup", State::Warning, text, Text::new("health.off_site_backup.next_first"))
        }
        false => Fact::judged("off_site_backup", state, text, next),
    };
    match copied {
        Some(at) => {
            fact.with_figure("base_age_seconds", "Age of the newest base in the off-site copy.", site.now() - at)
        }
        None => fact,
    }
}

/// How far the off-site copy is behind the last write.
pub(crate) fn off_site_replication(site: &Site) -> Fact {
    let Some(status) = replication::status(site) else {
        let is_set = OffSite::of(site).is_some();
        let key = if is_set { "health.off_site.ended" } else { "health.off_site.unused" };
        return Fact::ok("off_site", Text::new(key));
    };
    let late = State::above(status.behind_seconds, OFF_SITE_SECONDS_ALARM, OFF_SITE_SECONDS_ALARM);
    let (key, state) = match status.has_chain {
        true => ("health.off_site", late),
        // A base takes a while. As long as nobody writes, a restore from the one before loses nothing.
        false
            if status.trouble.is_none()
                && status.behind_bytes == 0
                && status.behind_seconds <= OFF_SITE_BASE_SECONDS_ALARM =>
        {
            ("health.off_site.begins", late.min(State::Warning))
        }
        false => ("health.off_site.begins", late),
    };
    let state = if status.other_machine.is_some() { State::Alarm } else { state };
    let other_machine = status.other_machine.filter(|cause| status.trouble.as_ref() != Some(cause));
    let trouble = |cause: String| Text::new("health.off_site.trouble").with("cause", cause);
    let text = Text::new(key)
        .with_count("seconds", status.behind_seconds)
        .with("bytes", shown_bytes(status.behind_bytes))
        .followed_by(status.trouble.map(trouble))
        .followed_by(other_machine.map(|cause| Text::new("health.off_site.stranger").with("cause", cause)))
        .followed_by(status.replaces.then(|| Text::new("health.off_site.replaces")));
    let is_bucket = OffSite::of(site).is_some_and(|off_site| off_site.target().path().is_none());
    let next = if is_bucket { "health.off_site.next_store" } else { "health.off_site.next" };
    Fact::judged("off_site", state, text, Text::new(next)).with_figure(
        "lag_seconds",
        "For how long the oldest write has not been in the off-site copy.",
        status.behind_seconds,
    )
}

/// On a promoted machine: whether the replaced one knows of it. `None`: this machine replaced none, or was replaced itself.
pub(crate) fn promotion(site: &Site) -> Option<Fact> {
    let data = &site.config.data;
    let other = epoch::own(data).other.filter(|_| epoch::fenced(data).is_none())?;
    let text = |key: &'static str| Text::new(key).with("url", &other.url);
    Some(match other.knows {
        true => Fact::ok("promotion", text("health.promotion")),
        false => {
            let next = Text::new("health.promotion.next");
            Fact::judged("promotion", State::Warning, text("health.promotion.untold"), next)
        }
    })
}

/// How far the standby is behind. `None`: there is no standby.
pub(crate) fn standby(site: &Site) -> Option<Fact> {
    let status = standby::status(site)?;
    let late = State::above(status.behind_seconds, OFF_SITE_SECONDS_ALARM, OFF_SITE_SECONDS_ALARM);
    let (key, state) = match status.is_attached {
        true => ("health.standby", late),
        false => ("health.standby.away", late.max(State::Warning)),
    };
    let without = match site.config.replica.wait {
        Wait::Never => None,
        Wait::InStep => Some("health.standby.alone"),
        Wait::Refuse => Some("health.standby.refuses"),
    };
    let without = without.filter(|_| !status.is_in_step);
    let state = if without.is_some() { State::Alarm } else { state };
    let state = if status.has_second { state.max(State::Warning) } else { state };
    let text = Text::new(key)
        .with_count("seconds", status.behind_seconds)
        .with("bytes", shown_bytes(status.behind_bytes))
        .followed_by(without.map(Text::new))
        .followed_by(status.has_second.then(|| Text::new("health.standby.second")));
    let next = if status.has_second { "health.standby.second_next" } else { "health.standby.next" };
    let fact = Fact::judged("standby", state, text, Text::new(next));
    Some(fact.with_figure(
        "lag_seconds",
        "For how long the standby has missed the oldest write that it lacks.",
        status.behind_seconds,
    ))
}
