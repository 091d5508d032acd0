//! A new proof of identity within a session, before a change of credentials.

use crate::app::second_factors::{self, Checked};
use crate::app::{self, Change, credentials};
use crate::auth::{Member, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Code, Secret};
use crate::http::reply::{self, Done};
use crate::i18n::language::{Text, TextKey};
use crate::site::Site;
use crate::store::tables::second_factors as factors;
use serde::{Deserialize, Serialize};
use serde_json::json;

crate::body! {
    pub(crate) struct Reauthentication {
        /// The current password.
        password: Option<Secret>,
        /// Required without `password`.
        code: Option<Code>,
    }
}

crate::operation! {
    /// Prove the identity again
    ///
    /// By `password`, or by a `code` of the second factor that is on (of the authenticator app, a passcode that was
    /// sent, or a recovery code). For ten minutes this session may then change the account's credentials, as after a
    /// sign-in: the e-mail address, the telephone number, the second factor, passkeys. Without a recent proof these
    /// changes are refused with 403 and `reauthentication_needed`.
    PROVE = "reauthenticate"
        .body(|| json!({ "password": "violet-anvil-harbour-93" }))
        .refuses(&["SecondFactorOff"])
        .answers::<Done>("Proven.")
        .example(|| json!({ "message": "Thank you. For ten minutes you may change what opens your account." }))
        .also(|| json!({ "requestBody": { "required": true } }))
}

pub(crate) fn prove(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.parse_body::<Reauthentication>()?;
    if !body.fields.has("password") && !body.fields.has("code") {
        body.fields.refuse("password", Text::new("field.password_or_code"));
    }
    let Reauthentication { password, code } = body.finish()?;
    let outcome = app::once(site, call, || match password {
        Some(password) => by_password(site, call, member, &password),
        None => app::change_once(site, call, member, |cx| by_code(call, cx, member, &code.unwrap_or_default())),
    })?;
    match outcome {
        Outcome::Proven => Ok(reply::done(call.say("done.reauthenticated"))),
        Outcome::Refused(key) => Err(Failure::field("code", key.into())),
    }
}

/// What a new proof of identity came to. A wrong code is an outcome, so that its failed attempt is committed.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Proven,
    Refused(TextKey),
}

fn by_password(site: &Site, call: &Call, member: &Member, password: &str) -> Result<Outcome, Failure> {
    let proven = sign_in::check_own_password(site, call, member.id(), password)?.at("password")?;
    app::change_once(site, call, member, |cx| {
        sign_in::check_same_password(cx.tx, &proven, "password")?;
        credentials::set_proven(cx, member.session())?;
        Ok(Outcome::Proven)
    })
}

fn by_code(call: &Call, cx: &Change, member: &Member, code: &str) -> Result<Outcome, Failure> {
    let account = cx.own()?;
    if factors::find(cx.tx, account.member_id, cx.now())?.kind.is_none() {
        return Err(Failure::second_factor_off());
    }
    match second_factors::check_code(cx, call, &account, Some(code))? {
        Checked::Passed(()) => {
            credentials::set_proven(cx, member.session())?;
            Ok(Outcome::Proven)
        }
        Checked::Refused(problem) => {
            Ok(Outcome::Refused(problem.key("field.code_of_factor", "field.wrong_code").into()))
        }
    }
}
