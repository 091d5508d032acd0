//! Change of the clerk's own password.

use super::{PATH, refuse};
use crate::app::{self, credentials};
use crate::auth::Clerk;
use crate::auth::sign_in::{self, OwnPassword};
use crate::domain::password;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use crate::web::read_form;

/// `POST /desk/account/password`: needs the current password; ends all other sessions.
pub(crate) fn change(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed =
        read_form(call, |form| ["current", "password", "again"].map(|name| form.optional(name, fields::secret)))?;
    let [Some(current), Some(new), Some(again)] = typed else {
        return refuse(site, call, clerk, "password", call.say("account.password_missing"));
    };
    let no = |text: &Text| refuse(site, call, clerk, "password", call.language().say(text));
    let profile = site.store.read(|tx| members::find(tx, clerk.id())?.ok_or_else(Failure::not_signed_in))?;
    let tunnel = site.name()?;
    let owner = profile.owner(&tunnel);
    if let Err(text) = password::check_form(&new, &owner) {
        return no(&text);
    }
    if !password::is_same(&new, &again) {
        return no(&Text::new("field.not_confirmed"));
    }
    let proven = match sign_in::check_own_password(site, call, clerk.id(), &current)? {
        OwnPassword::Right(proven) => proven,
        OwnPassword::Refused(text) => return no(&text),
    };
    // Judging the strength takes milliseconds, so the current password comes first: its failed attempts are limited.
    if let Err(text) = password::check(&new, &owner) {
        return no(&text);
    }
    let password_hash = site.hash(&new);
    app::change(site, clerk, call.language(), |cx| {
        credentials::change_password(cx, &cx.own()?, &proven, &password_hash, clerk.session())
    })?;
    Ok(reply::see_other(&format!("{PATH}?done=password")))
}
