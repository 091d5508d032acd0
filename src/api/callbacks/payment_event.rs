//! The processor's event, in its own form (`{id, type, created, data: {object}}`) or in the contract's (`type`, and `data`
//! as text), read into what the rules want of it.

use super::digest;
use crate::domain::payment::{Event, Price, Status};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::i18n::language::Text;
use serde_json::{Map, Value};

const NAME_CHARS_MAX: usize = 255;

pub struct Heard {
    /// By which a repeat is known.
    pub key: String,
    /// The processor's word for it.
    pub kind: String,
    pub matter: Matter,
}

pub enum Matter {
    Payment(Payment),
    /// Money went back, and not all of it: how much by now, where the event says so.
    PartialRefund {
        intent_id: String,
        cents: Option<i64>,
    },
    /// It moves no payment of ours.
    Nothing,
}

pub struct Payment {
    /// The processor's name for it.
    pub intent_id: String,
    pub event: Event,
}

impl Matter {
    pub fn intent_id(&self) -> Option<&str> {
        match self {
            Matter::Payment(payment) => Some(&payment.intent_id),
            Matter::PartialRefund { intent_id, .. } => Some(intent_id),
            Matter::Nothing => None,
        }
    }
}

/// What the fields say, before they are put together.
struct Given {
    id: Option<String>,
    created: Option<i64>,
    /// The payment that the event is about, or its charge.
    object: Option<Map<String, Value>>,
    intent_id: Option<String>,
}

/// Every bad field is named, `data` also where the type is not readable.
pub fn read(call: &Call) -> Result<Heard, Failure> {
    let mut body = call.fields_or_form()?;
    let kind = body.required("type", fields::line(NAME_CHARS_MAX));
    let id = body.optional("id", name);
    let created = body.optional("created", fields::moment);
    // What moves no payment is kept whatever it is about.
    let others = kind.peek().is_some_and(|kind| Status::of_event(kind).is_none());
    let data = body.optional("data", |value| match data(value) {
        Err(_) if others => Ok((value.to_string(), Map::new(), None)),
        read => read,
    });
    let intent_id = body.optional("paymentIntentId", name);
    // Part of the contract's body; only an app's word has a use for it.
    let from_app = body.optional("fromApp", fields::line(NAME_CHARS_MAX));
    let status = kind.peek().and_then(|kind| Status::of_event(kind));
    let object = data.peek().and_then(Option::as_ref).map(|(_, object, _)| object);
    let named = object.and_then(|object| named_by(kind.peek(), object)).is_some();
    let named = named || intent_id.peek().is_some_and(Option::is_some);
    let moves = kind.peek().is_none() || status.is_some();
    if moves && !named && !object.is_some_and(is_bare_charge) {
        refuse_data(&mut body, data.peek().is_some());
    }
    let ok = body.finish()?;
    _ = from_app.get(&ok);
    let (kind, data) = (kind.get(&ok), data.get(&ok));
    let text = data.as_ref().map_or("", |(text, ..)| text).to_owned();
    let (object, whole) = data.map_or((None, None), |(_, object, whole)| (Some(object), whole));
    let whole = whole.unwrap_or_default();
    let given = Given {
        id: id.get(&ok).or_else(|| whole.get("id").and_then(text_of)),
        created: created.get(&ok).or_else(|| whole.get("created").and_then(moment_of)),
        object,
        intent_id: intent_id.get(&ok),
    };
    Ok(put_together(kind, status, given, &text))
}

fn refuse_data(body: &mut Fields, readable: bool) {
    // What could not be read at all is named already.
    if readable {
        body.refuse("data", Text::new("field.payment_data"));
    }
}

fn put_together(kind: String, status: Option<Status>, given: Given, data: &str) -> Heard {
    let intent_id = given.object.as_ref().and_then(|object| named_by(Some(&kind), object)).or(given.intent_id);
    let key = given.id.unwrap_or_else(|| digest(&[&kind, intent_id.as_deref().unwrap_or(""), data]));
    let object = given.object.unwrap_or_default();
    let matter = match (status, intent_id) {
        (Some(Status::Refunded), Some(intent_id)) if is_partial(&object) => {
            let cents = object.get("amount_refunded").and_then(number_of).filter(|cents| *cents >= 0);
            Matter::PartialRefund { intent_id, cents }
        }
        (Some(status), Some(intent_id)) => {
            let at = given.created.or_else(|| object.get("created").and_then(moment_of)).unwrap_or(0);
            let member_id = object.get("metadata").and_then(|all| all.get("member_id")).and_then(number_of);
            let event = Event { key: key.clone(), at, status, price: price(&object, status), member_id };
            Matter::Payment(Payment { intent_id, event })
        }
        _ => Matter::Nothing,
    };
    Heard { key, kind, matter }
}

type Data = (String, Map<String, Value>, Option<Map<String, Value>>);

/// The object that the event is about, as text or as it is: alone, inside `{object}`, or inside a whole event. With it the
/// text that tells one from another, and the whole event where there is one.
fn data(value: &Value) -> Result<Data, Text> {
    let parsed = match value {
        Value::String(text) => {
            serde_json::from_slice(fields::without_mark(text.as_bytes())).map_err(|_| Text::new("field.not_object"))?
        }
        value => value.clone(),
    };
    let text = parsed.to_string();
    let Value::Object(mut outer) = parsed else { return Err(Text::new("field.not_object")) };
    if let Some(Value::Object(inner)) = outer.get("data").and_then(|data| data.get("object")).cloned() {
        return Ok((text, inner, Some(outer)));
    }
    match outer.get("object") {
        Some(Value::Object(_)) => match outer.remove("object") {
            Some(Value::Object(inner)) => Ok((text, inner, None)),
            _ => Ok((text, outer, None)),
        },
        _ => Ok((text, outer, None)),
    }
}

/// The payment's name: a payment's own, a charge's `payment_intent` (its name, or the whole of it).
fn named_by(kind: Option<&String>, object: &Map<String, Value>) -> Option<String> {
    if kind.is_some_and(|kind| kind.starts_with("charge.")) {
        let intent = object.get("payment_intent")?;
        return text_of(intent).or_else(|| text_of(intent.get("id")?));
    }
    object.get("id").and_then(text_of)
}

/// A charge that never was part of a payment as we know them.
fn is_bare_charge(object: &Map<String, Value>) -> bool {
    object.get("object").is_some_and(|kind| kind == "charge")
        && object.get("payment_intent").is_some_and(Value::is_null)
}

/// A charge says whether all of it went back; where it says nothing, it was all.
fn is_partial(charge: &Map<String, Value>) -> bool {
    let number = |name| charge.get(name).and_then(number_of);
    match (charge.get("refunded"), number("amount_refunded"), number("amount")) {
        (Some(Value::Bool(all)), ..) => !all,
        (_, Some(back), Some(amount)) => back < amount,
        _ => false,
    }
}

/// Of money that came, what came counts and not what was asked for.
fn price(object: &Map<String, Value>, status: Status) -> Option<Price> {
    let received = object.get("amount_received").filter(|_| status == Status::Succeeded).and_then(number_of);
    let cents = received.or_else(|| object.get("amount").and_then(number_of)).filter(|cents| *cents >= 0)?;
    let currency = object.get("currency").and_then(Value::as_str)?;
    let sound = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_alphabetic());
    sound.then(|| Price { cents, currency: currency.to_ascii_uppercase() })
}

/// A name that may be a number.
fn name(value: &Value) -> Result<String, Text> {
    fields::line(NAME_CHARS_MAX)(value)
}

fn text_of(value: &Value) -> Option<String> {
    name(value).ok().filter(|text| !text.is_empty())
}

fn number_of(value: &Value) -> Option<i64> {
    fields::whole(value).ok()
}

fn moment_of(value: &Value) -> Option<i64> {
    fields::moment(value).ok()
}
