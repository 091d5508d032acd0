//! The desk's to-do list.

use crate::app::waivers;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::joins::{self, AlikeAccounts};
use crate::store::tables::refused_check_ins::{self, RefusedCheckIn};
use crate::store::tables::site_texts::{self, Kind};
use crate::store::tables::{contact, hooks, outbox, payments, signers, skills, till};

/// Refused check-ins that are listed; the others follow once these are settled.
const REFUSED_MAX: i64 = 10;
/// People who may be known members that are listed; the others follow.
const ALIKES_MAX: i64 = 10;

/// A kind of pending work with its count; kinds with none are left out.
pub(super) struct Task {
    pub tone: &'static str,
    pub text: String,
    /// Path of the page where the work is done.
    pub path: String,
}

/// The work that waits. `admin`: whether it is listed for an admin, who may join accounts, and sees what clerks undid and which webhooks
/// fail.
pub(super) fn list(site: &Site, language: Language, admin: bool) -> Result<Vec<Task>, Failure> {
    let (sign_offs, contacts, (queued, dead), questions, undecided) = site.store.read(|tx| {
        let (questions, undecided) = (payments::count_questions(tx)?, waivers::count_undecided(site, tx)?);
        Ok((skills::count_pending(tx)?, contact::count_open(tx)?, outbox::counts(tx)?, questions, undecided))
    })?;
    // Without a mail server, messages wait for the desk to read them out.
    let unsent = if site.config.mail.is_none() { queued } else { 0 };
    let suspect = i64::from(site.clock.is_suspect());
    let Unready { no_waiver_text, no_signer, no_name } = Unready::of(site)?;
    let ((undone, first_undone), (partner, broken_hooks)) = match admin {
        true => site.store.read(|tx| Ok((till::find_unreviewed(tx)?, hooks::find_broken(tx)?)))?,
        false => ((0, 0), (None, 0)),
    };
    let kinds = [
        (suspect, "bad", "desk.waits_clock", "/desk/site"),
        (no_waiver_text, "bad", "desk.waits_waiver_text", "/desk/texts"),
        (dead, "bad", "desk.waits_dead", "/desk/messages?box=dead"),
        (undecided, "soon", "desk.waits_waivers", "/desk/waivers"),
        (sign_offs, "plain", "desk.waits_sign_offs", "/desk/sign-offs"),
        (questions, "plain", "desk.waits_payments", "/desk/payments"),
        (contacts, "plain", "desk.waits_contacts", "/desk/messages?box=contact"),
        (unsent, "plain", "desk.waits_unsent", "/desk/messages?box=waiting"),
        (no_signer, "soon", "desk.waits_signer", "/desk/site/signers"),
        (no_name, "soon", "desk.waits_name", "/desk/site/settings#addresses"),
    ];
    let waits = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let counted = waits.map(|(count, tone, key, path)| Task {
        tone,
        text: language.say(&Text::new(key).with_count("count", count)),
        path: path.to_owned(),
    });
    let undone = (undone > 0).then(|| Task {
        tone: "soon",
        text: language.say(&Text::new("desk.waits_undone").with_count("count", undone)),
        path: format!("/desk/till/entries/{first_undone}"),
    });
    let hooks = partner.map(|partner_id| Task {
        tone: "bad",
        text: language.say(&Text::new("desk.waits_hooks").with_count("count", broken_hooks)),
        path: format!("/desk/partners/{partner_id}/webhooks"),
    });
    Ok(refused_check_ins(site, language)?
        .into_iter()
        .chain(counted)
        .chain(undone)
        .chain(hooks)
        .chain(alikes(site, language, admin)?)
        .collect())
}

/// What a new site lacks, as counts.
struct Unready {
    /// Waivers are required, and there is none to sign.
    no_waiver_text: i64,
    /// Nobody is appointed to sign.
    no_signer: i64,
    /// Papers, codes and mails name an address that no other machine reaches.
    no_name: i64,
}

impl Unready {
    fn of(site: &Site) -> Result<Unready, Failure> {
        let (no_text, signers) = site.store.read(|tx| {
            // A site that requires no waivers does not read of them.
            let no_text = site.config.waiver.required && site_texts::find_in_force(tx, Kind::Waiver)?.is_none();
            Ok((no_text, signers::has_any(tx, site.tunnel_id)?))
        })?;
        Ok(Unready {
            no_waiver_text: i64::from(no_text),
            no_signer: i64::from(!signers),
            no_name: i64::from(site.config.names.is_empty() && !site.config.demo),
        })
    }
}

/// People who signed up alone and may be known members.
fn alikes(site: &Site, language: Language, admin: bool) -> Result<Vec<Task>, Failure> {
    let waiting = site.store.read(|tx| Ok(joins::list_alikes(tx, ALIKES_MAX)?))?;
    let task = |one: AlikeAccounts| Task {
        tone: "soon",
        text: language.say(&Text::new("join.waits").with("name", one.name).with("other", one.other)),
        path: match admin {
            true => format!("/desk/members/{}/join?with={}", one.other_id, one.member_id),
            false => format!("/desk/members/{}", one.member_id),
        },
    };
    Ok(waiting.into_iter().map(task).collect())
}

/// Guests whom a kiosk told that their check-in is noted, and who are not checked in.
fn refused_check_ins(site: &Site, language: Language) -> Result<Vec<Task>, Failure> {
    let (zone, waiting) =
        (site.time_zone()?, site.store.read(|tx| Ok(refused_check_ins::list_open(tx, REFUSED_MAX)?))?);
    let text = |one: &RefusedCheckIn| {
        let text = Text::new("desk.waits_check_in").with("name", &one.name).with("clock", zone.clock(one.tapped_at));
        language.say(&text)
    };
    let path = |one: &RefusedCheckIn| format!("/desk/members/{}", one.member_id);
    Ok(waiting.iter().map(|one| Task { tone: "bad", text: text(one), path: path(one) }).collect())
}
