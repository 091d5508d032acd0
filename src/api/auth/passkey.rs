//! Passkeys: the options for the browser, and its response.

use super::login::{self, Login, SignInOutcome};
use crate::app::{self, RankedActor};
use crate::auth::passkey as ceremony;
use crate::auth::passkey::{CeremonyOptions, Intent, Label, Outcome, RelyingParty};
use crate::auth::{Member, limits, member_if_any, sign_in, signer};
use crate::domain::ids::EntryId;
use crate::domain::passkey;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::body::Undescribed;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Flag, Line, LineAsTyped, Lines, Name, Named, Whole};
use crate::http::fields::Fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use serde_json::{Value, json};

/// More than any authenticator's response, within the limit of a body.
const CREDENTIAL_CHARS_MAX: usize = 60_000;
/// A hundred entries with their versions.
const PAPER_CHARS_MAX: usize = 4_000;

crate::body! {
    pub(crate) struct PasskeyQuestion {
        /// Required without a session, unless `discoverable` is true.
        username: Option<LineAsTyped<254>>,
        /// The client's own number of the device.
        device_id: Option<Whole>,
        /// Ours, with a session: the name of the new passkey in the member's list; a line of at most 60 characters.
        name: Undescribed<Line<60>>,
        /// Ours, with `sign_entry`: the number of the entry that the response signs.
        entry_id: Option<EntryId>,
        /// Ours, with `sign_paper`: the document that the response signs, as the site's own page writes it.
        paper: Option<Line<PAPER_CHARS_MAX>>,
        /// Ours, without a session: the only purpose of the response. `sign_in` (the default) is for `bio-web-verify`; `desk`,
        /// `kiosk`, `own`, `sign_entry` and `sign_paper` are for the site's own pages.
        purpose: Option<Name<Purpose>>,
        /// Ours, without a session: the options name no passkeys, and any passkey that the authenticator has for this site may
        /// answer, so that nobody types a `username`. Ignored with `sign_entry` and `sign_paper`, whose signer is named.
        discoverable: Option<Flag>,
    }
}

crate::body! {
    pub(crate) struct PasskeyAnswer {
        /// `PublicKeyCredential` as JSON text, its bytes in base64url.
        credential: Lines<CREDENTIAL_CHARS_MAX>,
    }
}

/// The purpose of a ceremony without a session.
// Not shown in the contract: a response that signs an entry must not open a session.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    SignIn,
    Desk,
    Kiosk,
    Own,
    SignEntry,
    SignDocument,
}

impl Named for Purpose {
    const NAMES: &'static [(&'static str, Purpose)] = &[
        ("sign_in", Purpose::SignIn),
        ("desk", Purpose::Desk),
        ("kiosk", Purpose::Kiosk),
        ("own", Purpose::Own),
        ("sign_entry", Purpose::SignEntry),
        ("sign_paper", Purpose::SignDocument),
    ];
}

crate::answer! {
    struct PasskeyOptions {
        status: True,
        /// The argument of `navigator.credentials.get` (or `create`), its bytes in base64url:
        /// `PublicKeyCredentialRequestOptions` or `PublicKeyCredentialCreationOptions` of WebAuthn.
        public_key as "publicKey": Value {
            "type": "object", "required": ["challenge"], "additionalProperties": true,
            "properties": {
                "challenge": { "type": "string", "description": "Valid once, for five minutes.", "minLength": 1 },
            },
        } = {
            "challenge": "bm90LWEtcmVhbC1jaGFsbGVuZ2U", "timeout": 300000, "rpId": "tunnel.example.com",
            "allowCredentials": [{ "type": "public-key", "id": "c29tZS1jcmVkZW50aWFs" }],
            "userVerification": "required",
        },
    }
}

// Not shown in the contract: `name`, because passkeys without names cannot be told apart.
crate::operation! {
    /// Begin with a passkey
    ///
    /// Without a session: the browser's options for signing in as `username`, or, with `discoverable`, by whichever
    /// passkey the authenticator has for this site. With a session: its options for registering a new passkey of the
    /// caller under `device_id`. The options of an unknown username look like those of a known one. Passkeys work
    /// over https under one of the site's names, or at `localhost`; elsewhere the answer is 409.
    OPTIONS = "passkeyOptions"
        .body(|| json!({ "username": "jane", "device_id": 7 }))
        .refuses(&["NotAllowed", "PasskeysFull"])
        .answers::<PasskeyOptions>("The options.")
        .also(|| json!({ "security": [{}, { "session": [] }, { "sessionInToken": [] }] }))
}

pub(crate) fn options(site: &Site, call: &Call) -> Answer {
    let public_key = app::once(site, call, || {
        let fields = call.fields()?;
        match member_if_any(site, call)? {
            Some(member) => to_register(site, call, fields, &member),
            None => to_sign_in(site, call, fields),
        }
    })?;
    Ok(reply::ok(&PasskeyOptions { status: true, public_key }))
}

fn to_sign_in(site: &Site, call: &Call, mut fields: Fields) -> Result<Value, Failure> {
    fields.ignore(&["name"]);
    let mut body = call.parse_body_from::<PasskeyQuestion>(fields);
    if let (Some(Some(Purpose::SignEntry)), Some(None) | None) = (body.read.purpose, body.read.entry_id) {
        body.fields.refuse("purpose", Text::new("passkey.entry_missing"));
    }
    if let (Some(Some(Purpose::SignDocument)), Some(None) | None) = (body.read.purpose, &body.read.paper) {
        body.fields.refuse("purpose", Text::new("passkey.paper_missing"));
    }
    let signing = matches!(body.read.purpose, Some(Some(Purpose::SignEntry | Purpose::SignDocument)));
    let anybody = !signing && matches!(body.read.discoverable, Some(Some(true)));
    if !anybody {
        body.fields.demand("username");
    }
    let PasskeyQuestion { username, purpose, entry_id, paper, .. } = body.finish()?;
    let intent = match (purpose, entry_id) {
        (Some(Purpose::Desk), _) => Intent::Desk,
        (Some(Purpose::Kiosk), _) => Intent::Kiosk,
        (Some(Purpose::Own), _) => Intent::Own,
        (Some(Purpose::SignEntry), Some(entry_id)) => Intent::SignEntry(entry_id),
        (Some(Purpose::SignDocument), _) => Intent::SignDocument(signer::document_digest(&paper.unwrap_or_default())),
        (Some(Purpose::SignIn | Purpose::SignEntry) | None, _) => Intent::SignIn,
    };
    let party = admit(site, call)?;
    let options = match username.filter(|_| !anybody) {
        Some(username) => ceremony::start_sign_in(site, &party, &username, intent)?,
        None => ceremony::start_discoverable_sign_in(site, &party, intent)?,
    };
    ask(site, call, options)
}

fn to_register(site: &Site, call: &Call, mut fields: Fields, member: &Member) -> Result<Value, Failure> {
    fields.ignore(&["entry_id", "paper", "purpose", "discoverable"]);
    let PasskeyQuestion { device_id, name, .. } = call.parse_body_from(fields).finish()?;
    member.check_proven(site.now())?;
    let party = admit(site, call)?;
    let user_agent = call.header("user-agent").unwrap_or("");
    let label = Label { name: name.unwrap_or_else(|| passkey::name_from(user_agent)), device_id };
    ask(site, call, ceremony::start_registration(site, &party, (member.id(), member.session()), label)?)
}

/// The relying party of the call. Each ceremony stores a row for a while, so their rate is limited by address.
fn admit(site: &Site, call: &Call) -> Result<RelyingParty, Failure> {
    let party = RelyingParty::of(site, call)?;
    limits::PASSKEYS.take(site, call.network())?;
    Ok(party)
}

/// Stores the challenge. Returns the options for the browser.
fn ask(site: &Site, call: &Call, question: CeremonyOptions) -> Result<Value, Failure> {
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        question.store(cx.tx)?;
        Ok(question.public_key)
    })
}

crate::operation! {
    /// Finish with a passkey
    ///
    /// The browser's credential as JSON text. The server finds the challenge by the client data, and signs in or
    /// registers the new passkey (then without a new `token`, because the caller has a session). An invalid
    /// credential is **200** with `status: false`.
    VERIFY = "passkeyVerify"
        .body(|| json!({
            "credential": "{\"id\":\"c29tZS1jcmVkZW50aWFs\",\"rawId\":\"c29tZS1jcmVkZW50aWFs\",\"type\":\"public-key\",\"response\":{\"clientDataJSON\":\"e30\",\"authenticatorData\":\"AA\",\"signature\":\"AA\"}}",
        }))
        .takes(&["DeviceToken"])
        .paced(false)
        .answers::<Login>("A session, a registered passkey, or a refusal.")
        .headers(&[("x-device-token", "DeviceToken")])
}

pub(crate) fn verify(site: &Site, call: &Call) -> Answer {
    let outcome = app::once(site, call, || take_response(site, call))?;
    Ok(login::rendered(site, call, outcome))
}

fn take_response(site: &Site, call: &Call) -> Result<SignInOutcome, Failure> {
    let PasskeyAnswer { credential } = call.body()?;
    let refused = SignInOutcome::Refused("passkey.refused".into());
    let Some(answer) = ceremony::check_response(site, call, &credential, Intent::SignIn)? else { return Ok(refused) };
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        Ok(match ceremony::apply(site, call, cx.tx, &answer)? {
            Outcome::Refused => refused,
            Outcome::SignedIn(account) => {
                let session = sign_in::insert_session(call, cx.tx, &account)?;
                SignInOutcome::signed_in(&account, session)
            }
            Outcome::Registered(account) => {
                SignInOutcome::PasskeyAdded { member_id: account.member_id, email_confirmed: account.email_confirmed }
            }
        })
    })
}
