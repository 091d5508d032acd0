//! Changing the password.

use crate::app::{self, credentials};
use crate::auth::{Member, sign_in};
use crate::domain::password;
use crate::http::Answer;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{NewPassword, Secret};
use crate::http::reply::{self, Done};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use serde_json::json;

crate::body! {
    pub(crate) struct PasswordChange {
        /// The new password.
        password: NewPassword,
        current_password: Secret,
        /// The new password again.
        password_confirm: Secret,
    }
}

crate::operation! {
    /// Change the password
    ///
    /// Every other session and every booking token of the member ends. A wrong `current_password` is 422 and counts
    /// as a failed attempt.
    CHANGE = "changePassword"
        .body(|| json!({
            "password": "violet-anvil-harbour-93", "current_password": "wet hair, dry socks",
            "password_confirm": "violet-anvil-harbour-93",
        }))
        .answers::<Done>("Done.")
        .example(|| json!({
            "message": "Your password is changed. Every other device is signed out, and your booking PIN has ended.",
        }))
}

pub(crate) fn change(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.parse_body::<PasswordChange>()?;
    let profile = site.store.read(|tx| members::find(tx, member.id())?.ok_or_else(Failure::not_signed_in))?;
    let tunnel = site.name()?;
    let owner = profile.owner(&tunnel);
    let ParsedBody { read, fields } = &mut body;
    fields.check("password", &read.password, |new| password::check_form(new, &owner));
    fields.check("password_confirm", &read.password_confirm, |confirm| match &read.password {
        Some(new) if !password::is_same(new, confirm) => Err(Text::new("field.not_confirmed")),
        _ => Ok(()),
    });
    let PasswordChange { password: new, current_password: current, .. } = body.finish()?;
    let proven = sign_in::check_own_password(site, call, member.id(), &current)?.at("current_password")?;
    // Checking the strength takes milliseconds, so it comes after the current password, whose failed attempts are limited.
    password::check(&new, &owner).map_err(|text| Failure::field("password", text))?;
    let password_hash = site.hash(&new);
    app::change(site, member, call.language(), |cx| {
        credentials::change_password(cx, &cx.own()?, &proven, &password_hash, member.session())
    })?;
    Ok(reply::done(call.say("done.password_changed")))
}
