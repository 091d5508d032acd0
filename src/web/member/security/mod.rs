//! What opens the member's account beside the password: the second factor, passkeys and security questions.

pub(crate) mod factor;
pub(crate) mod passkeys;
pub(crate) mod prove;
pub(crate) mod questions;

use super::account;
use super::frame::Shell;
use super::show;
use crate::auth::passkey::RelyingParty;
use crate::auth::{Member, second_factor};
use crate::domain::ids::PasskeyId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::second_factors::{self, Kind};
use crate::store::tables::{members, passkeys as keys, security_answers};
use crate::web::badge::Badge;
use crate::web::form_status;
use askama::Template;

pub(crate) const PATH: &str = "/me/account/security";
/// Passkeys that are shown; no account has more.
const KEYS_SHOWN_MAX: i64 = 100;
const DONE: [(&str, &str); 4] = [
    ("passkey", "me.done_passkey"),
    ("removed", "me.done_removed"),
    ("off", "me.done_factor_off"),
    ("sent", "passcode.sent"),
];

#[derive(Template)]
#[template(path = "member/security.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    /// Whether a recent proof of identity lets credentials be changed.
    is_proven: bool,
    factor: Badge,
    kind: Option<Kind>,
    /// Whether a passcode that is sent may be the second factor, and can arrive.
    takes_passcodes: bool,
    codes_left: String,
    passkeys: Vec<Key>,
    /// Whether browsers offer passkeys where this page came from.
    offers_passkeys: bool,
    questions: String,
    problem: Option<Problem>,
}

struct Key {
    passkey_id: PasskeyId,
    name: String,
    about: String,
}

/// A problem, and the part of the page that it belongs to.
struct Problem {
    part: &'static str,
    text: String,
    /// What was typed, where the form shows it again.
    typed: String,
}

impl Page {
    fn problem_in(&self, part: &str) -> Option<&str> {
        self.problem.as_ref().filter(|problem| problem.part == part).map(|problem| problem.text.as_str())
    }

    /// What was typed into the refused form of this part.
    fn typed_in(&self, part: &str) -> &str {
        self.problem.as_ref().filter(|problem| problem.part == part).map_or("", |problem| &problem.typed)
    }
}

/// `GET /me/account/security`
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None)
}

fn page(site: &Site, call: &Call, member: &Member, problem: Option<Problem>) -> Answer {
    let shell = Shell::after_action(site, call, member, account::PATH, &DONE)?;
    let (zone, language, now) = (site.time_zone()?, call.language(), site.now());
    let (account, kind, reachable, codes_left, found, answered) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
        Ok((
            account,
            second_factors::find(tx, member.id(), now)?.kind,
            second_factors::find_reachable(tx, member.id())?,
            second_factors::count_recovery_codes(tx, member.id())?,
            keys::list(tx, member.id(), KEYS_SHOWN_MAX, 0)?,
            security_answers::list_questions(tx, member.id())?.len(),
        ))
    })?;
    let day = |at: Moment| when::day(language, &zone, at);
    let about = |key: &keys::Passkey| {
        let text = match key.used_at {
            Some(at) => Text::new("me.passkey_used").with("used", day(at)),
            None => Text::new("me.passkey_unused"),
        };
        language.say(&text.with("made", day(key.created_at)))
    };
    let (tone, state) = match kind {
        Some(Kind::Totp) => ("good", "me.factor_app"),
        Some(Kind::Passcode) => ("good", "me.factor_passcode"),
        None => ("plain", "me.factor_none"),
    };
    let status = form_status(problem.is_some());
    let page = Page {
        is_proven: member.check_proven(now).is_ok(),
        factor: Badge::new(tone, shell.say(state)),
        kind,
        takes_passcodes: second_factor::takes_passcodes(&account)
            && (reachable.email.is_some() || reachable.phone.is_some()),
        codes_left: language.say(&Text::new("me.codes_left").with("left", codes_left)),
        passkeys: found
            .into_iter()
            .map(|key| Key { passkey_id: key.passkey_id, about: about(&key), name: key.name })
            .collect(),
        offers_passkeys: RelyingParty::of(site, call).is_ok(),
        questions: language.say(&Text::new("me.questions_answered").with("answered", answered)),
        problem,
        shell,
    };
    Ok(show(status, language, &page))
}

/// The page with a problem of one of its parts; 422.
fn refuse(site: &Site, call: &Call, member: &Member, part: &'static str, text: String) -> Answer {
    page(site, call, member, Some(Problem { part, text, typed: String::new() }))
}
