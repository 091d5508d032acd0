//! Sign-up.

use crate::app::person::{self, Person};
use crate::app::{self, RankedActor, signup};
use crate::auth::limits;
use crate::domain::audit::ActorId;
use crate::domain::ids::MemberId;
use crate::domain::{password, questions, username};
use crate::http::Answer;
use crate::http::answer::{Int, True};
use crate::http::body::{Field, Flattened, Ignored};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Line, LineAsTyped, NewPassword, QuestionNumber};
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::{members, tunnels};
use serde_json::{Value, json};
use std::collections::BTreeMap;

crate::answer! {
    struct Signup {
        status: True,
        message: String = "Welcome! You can sign in now; booking waits until your e-mail address is confirmed.",
        /// The new member.
        member_id: MemberId = 1204,
        /// The e-mail address waits for its confirmation.
        confirmation_pending as "confirmationPending": Int { "const": 1 } = 1,
    }
}

crate::answer! {
    struct Availability {
        status: True,
        available: bool = false,
        /// Why not, and which names are allowed; empty if it is available.
        message: String = "Somebody has this username. Choose another one.",
    }
}

crate::body! {
    pub(crate) struct SignupRequest {
        person: Flattened<Person>,
        password: NewPassword,
        /// Whether the terms are accepted; must be true.
        terms: Terms,
        /// The number of a question of the catalogue; with its answer, and each question once.
        question_1: Option<QuestionNumber>,
        /// Capitals and spaces do not count.
        answer_1: Option<Line<200>>,
        /// The number of a question of the catalogue; with its answer, and each question once.
        question_2: Option<QuestionNumber>,
        /// Capitals and spaces do not count.
        answer_2: Option<Line<200>>,
        /// The number of a question of the catalogue; with its answer, and each question once.
        question_3: Option<QuestionNumber>,
        /// Capitals and spaces do not count.
        answer_3: Option<Line<200>>,
        /// The client's echo; ignored.
        salt: Ignored,
        /// The client's echo; ignored.
        success: Ignored,
        /// The client's echo; ignored.
        message: Ignored,
    }
    also json!({ "dependentRequired": PAIRS.map(|(one, other)| (one, [other])).into_iter().collect::<BTreeMap<_, _>>() })
}

crate::body! {
    pub(crate) struct UsernameCheck {
        username: LineAsTyped<254>,
    }
}

/// Fields that come together or not at all.
const PAIRS: [(&str, &str); 6] = [
    ("question_1", "answer_1"),
    ("answer_1", "question_1"),
    ("question_2", "answer_2"),
    ("answer_2", "question_2"),
    ("question_3", "answer_3"),
    ("answer_3", "question_3"),
];

/// The acceptance of the terms: true.
pub(crate) struct Terms;

impl Field for Terms {
    type Value = ();

    fn read(value: &Value) -> Result<(), Text> {
        if fields::flag(value)? { Ok(()) } else { Err(Text::new("field.terms")) }
    }

    fn schema() -> Value {
        json!({ "enum": [true, 1, "true", "1"] })
    }
}

crate::operation! {
    /// Become a member
    ///
    /// A new member, who can sign in at once; booking waits until the e-mail address is confirmed by the token that
    /// is mailed to it (good for 24 hours, once). `salt`, `success` and `message` are the client's echo and ignored.
    CREATE = "signup"
        .body(|| json!({
            "username": "jane", "password": "violet-anvil-harbour-93", "email": "jane@example.com",
            "real_name": "Jane Doe", "screen_name": "Jane", "phone": "+41 44 668 18 00",
            "country": "Switzerland", "country_code": "CH", "tunnel": "1", "dob": 946684800, "terms": true,
            "question_1": "1", "answer_1": "Rex",
        }))
        .refuses(&["UsernameTaken"])
        .creates::<Signup>("The new member.")
}

pub(crate) fn create(site: &Site, call: &Call) -> Answer {
    let member_id = app::once(site, call, || sign_up(site, call))?;
    let message = call.say("done.signed_up");
    Ok(reply::created(&Signup { status: true, message, member_id, confirmation_pending: 1 }))
}

fn sign_up(site: &Site, call: &Call) -> Result<MemberId, Failure> {
    // All problems are reported at once, and checking a password takes time, so the rate limit comes first.
    limits::SIGN_UPS.take(site, call.network())?;
    let request = SignupRequest::read(site, call)?;
    // Hashing takes time, so it comes before the transaction and after every cheap check.
    let free = site.store.read(|tx| Ok(members::username_is_free(tx, &request.person.username)?))?;
    if !free {
        return Err(Failure::username_taken());
    }
    limits::MESSAGE_REQUESTS.take(site, call.network())?;
    let password_hash = site.hash(&request.password);
    let answers: Vec<_> = request
        .answers()
        .into_iter()
        .map(|(number, answer)| (number, site.hash(&questions::normalise(answer))))
        .collect();
    let stranger = RankedActor::outside(ActorId::Sender("sign-up"), call);
    app::change_once(site, call, stranger, |cx| {
        signup::create(cx, request.person.as_new(site.tunnel_id, &password_hash), None, &answers, 0)
    })
}

crate::operation! {
    /// Ask whether a username is free
    ///
    /// A name that is free now may be taken a moment later: the sign-up says so then.
    CHECK_USERNAME = "checkUsername"
        .body(|| json!({ "username": "jane" }))
        .takes(&["MonitorUser"])
        .paced(false)
        .answers::<Availability>("Whether a new member could have it.")
}

pub(crate) fn check_username(site: &Site, call: &Call) -> Answer {
    let UsernameCheck { username } = call.body()?;
    let (available, message) = match username::parse(&username) {
        Err(text) => (false, call.language().say(&text)),
        Ok(name) => match site.store.read(|tx| Ok(members::username_is_free(tx, &name)?))? {
            true => (true, String::new()),
            false => (false, call.say("username_taken")),
        },
    };
    Ok(reply::ok(&Availability { status: true, available, message }))
}

impl SignupRequest {
    fn read(site: &Site, call: &Call) -> Result<SignupRequest, Failure> {
        let mut fields = call.fields()?;
        let own = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?;
        let (tunnel, home) = own.map_or_else(Default::default, |tunnel| (tunnel.name, tunnel.country));
        fields.demand("email");
        for (one, other) in PAIRS {
            if fields.has(one) {
                fields.demand(other);
            }
        }
        let mut body = call.parse_body_from::<SignupRequest>(fields);
        let (read, fields) = (&mut body.read, &mut body.fields);
        person::judge(&mut read.person, site.now(), &home, fields);
        fields
            .check("password", &read.password, |secret| password::check(secret, &person::owner(&read.person, &tunnel)));
        if let Some(Some(tunnel_id)) = read.person.tunnel_id
            && !site.store.read(|tx| Ok(tunnels::exists(tx, tunnel_id)?))?
        {
            fields.refuse("tunnel", Text::new("field.unknown_tunnel"));
        }
        let mut numbers = Vec::new();
        for (field, number) in
            [("question_1", read.question_1), ("question_2", read.question_2), ("question_3", read.question_3)]
        {
            let Some(Some(number)) = number else { continue };
            if numbers.contains(&number) {
                fields.refuse(field, Text::new("field.question_twice"));
            }
            numbers.push(number);
        }
        body.finish_in_order()
    }

    fn answers(&self) -> Vec<(i64, &str)> {
        let pairs =
            [(self.question_1, &self.answer_1), (self.question_2, &self.answer_2), (self.question_3, &self.answer_3)];
        pairs.into_iter().filter_map(|(question, answer)| Some((question?, answer.as_deref()?))).collect()
    }
}
