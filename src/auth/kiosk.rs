//! A kiosk, known by the key in its browser, and the member who stands before it. The member has no session there: what a
//! kiosk may do for somebody is what its own rows offer, for as long as somebody touches the screen.

use super::clerk::{cookie, is_secure, set};
use super::counters::Counters;
use super::session::{new_token, token_hash};
use super::{pin, sign_in};
use crate::domain::throttle::Rule;
use crate::http::call::{AuthOutcome, Call, PrincipalId};
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::keys::{Purpose, hex, random};
use crate::site::Site;
use crate::store::tables::kiosks;
use crate::store::tables::members::{self, Account, Secrets};
use crate::store::tables::throttles::{self, Counter};
use crate::store::{Read, Write};
use subtle::ConstantTimeEq;

/// Without a touch for so long the screen is wiped.
pub(crate) const IDLE_SECONDS: i64 = 60;
/// The screen goes first; this is for a kiosk that was switched off, or whose script died.
const GUEST_SECONDS: i64 = IDLE_SECONDS + 20;
/// A touch is written when the last one is so old.
const TOUCH_SECONDS: i64 = 5;
/// Until somebody revokes it; browsers keep no cookie for longer.
const KEY_SECONDS: i64 = 400 * 24 * 3600;
pub(crate) const PAIRING_SECONDS: i64 = 10 * 60;
const PAIRING_DIGITS: usize = 8;
/// A check-in that a kiosk kept is taken for so long: longer than any site waits for its server.
const TICKET_SECONDS: i64 = 12 * 3600;
/// Long enough to walk up to the kiosk.
pub(crate) const CODE_SECONDS: i64 = 2 * 60;
/// 66 bits. Digits only, because scanners type on whatever keyboard the kiosk believes it has.
const CODE_DIGITS: usize = 20;
const PAIRINGS_PER_ADDRESS: Rule = Rule { free_misses: 10, delay_seconds_max: 60 };

/// A browser that was paired.
#[derive(Debug)]
pub struct Kiosk {
    id: i64,
}

/// A member who signed in at a kiosk.
#[derive(Debug)]
pub struct Guest {
    kiosk_id: i64,
    member_id: i64,
}

impl Kiosk {
    pub(crate) fn id(&self) -> i64 {
        self.id
    }
}

impl Guest {
    pub(crate) fn kiosk_id(&self) -> i64 {
        self.kiosk_id
    }

    pub(crate) fn member_id(&self) -> i64 {
        self.member_id
    }

    /// The kiosk at which the guest stands.
    pub(crate) fn kiosk(&self) -> Kiosk {
        Kiosk { id: self.kiosk_id }
    }
}

fn name(site: &Site, call: &Call) -> &'static str {
    if is_secure(site, call) { "__Host-kiosk" } else { "kiosk" }
}

/// The cookie of whoever is signed in, beside the kiosk's own: the kiosk's key lives for months and may have been copied,
/// so the key alone shows nobody.
fn guest_name(site: &Site, call: &Call) -> &'static str {
    if is_secure(site, call) { "__Host-kiosk-guest" } else { "kiosk-guest" }
}

/// The kiosk whose key the browser holds, if it was not revoked.
pub(crate) fn find(site: &Site, call: &Call) -> Result<Option<Kiosk>, Failure> {
    let Some(hash) = cookie(call, name(site, call)).map(token_hash) else { return Ok(None) };
    let found = site.store.read(|tx| Ok(kiosks::find(tx, &hash)?))?;
    Ok(found.map(|id| Kiosk { id }))
}

/// PrincipalId stands before it and holds the guest's cookie, unless the last touch is too long ago.
pub(crate) fn find_guest(site: &Site, call: &Call, kiosk: &Kiosk) -> Result<Option<Guest>, Failure> {
    let Some(hash) = cookie(call, guest_name(site, call)).map(token_hash) else { return Ok(None) };
    let now = site.now();
    let found = site.store.read(|tx| Ok(kiosks::find_guest(tx, kiosk.id, &hash, now - GUEST_SECONDS)?))?;
    let Some(found) = found.filter(|found| !found.banned) else { return Ok(None) };
    call.principal.set(PrincipalId::Member(found.member_id));
    if now - found.seen_at >= TOUCH_SECONDS {
        // On a full disk the screen goes on for as long as it was left.
        let touched = site.store.write(now, |tx| Ok(kiosks::touch_guest(tx, kiosk.id)?));
        _ = touched.inspect_err(|e| tracing::warn!(cause = %e, "a touch of a kiosk was not written"));
    }
    Ok(Some(Guest { kiosk_id: kiosk.id, member_id: found.member_id }))
}

/// Leads a member who is not signed in at the kiosk to its first screen.
pub(crate) fn to_start() -> Reply {
    reply::see_other("/kiosk")
}

/// The moment before which a guest must have been seen to be gone.
pub(crate) fn guests_gone_before(now: i64) -> i64 {
    now - GUEST_SECONDS
}

/// A code by which one browser becomes a kiosk.
pub(crate) fn new_pairing(site: &Site, tx: &Write, name: &str, made_by: Option<i64>) -> Result<String, Failure> {
    let code = digits(PAIRING_DIGITS);
    kiosks::insert_pairing(tx, &pairing_hash(site, &code), name, made_by, tx.now() + PAIRING_SECONDS)?;
    Ok(code)
}

fn pairing_hash(site: &Site, code: &str) -> [u8; 32] {
    site.keys.hash(Purpose::Passcode, &[b"kiosk", code.as_bytes()])
}

/// The outcome of a pairing code.
pub(crate) enum Paired {
    /// The key that the browser keeps from now on.
    Right(String),
    Wrong,
    /// Too many wrong ones came from there.
    Delayed,
}

/// Takes a code that somebody typed into the browser. Spaces do not count. The transaction must be kept, also after a
/// miss.
pub(crate) fn pair(site: &Site, call: &Call, tx: &Write, typed: &str) -> Result<Paired, Failure> {
    let address = call.network().to_string();
    let key = site.keys.hash(Purpose::Throttle, &[b"kiosk pairing", address.as_bytes()]);
    if throttles::closed_for(tx, &key, tx.now())? > 0 {
        return Ok(Paired::Delayed);
    }
    let code: String = typed.chars().filter(char::is_ascii_digit).collect();
    let Some(pairing) = kiosks::take_pairing(tx, &pairing_hash(site, &code))? else {
        throttles::miss(tx, &Counter { key, account_key: None, rule: PAIRINGS_PER_ADDRESS })?;
        return Ok(Paired::Wrong);
    };
    let (token, hash) = new_token();
    kiosks::insert(tx, &hash, &pairing)?;
    Ok(Paired::Right(token))
}

/// The reply with the key for the browser.
pub(crate) fn with_key_cookie(site: &Site, call: &Call, reply: Reply, token: &str) -> Reply {
    reply.with_cookie(&set(site, call, name(site, call), token, Some(KEY_SECONDS)))
}

/// Judges a number and a PIN. Misses count for this member at this kiosk, for the member at all kiosks and for the kiosk:
/// the first delays grow to five minutes, the others to one, so nobody who plays with the keys keeps somebody out for
/// long; and the PIN at partners is not touched. The transaction must be kept, also after a miss.
pub(crate) fn judge(
    site: &Site,
    call: &Call,
    tx: &Write,
    kiosk: &Kiosk,
    member_id: i64,
    given: &str,
) -> Result<Option<Account>, Failure> {
    let account = members::find_account_by_id(tx, member_id)?;
    let counters = Counters::at_kiosk(site, kiosk.id, member_id, account.as_ref());
    if counters.closed_for(tx, tx.now())? > 0 {
        call.delayed.set(true);
        call.outcome.set(AuthOutcome::Delayed);
        return Ok(None);
    }
    if !pin::is_right(site, tx, member_id, given)? {
        call.outcome.set(AuthOutcome::WrongCredentials);
        counters.record_failure(tx)?;
        return Ok(None);
    }
    counters.clear_account(tx)?;
    Ok(account)
}

/// A code for a member's app to show; good for nothing before [`set_code`].
pub(crate) fn new_code() -> String {
    digits(CODE_DIGITS)
}

/// Takes the code as the member's, in place of the one before.
pub(crate) fn set_code(tx: &Write, member_id: i64, code: &str) -> Result<(), Failure> {
    Ok(kiosks::set_code(tx, member_id, &token_hash(code), tx.now() + CODE_SECONDS).map(drop)?)
}

/// The member whose code a scanner read; the code is used up by it. Characters other than digits were added by the
/// scanner and are passed over.
pub(crate) fn take_code(call: &Call, tx: &Write, read: &str) -> Result<Option<Account>, Failure> {
    let code: String = read.chars().filter(char::is_ascii_digit).collect();
    let Some(member_id) = kiosks::take_code(tx, &token_hash(&code))? else {
        call.outcome.set(AuthOutcome::WrongCredentials);
        return Ok(None);
    };
    Ok(members::find_account_by_id(tx, member_id)?)
}

/// Lets somebody in who proved enough, unless the account is banned: the token for the guest's cookie.
pub(crate) fn enter(tx: &Write, kiosk: &Kiosk, account: &Account) -> Result<Option<String>, Failure> {
    if account.banned || !sign_in::is_as_judged(tx, account)? {
        return Ok(None);
    }
    let (token, hash) = new_token();
    kiosks::set_guest(tx, kiosk.id, account.member_id, &hash)?;
    Ok(Some(token))
}

/// What lets a kiosk say later that its guest checked in for a booking, while the site does not answer. Good for nothing else.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) member_id: i64,
    pub(crate) booking_id: i64,
    /// Unix seconds.
    pub(crate) issued_at: i64,
}

/// A ticket as the page of the guest carries it. `secrets`: the guest's; the ticket ends with them.
pub(crate) fn new_ticket(site: &Site, guest: &Guest, secrets: &Secrets, booking_id: i64) -> String {
    let numbers = [guest.kiosk_id, guest.member_id, booking_id, site.now()];
    let [kiosk_id, member_id, booking_id, issued_at] = numbers;
    format!("{kiosk_id}.{member_id}.{booking_id}.{issued_at}.{}", hex(&ticket_mac(site, numbers, secrets)))
}

fn ticket_mac(site: &Site, numbers: [i64; 4], secrets: &Secrets) -> [u8; 32] {
    let bytes = numbers.map(i64::to_be_bytes);
    let parts: Vec<&[u8]> = bytes.iter().map(|one| &one[..]).chain(secrets.parts()).collect();
    site.keys.hash(Purpose::KioskTicket, &parts)
}

/// A ticket of this kiosk that is still good. A new PIN, a new password and a recovery end it.
pub(crate) fn read_ticket(site: &Site, tx: &Read, kiosk: &Kiosk, text: &str) -> Result<Option<Ticket>, Failure> {
    let Some((numbers, given)) = split_ticket(text) else { return Ok(None) };
    let [kiosk_id, member_id, booking_id, issued_at] = numbers;
    let Some(secrets) = members::find_secrets(tx, member_id)? else { return Ok(None) };
    let is_ours = bool::from(hex(&ticket_mac(site, numbers, &secrets)).as_bytes().ct_eq(given.as_bytes()));
    let is_good = is_ours && kiosk_id == kiosk.id && site.now() - issued_at < TICKET_SECONDS;
    Ok(is_good.then_some(Ticket { member_id, booking_id, issued_at }))
}

/// The numbers of a ticket, and what stands behind them.
fn split_ticket(text: &str) -> Option<([i64; 4], &str)> {
    let mut parts = text.split('.');
    let mut number = || parts.next()?.parse::<i64>().ok();
    let numbers = [number()?, number()?, number()?, number()?];
    Some((numbers, parts.next()?))
}

/// The reply with the cookie of whoever signed in; the browser forgets it when it ends.
pub(crate) fn with_guest_cookie(site: &Site, call: &Call, reply: Reply, token: &str) -> Reply {
    call.outcome.set(AuthOutcome::SignedIn);
    reply.with_cookie(&set(site, call, guest_name(site, call), token, None))
}

/// The reply that takes the cookie of whoever was signed in.
pub(crate) fn without_guest_cookie(site: &Site, call: &Call, reply: Reply) -> Reply {
    reply.with_cookie(&set(site, call, guest_name(site, call), "", Some(0)))
}

/// The language that somebody chose at this kiosk; the browser forgets it with them.
pub(crate) mod language {
    use super::{Call, Reply, Site};
    use crate::i18n::language::Language;

    pub(crate) fn hand(site: &Site, call: &Call, reply: Reply, language: Language) -> Reply {
        reply.with_cookie(&line(site, call, language.tag(), ""))
    }

    pub(crate) fn take(site: &Site, call: &Call, reply: Reply) -> Reply {
        reply.with_cookie(&line(site, call, "", "; Max-Age=0"))
    }

    /// Its path keeps it from every page but the kiosk's, see [`crate::http::accept::language`].
    fn line(site: &Site, call: &Call, tag: &str, age: &str) -> String {
        let secure = if super::is_secure(site, call) { "; Secure" } else { "" };
        format!("{}={tag}; Path=/kiosk{age}; HttpOnly; SameSite=Strict{secure}", crate::http::accept::KIOSK_LANGUAGE)
    }
}

/// Random digits; each as likely as another to within one in 10^17.
fn digits(count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + (u64::from_be_bytes(random::<8>()) % 10) as u8)).collect()
}
