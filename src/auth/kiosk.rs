//! A kiosk, identified by the key in its browser, and its guest: the member who is signed in there. A guest has no session;
//! the kiosk's own rows of the table say what a guest may do, for as long as the screen is touched.

use super::cookie::{self, Cookie};
use super::limits;
use super::limits::counted::Counter;
use super::limits::proofs::Counters;
use super::session::{new_token, token_hash};
use super::{pin, sign_in};
use crate::domain::card;
use crate::domain::ids::{BookingId, KioskId, MemberId};
use crate::http::accept;
use crate::http::call::{AuthOutcome, Call, PrincipalId};
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Language;
use crate::keys::{Purpose, hex, random};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::joins;
use crate::store::tables::kiosks::{self, GUEST_SECONDS, Kind};
use crate::store::tables::members::{self, Account, Secrets};
use crate::store::{Read, Write};
use subtle::ConstantTimeEq;

/// A guest who goes on touching the screen is signed out all the same after this time: the two cookies may have been copied.
const GUEST_SECONDS_MAX: i64 = 30 * 60;
/// A touch is recorded when the last recorded one is this old.
const TOUCH_SECONDS: i64 = 5;
/// The key of a kiosk, in its browser until the desk revokes it; browsers keep no cookie for longer.
pub(crate) const KEY: Cookie = Cookie::new("kiosk", Some(400 * 24 * 3600));
/// The token of the guest, beside the kiosk's key: a key lives for months and may have been copied, so the key alone
/// shows no member.
pub(crate) const GUEST: Cookie = Cookie::new("kiosk-guest", None);
pub(crate) const PAIRING_SECONDS: i64 = 10 * 60;
const PAIRING_DIGITS: usize = 8;
/// How long a check-in that a kiosk kept offline is accepted: longer than any outage of a server.
const TICKET_SECONDS: i64 = 12 * 3600;
/// A sign-in code lives as long as the walk to the kiosk.
pub(crate) const CODE_SECONDS: i64 = 2 * 60;
/// 66 bits. Digits only, because scanners type letters by the kiosk's keyboard layout.
const CODE_DIGITS: usize = 20;

/// A paired browser.
#[derive(Debug)]
pub struct Kiosk {
    id: KioskId,
}

/// A member who signed in at a kiosk.
#[derive(Debug)]
pub struct Guest {
    kiosk_id: KioskId,
    member_id: MemberId,
}

impl Kiosk {
    pub(crate) fn id(&self) -> KioskId {
        self.id
    }

    /// Signs the guest out.
    pub(crate) fn end_guest(&self, tx: &Write) -> Result<(), Failure> {
        kiosks::end_guest(tx, self.id)?;
        Ok(())
    }
}

impl Guest {
    pub(crate) fn kiosk_id(&self) -> KioskId {
        self.kiosk_id
    }

    pub(crate) fn member_id(&self) -> MemberId {
        self.member_id
    }

    /// The guest's kiosk.
    pub(crate) fn kiosk(&self) -> Kiosk {
        Kiosk { id: self.kiosk_id }
    }
}

/// The kiosk whose key the browser holds, if it was not revoked.
pub(crate) fn find(site: &Site, call: &Call) -> Result<Option<Kiosk>, Failure> {
    let Some(hash) = KEY.value(site, call).map(token_hash) else { return Ok(None) };
    let found = site.store.read(|tx| Ok(kiosks::find(tx, &hash, Kind::Kiosk)?))?;
    Ok(found.map(|id| Kiosk { id }))
}

/// The guest of a kiosk, by the guest's cookie, unless the last touch is too long ago.
pub(crate) fn find_guest(site: &Site, call: &Call, kiosk: &Kiosk) -> Result<Option<Guest>, Failure> {
    let Some(hash) = GUEST.value(site, call).map(token_hash) else { return Ok(None) };
    let now = site.now();
    let found = site
        .store
        .read(|tx| Ok(kiosks::find_guest(tx, kiosk.id, &hash, (now - GUEST_SECONDS, now - GUEST_SECONDS_MAX))?))?;
    let Some(found) = found.filter(|found| !found.banned) else { return Ok(None) };
    call.principal.set(PrincipalId::Member(found.member_id));
    if now - found.seen_at >= TOUCH_SECONDS {
        // On a full disk the guest stays signed in until the last recorded touch is too old.
        let touched = site.store.write(now, |tx| Ok(kiosks::touch_guest(tx, kiosk.id)?));
        _ = touched.inspect_err(|e| tracing::warn!(cause = %e, "a touch of a kiosk was not written"));
    }
    Ok(Some(Guest { kiosk_id: kiosk.id, member_id: found.member_id }))
}

/// Redirects a browser without a guest to the kiosk's first page.
pub(crate) fn to_start() -> Reply {
    reply::see_other("/kiosk")
}

/// Makes a code by which one browser becomes a kiosk or a board.
pub(crate) fn new_pairing(
    site: &Site,
    tx: &Write,
    named: (Kind, &str),
    made_by: Option<MemberId>,
) -> Result<String, Failure> {
    let code = digits(PAIRING_DIGITS);
    kiosks::insert_pairing(tx, &pairing_hash(site, &code), named, made_by, tx.now() + PAIRING_SECONDS)?;
    Ok(code)
}

fn pairing_hash(site: &Site, code: &str) -> [u8; 32] {
    site.keys.hash(Purpose::Passcode, &[b"kiosk", code.as_bytes()])
}

/// The outcome of a pairing code.
pub(crate) enum Paired {
    /// The new key of the kiosk.
    Right(String),
    Wrong,
    /// The code is good, for the other kind of screen.
    OfOtherKind,
    /// Too many wrong codes came from the same network.
    Delayed,
}

/// Pairs the browser in which a code of this kind was typed; spaces are ignored. The caller must commit the transaction also after a
/// wrong code.
pub(crate) fn pair(site: &Site, call: &Call, tx: &Write, kind: Kind, typed: &str) -> Result<Paired, Failure> {
    let address = call.network().to_string();
    let misses = Counter::new(site, limits::PAIRINGS, &[b"kiosk pairing", address.as_bytes()]);
    if misses.full_until(tx, tx.now())?.is_some() {
        return Ok(Paired::Delayed);
    }
    let code: String = typed.chars().filter(char::is_ascii_digit).collect();
    let hash = pairing_hash(site, &code);
    let Some(pairing) = kiosks::take_pairing(tx, &hash, kind)? else {
        if kiosks::is_pairing(tx, &hash)? {
            return Ok(Paired::OfOtherKind);
        }
        misses.count(tx)?;
        return Ok(Paired::Wrong);
    };
    let (token, hash) = new_token();
    kiosks::insert(tx, &hash, &pairing)?;
    Ok(Paired::Right(token))
}

/// The account of a member number and its PIN. Failed attempts count for the member at this kiosk, the member at all kiosks,
/// and the kiosk: the first delays grow to five minutes, the others to one, so that random guesses keep a member out only
/// briefly. The PIN at partners is not affected. The caller must commit the transaction also after a failed attempt.
pub(crate) fn check_pin(
    site: &Site,
    call: &Call,
    tx: &Write,
    kiosk: &Kiosk,
    member_id: MemberId,
    pin: &str,
) -> Result<Option<Account>, Failure> {
    let member_id = joins::survivor_of(tx, member_id)?;
    let account = members::find_account_by_id(tx, member_id)?;
    let counters = Counters::at_kiosk(site, kiosk.id, member_id, account.as_ref());
    if counters.delay_left(tx, tx.now())? > 0 {
        call.delayed.set(true);
        call.outcome.set(AuthOutcome::Delayed);
        return Ok(None);
    }
    if !pin::is_right(site, tx, member_id, pin)? {
        call.outcome.set(AuthOutcome::WrongCredentials);
        counters.record_failure(tx)?;
        return Ok(None);
    }
    counters.clear_account(tx)?;
    Ok(account)
}

/// A new code for a member's app to show; unknown to every kiosk before [`set_code`].
pub(crate) fn new_code() -> String {
    digits(CODE_DIGITS)
}

/// Stores the member's code, in place of the one before.
pub(crate) fn set_code(tx: &Write, member_id: MemberId, code: &str) -> Result<(), Failure> {
    Ok(kiosks::set_code(tx, member_id, &token_hash(code), tx.now() + CODE_SECONDS).map(drop)?)
}

/// Uses up a code that a scanner read, and returns its member. Characters other than digits come from the scanner and are
/// ignored.
pub(crate) fn take_code(call: &Call, tx: &Write, read: &str) -> Result<Option<Account>, Failure> {
    let code = card::digits(read);
    let Some(member_id) = kiosks::take_code(tx, &token_hash(&code))? else {
        call.outcome.set(AuthOutcome::WrongCredentials);
        return Ok(None);
    };
    Ok(members::find_account_by_id(tx, member_id)?)
}

/// Signs a member in at the kiosk, and returns the token for the guest's cookie. `None` where the account is banned or has
/// changed meanwhile.
pub(crate) fn enter(tx: &Write, kiosk: &Kiosk, account: &Account) -> Result<Option<String>, Failure> {
    if account.banned || account.leaves || !sign_in::is_unchanged(tx, account)? {
        return Ok(None);
    }
    let (token, hash) = new_token();
    kiosks::set_guest(tx, kiosk.id, account.member_id, &hash)?;
    Ok(Some(token))
}

/// A ticket with which a kiosk reports a guest's check-in for one booking later, when the site did not answer.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) member_id: MemberId,
    pub(crate) booking_id: BookingId,
    /// Unix seconds.
    pub(crate) issued_at: Moment,
    /// Whether the ticket is too old for a check-in.
    pub(crate) is_over: bool,
}

/// A ticket as the guest's page carries it. `secrets`: the guest's, whose change ends the ticket.
pub(crate) fn new_ticket(site: &Site, guest: &Guest, secrets: &Secrets, booking_id: BookingId) -> String {
    let numbers = [guest.kiosk_id.0, guest.member_id.0, booking_id.0, site.now().0];
    let [kiosk_id, member_id, booking_id, issued_at] = numbers;
    format!("{kiosk_id}.{member_id}.{booking_id}.{issued_at}.{}", hex(&ticket_mac(site, numbers, secrets)))
}

fn ticket_mac(site: &Site, numbers: [i64; 4], secrets: &Secrets) -> [u8; 32] {
    let bytes = numbers.map(i64::to_be_bytes);
    let parts: Vec<&[u8]> = bytes.iter().map(|one| &one[..]).chain(secrets.parts()).collect();
    site.keys.hash(Purpose::KioskTicket, &parts)
}

/// Reads a ticket of this kiosk. A new PIN, a new password or a recovery ends a ticket.
pub(crate) fn read_ticket(site: &Site, tx: &Read, kiosk: &Kiosk, text: &str) -> Result<Option<Ticket>, Failure> {
    let Some((numbers, digest)) = split_ticket(text) else { return Ok(None) };
    let [kiosk_id, member_id, booking_id, issued_at] = numbers;
    let (member_id, booking_id, issued_at) = (MemberId(member_id), BookingId(booking_id), Moment(issued_at));
    let Some(secrets) = members::find_secrets(tx, member_id)? else { return Ok(None) };
    let is_ours = bool::from(hex(&ticket_mac(site, numbers, &secrets)).as_bytes().ct_eq(digest.as_bytes()));
    let is_over = site.now() - issued_at >= TICKET_SECONDS;
    Ok((is_ours && kiosk_id == kiosk.id.0).then_some(Ticket { member_id, booking_id, issued_at, is_over }))
}

/// The numbers of a ticket, and its digest.
fn split_ticket(text: &str) -> Option<([i64; 4], &str)> {
    let mut parts = text.split('.');
    let mut number = || parts.next()?.parse::<i64>().ok();
    let numbers = [number()?, number()?, number()?, number()?];
    Some((numbers, parts.next()?))
}

/// The reply with the cookie of a guest who signed in; the browser drops the cookie when it ends.
pub(crate) fn with_guest_cookie(site: &Site, call: &Call, reply: Reply, token: &str) -> Reply {
    call.outcome.set(AuthOutcome::SignedIn);
    GUEST.set(site, call, reply, token)
}

/// The reply with the cookie of the language that a guest chose at this kiosk, or without one. The path of the cookie keeps
/// it from every page but the kiosk's, see [`accept::language`].
pub(crate) fn with_language(site: &Site, call: &Call, reply: Reply, language: Option<Language>) -> Reply {
    let secure = if cookie::is_secure(site, call) { "; Secure" } else { "" };
    let (tag, age) = language.map_or(("", "; Max-Age=0"), |language| (language.tag(), ""));
    let name = accept::KIOSK_LANGUAGE;
    reply.with_cookie(&format!("{name}={tag}; Path=/kiosk{age}; HttpOnly; SameSite=Strict{secure}"))
}

/// Random digits; each as likely as another to within one in 10^17.
fn digits(count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + (u64::from_be_bytes(random::<8>()) % 10) as u8)).collect()
}
