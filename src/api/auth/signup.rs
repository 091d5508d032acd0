//! Becoming a member.

use super::person::{self, Person};
use crate::auth::Rates;
use crate::auth::{Caller, Pace, confirmation, take_message};
use crate::domain::{password, questions, username};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields, Unjudged};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::{members, tunnels};
use serde::Serialize;

#[derive(Serialize)]
struct SignupReply {
    status: bool,
    message: String,
    member_id: i64,
    /// 1: the e-mail address waits for its confirmation.
    #[serde(rename = "confirmationPending")]
    confirmation_pending: i64,
}

#[derive(Serialize)]
struct AvailabilityReply {
    status: bool,
    available: bool,
    message: String,
}

/// The signup body, judged. `salt`, `success` and `message` are the client's echo and not read.
struct Signup {
    person: Person,
    password: String,
    answers: Vec<(i64, String)>,
}

/// `POST /auth/signup`: a new member, who can sign in at once; booking waits for the e-mail confirmation.
pub fn create(site: &Site, call: &Call) -> Answer {
    // Every mistake is named at once, and judging a password takes its time: so the pace comes before all of it.
    let pace = Pace::per_hour(site.config.limits.signups_per_hour_per_address);
    site.kept::<Rates>().take(Caller::SignupFrom(call.network()), pace)?;
    let signup = Signup::read(site, call)?;
    // Hashing takes its time, so it comes before the transaction and after everything that can be refused cheaply.
    let free = site.store.read(|tx| Ok(members::username_is_free(tx, &signup.person.username)?))?;
    if !free {
        return Err(Failure::username_taken());
    }
    take_message(site, call)?;
    let password_hash = site.hash(&signup.password);
    let answers: Vec<_> =
        signup.answers.iter().map(|(number, answer)| (*number, site.hash(&questions::normalise(answer)))).collect();
    site.once(call, |tx| {
        let member_id = members::insert(tx, &signup.as_new(site.tunnel_id, &password_hash))?;
        for (question, answer_hash) in &answers {
            members::set_security_answer(tx, member_id, *question, answer_hash)?;
        }
        confirmation::send(site, tx, member_id, &signup.person.email, call.language())?;
        let message = call.say("done.signed_up");
        Ok(reply::created(&SignupReply { status: true, message, member_id, confirmation_pending: 1 }))
    })
}

/// `POST /auth/signup/check-username`: whether a new member could have it.
pub fn check_username(site: &Site, call: &Call) -> Answer {
    let mut body = call.fields()?;
    let wanted = body.required("username", fields::line(254));
    let ok = body.finish()?;
    let (available, message) = match username::parse(&wanted.get(&ok)) {
        Err(text) => (false, call.language().say(&text)),
        Ok(name) => match site.store.read(|tx| Ok(members::username_is_free(tx, &name)?))? {
            true => (true, String::new()),
            false => (false, call.say("username_taken")),
        },
    };
    Ok(reply::ok(&AvailabilityReply { status: true, available, message }))
}

impl Signup {
    fn read(site: &Site, call: &Call) -> Result<Signup, Failure> {
        let mut body = call.fields()?;
        let own = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?;
        let (tunnel, home) = own.map_or_else(Default::default, |tunnel| (tunnel.name, tunnel.country));
        let person = person::Given::read(&mut body, site.now(), true, &home, fields::moment);
        let secret = body.required("password", fields::secret);
        body.check("password", &secret, |secret| password::check(secret, &person.owner(&tunnel)));
        if let Some(tunnel_id) = person.tunnel_id()
            && !site.store.read(|tx| Ok(tunnels::exists(tx, tunnel_id)?))?
        {
            body.refuse("tunnel", Text::new("field.unknown_tunnel"));
        }
        let terms = body.required("terms", |value| fields::flag(value).and_then(accepted));
        let answers = read_answers(&mut body);
        let ok = body.finish()?;
        terms.get(&ok);
        Ok(Signup {
            person: person.get(&ok),
            password: secret.get(&ok),
            answers: answers
                .into_iter()
                .filter_map(|(question, answer)| Some((question.get(&ok)?, answer.get(&ok)?)))
                .collect(),
        })
    }

    fn as_new<'a>(&'a self, tunnel_id: i64, password_hash: &'a str) -> members::New<'a> {
        let person = &self.person;
        let text = |field: &'a Option<String>| field.as_deref().unwrap_or("");
        members::New {
            username: &person.username,
            screen_name: person.screen_name.as_deref().unwrap_or(&person.username),
            real_name: &person.real_name,
            email: &person.email,
            phone: text(&person.phone),
            country: text(&person.country),
            country_code: text(&person.country_code),
            dob: person.dob,
            tunnel_id: Some(person.tunnel_id.unwrap_or(tunnel_id)),
            role: "",
            password_hash: Some(password_hash),
            accepted_terms: true,
        }
    }
}

type UnjudgedAnswer = (Unjudged<Option<i64>>, Unjudged<Option<String>>);

/// `question_N` names a question of the catalogue, `answer_N` answers it; both or neither, and no question twice.
fn read_answers(body: &mut Fields) -> Vec<UnjudgedAnswer> {
    let mut asked = Vec::new();
    let pairs = [("question_1", "answer_1"), ("question_2", "answer_2"), ("question_3", "answer_3")];
    pairs
        .map(|(question, answer)| {
            for (one, other) in [(question, answer), (answer, question)] {
                if body.has(one) && !body.has(other) {
                    body.refuse(other, Text::new("field.missing"));
                }
            }
            let number = body.optional(question, |value| {
                let number = fields::whole_in(questions::NUMBERS)(value)?;
                if asked.contains(&number) { Err(Text::new("field.question_twice")) } else { Ok(number) }
            });
            asked.extend(number.peek().copied().flatten());
            (number, body.optional(answer, fields::line(200)))
        })
        .into()
}

fn accepted(terms: bool) -> Result<(), Text> {
    if terms { Ok(()) } else { Err(Text::new("field.terms")) }
}
