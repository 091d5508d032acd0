//! An app that says that its member paid. A claim is a hint: it says whose a payment is that bears no member, and it is
//! worth nothing until the processor says that the money came.

use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::http::row::BODY_BYTES_MAX;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Write;
use crate::store::queries::settlement;
use crate::store::tables::callbacks::{self, New, Sender};
use crate::store::tables::payments::{self, Account};
use serde_json::Value;
use std::time::Duration;

const NAME_CHARS_MAX: usize = 255;
/// Claims of one member that the processor has said nothing of.
const CLAIMS_MAX: i64 = 20;
/// One of those ends by itself.
const RETRY_AFTER: Duration = Duration::from_secs(86_400);

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
    site.once(call, |tx| {
        let key = format!("{} {intent_id}", member.id());
        // A claim of long ago may be swept while the word of it is still kept, so the same words are heard again.
        let repeated = callbacks::repeat(tx, Sender::App, &key)?;
        let verdict = claim(site, tx, member.id(), &intent_id)?;
        if !repeated {
            let (sender, event) = (Sender::App, "claim");
            let new = New { sender, key: &key, event, about: &intent_id, verdict, raw: &call.body };
            callbacks::insert(tx, &site.keys, &new)?;
        }
        // The same whoever has it: nobody learns of other people's payments.
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

fn claim(site: &Site, tx: &Write, member_id: i64, intent_id: &str) -> Result<&'static str, Failure> {
    let known = payments::find(tx, intent_id)?;
    let count = match &known {
        Some(_) => payments::count_rival_claims(tx, member_id)?,
        None => payments::count_claims(tx, member_id)?,
    };
    let is_new = known.is_none();
    let mut account = known.unwrap_or_else(|| Account::new(intent_id));
    let verdict = match account.member_id {
        None if is_new => "recorded",
        None => "matched",
        Some(owner) if owner == member_id => return Ok("known"),
        // The processor, the desk or two members named somebody: one word more changes nothing.
        Some(_) if account.claimed_by != account.member_id || account.rival_claim.is_some() => {
            return Ok("claimed_by_another");
        }
        Some(_) if account.assigned_to.or(account.heard.member_id.value).is_some() => return Ok("claimed_by_another"),
        Some(_) => "claimed_twice",
    };
    if verdict != "matched" && count >= CLAIMS_MAX {
        return Err(Failure::too_fast().retry_after(RETRY_AFTER));
    }
    match verdict {
        "claimed_twice" => account.rival_claim = Some(member_id),
        _ => account.claimed_by = Some(member_id),
    }
    settlement::settle(tx, &mut account, &site.fee(tx)?)?;
    Ok(verdict)
}
