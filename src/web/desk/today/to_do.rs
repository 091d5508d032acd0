//! The desk's to-do list.

use crate::app::waivers;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::{contact, outbox, payments, skills};

/// A kind of pending work with its count; kinds with none are left out.
pub(super) struct Task {
    pub tone: &'static str,
    pub text: String,
    /// Path of the page where the work is done.
    pub path: &'static str,
}

pub(super) fn list(site: &Site, language: Language) -> Result<Vec<Task>, Failure> {
    let (sign_offs, contacts, (queued, dead), questions, undecided) = site.store.read(|tx| {
        let (questions, undecided) = (payments::count_questions(tx)?, waivers::count_undecided(site, tx)?);
        Ok((skills::count_pending(tx)?, contact::count_open(tx)?, outbox::counts(tx)?, questions, undecided))
    })?;
    // Without a mail server, messages wait for the desk to read them out.
    let unsent = if site.config.mail.is_none() { queued } else { 0 };
    let suspect = i64::from(site.clock.is_suspect());
    let kinds = [
        (suspect, "bad", "desk.waits_clock", "/desk/site"),
        (dead, "bad", "desk.waits_dead", "/desk/messages?box=dead"),
        (undecided, "soon", "desk.waits_waivers", "/desk/waivers"),
        (sign_offs, "plain", "desk.waits_sign_offs", "/desk/sign-offs"),
        (questions, "plain", "desk.waits_payments", "/desk/payments"),
        (contacts, "plain", "desk.waits_contacts", "/desk/messages?box=contact"),
        (unsent, "plain", "desk.waits_unsent", "/desk/messages?box=waiting"),
    ];
    let waits = kinds.into_iter().filter(|(count, ..)| *count > 0);
    Ok(waits
        .map(|(count, tone, key, path)| Task {
            tone,
            text: language.say(&Text::new(key).with_count("count", count)),
            path,
        })
        .collect())
}
