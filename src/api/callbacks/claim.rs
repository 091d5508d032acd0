//! An app that says that its member paid. A claim is a hint: it says whose a payment is that bears no member, and it is
//! worth nothing until the processor says that the money came.

use crate::app::{self, payments};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::http::row::BODY_BYTES_MAX;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::callbacks::{self, New, Sender};
use serde_json::Value;

const NAME_CHARS_MAX: usize = 255;
/// The other half of `POST /payment-webhook`: `fromApp` and `paymentIntentId` under a member's session.
pub(super) fn record(site: &Site, call: &Call, member: &Member) -> Answer {
    if call.body.len() > BODY_BYTES_MAX {
        return Err(Failure::body_too_large());
    }
    let mut body = call.fields_or_form()?;
    let from_app = body.required("fromApp", from_app);
    let intent_id = body.required("paymentIntentId", fields::line(NAME_CHARS_MAX));
    let ok = body.finish()?;
    from_app.get(&ok);
    let intent_id = intent_id.get(&ok);
    app::change_once(site, call, member, |cx| {
        let key = format!("{} {intent_id}", member.id());
        // A claim of long ago may be swept while the word of it is still kept, so the same words are heard again.
        let repeated = callbacks::repeat(cx.tx, Sender::App, &key)?;
        let verdict = payments::claim(cx, &intent_id)?;
        if !repeated {
            let (sender, event) = (Sender::App, "claim");
            let new = New { sender, key: &key, event, about: &intent_id, verdict, raw: &call.body };
            callbacks::insert(cx.tx, &site.keys, &new)?;
        }
        // The same answer whoever has the payment: nobody learns of other people's.
        Ok(reply::done(call.say("done.payment_claimed")))
    })
}

/// Whatever an app sends there means yes, but for a plain no.
fn from_app(value: &Value) -> Result<(), Text> {
    let text = match value {
        Value::Bool(flag) => flag.to_string(),
        value => fields::line(NAME_CHARS_MAX)(value)?,
    };
    let no = ["false", "0", "no"].contains(&text.to_ascii_lowercase().as_str());
    if no { Err(Text::new("field.from_app")) } else { Ok(()) }
}
