//! Counters of failed attempts slow guessing down. The counters that an attempt concerns depend on where it comes from:
//!
//! - From a device on which the member signed in before, or by a session of the member's: the typed name on that device
//!   alone. Failed attempts elsewhere do not delay that device, so guessing at an account cannot keep its owner out.
//! - From a device on which another member signed in (a kiosk, say): the typed name on that device, the account from
//!   anywhere, and all devices that were introduced by the same member. An attacker who signs in to an own account again
//!   and again gains no further attempts, and a kiosk stays usable while someone guesses from the same address.
//! - From any other client: the typed name from its address, the account from anywhere, and the address.
//!
//! A delay of the typed name, the devices or the address shows, by a 429, for an unknown name too. A delay of
//! the account does not: the attempt gets the answer of an unknown name after the same work. Otherwise wrong attempts under
//! a username would show in the answers to an e-mail address, and tell that both belong to one account.

use super::{device, limits, passcode};
use crate::domain::email;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::failed_attempts;
use crate::store::tables::members::{self, Account};
use crate::store::tables::throttles::{self, Counter, ThrottleKey};
use crate::store::tables::{passcodes, pins};
use crate::store::{Read, Write};

/// The member number of an unknown name; no row has it.
const NO_MEMBER: i64 = 0;

/// The counters that one attempt concerns.
pub(crate) struct Counters {
    /// Those whose delay shows.
    shown: Vec<Counter>,
    /// The accounts from anywhere, by member number. Their delay does not show.
    hidden: Vec<(i64, Counter)>,
}

impl Counters {
    /// `typed`: the username or the e-mail address, in whatever spelling. `accounts`: those that it may mean.
    pub(crate) fn of(
        site: &Site,
        call: &Call,
        tx: &Read,
        typed: &str,
        accounts: &[Account],
    ) -> Result<Counters, Failure> {
        let name = email::canonical(typed);
        let (name, address) = (name.as_bytes(), call.network().to_string());
        let of_account = |parts: &[&[u8]], rule, member_id: Option<i64>| Counter {
            key: key(site, parts),
            account_key: member_id.map(|member_id| account_key(site, member_id)),
            rule,
        };
        let of_all =
            |parts: &[&[u8]]| Counter { key: key(site, parts), account_key: None, rule: limits::ADDRESS.rule(site) };
        let anywhere = |member_id: i64| {
            (
                member_id,
                of_account(&[b"account", &member_id.to_be_bytes()], limits::ACCOUNT.rule(site), Some(member_id)),
            )
        };
        // An unknown name has a counter too, which delays nothing: its attempts cost the same work.
        let nobody = || (NO_MEMBER, of_account(&[b"nobody", name], limits::ACCOUNT.rule(site), None));
        let first = accounts.first().map(|account| account.member_id);
        let (mut device, mut hidden) = (None, Vec::new());
        for account in accounts {
            let found = device::find(call, tx, account.member_id, site.now())?;
            let is_own = found.as_ref().is_some_and(|found| found.by_member);
            if !is_own {
                hidden.push(anywhere(account.member_id));
            }
            if is_own || device.is_none() {
                device = found;
            }
        }
        if accounts.is_empty() {
            device = device::find(call, tx, NO_MEMBER, site.now())?;
            hidden.push(nobody());
        }
        let shown = match device {
            Some(device) => {
                let parts: [&[u8]; 3] = [b"name from device", name, &device.hash];
                let here = of_account(&parts, limits::ACCOUNT_FROM_DEVICE.rule(site), first);
                let vouched = of_all(&[b"devices of", &device.voucher_id.to_be_bytes()]);
                if device.by_member { vec![here] } else { vec![here, vouched] }
            }
            None => {
                let parts: [&[u8]; 3] = [b"name from address", name, address.as_bytes()];
                let here = of_account(&parts, limits::ACCOUNT_FROM_ADDRESS.rule(site), first);
                vec![here, of_all(&[b"address", address.as_bytes()])]
            }
        };
        Ok(Counters { shown, hidden })
    }

    /// The counters of an account whose owner has proven something already and types no name.
    pub(crate) fn of_account(site: &Site, call: &Call, tx: &Read, account: &Account) -> Result<Counters, Failure> {
        Counters::of(site, call, tx, &account.username, std::slice::from_ref(account))
    }

    /// The counters of a PIN that is typed at a kiosk: the member at that kiosk, the member at every kiosk, and
    /// all members at that kiosk.
    pub(crate) fn at_kiosk(site: &Site, kiosk_id: i64, member_id: i64, account: Option<&Account>) -> Counters {
        let account_key = account.map(|account| account_key(site, account.member_id));
        let (member, kiosk) = (member_id.to_be_bytes(), kiosk_id.to_be_bytes());
        let of_account = |parts: &[&[u8]], rule| Counter { key: key(site, parts), account_key, rule };
        let all = Counter { key: key(site, &[b"kiosk", &kiosk]), account_key: None, rule: limits::ADDRESS.rule(site) };
        let here = of_account(&[b"account at kiosk", &member, &kiosk], limits::ACCOUNT_AT_KIOSK.rule(site));
        let at_kiosks = of_account(&[b"account at kiosks", &member], limits::ACCOUNT.rule(site));
        Counters { shown: vec![here, at_kiosks, all], hidden: Vec::new() }
    }

    /// The seconds for which the attempt is delayed, where the delay shows; 0: it is not.
    pub(crate) fn shown_delay(&self, tx: &Read, now: i64) -> Result<i64, Failure> {
        longest(tx, now, self.shown.iter())
    }

    /// Whether an account is delayed without showing it.
    pub(crate) fn hides(&self, tx: &Read, member_id: i64, now: i64) -> Result<bool, Failure> {
        let counter = self.hidden.iter().find(|(of, _)| *of == member_id);
        Ok(counter.map(|(_, counter)| throttles::closed_for(tx, &counter.key, now)).transpose()?.unwrap_or(0) > 0)
    }

    fn all(&self) -> impl Iterator<Item = &Counter> {
        self.shown.iter().chain(self.hidden.iter().map(|(_, counter)| counter))
    }

    /// Seconds until none of the counters delays an attempt any more.
    pub(crate) fn delay_left(&self, tx: &Read, now: i64) -> Result<i64, Failure> {
        longest(tx, now, self.all())
    }

    pub(crate) fn record_failure(&self, tx: &Write) -> Result<(), Failure> {
        failed_attempts::count_one(tx)?;
        Ok(self.all().try_for_each(|counter| throttles::count_failure(tx, counter))?)
    }

    /// Clears the account's counters after a success. The counters of the address and the devices stay.
    pub(crate) fn clear_account(&self, tx: &Write) -> Result<(), Failure> {
        let of_account = self.all().filter(|counter| counter.account_key.is_some());
        Ok(of_account.map(|counter| &counter.key).try_for_each(|key| throttles::forget(tx, key).map(|_| ()))?)
    }
}

/// The seconds until none of these counters is closed.
fn longest<'a>(tx: &Read, now: i64, counters: impl Iterator<Item = &'a Counter>) -> Result<i64, Failure> {
    let mut longest = 0;
    for counter in counters {
        longest = longest.max(throttles::closed_for(tx, &counter.key, now)?);
    }
    Ok(longest)
}

fn key(site: &Site, parts: &[&[u8]]) -> ThrottleKey {
    site.keys.hash(Purpose::Throttle, parts)
}

/// The key that all counters of one account share: a keyed hash, so that the table does not name accounts.
fn account_key(site: &Site, member_id: i64) -> ThrottleKey {
    key(site, &[b"all of account", &member_id.to_be_bytes()])
}

/// Counts a second step that begins after a right first proof: 429 after as many as the limit that nobody finished. A device on which
/// the member signed in before is spared.
pub(crate) fn count_second_step(site: &Site, call: &Call, tx: &Write, account: &Account) -> Result<(), Failure> {
    let device = device::find(call, tx, account.member_id, tx.now())?;
    if device.is_some_and(|device| device.by_member) {
        return Ok(());
    }
    let key = steps_key(site, account.member_id);
    if let Some(until) =
        passcodes::full_until(tx, &key, limits::SECOND_STEPS.fixed(), limits::SECOND_STEPS.seconds(), tx.now())?
    {
        call.delayed.set(true);
        call.outcome.set(AuthOutcome::Delayed);
        return Err(limits::too_soon(until - tx.now()));
    }
    passcodes::insert_send(tx, &key)?;
    Ok(())
}

fn steps_key(site: &Site, member_id: i64) -> ThrottleKey {
    key(site, &[b"second steps", &member_id.to_be_bytes()])
}

/// Clears the account's counters here and anywhere after a sign-in, under each of its names. An address that the member has
/// not confirmed may be another's, whose delay stays.
pub(crate) fn clear_after_sign_in(site: &Site, call: &Call, tx: &Write, account: &Account) -> Result<(), Failure> {
    passcodes::forget_sends(tx, &steps_key(site, account.member_id))?;
    Counters::of_account(site, call, tx, account)?.clear_account(tx)?;
    if account.email_confirmed {
        Counters::of(site, call, tx, &account.email, std::slice::from_ref(account))?.clear_account(tx)?;
    }
    Ok(())
}

/// The delays and limits of an account that were cleared.
#[derive(Debug, PartialEq, Eq)]
pub struct ClearedLimits {
    /// Counters that delayed sign-ins.
    pub delays: usize,
    /// Whether the booking PIN was paused after wrong ones.
    pub pin_paused: bool,
    /// Whether the account had used up its passcodes.
    pub passcodes_used_up: bool,
}

/// Clears an account's failed attempts (passwords, codes and PINs, from anywhere) and the count of its passcodes.
pub fn clear_account_limits(site: &Site, tx: &Write, member_id: i64) -> Result<ClearedLimits, Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let pin = pins::find(tx, member_id)?;
    pins::set_wrong_pins(tx, member_id, 0, 0)?;
    passcodes::forget_sends(tx, &steps_key(site, member_id))?;
    Ok(ClearedLimits {
        delays: throttles::forget_account(tx, &account_key(site, member_id))?,
        pin_paused: pin.is_some_and(|pin| tx.now() < pin.paused_until),
        passcodes_used_up: passcode::forget_sends(site, tx, &profile)?,
    })
}
