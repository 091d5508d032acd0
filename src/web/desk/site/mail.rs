//! A test message to the clerk's own address or number, through the outbox.

use super::PART;
use crate::app;
use crate::auth::limits::messages::{self, Cause};
use crate::auth::{Clerk, passcode};
use crate::domain::audit::{Detail, Subject};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::outbox::{self, Channel, NewMessage};
use serde_json::json;

/// Name of the template in `assets/mail`.
pub(crate) const TEMPLATE: &str = "test";

/// `POST /desk/site/mail-test`
pub(crate) fn test(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    send(site, call, clerk, Channel::Email)
}

/// `POST /desk/site/sms-test`
pub(crate) fn test_sms(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    send(site, call, clerk, Channel::Sms)
}

/// Sends a test message to the clerk, and to nobody else.
fn send(site: &Site, call: &Call, clerk: &Clerk, channel: Channel) -> Answer {
    let (unset, no_recipient) = match channel {
        Channel::Email => ("site.mail_none_next", "site.mail_no_address"),
        Channel::Sms => ("site.sms_none_next", "site.sms_no_number"),
    };
    if !site.delivers(channel) {
        return Err(Failure::field("channel", Text::new(unset)));
    }
    app::change(site, clerk, call.language(), |cx| {
        let tx = cx.tx;
        let profile = members::find(tx, clerk.id())?.ok_or_else(Failure::not_found)?;
        let recipient = match channel {
            Channel::Email => profile.email,
            Channel::Sms => profile.phone,
        };
        if recipient.is_empty() {
            return Err(Failure::nothing_confirmed().saying(Text::new(no_recipient)));
        }
        let quota = messages::take(site, tx, Cause::Staff, clerk.id(), channel, &recipient)?;
        passcode::check_counted(tx, quota)?;
        let message = NewMessage {
            channel,
            member_id: Some(clerk.id()),
            recipient: &recipient,
            language: call.language().tag(),
            template: TEMPLATE,
            values: &json!({}),
        };
        outbox::insert(tx, &site.keys, &message)?;
        cx.record("mail.tested", &Subject::Site, &Detail::none().word("channel", channel.name()))?;
        Ok(reply::see_other(&format!("{PART}?done=queued#mail")))
    })
}
