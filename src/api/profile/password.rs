//! Changing the password.

use crate::app::{self, credentials};
use crate::auth::{Member, sign_in};
use crate::domain::password;
use crate::http::Answer;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{NewPassword, Secret};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;

crate::body! {
    pub(crate) struct PasswordChange {
        /// The new password.
        password: NewPassword,
        current_password: Secret,
        /// The new password again.
        password_confirm: Secret,
    }
}

/// `PUT /account/profile/change-password`: a new password, with the old one as proof. Every other session and every booking
/// token of the member ends.
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
    app::change(site, member, call.mail_language(), |cx| {
        credentials::change_password(cx, &cx.own()?, &proven, &password_hash, member.session())
    })?;
    Ok(reply::done(call.say("done.password_changed")))
}
