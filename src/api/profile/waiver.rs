//! The waiver in the members' app: the text, and its signature for the member and for children for whom the member acts.

use crate::app::waivers::{self, Due, FLYERS_MAX, Flyer, NAME_CHARS_MAX, Signing};
use crate::app::{self, RankedActor};
use crate::auth::Member;
use crate::domain::role::Role;
use crate::domain::waiver::{QUESTIONS_MAX, Reason, Relation, STROKES_CHARS_MAX, SigningPlace, questions};
use crate::http::Answer;
use crate::http::body::{Field, shared};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Id, Line};
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::keys::hex;
use crate::site::Site;
use crate::store::tables::emergency_contacts::Emergency;
use crate::store::tables::site_texts::{self, Kind};
use serde::Serialize;
use serde_json::{Value, json};

/// Length of a telephone number as people type it.
const PHONE_CHARS_MAX: usize = 40;

crate::body! {
    pub(crate) struct WaiverSignature {
        /// The version of the text that was shown.
        version: Id,
        /// The language of the text that was shown, from the answer to the `GET`.
        language: Line<5>,
        /// The typed name of the signer.
        signer_name: Line<NAME_CHARS_MAX>,
        /// The drawn signature: `M x y L x y …`, whole numbers in a field 600 wide and 200 high, with two lines at least.
        /// Without one the typed name is the signature.
        strokes: Option<Line<STROKES_CHARS_MAX>>,
        /// The flyers: the member, and children for whom the member acts.
        flyers: FlyerList,
        /// The emergency contact; if absent, the stored one is kept.
        emergency_name: Option<Line<NAME_CHARS_MAX>>,
        emergency_phone: Option<Line<PHONE_CHARS_MAX>>,
    }
}

/// The flyers of a signature, each with the answers.
pub(crate) struct FlyerList;

impl Field for FlyerList {
    type Value = Vec<Flyer>;

    fn read(value: &Value) -> Result<Vec<Flyer>, Text> {
        let wrong = || Text::new("waiver.flyers_wrong");
        let list = value.as_array().filter(|list| (1..=FLYERS_MAX).contains(&list.len())).ok_or_else(wrong)?;
        list.iter().map(|one| flyer(one).ok_or_else(wrong)).collect()
    }

    fn schema() -> Value {
        json!({
            "type": "array", "minItems": 1, "maxItems": FLYERS_MAX,
            "items": {
                "type": "object",
                "required": ["member_id", "answers"],
                "properties": {
                    "member_id": shared("Id"),
                    "answers": {
                        "type": "array", "maxItems": QUESTIONS_MAX, "items": { "type": "boolean" },
                        "description": "The answers to the questions, in their order: `true` is yes.",
                    },
                    "dob": {
                        "anyOf": [shared("DayOfBirth"), { "type": "null" }],
                        "description": "Midnight of the day of birth; used if the account has none.",
                    },
                },
            },
        })
    }
}

/// Parses a flyer with answers.
fn flyer(value: &Value) -> Option<Flyer> {
    let map = value.as_object()?;
    let answer = |one: &Value| one.as_bool().map(|yes| if yes { 'y' } else { 'n' });
    let answers = map.get("answers")?.as_array().filter(|answers| answers.len() <= QUESTIONS_MAX)?;
    let dob = match map.get("dob") {
        None | Some(Value::Null) => None,
        Some(given) => Some(fields::day_of_birth(given).ok()?),
    };
    Some(Flyer {
        member_id: fields::id(map.get("member_id")?).ok()?,
        dob,
        relation: Relation::Own,
        answers: answers.iter().map(answer).collect::<Option<String>>()?,
    })
}

#[derive(Serialize)]
struct WaiverReply {
    version: i64,
    /// ISO 639-1.
    language: String,
    title: String,
    body: String,
    questions: Vec<String>,
    /// SHA-256 in hex.
    text_hash: String,
    published_at: i64,
    flyers: Vec<FlyerReply>,
}

#[derive(Serialize)]
struct FlyerReply {
    member_id: i64,
    name: String,
    relation: &'static str,
    knows_dob: bool,
    /// `in_force`, or the reason why not.
    waiver: &'static str,
    /// Whether a signature is missing.
    to_sign: bool,
}

impl From<Due> for FlyerReply {
    fn from(due: Due) -> FlyerReply {
        FlyerReply {
            member_id: due.member_id,
            name: due.name,
            relation: due.relation.unwrap_or(Relation::Own).name(),
            knows_dob: due.dob.is_some(),
            waiver: due.reason.map_or("in_force", Reason::name),
            to_sign: due.reason.is_some_and(Reason::wants_signature),
        }
    }
}

#[derive(Serialize)]
struct SignedReply {
    status: bool,
    message: String,
    /// In the order of the flyers.
    signature_ids: Vec<i64>,
    /// Whether staff has to decide because of an answer.
    waits_for_staff: bool,
}

/// `GET /account/profile/waiver`: the text in the caller's language, if the operator wrote one, and the state of the waiver for
/// the member and the children for whom the member acts. 404 on a site without waivers.
pub(crate) fn get(site: &Site, call: &Call, member: &Member) -> Answer {
    check_required(site)?;
    site.store.read(|tx| {
        let in_force = site_texts::find_in_force(tx, Kind::Waiver)?.ok_or_else(Failure::not_found)?;
        let text = site_texts::find_best(
            tx,
            Kind::Waiver,
            in_force.version,
            call.member_language().unwrap_or_default().tag(),
        )?;
        let text = text.ok_or_else(Failure::not_found)?;
        let due = waivers::list_due(site, tx, member.id())?;
        Ok(reply::ok(&WaiverReply {
            version: text.version,
            language: text.language,
            title: text.title,
            body: text.body,
            questions: questions(&text.questions).map(str::to_owned).collect(),
            text_hash: hex(&text.text_hash),
            published_at: text.published_at,
            flyers: due.into_iter().map(FlyerReply::from).collect(),
        }))
    })
}

/// `POST /account/profile/waiver`: signs for all flyers of the body, or for none. 409 where another text is in force by now.
pub(crate) fn sign(site: &Site, call: &Call, member: &Member) -> Answer {
    check_required(site)?;
    let WaiverSignature { version, language, signer_name, strokes, flyers, emergency_name, emergency_phone } =
        call.body()?;
    let signing = Signing {
        version,
        language,
        signer_name,
        strokes: strokes.unwrap_or_default(),
        place: SigningPlace::App,
        flyers,
        consents: Vec::new(),
        emergency: Emergency { name: emergency_name.unwrap_or_default(), phone: emergency_phone.unwrap_or_default() },
    };
    let waits_for_staff = signing.flyers.iter().any(|flyer| flyer.answers.contains('y'));
    // The actor is a plain member even for staff, who sign for others only at the desk.
    let actor = RankedActor::account(member.id(), Role::Member, member.actor());
    let signature_ids = app::change_once(site, call, actor, |cx| waivers::sign(cx, &signing))?;
    let message = call.say(if waits_for_staff { "waiver.staff_next" } else { "waiver.done" });
    Ok(reply::created(&SignedReply { status: true, message, signature_ids, waits_for_staff }))
}

fn check_required(site: &Site) -> Result<(), Failure> {
    if site.config.waiver.required { Ok(()) } else { Err(Failure::not_found()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_flyers_is_parsed_as_a_whole_or_refused() {
        let good =
            json!([{ "member_id": "7", "answers": [false, true], "dob": 86_400 }, { "member_id": 8, "answers": [] }]);
        let read = FlyerList::read(&good).unwrap();
        let parsed: Vec<_> = read.iter().map(|one| (one.member_id, one.answers.as_str(), one.dob)).collect();
        assert_eq!(parsed, [(7, "ny", Some(86_400)), (8, "", None)]);
        for bad in [
            json!([]),
            json!({}),
            json!([7]),
            json!([{ "member_id": 7 }]),
            json!([{ "member_id": 0, "answers": [] }]),
            json!([{ "member_id": 7, "answers": ["n"] }]),
            json!([{ "member_id": 7, "answers": [], "dob": "soon" }]),
            json!([{ "member_id": 7, "answers": vec![false; QUESTIONS_MAX + 1] }]),
            json!(vec![json!({ "member_id": 7, "answers": [] }); FLYERS_MAX + 1]),
        ] {
            assert!(FlyerList::read(&bad).is_err(), "{bad}");
        }
    }
}
