//! Claiming an account with a mailed or printed code: one that the desk made, or an invitation of a colleague. The owner chooses
//! a username and a password.

use super::{Frame, Next, OWN_PAGES, message_page, show};
use crate::app::own_sign_in::{self, Entry};
use crate::app::{claims, invitations, recovery};
use crate::auth::own;
use crate::domain::{password, username};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::invitations::Invitation;
use crate::store::tables::members::{self, Profile};
use crate::web::member::sign_in::with_session;
use crate::web::{form_status, query_text, read_form, refused_form};
use askama::Template;
use http::StatusCode;

const CODE_CHARS_MAX: usize = 64;
const TITLE: &str = "claim.title";
/// Where a colleague goes on: the second factor is set up at the first sign-in there.
const DESK: Next = Next { path: "/desk", key: "me.to_desk_sign_in" };

#[derive(Template)]
#[template(path = "public/claim.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// As typed; empty where the page asks for it first.
    code: String,
    /// Whether the code is valid, so that the page asks for username and password.
    is_good: bool,
    username: String,
    problem: Option<String>,
}

/// `GET /claim`: asks for the code, or with a valid `code` for username and password.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let code = query_text(call, "code");
    if code.is_empty() {
        return page(site, call, String::new(), None, None);
    }
    recovery::check_rate(site, call)?;
    match find(site, &code)? {
        Some(opens) => page(site, call, code, Some(opens.username()), None),
        None => refuse(site, call, code),
    }
}

/// What a code is for.
enum Opens {
    /// An account that the desk made.
    Account(Box<Profile>),
    /// An account for a colleague, made at acceptance.
    Invitation(Invitation),
}

impl Opens {
    /// The proposed username.
    fn username(&self) -> String {
        match self {
            Opens::Account(profile) => profile.username.clone(),
            // The first admin of a site is invited without a name.
            Opens::Invitation(one) if one.name.is_empty() => String::new(),
            Opens::Invitation(one) => username::derived(&one.name),
        }
    }

    /// Whether the account is one of the staff, who sign in at the desk.
    fn is_for_desk(&self) -> bool {
        matches!(self, Opens::Invitation(one) if one.role.is_above_member())
    }

    /// Judges a password for the account.
    fn check_password(&self, secret: &str, username: &str, site: &str) -> Result<(), Text> {
        let owner = match self {
            Opens::Account(profile) => password::Owner { username, ..profile.owner(site) },
            Opens::Invitation(one) => {
                password::Owner { username, email: &one.email, real_name: &one.name, screen_name: "", site }
            }
        };
        password::check(secret, &owner)
    }
}

fn find(site: &Site, code: &str) -> Result<Option<Opens>, Failure> {
    site.store.read(|tx| {
        if let Some(one) = invitations::find(site, tx, code, site.now())? {
            return Ok(Some(Opens::Invitation(one)));
        }
        let claim = claims::find(site, tx, code, site.now())?;
        let profile = claim.map(|claim| members::find(tx, claim.member_id)).transpose()?.flatten();
        Ok(profile.map(|profile| Opens::Account(Box::new(profile))))
    })
}

fn page(site: &Site, call: &Call, code: String, username: Option<String>, problem: Option<String>) -> Answer {
    let status = form_status(problem.is_some());
    let (frame, is_good) = (Frame::outside(site, call)?, username.is_some());
    let page = Page { frame, code, is_good, username: username.unwrap_or_default(), problem };
    Ok(show(status, call.language(), &page))
}

/// The page again, for a code that opens nothing.
fn refuse(site: &Site, call: &Call, code: String) -> Answer {
    let is_spare = site.store.read(|tx| invitations::is_spare(site, tx, &code, site.now()))?;
    let why = if is_spare { "claim.has_admin" } else { "claim.not_good" };
    page(site, call, code, None, Some(call.say(why)))
}

/// `POST /claim`: claims the account.
pub(crate) fn claim(site: &Site, call: &Call) -> Answer {
    let (code, name, secret) = read_form(call, |form| {
        (
            form.required("code", fields::line(CODE_CHARS_MAX)),
            form.required("username", fields::line_as_typed(254)),
            form.required("password", fields::secret),
        )
    })?;
    if let Err(failure) = recovery::check_rate(site, call) {
        return refused_form(failure, call, |problem| page(site, call, code, Some(name), Some(problem)));
    }
    let Some(opens) = find(site, &code)? else {
        return refuse(site, call, code);
    };
    let again = |text: String| page(site, call, code.clone(), Some(name.clone()), Some(text));
    let chosen = match username::parse(&name) {
        Ok(chosen) => chosen,
        Err(text) => return again(call.language().say(&text)),
    };
    if let Err(text) = opens.check_password(&secret, &chosen, &site.name()?) {
        return again(call.language().say(&text));
    }
    let hash = site.hash(&secret);
    let taken = match &opens {
        Opens::Account(_) => claims::take(site, call, &code, &chosen, &hash),
        Opens::Invitation(_) => invitations::accept(site, call, &code, &chosen, &hash),
    };
    match taken {
        Ok(true) if opens.is_for_desk() => message_page(site, call, TITLE, "good", "claim.done", Some(DESK)),
        Ok(true) => enter(site, call, &chosen, &secret),
        Ok(false) => refuse(site, call, code),
        Err(failure) if failure.status() == StatusCode::CONFLICT => again(call.language().say(failure.text())),
        Err(failure) => Err(failure),
    }
}

/// Signs the new owner in to the own pages, as anybody with that password; where that is refused, the sign-in says why.
fn enter(site: &Site, call: &Call, username: &str, secret: &str) -> Answer {
    match own_sign_in::with_password(site, call, username, secret) {
        Ok(Entry::SignedIn(opened)) => {
            Ok(with_session(site, call, reply::see_other(&format!("{}?done=claimed", own::HOME)), &opened))
        }
        Ok(_) => message_page(site, call, TITLE, "good", "claim.done", Some(OWN_PAGES)),
        Err(failure) if failure.status().is_client_error() => {
            message_page(site, call, TITLE, "good", "claim.done", Some(OWN_PAGES))
        }
        Err(failure) => Err(failure),
    }
}
