//! The facts about the services of the site: backups, replication, messages, the certificate, sign-ins.

use super::{moment_text, or_unreadable};
use crate::auth::hidden_callers;
use crate::auth::limits::booking_pins;
use crate::auth::limits::messages::{self, DailyQuota};
use crate::auth::origin;
use crate::auth::social;
use crate::domain::health::{
    self, CERTIFICATE_SECONDS_ALARM, CERTIFICATE_SECONDS_WARNING, DRILL_SECONDS_WARNING, Fact, MISSES_ALARM,
    MISSES_WARNING, OUTBOX_SECONDS_ALARM, OUTBOX_SECONDS_WARNING, PROXY_SECONDS, SOCIAL_KEYS_SECONDS_WARNING,
    SYNC_SECONDS_ALARM, SYNC_SECONDS_WARNING, State,
};
use crate::i18n::language::Text;
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::drill;
use crate::ops::backup::off_site;
use crate::ops::signature::Signer;
use crate::ops::tls;
use crate::ops::upstream;
use crate::site::Site;
use crate::store::alarm;
use crate::store::tables::outbox::Channel;
use crate::store::tables::tls::Kind;
use crate::store::tables::{failed_attempts, hooks, outbox};

const DAY_SECONDS: i64 = 86_400;

pub(crate) fn certificate(site: &Site) -> Fact {
    let config = &site.config.tls;
    if config.listen.is_empty() {
        return Fact::ok("certificate", Text::new("health.certificate.unused"));
    }
    let (ends_at, next) = match &config.files {
        Some(files) => (
            tls::ends_at_of_file(&files.certificate),
            Text::new("health.certificate.next_files").with("path", files.certificate.display()),
        ),
        None => (
            tls::find(site, Kind::Server).ok().flatten().map(|made| made.ends_at),
            Text::new("health.certificate.next"),
        ),
    };
    let Some(ends_at) = ends_at else {
        return Fact::judged("certificate", State::Alarm, Text::new("health.certificate.none"), next);
    };
    let left = ends_at - site.now();
    let state = State::below(left, CERTIFICATE_SECONDS_WARNING, CERTIFICATE_SECONDS_ALARM);
    let text = Text::new("health.certificate")
        .with("at", moment_text(site, ends_at))
        .with("days", left.div_euclid(DAY_SECONDS));
    Fact::judged("certificate", state, text, next).with_figure(
        "days_left",
        "Days until the certificate of https expires.",
        left.div_euclid(DAY_SECONDS),
    )
}

/// The files of the keys by which members sign in with other networks, which the operator keeps current.
pub(crate) fn social_keys(site: &Site) -> Fact {
    let files = social::look_at_keys(&site.config.social);
    let judge = |file: &social::KeysFile| {
        let text = |key| Text::new(key).with("path", file.path.display());
        let next = Text::new("health.social_keys.next").with("network", file.network);
        match &file.age {
            Err(cause) => {
                let text = text("health.social_keys.broken").with("cause", cause);
                Some(Fact::judged("social_keys", State::Alarm, text, next))
            }
            Ok(age) if *age > SOCIAL_KEYS_SECONDS_WARNING => {
                let text = text("health.social_keys.old").with("at", moment_text(site, site.now() - *age));
                Some(Fact::judged("social_keys", State::Warning, text, next))
            }
            Ok(_) => None,
        }
    };
    let worst = files.iter().filter_map(judge).max_by_key(|fact| fact.state);
    let fine = if files.is_empty() { "health.social_keys.unused" } else { "health.social_keys" };
    worst.unwrap_or_else(|| Fact::ok("social_keys", Text::new(fine)))
}

/// Forms that were refused because of where they came from. `None`: none lately. One alone may be another site's; where the
/// proxy passes another `Host` on than the browser's, it is every form of this one.
pub(crate) fn refused_forms(site: &Site) -> Option<Fact> {
    let last = origin::last_refused(site).filter(|last| site.now() - last.at < PROXY_SECONDS)?;
    let text = Text::new("health.forms")
        .with("at", moment_text(site, last.at))
        .with("from", &last.from)
        .with("host", &last.host);
    Some(Fact::judged("forms", State::Warning, text, Text::new("health.forms.next").with("from", last.from)))
}

/// A proxy that does not say who calls. `None`: none lately.
pub(crate) fn hidden_callers(site: &Site) -> Option<Fact> {
    let last = hidden_callers::last(site).filter(|last| site.now() - last.at < PROXY_SECONDS)?;
    let text = Text::new("health.callers").with("at", moment_text(site, last.at)).with("proxy", last.proxy);
    Some(Fact::judged("callers", State::Warning, text, Text::new("health.callers.next").with("proxy", last.proxy)))
}

pub(crate) fn backup(site: &Site) -> Fact {
    if let Some(alarm) = alarm::find(&site.config.data, alarm::Kind::Backup) {
        let text =
            Text::new("health.backup.failed").with("at", moment_text(site, alarm.since)).with("cause", alarm.cause);
        return Fact::judged("backup", State::Alarm, text, Text::new("health.backup.next"));
    }
    if let Some(alarm) = alarm::find(&site.config.data, alarm::Kind::SpoiltBackup) {
        let text =
            Text::new("health.backup.spoilt").with("at", moment_text(site, alarm.since)).with("name", alarm.cause);
        return Fact::judged("backup", State::Alarm, text, Text::new("health.backup.spoilt_next"));
    }
    let made = |backup: &Backup| backup.manifest.made_at <= site.now();
    let Some(newest) = local_store(&site.config.data).list().into_iter().find(made) else {
        return Fact::judged(
            "backup",
            State::Warning,
            Text::new("health.backup.none"),
            Text::new("health.backup.next_first"),
        );
    };
    let age = site.now() - newest.manifest.made_at;
    let state = health::backup(age, site.config.backup.every_hours * 3_600);
    let text =
        Text::new("health.backup").with("at", moment_text(site, newest.manifest.made_at)).with("name", newest.name());
    Fact::judged("backup", state, text, Text::new("health.backup.next")).with_figure(
        "age_seconds",
        "Age of the newest local backup.",
        age,
    )
}

/// The fingerprint of the key by which copies are signed: a new machine knows the site by it.
pub(crate) fn signature(site: &Site) -> Fact {
    match Signer::open(&site.config.data) {
        Ok(Some(signer)) => {
            let text = Text::new("health.signature").with("fingerprint", signer.public().fingerprint());
            match off_site::find_foreign_signature(site, &signer) {
                None => Fact::ok("signature", text),
                Some((name, former)) => {
                    let former = former.fingerprint();
                    let lost = Text::new("health.signature.lost").with("name", name).with("former", &former);
                    let next = Text::new("health.signature.next_lost").with("former", former);
                    Fact::judged("signature", State::Warning, text.followed_by([lost]), next)
                }
            }
        }
        Ok(None) => Fact::ok("signature", Text::new("health.signature.none")),
        Err(cause) => {
            let text = Text::new("health.signature.damaged").with("cause", cause);
            Fact::judged("signature", State::Alarm, text, Text::new("health.signature.next"))
        }
    }
}

pub(crate) fn drill(site: &Site) -> Fact {
    let next = Text::new("health.drill.next");
    let Some(last) = drill::last(&site.config.data) else {
        // The server runs the first drill by itself.
        return match local_store(&site.config.data).list().last() {
            Some(oldest) if site.now() - oldest.manifest.made_at > DAY_SECONDS => {
                Fact::judged("drill", State::Warning, Text::new("health.drill.none"), next)
            }
            _ => Fact::ok("drill", Text::new("health.drill.due")),
        };
    };
    let (at, name) = (moment_text(site, last.at), &last.backup);
    if !last.trouble.is_empty() {
        let text = Text::new("health.drill.failed").with("at", at).with("name", name).with("cause", last.trouble);
        return Fact::judged("drill", State::Alarm, text, Text::new("health.drill.next_failed"));
    }
    let age = site.now() - last.at;
    let state = State::above(age, DRILL_SECONDS_WARNING, i64::MAX);
    let text = match last.moment {
        None => Text::new("health.drill").with("at", at).with("name", name),
        Some(moment) => Text::new("health.drill.off_site").with("at", at).with("moment", moment_text(site, moment)),
    };
    Fact::judged("drill", state, text, next).with_figure(
        "age_seconds",
        "Time since a backup was last restored and checked.",
        age,
    )
}

/// Without a mail server or an SMS gateway the desk reads messages out, and none is late.
pub(crate) fn outbox(site: &Site) -> Fact {
    let sends = site.config.mail.is_some() || site.config.sms.is_some();
    let seen = site.store.read(|tx| Ok((outbox::counts(tx)?, outbox::find_oldest_due(tx, site.now())?)));
    let fact = seen.map(|((waiting, dead), oldest)| {
        let lag = oldest.filter(|_| sends).map_or(0, |since| site.now() - since);
        let state = State::above(lag, OUTBOX_SECONDS_WARNING, OUTBOX_SECONDS_ALARM);
        let state = if dead > 0 { state.max(State::Warning) } else { state };
        let key = if sends { "health.outbox" } else { "health.outbox.unsent" };
        let text = Text::new(key).with_count("waiting", waiting).with_count("dead", dead);
        let since = oldest.filter(|_| lag > OUTBOX_SECONDS_WARNING);
        let text = text.followed_by(since.map(|at| Text::new("health.outbox.since").with("at", moment_text(site, at))));
        Fact::judged("outbox", state, text, Text::new("health.outbox.next")).with_figure(
            "lag_seconds",
            "For how long the oldest message has waited.",
            lag,
        )
    });
    or_unreadable("outbox", fact)
}

/// How far the sync is behind, and whether its receiver refuses rows.
pub(crate) fn sync(site: &Site) -> Fact {
    if site.config.sync.is_none() {
        return Fact::ok("sync", Text::new("health.sync.unused"));
    }
    let fact = upstream::status(site).map(|status| {
        let late = State::above(status.lag_seconds, SYNC_SECONDS_WARNING, SYNC_SECONDS_ALARM);
        let state = if status.refused_rows > 0 { late.max(State::Warning) } else { late };
        let text = Text::new("health.sync")
            .with_count("waiting", status.waiting_rows)
            .with_count("refused", status.refused_rows);
        Fact::judged("sync", state, text, Text::new("health.sync.next")).with_figure(
            "lag_seconds",
            "For how long the oldest row has waited for the receiver upstream.",
            status.lag_seconds,
        )
    });
    or_unreadable("sync", fact)
}

/// A partner that sends too many wrong PINs may have lost its key to an attacker.
pub(crate) fn partners(site: &Site) -> Fact {
    let fact = site.store.read(|tx| booking_pins::count_paused_partners(site, tx, site.now())).map(|paused| {
        let state = State::above(paused, 0, i64::MAX);
        let key = if paused > 0 { "health.partners.paused" } else { "health.partners" };
        let text = Text::new(key).with_count("count", paused);
        Fact::judged("partners", state, text, Text::new("health.partners.next")).with_figure(
            "paused",
            "Partners whose PINs are paused after wrong ones.",
            paused,
        )
    });
    or_unreadable("partners", fact)
}

/// Webhooks that ended by themselves are an alarm until they are removed or go on; those that fail are a warning.
pub(crate) fn hooks(site: &Site) -> Fact {
    let fact = site.store.read(|tx| Ok(hooks::list(tx)?)).map(|all| {
        let in_trouble = || all.iter().filter(|hook| !hook.revoked && (hook.is_broken() || hook.is_failing()));
        let ended = all.iter().filter(|hook| !hook.revoked && hook.is_broken()).count() as i64;
        let failing = in_trouble().count() as i64 - ended;
        let (waiting, dead) = in_trouble().fold((0, 0), |(w, d), hook| (w + hook.waiting, d + hook.dead));
        let state = if ended > 0 { State::Alarm } else { State::above(failing, 0, i64::MAX) };
        let text = match ended + failing {
            0 => Text::new("health.hooks"),
            count => Text::new("health.hooks.fail")
                .with_count("count", count)
                .with_count("waiting", waiting)
                .with_count("dead", dead),
        };
        Fact::judged("hooks", state, text, Text::new("health.hooks.next")).with_figure(
            "webhooks",
            "Webhooks that fail or ended by themselves.",
            ended + failing,
        )
    });
    or_unreadable("hooks", fact)
}

/// Once the day's passcodes are used up no more are sent; to unknown devices, once half of them are. An attacker may be asking
/// for them in the names of members.
pub(crate) fn passcodes(site: &Site) -> Fact {
    let used_up = site.store.read(|tx| {
        let sms = if site.config.limits.sms_per_day == 0 {
            DailyQuota::Available
        } else {
            messages::daily_quota(site, tx, Channel::Sms)?
        };
        Ok((messages::daily_quota(site, tx, Channel::Email)?, sms))
    });
    let fact = used_up.map(|used_up| {
        let key = match used_up {
            (DailyQuota::UsedUp, DailyQuota::UsedUp) => "health.passcodes.both",
            (DailyQuota::UsedUp, _) => "health.passcodes.mails",
            (_, DailyQuota::UsedUp) => "health.passcodes.sms",
            (DailyQuota::Available, DailyQuota::Available) => "health.passcodes",
            (DailyQuota::AnonymousUsedUp, _) | (_, DailyQuota::AnonymousUsedUp) => "health.passcodes.strangers",
        };
        let state = if key == "health.passcodes" { State::Ok } else { State::Warning };
        Fact::judged("passcodes", state, Text::new(key), Text::new("health.passcodes.next"))
    });
    or_unreadable("passcodes", fact)
}

pub(crate) fn sign_ins(site: &Site) -> Fact {
    let seen = site.store.read(|tx| Ok(failed_attempts::count_since(tx, site.now() - DAY_SECONDS)?));
    let fact = seen.map(|count| {
        let state = State::above(count, MISSES_WARNING, MISSES_ALARM);
        let text = Text::new("health.sign_ins").with_count("count", count);
        Fact::judged("sign_ins", state, text, Text::new("health.sign_ins.next")).with_figure(
            "failed_last_day",
            "Wrong passwords and codes within a day.",
            count,
        )
    });
    or_unreadable("sign_ins", fact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, OffSiteLocation};
    use crate::ops::tests::new_site;
    use crate::store::data_dir::DataDir;

    #[test]
    fn nobody_waits_for_the_off_site_target_with_a_snapshot() {
        let (dir, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut config = Config { data: dir.path().to_owned(), ..Config::defaults() };
        config.backup.off_site = Some(OffSiteLocation::Directory(second.path().to_owned()));
        let site = new_site(&DataDir::lock(dir.path()).unwrap(), config);
        assert_eq!(sign_ins(&site).state, State::Ok);
        assert!(site.store.has_snapshot());
        assert_eq!(super::super::copies::off_site_backup(&site).name, "off_site_backup");
        assert!(!site.store.has_snapshot());
    }
}
