//! Changing the e-mail address or telephone number, by a passcode that is sent to the new one.

use crate::app::{self, own_profile};
use crate::auth::limits::messages::Cause;
use crate::auth::passcode::{self, Target, Use};
use crate::auth::{Member, limits};
use crate::domain::{country, phone};
use crate::http::Answer;
use crate::http::body::{Field, Flattened, Undescribed, shared};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Email, Line, Passcode, ShortLine};
use crate::http::fields::Fields;
use crate::http::reply::{self, Done};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::outbox::Channel;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The new address: `email`, or `country` (its calling code) and `phone`.
struct NewAddress {
    usage: Use,
    channel: Channel,
    address: String,
}

crate::body! {
    /// The new address of a member: an e-mail address or a telephone number.
    pub(crate) struct NewAddressFields {
        /// The new e-mail address; if present, the telephone number is ignored.
        email: Option<Email>,
        /// The country of the number: a calling code (`41`, `+41`, `0041`) or an ISO 3166 code (`CH`). Ignored for a number
        /// that begins with `+` or `00`.
        country: Undescribed<ShortLine<8>>,
        /// The new telephone number.
        phone: Undescribed<Line<32>>,
    }
    also json!({ "anyOf": [
        { "required": ["email"], "properties": { "email": Email::schema() } },
        {
            "required": ["country", "phone"],
            "properties": {
                "email": shared("Blank"), "country": ShortLine::<8>::schema(), "phone": Line::<32>::schema(),
            },
        },
    ] })
}

crate::body! {
    pub(crate) struct PasscodeRequest {
        place: Flattened<NewAddressFields>,
    }
}

crate::body! {
    pub(crate) struct PasscodeProof {
        place: Flattened<NewAddressFields>,
        /// The six digits, as a number or as text.
        passcode: Passcode,
    }
}

/// What the proof of a new address came to.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Saved,
    WrongPasscode,
}

/// The fields of a body with a new address. Requires the e-mail address, unless only a telephone number is given.
fn address_fields(call: &Call) -> Result<Fields, Failure> {
    let mut fields = call.fields()?;
    let has_number = fields.has("phone") || fields.has("country");
    if fields.has("email") || !has_number {
        fields.ignore(&["country", "phone"]);
        fields.demand("email");
    } else {
        fields.demand("country");
        fields.demand("phone");
    }
    Ok(fields)
}

impl TryFrom<NewAddressFields> for NewAddress {
    type Error = Failure;

    fn try_from(NewAddressFields { email, country, phone }: NewAddressFields) -> Result<NewAddress, Failure> {
        if let Some(address) = email {
            return Ok(NewAddress { usage: Use::VerifyEmail, channel: Channel::Email, address });
        }
        let (country, number) = (country.unwrap_or_default(), phone.unwrap_or_default());
        if !phone::is_whole(&number) && country::find_dialled(&country).is_none() {
            let failure = Failure::field("country", Text::new("field.country_code"));
            return Err(match phone::check_anywhere(&number) {
                Ok(()) => failure,
                Err(text) => failure.with_problem("phone", text),
            });
        }
        let address = phone::parse(&country, &number).map_err(|text| Failure::field("phone", text))?;
        Ok(NewAddress { usage: Use::VerifyPhone, channel: Channel::Sms, address })
    }
}

crate::operation! {
    /// Have a passcode sent to a new address or number
    ///
    /// To `email`, else to `country` and `phone`. Six digits, good for ten minutes and five tries; at most five an
    /// hour to one address.
    SEND = "sendVerificationPasscode"
        .body(|| json!({ "email": "jane.doe@example.com" }))
        .refuses(&["EmailNotConfirmed"])
        .answers::<Done>("It is on its way.")
        .example(|| json!({ "message": "A passcode is on its way. It is good for ten minutes." }))
}

pub(crate) fn send(site: &Site, call: &Call, member: &Member) -> Answer {
    let PasscodeRequest { place } = call.parse_body_from(address_fields(call)?).finish()?;
    let place = NewAddress::try_from(place)?;
    app::once(site, call, || {
        if place.channel == Channel::Sms {
            own_profile::check_takes_messages(site, member.id(), &place.address)?;
        }
        member.check_proven(site.now())?;
        limits::MESSAGE_REQUESTS.take(site, call.network())?;
        app::change_once(site, call, member, |cx| {
            let target = Target {
                member_id: member.id(),
                channel: place.channel,
                address: &place.address,
                language: cx.language,
                cause: Cause::Authenticated,
            };
            passcode::send_or_refuse(site, cx.tx, place.usage, &target)
        })
    })?;
    Ok(reply::done(call.say("passcode.sent")))
}

crate::operation! {
    /// Take over the new address or number
    ///
    /// The address or number that the passcode went to is the member's from now on. A wrong passcode is **200** with
    /// `status: false`.
    VERIFY = "verifyVerificationPasscode"
        .body(|| json!({ "email": "jane.doe@example.com", "passcode": 481516 }))
        .refuses(&["EmailTaken"])
        .answers::<Done>("Taken over, or why not.")
        .example(|| json!({ "message": "Saved." }))
}

pub(crate) fn verify(site: &Site, call: &Call, member: &Member) -> Answer {
    let PasscodeProof { place, passcode } = call.parse_body_from(address_fields(call)?).finish()?;
    let place = NewAddress::try_from(place)?;
    let outcome = app::once(site, call, || {
        member.check_proven(site.now())?;
        app::change_once(site, call, member, |cx| {
            let went_to = passcode::take_sent_to(site, cx.tx, member.id(), place.usage, &passcode, &place.address)?;
            let Some(address) = went_to else { return Ok(Outcome::WrongPasscode) };
            // In the spelling that the passcode was sent to.
            own_profile::set_address(cx, place.channel, &address)?;
            Ok(Outcome::Saved)
        })
    })?;
    Ok(match outcome {
        Outcome::Saved => reply::done(call.say("done.saved")),
        Outcome::WrongPasscode => reply::ok(&Done { status: false, message: call.say("passcode.wrong") }),
    })
}
