//! What members change in their own profile.

use super::Change;
use crate::auth::security_event;
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::phone;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::queries::board;
use crate::store::tables::outbox::Channel;
use crate::store::tables::{languages, members, reminders, tunnels};

/// The names and the home tunnel of a profile.
pub(crate) struct Names<'a> {
    pub username: &'a str,
    pub screen_name: &'a str,
    pub real_name: &'a str,
    pub tunnel_id: TunnelId,
}

/// Sets the actor's names and home tunnel. 409 where another member has the username.
pub(crate) fn edit(cx: &Change, names: &Names) -> Result<(), Failure> {
    let member_id = cx.own()?.member_id;
    members::update_profile(cx.tx, member_id, names.username, names.screen_name, names.real_name, names.tunnel_id)?;
    Ok(())
}

/// Sets the language of the actor's mails and papers; `None`: that of each sign-in.
pub(crate) fn choose_language(cx: &Change, language: Option<Language>) -> Result<(), Failure> {
    languages::choose(cx.tx, cx.own()?.member_id, language.map_or("", Language::tag))?;
    Ok(())
}

/// How members are reminded, in the order in which pages offer it.
pub(crate) const REMINDED_BY: [(&str, &str); 3] =
    [("email", "me.reminded_email"), ("sms", "me.reminded_sms"), ("none", "me.reminded_none")];

/// Sets how the actor is reminded of flights and ends. 404 for a way that there is not.
pub(crate) fn choose_reminders(cx: &Change, by: &str) -> Result<(), Failure> {
    let (by, _) = REMINDED_BY.into_iter().find(|(name, _)| *name == by).ok_or_else(Failure::not_found)?;
    reminders::choose(cx.tx, cx.own()?.member_id, by)?;
    Ok(())
}

/// Sets whether boards in the hall show the actor by number.
pub(crate) fn choose_board(cx: &Change, by_number: bool) -> Result<(), Failure> {
    board::choose(cx.tx, cx.own()?.member_id, by_number)?;
    Ok(())
}

/// Checks that the site sends short messages to this number. The site pays for them, so they go only to the countries in the
/// settings, and only for members with a confirmed e-mail address.
pub(crate) fn check_takes_messages(site: &Site, member_id: MemberId, number: &str) -> Result<(), Failure> {
    let (profile, home) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
        Ok((profile, tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.country)))
    })?;
    let own: Vec<u16> = home.and_then(|country| phone::calling_code(&country)).into_iter().collect();
    let codes = if site.config.calling_codes.is_empty() { &own } else { &site.config.calling_codes };
    phone::takes_messages(number, codes).map_err(|text| Failure::field("phone", text))?;
    if !profile.email_verified {
        return Err(Failure::email_not_confirmed().saying(Text::new("phone.email_first")));
    }
    Ok(())
}

/// Takes over an address or number of the actor that a passcode has proven. Where it is another than before, the change is
/// audited, and the old address is told.
pub(crate) fn set_address(cx: &Change, channel: Channel, address: &str) -> Result<(), Failure> {
    let member_id = cx.own()?.member_id;
    let before = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
    let old = match channel {
        Channel::Email => {
            members::set_email(cx.tx, member_id, address)?;
            &before.email
        }
        Channel::Sms => {
            members::set_phone(cx.tx, member_id, address)?;
            &before.phone
        }
    };
    if old.eq_ignore_ascii_case(address) {
        return Ok(());
    }
    security_event::record_address_change(cx.site, cx.tx, &before, channel, cx.language, cx.actor)
}
