//! The waiver in the members' app: the text, and its signature for the member and for children for whom the member acts.

use crate::app::waivers::{self, Due, FLYERS_MAX, Flyer, NAME_CHARS_MAX, Signing};
use crate::app::{self, RankedActor};
use crate::auth::Member;
use crate::domain::ids::{MemberId, SignatureId};
use crate::domain::role::Role;
use crate::domain::waiver::{QUESTIONS_MAX, Reason, Relation, STROKES_CHARS_MAX, SigningPlace, questions};
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::body::{Field, shared};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Id, Line};
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::keys::hex;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::emergency_contacts::Emergency;
use crate::store::tables::site_texts::{self, Kind};
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

crate::answer! {
    struct Waiver {
        version: Id = 3,
        /// In which the text is: ISO 639-1.
        language: String = "en",
        title: String = "Waiver",
        /// A blank line begins a new paragraph.
        body: String = "I fly at my own risk.",
        /// Each answered by yes or no, in this order.
        questions: Vec<String> = ["Is a shoulder hurt?"],
        /// SHA-256, in hex, of title, body and questions in UTF-8, with one blank line between the three, questions
        /// one a line, and each line ended by a line feed.
        text_hash: String { "pattern": "^[0-9a-f]{64}$" } = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        /// Unix seconds.
        published_at: Moment = 1779913600,
        /// The member, then the children for whom the member acts.
        flyers: Vec<WaiverFlyer>,
    }
}

crate::answer! {
    struct WaiverFlyer {
        member_id: MemberId = 1204,
        name: String = "Jane Doe",
        /// Of the member to this flyer.
        relation: &'static str ["self", "parent", "guardian", "permission"] = "self",
        /// Whether the account knows the day of birth; else the signature says it.
        knows_dob: bool = true,
        /// How it stands.
        waiver: &'static str ["in_force", "unsigned", "expired", "old_version", "guardian_missing", "came_of_age", "undecided", "refused"] = "unsigned",
        /// Whether a signature is missing; otherwise a decision of the staff, or nothing.
        to_sign: bool = true,
    }
}

impl From<Due> for WaiverFlyer {
    fn from(due: Due) -> WaiverFlyer {
        WaiverFlyer {
            member_id: due.member_id,
            name: due.name,
            relation: due.relation.unwrap_or(Relation::Own).name(),
            knows_dob: due.dob.is_some(),
            waiver: due.reason.map_or("in_force", Reason::name),
            to_sign: due.reason.is_some_and(Reason::wants_signature),
        }
    }
}

crate::answer! {
    struct WaiverSigned {
        status: True,
        message: String = "Signed. Thank you!",
        /// In the order of the flyers.
        signature_ids: Vec<SignatureId> = [88],
        /// Whether the site's staff has to decide because of an answer.
        waits_for_staff: bool = false,
    }
}

crate::operation! {
    /// Read the waiver that is to be signed
    ///
    /// On a site that asks for waivers: the operator's text in force, in the caller's language where there is one,
    /// and its state for the member and the children for whom the member acts.
    GET = "getWaiver"
        .takes(&["AcceptLanguage"])
        .refuses(&["NotFound"])
        .answers::<Waiver>("The text and the flyers.")
}

pub(crate) fn get(site: &Site, call: &Call, member: &Member) -> Answer {
    check_required(site)?;
    site.store.read(|tx| {
        let in_force = site_texts::find_in_force(tx, Kind::Waiver)?.ok_or_else(Failure::not_found)?;
        let text = site_texts::find_best(tx, Kind::Waiver, in_force.version, call.language().tag())?;
        let text = text.ok_or_else(Failure::not_found)?;
        let due = waivers::list_due(site, tx, member.id())?;
        Ok(reply::ok(&Waiver {
            version: text.version,
            language: text.language,
            title: text.title,
            body: text.body,
            questions: questions(&text.questions).map(str::to_owned).collect(),
            text_hash: hex(&text.text_hash),
            published_at: text.published_at,
            flyers: due.into_iter().map(WaiverFlyer::from).collect(),
        }))
    })
}

crate::operation! {
    /// Sign the waiver
    ///
    /// Signs for the member and, in the same request, for children for whom the member acts: for all of the named
    /// flyers, or for none. `version` and `language` are those of the text that was shown. For a member below the
    /// site's minimum age a guardian signs: in the guardian's app, at a kiosk or at the desk. After an answer of yes
    /// the site's staff decides, and the flyer does not answer again. With 422 a field of one flyer is named with the
    /// member's number, as `answers_1204`.
    SIGN = "signWaiver"
        .body(|| json!({
            "version": 3, "language": "en", "signer_name": "Jane Doe", "strokes": "M 20 150 L 90 40 L 160 150",
            "flyers": [{ "member_id": 1204, "answers": [false] }], "emergency_name": "Joan Doe",
            "emergency_phone": "+41 44 668 18 00",
        }))
        .refuses(&["NotFound", "WaiverChanged"])
        .creates::<WaiverSigned>("Signed.")
}

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
    Ok(reply::created(&WaiverSigned { status: true, message, signature_ids, waits_for_staff }))
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
        assert_eq!(parsed, [(MemberId(7), "ny", Some(Moment(86_400))), (MemberId(8), "", None)]);
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
