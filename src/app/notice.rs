//! The text of a notice in the reader's language: the text that the row names, with the row's values in its
//! placeholders.
//!
//! The name of a value decides how the value is formatted. A number under a name that ends in `date`, `_at` or `until`
//! is a moment in Unix seconds, and is formatted as a day at the tunnel. `{amount}` is composed of `amount_cents` and
//! `currency` where both exist. Other numbers and texts are inserted unchanged.

use super::Change;
use crate::domain::ids::NoticeId;
use crate::domain::local_time::TimeZone;
use crate::domain::payment::Price;
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::store::tables::outbox::{self, Channel, NewMessage};
use crate::store::tables::{members, notices};
use serde_json::{Value, json};

/// The key of the text for a notice that this version does not know.
const UNKNOWN: &str = "notice.other";
/// A colleague was invited, or the role of an account changed.
pub(crate) const STAFF_CHANGED: &str = "notice.staff_changed";
/// The placeholder's text where the row has no value.
const NOTHING: &str = "–";

/// Marks a notice of the actor's as read; a second time changes nothing. 404 where the actor has no such notice.
pub(crate) fn mark_read(cx: &Change, notification_id: NoticeId) -> Result<(), Failure> {
    match notices::set_read(cx.tx, cx.own()?.member_id, notification_id)? {
        true => Ok(()),
        false => Err(Failure::not_found()),
    }
}

/// Marks every notice up to the one with this number as read.
pub(crate) fn mark_all_read(cx: &Change, last: i64) -> Result<(), Failure> {
    notices::set_read_up_to(cx.tx, cx.own()?.member_id, last)?;
    Ok(())
}

/// Tells every admin by a notice and at the confirmed address, also whoever did it: the session may be a thief's. The sender offers
/// what waits to the mail server of before first.
pub(crate) fn tell_admins(cx: &Change, subject: &'static str) -> Result<(), Failure> {
    for admin in members::list_with_role(cx.tx)?.into_iter().filter(|one| one.role == Role::Admin) {
        notices::insert(cx.tx, admin.member_id, subject, "{}")?;
        let Some((recipient, tag)) = members::find_correspondence(cx.tx, admin.member_id)? else { continue };
        let language = Language::find(&tag).unwrap_or_default();
        let message = NewMessage {
            channel: Channel::Email,
            member_id: Some(admin.member_id),
            recipient: &recipient,
            language: language.tag(),
            template: "notice",
            values: &json!({ "subject": subject, "detail": {} }),
        };
        outbox::insert(cx.tx, &cx.site.keys, &message)?;
    }
    Ok(())
}

/// The text of a notice: `subject` is the key of a text, `detail` has the values.
pub(crate) fn text(language: Language, zone: &TimeZone, subject: &str, detail: &Value) -> String {
    say(language, zone, subject, detail).or_else(|| say(language, zone, UNKNOWN, detail)).unwrap_or_default()
}

/// The subject of a notice, in a few words.
pub(crate) fn subject(language: Language, subject: &str) -> String {
    let name = subject.strip_prefix("notice.").unwrap_or(subject);
    let known = Text::find(&format!("subject.{name}"), |_| None).or_else(|| Text::find("subject.other", |_| None));
    known.map(|text| language.say(&text)).unwrap_or_default()
}

/// The headline of a notice, for the subject of a mail.
pub(crate) fn headline(language: Language, zone: &TimeZone, subject: &str, detail: &Value) -> String {
    let name = subject.strip_prefix("notice.").unwrap_or(subject);
    let known = say(language, zone, &format!("headline.{name}"), detail);
    known.or_else(|| say(language, zone, "headline.other", detail)).unwrap_or_default()
}

fn say(language: Language, zone: &TimeZone, key: &str, detail: &Value) -> Option<String> {
    let value = |name: &str| Some(value(language, zone, name, detail).unwrap_or_else(|| NOTHING.to_owned()));
    Text::find(key, value).map(|text| language.say(&text))
}

fn value(language: Language, zone: &TimeZone, name: &str, detail: &Value) -> Option<String> {
    if name == "amount"
        && let Some(amount) = amount(language, detail)
    {
        return Some(amount);
    }
    match detail.get(name)? {
        Value::Number(moment) if is_moment(name) => Some(when::day(language, zone, Moment(moment.as_i64()?))),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

fn is_moment(name: &str) -> bool {
    ["date", "_at", "until"].iter().any(|end| name.ends_with(end))
}

/// An amount with its currency, as the language writes it: `30.00 EUR`.
pub(crate) fn amount(language: Language, detail: &Value) -> Option<String> {
    let (cents, currency) = (detail.get("amount_cents")?.as_i64()?, detail.get("currency")?.as_str()?);
    Some(Price { cents, currency: currency.to_uppercase() }.in_words(language))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FLIGHT: i64 = 1_795_219_200;

    #[test]
    fn a_notice_is_said_in_the_reader_s_language() {
        let detail = json!({ "booking_id": 3, "flight_date": FLIGHT, "minutes": 20 });
        for (language, day) in [
            (Language::English, "21 November 2026"),
            (Language::German, "21. November 2026"),
            (Language::French, "21 novembre 2026"),
            (Language::Spanish, "21 de noviembre de 2026"),
        ] {
            let said = text(language, &TimeZone::UTC, "notice.booking_recorded", &detail);
            assert!(said.contains(day) && said.contains("20") && !said.contains('{'), "{said}");
        }
        let evening = json!({ "flight_date": FLIGHT + 3 * 3_600, "minutes": 20 });
        let said = text(Language::English, &TimeZone::named("America/Denver"), "notice.booking_recorded", &evening);
        assert!(said.contains("20 November 2026"), "the site's evening: {said}");
    }

    #[test]
    fn what_is_not_known_is_not_shown_as_a_hole() {
        let said = text(Language::English, &TimeZone::UTC, "notice.of the future", &json!({}));
        assert_eq!(said, text(Language::English, &TimeZone::UTC, UNKNOWN, &json!({})));
        for detail in [json!({}), json!(null), json!([1]), json!({ "flight_date": "soon?", "minutes": {} })] {
            let said = text(Language::German, &TimeZone::UTC, "notice.booking_recorded", &detail);
            assert!(said.contains(NOTHING) && !said.contains('{'), "{said}");
        }
        assert_eq!(
            text(Language::English, &TimeZone::UTC, "field.missing", &json!({})),
            Text::new("field.missing").in_english()
        );
    }

    #[test]
    fn amounts_are_written_as_people_write_them() {
        let detail = json!({ "amount_cents": 123_405, "currency": "chf" });
        assert_eq!(amount(Language::English, &detail).unwrap(), "1,234.05 CHF");
        assert_eq!(amount(Language::French, &detail).unwrap(), "1\u{202f}234,05 CHF");
        assert_eq!(amount(Language::English, &json!({ "amount_cents": -7, "currency": "EUR" })).unwrap(), "-0.07 EUR");
        assert_eq!(amount(Language::German, &json!({ "amount_cents": 500, "currency": "JPY" })).unwrap(), "500 JPY");
        assert_eq!(amount(Language::English, &json!({ "amount_cents": "7" })), None);
    }

    #[test]
    fn every_notice_has_a_subject_in_words_of_its_own() {
        let texts = Language::English.texts();
        let names: Vec<&str> = texts.keys().filter_map(|key| key.strip_prefix("notice.")).collect();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            assert!(texts.contains_key(&format!("subject.{name}")), "notice.{name} has no subject");
        }
        assert_eq!(subject(Language::German, "notice.of the future"), subject(Language::German, "notice.other"));
        assert_ne!(subject(Language::French, "notice.denied"), subject(Language::English, "notice.denied"));
    }

    #[test]
    fn every_text_that_can_be_mailed_has_its_headline() {
        let texts = Language::English.texts();
        for key in texts.keys().filter_map(|key| key.strip_prefix("headline.")) {
            assert!(texts.contains_key(&format!("notice.{key}")), "headline.{key} has no notice");
        }
        let (values, other) = (json!({ "renewal_date": FLIGHT, "programme": "Coach" }), json!({}));
        for subject in ["currency_flyer", "currency_flyer_last", "currency_training", "currency_training_last"] {
            let said = headline(Language::Spanish, &TimeZone::UTC, &format!("notice.{subject}"), &values);
            assert_ne!(said, headline(Language::Spanish, &TimeZone::UTC, "notice.unheard_of", &other), "{subject}");
            assert!(!said.contains(NOTHING), "{said}");
        }
    }

    /// Every subject that the source code writes into a row has a text.
    #[test]
    fn whatever_is_noted_anywhere_can_be_said() {
        fn look(dir: &std::path::Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    look(&path, found);
                } else {
                    let source = std::fs::read_to_string(&path).unwrap();
                    let product = source.split("#[cfg(test)]").next().unwrap_or("");
                    found.extend(
                        product
                            .split("\"notice.")
                            .skip(1)
                            .filter_map(|rest| rest.split_once('"'))
                            .map(|(key, _)| key.to_owned()),
                    );
                }
            }
        }
        let mut found = Vec::new();
        look(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 15, "{found:?}");
        // The event that tells of a new notice is none.
        for key in found.iter().filter(|key| !key.is_empty() && *key != "created") {
            assert!(Language::English.texts().contains_key(&format!("notice.{key}")), "notice.{key} has no text");
        }
    }
}
