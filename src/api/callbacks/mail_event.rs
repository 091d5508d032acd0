//! One event of the mail provider, parsed leniently: a malformed event does not fail its batch.

use super::digest;
use crate::app::mail_events::{About, Content, Event, Suppression};
use crate::domain::mail_event::Kind;
use crate::http::fields;
use crate::moment::Moment;
use serde_json::Value;

const NAME_CHARS_MAX: usize = 255;
const ADDRESS_CHARS_MAX: usize = 254;
const DETAIL_CHARS_MAX: usize = 200;
const EVENT_CHARS_MAX: usize = 40;

pub(super) fn parse(value: &Value) -> Event {
    let odd = || Event {
        key: digest(&[&value.to_string()]),
        undone_by: None,
        event: "?".to_owned(),
        content: Content::Malformed,
    };
    let at = fields::moment(&value["ts"]).ok();
    if let Some(kind) = word(&value["type"]) {
        return sync(value, kind, at).unwrap_or_else(odd);
    }
    let (Some(event), Some(id), Some(at)) = (word(&value["event"]), line(&value["_id"]), at) else { return odd() };
    let content = match Kind::parse(&event) {
        Some(kind) => Content::Mail(kind, about(value, &id, at)),
        None => Content::Unknown,
    };
    Event { key: format!("{id} {event} {at}"), undone_by: None, event, content }
}

/// Parses `{type: "blacklist"|"whitelist", action, reject: {email, reason}}`, with or without a moment.
fn sync(value: &Value, kind: String, at: Option<Moment>) -> Option<Event> {
    let action = word(&value["action"])?;
    let entry = if value["reject"].is_object() { &value["reject"] } else { &value["entry"] };
    let address = address(&entry["email"])?;
    let digest = digest(&[&address.to_lowercase()]);
    let opposite = if action == "add" { "remove" } else { "add" };
    let (key, undone_by) = match at {
        Some(at) => (format!("{kind} {action} {digest} {at}"), None),
        None => (format!("{kind} {action} {digest}"), Some(format!("{kind} {opposite} {digest}"))),
    };
    let detail = ["reason", "detail"].into_iter().find_map(|name| answer_text(&entry[name])).unwrap_or_default();
    let suppression = Suppression { address, detail, at };
    let content = match (kind.as_str(), action.as_str()) {
        ("blacklist", "add") => Content::Listed(suppression),
        ("blacklist", "remove") => Content::Unlisted(suppression),
        _ => Content::Unknown,
    };
    Some(Event { key, undone_by, event: format!("{kind} {action}"), content })
}

/// The subject of a mail event. `_id` is the provider's id of the mail. Our id is its Message-ID, which we send as metadata
/// (see the mailer); a provider may also use the Message-ID as its `_id`.
fn about(value: &Value, id: &str, at: Moment) -> About {
    let msg = &value["msg"];
    let metadata = &msg["metadata"];
    let ours = [&metadata["message_id"], &metadata["message-id"], &msg["headers"]["Message-Id"], &msg["_id"]];
    let names = ours.into_iter().filter_map(line).chain([id.to_owned()]);
    let names = names.map(|name| name.trim_start_matches('<').trim_end_matches('>').to_owned()).collect();
    let details = ["bounce_description", "diag", "reject"].into_iter().filter_map(|name| answer_text(&msg[name]));
    let detail: String = details.collect::<Vec<_>>().join(": ").chars().take(DETAIL_CHARS_MAX).collect();
    About { names, address: address(&msg["email"]), detail, at }
}

fn line(value: &Value) -> Option<String> {
    fields::line(NAME_CHARS_MAX)(value).ok().filter(|text| !text.is_empty())
}

/// The name of an event.
fn word(value: &Value) -> Option<String> {
    value.as_str().filter(|text| (1..=EVENT_CHARS_MAX).contains(&text.len()))?;
    line(value)
}

fn address(value: &Value) -> Option<String> {
    line(value).filter(|text| text.contains('@') && text.chars().count() <= ADDRESS_CHARS_MAX)
}

/// A mail server's answer, in one line.
fn answer_text(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    Some(words.join(" ").chars().take(DETAIL_CHARS_MAX).collect()).filter(|text: &String| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_key_of_an_event_has_its_mail_its_kind_and_its_moment() {
        let event = json!({ "event": "open", "ts": 1_700_000_000, "_id": "abc", "msg": { "_id": "abc" } });
        let key = parse(&event).key;
        assert_eq!(key, parse(&json!({ "event": "open", "ts": "1700000000", "_id": "abc", "x": 1 })).key);
        for (field, other) in [("event", json!("click")), ("ts", json!(1_700_000_001)), ("_id", json!("abd"))] {
            let mut changed = event.clone();
            changed[field] = other;
            assert_ne!(parse(&changed).key, key, "{field}");
        }
    }

    #[test]
    fn malformed_events_have_keys_of_their_own() {
        let odd = [
            json!(null),
            json!(7),
            json!("send"),
            json!([]),
            json!({}),
            json!({ "event": "send" }),
            json!({ "event": "send", "_id": "a" }),
            json!({ "event": "send", "_id": "", "ts": 1_700_000_000 }),
            json!({ "event": 5, "_id": "a", "ts": 1_700_000_000 }),
            json!({ "type": "blacklist", "action": "add" }),
            json!({ "type": "blacklist", "reject": { "email": "a@b.example" } }),
            json!({ "type": "blacklist", "action": "add", "ts": 1_700_000_000, "reject": { "email": "nobody" } }),
        ];
        let keys: std::collections::BTreeSet<String> = odd.iter().map(|value| parse(value).key).collect();
        assert_eq!(keys.len(), odd.len());
        assert!(odd.iter().all(|value| matches!(parse(value).content, Content::Malformed)), "{odd:?}");
    }

    #[test]
    fn other_kinds_of_events_are_unknown() {
        let unknown = [
            json!({ "event": "delivered", "_id": "a", "ts": 1_700_000_000 }),
            json!({ "type": "whitelist", "action": "add", "ts": 1_700_000_000, "entry": { "email": "a@b.example" } }),
            json!({ "type": "blacklist", "action": "change", "ts": 1_700_000_000, "reject": { "email": "a@b.example" } }),
        ];
        assert!(unknown.iter().all(|value| matches!(parse(value).content, Content::Unknown)));
    }
}
