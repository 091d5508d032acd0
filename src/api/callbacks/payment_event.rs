//! Parses an event of the payment processor, in its own form (`{id, type, created, data: {object}}`) or in the contract's
//! (`type`, and `data` as text).

use super::digest;
use crate::app::payments::received::{EventEffect, Payment, ReceivedEvent};
use crate::domain::ids::MemberId;
use crate::domain::payment::{Event, Price, Status};
use crate::http::body::{Field, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::Line;
use crate::http::fields;
use crate::http::json;
use crate::i18n::language::Text;
use crate::moment::Moment;
use serde_json::{Map, Value, json};
use std::marker::PhantomData;

const NAME_CHARS_MAX: usize = 255;

crate::body! {
    pub(crate) struct PaymentEvent {
        /// The processor's type of the event.
        kind as "type": Option<Line<NAME_CHARS_MAX>>,
        /// The event's id: text or a number. An event with another value is known by its content.
        id: Option<Lenient<Line<NAME_CHARS_MAX>>>,
        /// The moment of the event, in Unix seconds. Another value counts as none.
        created: Option<Lenient<Moment>>,
        /// The event's object as JSON text, or the object itself; also `{"object": …}`.
        data: Option<EventData>,
        /// The processor's id of the payment, number or text; `data` may name the payment instead.
        intent_id as "paymentIntentId": Option<Lenient<Line<NAME_CHARS_MAX>>>,
        /// Marks the claim of an app: any value except a plain no. The processor's events ignore it.
        from_app as "fromApp": Option<Lenient<Line<NAME_CHARS_MAX>>>,
    }
}

/// A field whose odd value counts as none. A signed event is never refused for a field that it can do without: the processor
/// would send it for days, and then drop the payment. An event that is refused for another field names this one too.
pub(crate) struct Lenient<F>(PhantomData<F>);

impl<F: Field> Field for Lenient<F> {
    type Value = Result<F::Value, Text>;

    fn read(value: &Value) -> Result<Self::Value, Text> {
        Ok(F::read(value))
    }

    fn schema() -> Value {
        json!({})
    }
}

/// The object of an event. An invalid object is no problem of the field, because an event that changes no payment is stored
/// with any object.
pub(crate) struct EventData;

impl Field for EventData {
    /// The data, or the problem and the JSON text.
    type Value = Result<Data, (Text, String)>;

    fn read(value: &Value) -> Result<Self::Value, Text> {
        Ok(data(value).map_err(|text| (text, value.to_string())))
    }

    fn schema() -> Value {
        json!({ "type": ["string", "object"] })
    }
}

/// The parsed fields of an event.
struct ParsedEvent {
    id: Option<String>,
    created: Option<Moment>,
    /// The payment that the event is about, or its charge.
    object: Option<Map<String, Value>>,
    intent_id: Option<String>,
}

/// Parses an event. Every invalid field is reported, `data` also where the type is invalid.
pub(crate) fn read(call: &Call) -> Result<ReceivedEvent, Failure> {
    let mut fields = call.fields_or_form()?;
    fields.demand("type");
    let mut body = call.parse_body_from::<PaymentEvent>(fields);
    judge_data(&mut body);
    name_odd_fields(&mut body);
    let PaymentEvent { kind, id, created, data, intent_id, .. } = body.finish_in_order()?;
    let id = id.and_then(Result::ok).filter(|id| !id.is_empty());
    let (created, intent_id) = (created.and_then(Result::ok), intent_id.and_then(Result::ok));
    let kind = kind.unwrap_or_default();
    let (text, object, whole) = match data {
        Some(Ok((text, object, whole))) => (text, Some(object), whole.unwrap_or_default()),
        Some(Err((_, text))) => (text, Some(Map::new()), Map::new()),
        None => Default::default(),
    };
    let parsed = ParsedEvent {
        id: id.or_else(|| whole.get("id").and_then(text_of)),
        created: created.or_else(|| whole.get("created").and_then(moment_of)),
        object,
        intent_id,
    };
    let status = Status::of_event(&kind);
    Ok(assemble(kind, status, parsed, &text))
}

/// Refuses data without a payment, where the event may change one.
fn judge_data(body: &mut ParsedBody<PaymentEvent>) {
    let ParsedBody { read, fields } = body;
    let kind = read.kind.as_ref().and_then(Option::as_ref);
    if kind.is_some_and(|kind| Status::of_event(kind).is_none()) {
        return;
    }
    let object = match read.data.as_ref().and_then(Option::as_ref) {
        Some(Err((text, _))) => return fields.refuse("data", text.clone()),
        Some(Ok((_, object, _))) => Some(object),
        None => None,
    };
    let named =
        object.and_then(|object| named_by(kind, object)).is_some() || matches!(read.intent_id, Some(Some(Ok(_))));
    if !named && !object.is_some_and(is_bare_charge) {
        fields.refuse("data", Text::new("field.payment_data"));
    }
}

/// Where the event is refused anyway, refuses the fields that it could do without too.
fn name_odd_fields(body: &mut ParsedBody<PaymentEvent>) {
    let ParsedBody { read, fields } = body;
    if !fields.is_refused() {
        return;
    }
    fn problem<T>(read: &Option<Option<Result<T, Text>>>) -> Option<Text> {
        read.as_ref()?.as_ref()?.as_ref().err().cloned()
    }
    for (field, problem) in [
        ("id", problem(&read.id)),
        ("created", problem(&read.created)),
        ("paymentIntentId", problem(&read.intent_id)),
        ("fromApp", problem(&read.from_app)),
    ] {
        problem.into_iter().for_each(|text| fields.refuse(field, text));
    }
}

fn assemble(kind: String, status: Option<Status>, parsed: ParsedEvent, data: &str) -> ReceivedEvent {
    let intent_id = parsed.object.as_ref().and_then(|object| named_by(Some(&kind), object)).or(parsed.intent_id);
    let key = parsed.id.unwrap_or_else(|| digest(&[&kind, intent_id.as_deref().unwrap_or(""), data]));
    let object = parsed.object.unwrap_or_default();
    let effect = match (status, intent_id) {
        (Some(Status::Refunded), Some(intent_id)) if is_partial(&object) => {
            let cents = object.get("amount_refunded").and_then(number_of).filter(|cents| *cents >= 0);
            EventEffect::PartialRefund { intent_id, cents }
        }
        // A bank took the money back for now: the membership stays until the desk decides.
        (None, Some(intent_id)) if DISPUTES.contains(&&*kind) => {
            let cents = object.get("amount").and_then(number_of).filter(|cents| *cents >= 0);
            EventEffect::PartialRefund { intent_id, cents }
        }
        (Some(status), Some(intent_id)) => {
            let at = parsed.created.or_else(|| object.get("created").and_then(moment_of)).unwrap_or(Moment(0));
            let member_id = object.get("metadata").and_then(|all| all.get("member_id")).and_then(number_of);
            let event = Event {
                key: key.clone(),
                at,
                status,
                price: price(&object, status),
                member_id: member_id.map(MemberId),
            };
            EventEffect::Payment(Payment { intent_id, event })
        }
        _ => EventEffect::None,
    };
    ReceivedEvent { key, kind, effect }
}

/// The events by which a payment is disputed. Its object names the payment and the amount.
const DISPUTES: [&str; 2] = ["charge.dispute.created", "charge.dispute.funds_withdrawn"];

type Data = (String, Map<String, Value>, Option<Map<String, Value>>);

/// The object of an event, as JSON text or as JSON: alone, inside `{object}`, or inside a whole event. Returns also the text
/// that identifies the event, and the whole event, if there is one.
fn data(value: &Value) -> Result<Data, Text> {
    let parsed = match value {
        Value::String(text) => json::parse(text.as_bytes()).map_err(|_| Text::new("field.not_object"))?,
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

/// The id of the payment: a payment's own id, or a charge's `payment_intent` (an id or an object).
fn named_by(kind: Option<&String>, object: &Map<String, Value>) -> Option<String> {
    if kind.is_some_and(|kind| kind.starts_with("charge.")) {
        let intent = object.get("payment_intent")?;
        return text_of(intent).or_else(|| text_of(intent.get("id")?));
    }
    object.get("id").and_then(text_of)
}

/// Whether the object is a charge without a payment.
fn is_bare_charge(object: &Map<String, Value>) -> bool {
    object.get("object").is_some_and(|kind| kind == "charge")
        && object.get("payment_intent").is_some_and(Value::is_null)
}

/// Whether only a part of a charge was refunded; without information, all of it was.
fn is_partial(charge: &Map<String, Value>) -> bool {
    let number = |name| charge.get(name).and_then(number_of);
    match (charge.get("refunded"), number("amount_refunded"), number("amount")) {
        (Some(Value::Bool(all)), ..) => !all,
        (_, Some(back), Some(amount)) => back < amount,
        _ => false,
    }
}

/// The price; of a successful payment, the received amount and not the requested one.
fn price(object: &Map<String, Value>, status: Status) -> Option<Price> {
    let received = object.get("amount_received").filter(|_| status == Status::Succeeded).and_then(number_of);
    let cents = received.or_else(|| object.get("amount").and_then(number_of)).filter(|cents| *cents >= 0)?;
    let currency = object.get("currency").and_then(Value::as_str)?;
    let sound = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_alphabetic());
    sound.then(|| Price { cents, currency: currency.to_ascii_uppercase() })
}

/// An id, as text or number.
fn name(value: &Value) -> Result<String, Text> {
    fields::line(NAME_CHARS_MAX)(value)
}

fn text_of(value: &Value) -> Option<String> {
    name(value).ok().filter(|text| !text.is_empty())
}

fn number_of(value: &Value) -> Option<i64> {
    fields::whole(value).ok()
}

fn moment_of(value: &Value) -> Option<Moment> {
    fields::moment(value).ok()
}
