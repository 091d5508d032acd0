//! A new proof of identity within a session, before a change of credentials.

use crate::auth::second_factor::{self, Proof};
use crate::auth::{Member, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Code, Secret};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::{members, second_factors, sessions};

crate::body! {
    pub(crate) struct Reauthentication {
        /// The current password.
        password: Option<Secret>,
        /// Required without `password`.
        code: Option<Code>,
    }
}

/// `POST /account/profile/reauthenticate`: by `password`, or by a `code` of the second factor that is on. For ten minutes the
/// session may then change the account's credentials, as after a sign-in.
pub(crate) fn prove(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.parse_body::<Reauthentication>()?;
    if !body.fields.has("password") && !body.fields.has("code") {
        body.fields.refuse("password", Text::new("field.password_or_code"));
    }
    let Reauthentication { password, code } = body.finish()?;
    let code = code.unwrap_or_default();
    if let Some(password) = password {
        let confirmed = sign_in::check_own_password(site, call, member.id(), &password)?;
        let proven = confirmed.map_err(|text| Failure::field("password", text))?;
        return site.once(call, |tx| {
            sign_in::check_same_password(tx, &proven, "password")?;
            done(call, tx, member)
        });
    }
    site.once(call, |tx| by_code(site, call, tx, member, &code))
}

/// A wrong code is refused by a reply, so that the transaction with the failed attempt is committed.
fn by_code(site: &Site, call: &Call, tx: &Write, member: &Member, code: &str) -> Answer {
    let account = members::find_account_by_id(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
    if second_factors::find(tx, account.member_id, tx.now())?.kind.is_none() {
        return Err(Failure::second_factor_off());
    }
    sign_in::check_not_delayed(site, call, tx, &account)?;
    let prove = || second_factor::prove(site, call, tx, &account, code);
    let key = match sign_in::check_code(site, call, tx, &account, prove)? {
        Proof::Right(_) => return done(call, tx, member),
        Proof::Wrong | Proof::Delayed(_) => "field.wrong_code",
        Proof::Unusable(why) => why,
    };
    let failure = Failure::field("code", Text::new(key));
    Ok(reply::refusal(&failure, call.language(), &call.request_id))
}

fn done(call: &Call, tx: &Write, member: &Member) -> Answer {
    // Hashing takes time, and the session may have ended meanwhile.
    if sessions::set_proven(tx, member.session())? == 0 {
        return Err(Failure::not_signed_in());
    }
    Ok(reply::done(call.say("done.reauthenticated")))
}
