//! Back in without the password: a passcode to a confirmed address or number, and the answers to the own questions.
//! Whoever asks learns nothing: an unknown name gets the answers, and the work, of a known one.

use crate::api::profile::questions::text;
use crate::app::credentials::{self, Kept};
use crate::app::{Actor, Change};
use crate::auth::Rates;
use crate::auth::passcode::{self, Target, Use};
use crate::auth::social::Network;
use crate::auth::{Caller, Pace, sign_in, take_message};
use crate::domain::password::Owner;
use crate::domain::unicode::nfc;
use crate::domain::{password, questions};
use crate::http::Answer;
use crate::http::body::{Draft, Field, Object, Slot};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::http::kinds::{Digits, Email, Id, Line, Name, Named, NewPassword};
use crate::http::reply::{self, Done, Reply};
use crate::i18n::language::Text;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::members::{self, Account, Profile};
use crate::store::tables::outbox::Channel;
use crate::store::{Read, Write};
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::{Value, json};

/// As many are asked, whoever is meant.
const QUESTIONS_ASKED: usize = 3;
/// What a recovery may keep, of each kind.
const KEPT_MAX: usize = 50;
const KEPT_CHARS_MAX: usize = 1_000;
/// Whose rows are read in the place of nobody's, and a number that nobody has.
const ANYBODY: i64 = 1;
const NOBODY: i64 = 0;

crate::body! {
    /// Whose questions: in the body or in the query.
    pub(crate) struct QuestionsRequest {
        /// The username or the e-mail address.
        username: Line<254>,
    }
}

crate::body! {
    pub(crate) struct AccountAccess {
        /// The username or the e-mail address.
        username: Line<254>,
        /// How the passcode comes; by e-mail unless said.
        option: Option<Name<Channel>>,
        /// The passcode that was sent; a number is read as six digits, leading zeros and all. With it, `password` and the
        /// answers are needed.
        passcode: Option<Digits<32>>,
        /// The new password; needed with `passcode`.
        password: Option<NewPassword>,
        answers: Answers,
        // Not shown in the contract: what the owner wants to keep. Whoever got in may have added a way in of their own.
        /// Ours, with `passcode`: the numbers (`passkey_id`) of the passkeys that stay, at most 50, as a list or as text
        /// with commas. Every other passkey of the member is removed.
        keep_passkeys: Option<KeptPasskeys>,
        /// Ours, with `passcode`: the social networks whose link to the account stays, as a list or as text with commas.
        /// Every other link is removed.
        keep_social: Option<KeptNetworks>,
    }
}

crate::body! {
    pub(crate) struct UsernameRequest {
        email: Email,
        /// The passcode that was sent. A number is read as six digits, leading zeros and all.
        passcode: Option<Digits<32>>,
    }
}

#[derive(Serialize)]
struct Question {
    question: i64,
    text: String,
}

#[derive(Serialize)]
struct UsernameReply {
    status: bool,
    message: String,
    username: String,
}

/// `GET /auth/account-access/security-questions`: the questions to answer. Fields come in the body, or in the query where
/// a client cannot send a body with `GET`, or sends an empty object whatever it is given.
pub(crate) fn questions(site: &Site, call: &Call) -> Answer {
    take_pace(site, call)?;
    let body = call.fields()?;
    let fields = if body.has("username") { body } else { call.query() };
    let QuestionsRequest { username } = call.draft_of(fields).finish()?;
    let page = call.page()?;
    let numbers = asked_of(site, &username)?.into_iter();
    let rows = numbers.map(|question| Question { question, text: text(call.language(), question) });
    let reply = reply::part(call, page, rows.collect());
    Ok(reply.with_header(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")))
}

/// One request about a lost password or username, of as many as an address may send in an hour.
pub(crate) fn take_pace(site: &Site, call: &Call) -> Result<(), Failure> {
    let pace = Pace::per_hour(site.config.limits.recoveries_per_hour_per_address);
    site.kept::<Rates>().take(Caller::RecoveryFrom(call.network()), pace)
}

/// The questions that are asked of an account, by number: its own, and made-up ones up to three. Whoever answers those too
/// loses nothing: only the own answers are judged.
pub(crate) fn asked_of(site: &Site, name: &str) -> Result<Vec<i64>, Failure> {
    let (own, key) = site.store.read(|tx| {
        let account = members::find_account(tx, name)?;
        // Looking takes time: where nobody has the name, somebody else's row is read in the place of theirs.
        if account.is_none() {
            members::find_account_by_id(tx, ANYBODY)?;
        }
        let own = members::list_answered_questions(tx, account.as_ref().map_or(NOBODY, |account| account.member_id))?;
        if own.is_empty() {
            members::list_answered_questions(tx, ANYBODY)?;
        }
        // An account is asked the same by each of its names.
        Ok((own, account.map_or_else(|| name.to_owned(), |account| account.username)))
    })?;
    Ok(filled_up(site, &key, own))
}

/// Always the same for a name, and nobody can tell what was made up from what was chosen.
fn filled_up(site: &Site, name: &str, own: Vec<i64>) -> Vec<i64> {
    let hash = site.keys.hash(Purpose::MadeUpQuestions, &[name.to_lowercase().as_bytes()]);
    let mut left: Vec<i64> = questions::NUMBERS.filter(|number| !own.contains(number)).collect();
    let missing = QUESTIONS_ASKED.saturating_sub(own.len());
    let made_up = hash.iter().take(missing).map(|byte| left.remove(usize::from(*byte) % left.len()));
    let mut asked: Vec<i64> = own.iter().copied().chain(made_up).collect();
    asked.sort_unstable();
    asked
}

/// What is said of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Sent,
    Done,
    Wrong,
}

/// What `recover-password` was sent.
pub(crate) struct Recovery {
    pub username: String,
    channel: Channel,
    proof: Option<Proof>,
}

struct Proof {
    passcode: String,
    password: String,
    answers: Vec<(i64, String)>,
    kept: Kept,
}

/// `POST /auth/account-access/recover-password`: without a passcode one is sent; with it, a new password and the answers
/// to the asked questions the password is set, and everything that the old one opened has ended.
pub(crate) fn password(site: &Site, call: &Call) -> Answer {
    take_pace(site, call)?;
    carry_out(site, call, &Recovery::read(site, call.fields()?)?, &|word| Ok(said(call, word)))
}

fn said(call: &Call, word: Word) -> Reply {
    match word {
        Word::Sent => reply::done(call.say("recovery.sent")),
        Word::Done => reply::done(call.say("recovery.done")),
        Word::Wrong => reply::ok(&Done { status: false, message: call.say("recovery.wrong") }),
    }
}

/// `tell` puts the outcome into words.
pub(crate) fn carry_out(site: &Site, call: &Call, recovery: &Recovery, tell: &dyn Fn(Word) -> Answer) -> Answer {
    let account = site.store.read(|tx| Ok(members::find_account(tx, &recovery.username)?))?;
    match &recovery.proof {
        None => {
            let sent = || tell(Word::Sent);
            send(site, call, &recovery.username, account.as_ref(), recovery.channel, Use::RecoverPassword, &sent)
        }
        Some(proof) => set(site, call, &recovery.username, account.as_ref(), proof, tell),
    }
}

impl Recovery {
    pub(crate) fn read(site: &Site, mut fields: Fields) -> Result<Recovery, Failure> {
        if fields.has("passcode") {
            fields.demand("password");
        } else {
            fields.ignore(&["password"]);
            questions::NUMBERS.for_each(|number| fields.ignore(&[&answer_field(number)]));
        }
        let Draft { read, mut fields } = Draft::<AccountAccess>::read(fields);
        // A weak one alone is for `carry_out` to say: the desk then shows its page again.
        if fields.is_refused()
            && let Some(Some(wanted)) = &read.password
        {
            let (name, tunnel) = (read.username.as_deref().unwrap_or(""), site.name()?);
            if let Err(text) = password::check(wanted, &nobody(name, &tunnel)) {
                fields.refuse("password", text);
            }
        }
        let body: AccountAccess = Draft { read, fields }.finish()?;
        let kept =
            Kept { passkeys: body.keep_passkeys.unwrap_or_default(), social: body.keep_social.unwrap_or_default() };
        let proof = body.passcode.zip(body.password);
        let proof = proof.map(|(passcode, password)| Proof { passcode, password, answers: body.answers, kept });
        Ok(Recovery { username: body.username, channel: body.option.unwrap_or(Channel::Email), proof })
    }
}

/// The answers to questions of the catalogue, `answer_<number>` each.
pub(crate) struct Answers;

impl Slot for Answers {
    type Read = Option<Vec<(i64, String)>>;
    type Value = Vec<(i64, String)>;

    fn take(fields: &mut Fields, _: &'static str) -> Self::Read {
        let read = |number| (number, fields.optional(&answer_field(number), Line::<200>::read).peeked().flatten());
        let answers: Vec<_> = questions::NUMBERS.map(read).collect();
        Some(answers.into_iter().filter_map(|(number, answer)| Some((number, answer?))).collect())
    }

    fn value(read: Self::Read) -> Option<Self::Value> {
        read
    }

    fn describe(object: &mut Object, _: &str, _: &str) {
        // Those that the contract names.
        for number in [3, 4, 9] {
            let more = if number == 3 { " Every number from 1 to 12 is taken." } else { "" };
            let about = format!("The answer to question {number} of the catalogue.{more}");
            <Option<Line<200>> as Slot>::describe(object, &answer_field(number), &about);
        }
    }
}

fn answer_field(number: i64) -> String {
    format!("answer_{number}")
}

/// Values of a list, or of a text with commas between them.
fn listed(value: &Value) -> Result<Vec<Value>, Text> {
    match value {
        Value::Array(all) if all.len() <= KEPT_MAX => Ok(all.clone()),
        Value::String(text) if text.len() <= KEPT_CHARS_MAX => Ok(text.split(',').map(Value::from).collect()),
        Value::Number(_) => Ok(vec![value.clone()]),
        _ => Err(Text::new("field.kept_list").with("max", KEPT_MAX)),
    }
}

/// Numbers of passkeys.
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

/// Keys of social networks.
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

/// A passcode for a known account, by a confirmed address or number; for everybody a write and the same answer, so that
/// neither time nor words say anything.
fn send(
    site: &Site,
    call: &Call,
    name: &str,
    account: Option<&Account>,
    channel: Channel,
    usage: Use,
    sent: &dyn Fn() -> Answer,
) -> Answer {
    take_message(site, call)?;
    site.once(call, |tx| {
        passcode::pace(site, tx, name)?;
        if let Some(account) = account.filter(|account| !account.banned && may_recover(site, account, channel)) {
            send_to(site, tx, call, account.member_id, channel, usage)?;
        }
        sent()
    })
}

/// Whether an account is recovered by this channel. What nobody carries out of the house waits at the desk, where a clerk
/// could read the passcode of somebody above: so an account above a member's is not recovered by it.
fn may_recover(site: &Site, account: &Account, channel: Channel) -> bool {
    !account.role.is_above_member() || site.delivers(channel)
}

/// That an address had its share of passcodes is told to nobody here.
fn send_to(site: &Site, tx: &Write, call: &Call, member_id: i64, channel: Channel, usage: Use) -> Result<(), Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let Some(address) = reachable_by(&profile, channel) else { return Ok(()) };
    let target = Target { member_id, channel, address, language: call.language() };
    passcode::send(site, tx, usage, &target).map(drop)
}

fn reachable_by(profile: &Profile, channel: Channel) -> Option<&str> {
    match channel {
        Channel::Email if profile.email_verified => Some(&profile.email),
        Channel::Sms if profile.phone_verified => Some(&profile.phone),
        _ => None,
    }
}

/// Everything that is due, or the one answer that says no. Hashing comes before the transaction; whether the passcode
/// and the account are still what they were is decided in it.
fn set(
    site: &Site,
    call: &Call,
    name: &str,
    account: Option<&Account>,
    proof: &Proof,
    tell: &dyn Fn(Word) -> Answer,
) -> Answer {
    // The form of a password takes no time to judge and is nobody's secret, so it is named during a delay too.
    password::check_form(&proof.password, &nobody(name, &site.name()?))
        .map_err(|text| Failure::field("password", text))?;
    if sign_in::is_delayed(site, call, name, account)? {
        return tell(Word::Wrong);
    }
    let fits = fits_owner(site, name, account, &proof.password)?;
    if let Err(Unfit::ByItself(text)) = fits {
        return Err(Failure::field("password", text));
    }
    let answered = answers_are_right(site, account, &proof.answers)?;
    let password_hash = site.hash(&proof.password);
    let renewed = renewed_answers(site, &proof.answers);
    site.once(call, |tx| {
        if let Some(account) = account.filter(|account| !account.banned && answered) {
            let went_to = passcode::take(site, tx, account.member_id, Use::RecoverPassword, &proof.passcode)?;
            if still_theirs(tx, account.member_id, went_to)? {
                // The passcode stays good for a better password: of a failure nothing is kept.
                if let Err(Unfit::ForItsOwner(text)) = fits {
                    return Err(Failure::field("password", text));
                }
                let actor = Actor::account(account.member_id, account.role, &call.by(account.member_id));
                let cx = Change { site, tx, actor: &actor, language: call.language() };
                credentials::reset_password(&cx, &cx.own()?, &password_hash, &proof.kept)?;
                for (question, answer_hash) in &renewed {
                    members::renew_security_answer(tx, account.member_id, *question, answer_hash)?;
                }
                return tell(Word::Done);
            }
        } else if let Some(account) = account {
            // Right or not, a try with wrong answers costs one of the passcode's.
            passcode::spend_try(tx, account.member_id, Use::RecoverPassword)?;
        }
        sign_in::miss(site, call, tx, name, account)?;
        tell(Word::Wrong)
    })
}

/// Whether a passcode went to what is the member's address or number now: whoever gave a mailbox up, because somebody
/// else reads it, gave up what still lies in it.
fn still_theirs(tx: &Read, member_id: i64, went_to: Option<String>) -> Result<bool, Failure> {
    let Some(target) = went_to else { return Ok(false) };
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let by_mail = profile.email_verified && profile.email.eq_ignore_ascii_case(&target);
    Ok(by_mail || (profile.phone_verified && profile.phone == target))
}

/// Why a new password is refused.
enum Unfit {
    /// Whoever wants it: this is told at once.
    ByItself(Text),
    /// Because of what the file knows of the account's owner. Before the passcode proves who asks, strangers would learn it.
    ForItsOwner(Text),
}

/// Judges a password once where it is good. A weak one is judged a second time, for a name that nobody has too, to tell
/// whether it would be weak for anybody.
fn fits_owner(site: &Site, name: &str, account: Option<&Account>, secret: &str) -> Result<Result<(), Unfit>, Failure> {
    let tunnel = site.name()?;
    let profile = match account {
        Some(account) => site.store.read(|tx| Ok(members::find(tx, account.member_id)?))?,
        None => None,
    };
    let owner = profile.as_ref().map_or(nobody(name, &tunnel), |profile| profile.owner(&tunnel));
    Ok(password::check(secret, &owner).map_err(|for_owner| match password::check(secret, &nobody(name, &tunnel)) {
        Err(text) => Unfit::ByItself(text),
        Ok(()) => Unfit::ForItsOwner(for_owner),
    }))
}

/// An owner of whom only the typed name is known.
fn nobody<'a>(name: &'a str, tunnel: &'a str) -> Owner<'a> {
    Owner { username: name, site: tunnel, ..Owner::default() }
}

/// All of the member's own questions, or nothing where there are none. As many hashes are tried as were answered, for
/// an unknown name too.
fn answers_are_right(site: &Site, account: Option<&Account>, given: &[(i64, String)]) -> Result<bool, Failure> {
    let own = match account {
        Some(account) => site.store.read(|tx| Ok(members::list_answers(tx, account.member_id)?))?,
        None => Vec::new(),
    };
    let mut right = 0;
    for (number, answer) in given.iter().take(*questions::NUMBERS.end() as usize) {
        let phc = own.iter().find(|(question, _)| question == number).map(|(_, phc)| phc.as_str());
        right += usize::from(site.is_hash_of(&questions::normalise(answer), phc));
    }
    Ok(right == own.len())
}

/// New hashes of the answers that were not typed in the form in which answers are hashed today: their old ones may be from
/// before there was one. Made whether or not the answers are right, so that the time says nothing.
fn renewed_answers(site: &Site, given: &[(i64, String)]) -> Vec<(i64, String)> {
    let typed = given.iter().map(|(number, answer)| (*number, questions::normalise(answer)));
    typed.filter(|(_, answer)| nfc(answer) != *answer).map(|(number, answer)| (number, site.hash(&answer))).collect()
}

/// `POST /auth/account-access/recover-username`: without a passcode one is sent to the address; with it the username is
/// told.
pub(crate) fn username(site: &Site, call: &Call) -> Answer {
    take_pace(site, call)?;
    let UsernameRequest { email: address, passcode } = call.body()?;
    let account = site.store.read(|tx| Ok(members::find_account(tx, &address)?.filter(|a| a.email_confirmed)))?;
    let Some(code) = passcode else {
        let sent = || Ok(said(call, Word::Sent));
        return send(site, call, &address, account.as_ref(), Channel::Email, Use::RecoverUsername, &sent);
    };
    if sign_in::is_delayed(site, call, &address, account.as_ref())? {
        return Ok(untold(call));
    }
    site.once(call, |tx| {
        if let Some(account) = account.as_ref().filter(|account| !account.banned) {
            let went_to = passcode::take(site, tx, account.member_id, Use::RecoverUsername, &code)?;
            if still_theirs(tx, account.member_id, went_to)? {
                let username = account.username.clone();
                return Ok(reply::ok(&UsernameReply { status: true, message: String::new(), username }));
            }
        }
        sign_in::miss(site, call, tx, &address, account.as_ref())?;
        Ok(untold(call))
    })
}

fn untold(call: &Call) -> Reply {
    reply::ok(&UsernameReply { status: false, message: call.say("recovery.wrong"), username: String::new() })
}
