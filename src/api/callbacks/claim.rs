//! Payment claims: a member's app says that a payment is the member's. A claim only gives a payment without a member its
//! member, and has no effect until the payment processor confirms the payment.

use crate::app;
use crate::app::payments::received;
use crate::auth::Member;
use crate::http::Answer;
use crate::http::body::{Field, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::Line;
use crate::http::fields;
use crate::http::reply;
use crate::http::row::BODY_BYTES_MAX;
use crate::i18n::language::Text;
use crate::site::Site;
use serde_json::{Value, json};

const NAME_CHARS_MAX: usize = 255;
crate::body! {
    struct Claim {
        from_app as "fromApp": FromApp,
        intent_id as "paymentIntentId": Line<NAME_CHARS_MAX>,
    }
}

/// The field `fromApp`, which marks an app's claim: any value except `false`, `0` and `no`.
struct FromApp;

impl Field for FromApp {
    type Value = ();

    fn read(value: &Value) -> Result<(), Text> {
        let text = match value {
            Value::Bool(flag) => flag.to_string(),
            value => fields::line(NAME_CHARS_MAX)(value)?,
        };
        let no = ["false", "0", "no"].contains(&text.to_ascii_lowercase().as_str());
        if no { Err(Text::new("field.from_app")) } else { Ok(()) }
    }

    fn schema() -> Value {
        json!({ "type": ["string", "boolean", "number"] })
    }
}

/// `POST /payment-webhook` with a member's session: records the member's claim to the payment `paymentIntentId`. 413 beyond
/// [`BODY_BYTES_MAX`], because the path accepts larger bodies from the processor; 429 beyond the number of open claims that
/// a member may have.
pub(super) fn record(site: &Site, call: &Call, member: &Member) -> Answer {
    if call.body.len() > BODY_BYTES_MAX {
        return Err(Failure::larger_than(BODY_BYTES_MAX));
    }
    let Claim { intent_id, .. } = ParsedBody::read(call.fields_or_form()?).finish()?;
    app::change_once(site, call, member, |cx| received::receive_claim(cx, &intent_id, &call.body))?;
    // Every verdict has the same answer, so that a claim reveals nothing about other members' payments.
    Ok(reply::done(call.say("done.payment_claimed")))
}
