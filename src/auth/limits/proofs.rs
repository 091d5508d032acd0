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

use super::counted::{self, Counter};
use super::{booking_pins, messages, too_soon};
use crate::auth::device;
use crate::domain::email;
use crate::domain::ids::{KioskId, MemberId};
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::failed_attempts;
use crate::store::tables::members::{self, Account};
use crate::store::{Read, Write};

/// The member number of an unknown name; no row has it.
const NO_MEMBER: MemberId = MemberId(0);

/// The counters that one attempt concerns.
pub(crate) struct Counters {
    /// Those whose delay shows.
    shown: Vec<Counter>,
    /// The accounts from anywhere, by member number. Their delay does not show.
    hidden: Vec<(MemberId, Counter)>,
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
        let first = accounts.first().map(|account| account.member_id);
        let here = |limit, parts: &[&[u8]]| {
            let counter = Counter::new(site, limit, parts);
            if let Some(member_id) = first { counter.of_account(site, member_id) } else { counter }
        };
        let (mut device, mut hidden) = (None, Vec::new());
        for account in accounts {
            let found = device::find(call, tx, account.member_id, site.now())?;
            let is_own = found.as_ref().is_some_and(|found| found.by_member);
            if !is_own {
                hidden.push((account.member_id, anywhere(site, account.member_id)));
            }
            if is_own || device.is_none() {
                device = found;
            }
        }
        if accounts.is_empty() {
            device = device::find(call, tx, NO_MEMBER, site.now())?;
            // An unknown name has a counter too, which delays nothing: its attempts cost the same work.
            hidden.push((NO_MEMBER, Counter::new(site, super::ACCOUNT, &[b"nobody", name])));
        }
        let shown = match device {
            Some(device) => {
                let own = here(super::ACCOUNT_FROM_DEVICE, &[b"name from device", name, &device.hash]);
                let vouched = Counter::new(site, super::ADDRESS, &[b"devices of", &device.voucher_id.0.to_be_bytes()]);
                if device.by_member { vec![own] } else { vec![own, vouched] }
            }
            None => vec![
                here(super::ACCOUNT_FROM_ADDRESS, &[b"name from address", name, address.as_bytes()]),
                Counter::new(site, super::ADDRESS, &[b"address", address.as_bytes()]),
            ],
        };
        Ok(Counters { shown, hidden })
    }

    /// The counters of an account whose owner has proven something already and types no name.
    pub(crate) fn of_account(site: &Site, call: &Call, tx: &Read, account: &Account) -> Result<Counters, Failure> {
        Counters::of(site, call, tx, &account.username, std::slice::from_ref(account))
    }

    /// The counters of a PIN that is typed at a kiosk: the member at that kiosk, the member at every kiosk, and
    /// all members at that kiosk.
    pub(crate) fn at_kiosk(site: &Site, kiosk_id: KioskId, member_id: MemberId, account: Option<&Account>) -> Counters {
        let (member, kiosk) = (member_id.0.to_be_bytes(), kiosk_id.0.to_be_bytes());
        let mut shown = vec![
            Counter::new(site, super::ACCOUNT_AT_KIOSK, &[b"account at kiosk", &member, &kiosk]),
            Counter::new(site, super::ACCOUNT, &[b"account at kiosks", &member]),
        ];
        if let Some(account) = account {
            shown = shown.into_iter().map(|counter| counter.of_account(site, account.member_id)).collect();
        }
        shown.push(Counter::new(site, super::ADDRESS, &[b"kiosk", &kiosk]));
        Counters { shown, hidden: Vec::new() }
    }

    /// The seconds for which the attempt is delayed, where the delay shows; 0: it is not.
    pub(crate) fn shown_delay(&self, tx: &Read, now: Moment) -> Result<i64, Failure> {
        seconds_left(tx, now, self.shown.iter())
    }

    /// Whether an account is delayed without showing it.
    pub(crate) fn hides(&self, tx: &Read, member_id: MemberId, now: Moment) -> Result<bool, Failure> {
        let hidden = self.hidden.iter().filter(|(of, _)| *of == member_id).map(|(_, counter)| counter);
        Ok(counted::full_until(tx, now, hidden)?.is_some())
    }

    fn all(&self) -> impl Iterator<Item = &Counter> {
        self.shown.iter().chain(self.hidden.iter().map(|(_, counter)| counter))
    }

    /// Seconds until none of the counters delays an attempt any more.
    pub(crate) fn delay_left(&self, tx: &Read, now: Moment) -> Result<i64, Failure> {
        seconds_left(tx, now, self.all())
    }

    pub(crate) fn record_failure(&self, tx: &Write) -> Result<(), Failure> {
        failed_attempts::count_one(tx)?;
        self.all().try_for_each(|counter| counter.count(tx).map(drop))
    }

    /// Clears the account's counters after a success. The counters of the address and the devices stay.
    pub(crate) fn clear_account(&self, tx: &Write) -> Result<(), Failure> {
        self.all().filter(|counter| counter.is_of_account()).try_for_each(|counter| counter.forget(tx))
    }
}

fn seconds_left<'a>(tx: &Read, now: Moment, counters: impl Iterator<Item = &'a Counter>) -> Result<i64, Failure> {
    Ok(counted::full_until(tx, now, counters)?.map_or(0, |until| until - now))
}

/// The counter of an account from anywhere.
fn anywhere(site: &Site, member_id: MemberId) -> Counter {
    Counter::new(site, super::ACCOUNT, &[b"account", &member_id.0.to_be_bytes()]).of_account(site, member_id)
}

fn second_steps(site: &Site, member_id: MemberId) -> Counter {
    Counter::new(site, super::SECOND_STEPS, &[b"second steps", &member_id.0.to_be_bytes()])
}

/// Counts a second step that begins after a right first proof: 429 after as many as the limit that nobody finished. A device on which
/// the member signed in before is spared.
pub(crate) fn count_second_step(site: &Site, call: &Call, tx: &Write, account: &Account) -> Result<(), Failure> {
    let device = device::find(call, tx, account.member_id, tx.now())?;
    if device.is_some_and(|device| device.by_member) {
        return Ok(());
    }
    let Some(until) = counted::take(tx, &[second_steps(site, account.member_id)])? else { return Ok(()) };
    call.delayed.set(true);
    call.outcome.set(AuthOutcome::Delayed);
    Err(too_soon(until - tx.now()))
}

/// Clears the account's counters here and anywhere after a sign-in, under each of its names. An address that the member has
/// not confirmed may be another's, whose delay stays.
pub(crate) fn clear_after_sign_in(site: &Site, call: &Call, tx: &Write, account: &Account) -> Result<(), Failure> {
    second_steps(site, account.member_id).forget(tx)?;
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
pub fn clear_account_limits(site: &Site, tx: &Write, member_id: MemberId) -> Result<ClearedLimits, Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let pin_paused = booking_pins::is_paused(site, tx, member_id, tx.now())?;
    booking_pins::forget(site, tx, member_id)?;
    second_steps(site, member_id).forget(tx)?;
    Ok(ClearedLimits {
        delays: counted::forget_account(site, tx, member_id)?,
        pin_paused,
        passcodes_used_up: messages::forget(site, tx, &profile)?,
    })
}
