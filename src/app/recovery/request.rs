//! The fields of a request to recover a password, read alike from the API's body and from the form of the public page.

use super::{Proof, Recovery, stranger};
use crate::app::credentials::KeptCredentials;
use crate::auth::social::Network;
use crate::domain::{password, questions};
use crate::http::body::{BodyItem, Field, Object, ParsedBody};
use crate::http::failure::Failure;
use crate::http::field_types::{Digits, Id, Line, LineAsTyped, Name, Named, NewPassword};
use crate::http::fields::Fields;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::outbox::Channel;
use serde_json::{Value, json};

/// The greatest number of passkeys, and of social links, that a recovery may keep.
const KEPT_MAX: usize = 50;
/// The greatest length of either list as text, in characters.
const KEPT_CHARS_MAX: usize = 1_000;

crate::body! {
    pub(crate) struct AccountAccess {
        /// The username or the e-mail address.
        username: LineAsTyped<254>,
        /// The channel by which the passcode is sent; by default e-mail.
        option: Option<Name<Channel>>,
        /// The passcode that was sent; a number is read as six digits, leading zeros and all. With a passcode, `password`
        /// and the answers are required.
        passcode: Option<Digits<32>>,
        /// The new password; required with `passcode`.
        password: Option<NewPassword>,
        answers: Answers,
        // Not in the contract. An intruder may have added a passkey or a link, so only those that the owner names stay.
        /// Ours, with `passcode`: the numbers (`passkey_id`) of the passkeys that stay, at most 50, as a list or as text
        /// with commas. Every other passkey of the member is removed.
        keep_passkeys: Option<KeptPasskeys>,
        /// Ours, with `passcode`: the social networks whose link to the account stays, as a list or as text with commas.
        /// Every other link is removed.
        keep_social: Option<KeptNetworks>,
    }
}

impl Recovery {
    /// Parses and validates the fields. The password, the answers and the lists of kept credentials count only with a
    /// passcode.
    pub(crate) fn read(site: &Site, mut fields: Fields) -> Result<Recovery, Failure> {
        if fields.has("passcode") {
            fields.demand("password");
        } else {
            fields.ignore(&["password"]);
            questions::NUMBERS.for_each(|number| fields.ignore(&[&answer_field(number)]));
        }
        let ParsedBody { read, mut fields } = ParsedBody::<AccountAccess>::read(fields);
        // Where the weak password is the only problem, `carry_out` reports it, and the public page asks again.
        if fields.is_refused()
            && let Some(Some(new_password)) = &read.password
        {
            let (name, tunnel) = (read.username.as_deref().unwrap_or(""), site.name()?);
            if let Err(text) = password::check(new_password, &stranger(name, &tunnel)) {
                fields.refuse("password", text);
            }
        }
        let body: AccountAccess = ParsedBody { read, fields }.finish()?;
        let kept = KeptCredentials {
            passkeys: body.keep_passkeys.unwrap_or_default(),
            social: body.keep_social.unwrap_or_default(),
        };
        let proof = body.passcode.zip(body.password);
        let proof = proof.map(|(passcode, password)| Proof { passcode, password, answers: body.answers, kept });
        Ok(Recovery { username: body.username, channel: body.option.unwrap_or(Channel::Email), proof })
    }
}

/// The answers to questions of the catalogue, `answer_<number>` each.
pub(crate) struct Answers;

impl BodyItem for Answers {
    type Read = Option<Vec<(i64, String)>>;
    type Value = Vec<(i64, String)>;

    fn take(fields: &mut Fields, _: &'static str) -> Self::Read {
        let read =
            |number| (number, fields.optional(&answer_field(number), LineAsTyped::<200>::read).into_option().flatten());
        let answers: Vec<_> = questions::NUMBERS.map(read).collect();
        Some(answers.into_iter().filter_map(|(number, answer)| Some((number, answer?))).collect())
    }

    fn value(read: Self::Read) -> Option<Self::Value> {
        read
    }

    fn describe(object: &mut Object, _: &str, _: &str) {
        // The contract names these three numbers.
        for number in [3, 4, 9] {
            let more = if number == 3 { " Every number from 1 to 12 is taken." } else { "" };
            let about = format!("The answer to question {number} of the catalogue.{more}");
            <Option<Line<200>> as BodyItem>::describe(object, &answer_field(number), &about);
        }
    }
}

fn answer_field(number: i64) -> String {
    format!("answer_{number}")
}

/// The values of a list, or of a comma-separated text.
fn listed(value: &Value) -> Result<Vec<Value>, Text> {
    match value {
        Value::Array(all) if all.len() <= KEPT_MAX => Ok(all.clone()),
        Value::String(text) if text.len() <= KEPT_CHARS_MAX => Ok(text.split(',').map(Value::from).collect()),
        Value::Number(_) => Ok(vec![value.clone()]),
        _ => Err(Text::new("field.kept_list").with("max", KEPT_MAX)),
    }
}

/// The numbers of the passkeys to keep.
pub(crate) struct KeptPasskeys;

impl Field for KeptPasskeys {
    type Value = Vec<i64>;

    fn read(value: &Value) -> Result<Vec<i64>, Text> {
        listed(value)?.iter().map(Id::read).collect()
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "array", "maxItems": KEPT_MAX, "items": Id::schema() },
            { "type": "string", "pattern": r"^\s*[0-9]*(\s*,\s*[0-9]+)*\s*$", "maxLength": KEPT_CHARS_MAX },
            { "type": "integer", "minimum": 1 },
        ] })
    }
}

/// The keys of the social networks whose links to keep.
pub(crate) struct KeptNetworks;

impl Field for KeptNetworks {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, Text> {
        listed(value)?.iter().map(|one| Name::<Network>::read(one).map(|network| network.key().to_owned())).collect()
    }

    fn schema() -> Value {
        let names = Network::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("|");
        json!({ "anyOf": [
            { "type": "array", "maxItems": KEPT_MAX, "items": Name::<Network>::schema() },
            {
                "type": "string",
                "pattern": format!(r"^(\s*({names})\s*(,\s*({names})\s*)*)?$"),
                "maxLength": KEPT_CHARS_MAX,
            },
        ] })
    }
}

impl Named for Channel {
    const NAMES: &'static [(&'static str, Channel)] = &[("email", Channel::Email), ("sms", Channel::Sms)];
}
