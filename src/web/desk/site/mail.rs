//! A test mail to the clerk's own address, through the outbox.

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
    if site.config.mail.is_none() {
        return Err(Failure::not_configured().saying(Text::new("site.mail_none_next")));
    }
    app::change(site, clerk, call.language(), |cx| {
        let tx = cx.tx;
        let profile = members::find(tx, clerk.id())?.ok_or_else(Failure::not_found)?;
        if profile.email.is_empty() {
            return Err(Failure::nothing_confirmed().saying(Text::new("site.mail_no_address")));
        }
        let quota = messages::take(site, tx, Cause::Staff, clerk.id(), Channel::Email, &profile.email)?;
        passcode::check_counted(tx, quota)?;
        let message = NewMessage {
            channel: Channel::Email,
            member_id: Some(clerk.id()),
            recipient: &profile.email,
            language: call.language().tag(),
            template: TEMPLATE,
            values: &json!({}),
        };
        outbox::insert(tx, &site.keys, &message)?;
        cx.record("mail.tested", &Subject::Site, &Detail::none())?;
        Ok(reply::see_other(&format!("{PART}?done=queued#mail")))
    })
}
