//! Counters of failed attempts slow guessing down. The counters that an attempt concerns depend on where it comes from:
//!
//! - From a device on which the member signed in before: the account on that device alone. Failed attempts elsewhere do
//!   not delay that device, so guessing at an account cannot keep its owner out.
//! - From a device on which another member signed in (a kiosk, say): the account on that device, the account from
//!   anywhere, and all devices that were introduced by the same member. An attacker who signs in to an own account again
//!   and again gains no further attempts, and a kiosk stays usable while someone guesses from the same address.
//! - From any other client: the account from its address, the account from anywhere, and the address.

use super::{device, passcode};
use crate::domain::email;
use crate::domain::throttle::Rule;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::failed_attempts;
use crate::store::tables::members::{self, Account};
use crate::store::tables::pins;
use crate::store::tables::throttles::{self, Counter, ThrottleKey};
use crate::store::{Read, Write};

/// The member number of an unknown name; no row has it.
const NO_MEMBER: i64 = 0;

/// The counters that one attempt concerns.
pub(crate) struct Counters(Vec<Counter>);

impl Counters {
    /// The counters are kept under the account's username, whether the username or the e-mail address was typed; without
    /// an account, under the typed name, in whatever spelling.
    pub(crate) fn of(
        site: &Site,
        call: &Call,
        tx: &Read,
        typed: &str,
        account: Option<&Account>,
    ) -> Result<Counters, Failure> {
        let name = email::canonical(account.map_or(typed, |account| &account.username));
        let (name, address) = (name.as_bytes(), call.network().to_string());
        let account_key = Some(account_key(site, name));
        let of_account = |parts: &[&[u8]], rule| Counter { key: key(site, parts), account_key, rule };
        let of_all = |parts: &[&[u8]]| Counter {
            key: key(site, parts),
            account_key: None,
            rule: Rule::address(site.config.limits.sign_in_misses_per_address),
        };
        let anywhere = of_account(&[b"account", name], Rule::ACCOUNT);
        let member_id = account.map_or(NO_MEMBER, |account| account.member_id);
        Ok(Counters(match device::find(call, tx, member_id, site.now())? {
            Some(device) => {
                let here = of_account(&[b"account from device", name, &device.hash], Rule::ACCOUNT_FROM_DEVICE);
                let vouched = || of_all(&[b"devices of", &device.voucher_id.to_be_bytes()]);
                if device.by_member { vec![here] } else { vec![here, anywhere, vouched()] }
            }
            None => {
                let parts: [&[u8]; 3] = [b"account from address", name, address.as_bytes()];
                let here = of_account(&parts, Rule::ACCOUNT_FROM_ADDRESS);
                vec![here, anywhere, of_all(&[b"address", address.as_bytes()])]
            }
        }))
    }

    /// The counters of a PIN that is typed at a kiosk: the member at that kiosk, the member at every kiosk, and
    /// all members at that kiosk.
    pub(crate) fn at_kiosk(site: &Site, kiosk_id: i64, member_id: i64, account: Option<&Account>) -> Counters {
        let account_key = account.map(|account| account_key(site, email::canonical(&account.username).as_bytes()));
        let (member, kiosk) = (member_id.to_be_bytes(), kiosk_id.to_be_bytes());
        let of_account = |parts: &[&[u8]], rule| Counter { key: key(site, parts), account_key, rule };
        let all = Counter {
            key: key(site, &[b"kiosk", &kiosk]),
            account_key: None,
            rule: Rule::address(site.config.limits.sign_in_misses_per_address),
        };
        let here = of_account(&[b"account at kiosk", &member, &kiosk], Rule::ACCOUNT_AT_KIOSK);
        Counters(vec![here, of_account(&[b"account at kiosks", &member], Rule::ACCOUNT), all])
    }

    /// Seconds until none of the counters delays an attempt any more.
    pub(crate) fn delay_left(&self, tx: &Read, now: i64) -> Result<i64, Failure> {
        let mut longest = 0;
        for counter in &self.0 {
            longest = longest.max(throttles::closed_for(tx, &counter.key, now)?);
        }
        Ok(longest)
    }

    pub(crate) fn record_failure(&self, tx: &Write) -> Result<(), Failure> {
        failed_attempts::count_one(tx)?;
        Ok(self.0.iter().try_for_each(|counter| throttles::count_failure(tx, counter))?)
    }

    /// Clears the account's counters after a success. The counters of the address and the devices stay.
    pub(crate) fn clear_account(&self, tx: &Write) -> Result<(), Failure> {
        let of_account = self.0.iter().filter(|counter| counter.account_key.is_some());
        Ok(of_account.map(|counter| &counter.key).try_for_each(|key| throttles::forget(tx, key).map(|_| ()))?)
    }
}

fn key(site: &Site, parts: &[&[u8]]) -> ThrottleKey {
    site.keys.hash(Purpose::Throttle, parts)
}

/// The key that all counters of one account share: a keyed hash, so that the table does not name accounts.
fn account_key(site: &Site, canonical_name: &[u8]) -> ThrottleKey {
    key(site, &[b"all of account", canonical_name])
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
    Ok(ClearedLimits {
        delays: throttles::forget_account(tx, &account_key(site, email::canonical(&profile.username).as_bytes()))?,
        pin_paused: pin.is_some_and(|pin| tx.now() < pin.paused_until),
        passcodes_used_up: passcode::forget_sends(site, tx, &profile)?,
    })
}
