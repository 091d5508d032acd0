//! Whom a tunnel lets sign for others: the list of signers, changed by admins and by commands.

use super::{Change, Outcome, accounts};
use crate::domain::audit::{Detail, Subject};
use crate::domain::catalogue::{Catalogue, LevelKey};
use crate::domain::ids::{MemberId, TunnelId};
use crate::http::failure::{Failure, Stop};
use crate::moment::Moment;
use crate::store::Read;
use crate::store::queries::{holdings, standing};
use crate::store::tables::signers::{self, Appointment, NewSigner};
use crate::store::tables::tunnels;

/// The levels of a first signer that may be asked for.
pub(crate) const FIRST_LEVELS: std::ops::RangeInclusive<u8> = 1..=9;

/// A member who shall sign.
pub(crate) struct NewAppointment {
    pub(crate) tunnel_id: TunnelId,
    pub(crate) member_id: MemberId,
    /// One of [`programmes`].
    pub(crate) programme: &'static str,
    /// The level for which a first signer stands in, until a member holds it by the logbook.
    pub(crate) first: Option<u8>,
}

/// Why a member is not appointed.
#[derive(Debug)]
pub(crate) enum NotAppointed {
    NoTunnel,
    NoLevel,
    ListedAlready,
    /// The member holds no level of the programme, and is no first signer.
    HoldsNone,
    /// This member holds the level here and can sign: no first signer is needed.
    NotNeeded(String),
}

/// The programmes whose holders sign for others, as the catalogue spells them.
pub(crate) fn programmes(catalogue: &'static Catalogue) -> Vec<&'static str> {
    let mut signing: Vec<&str> = catalogue
        .levels()
        .flat_map(|level| &level.signed_by)
        .flat_map(|signer| std::iter::once(signer.cat_group.as_str()).chain(signer.and_holds.as_deref()))
        .collect();
    signing.sort_unstable();
    signing.dedup();
    signing
}

/// Puts a member on a tunnel's list of signers, and ends the codes and links that were given for the account before. By admins.
/// Audited.
pub(crate) fn appoint(cx: &Change, new: &NewAppointment) -> Result<(), Stop<NotAppointed>> {
    cx.check_admin()?;
    let cat_id = new.first.map(|level| level.to_string()).unwrap_or_default();
    if let Some(why) = find_obstacle(cx, new, &cat_id)? {
        return Err(Stop::Denied(why));
    }
    let NewAppointment { tunnel_id, member_id, programme, first } = *new;
    let detail = Detail::none().number("tunnel_id", tunnel_id).word("programme", programme);
    let detail = first.map_or(detail.clone(), |level| detail.number("first", level));
    cx.record("signer.added", &Subject::Member(member_id), &detail)?;
    accounts::delete_unused_codes(cx.tx, member_id)?;
    let appointed_by = cx.member_id();
    signers::insert(cx.tx, &NewSigner { tunnel_id, member_id, cat_group: programme, cat_id: &cat_id, appointed_by })?;
    Ok(())
}

fn find_obstacle(cx: &Change, new: &NewAppointment, cat_id: &str) -> Result<Option<NotAppointed>, Failure> {
    let NewAppointment { tunnel_id, member_id, programme, first } = *new;
    if first.is_some() {
        let key = LevelKey { cat_group: programme, cat_id, track: "" };
        if cx.site.config.catalogue.find_level(key).is_none() {
            return Ok(Some(NotAppointed::NoLevel));
        }
    }
    if !tunnels::exists(cx.tx, tunnel_id)? {
        return Ok(Some(NotAppointed::NoTunnel));
    }
    if signers::is_listed(cx.tx, tunnel_id, member_id, programme)? {
        return Ok(Some(NotAppointed::ListedAlready));
    }
    let holds = |member_id: MemberId, least: &str| -> Result<bool, Failure> {
        let held = holdings::list(cx.tx, member_id)?;
        Ok(held.iter().any(|one| one.cat_group == programme && one.cat_id.as_str() >= least))
    };
    if first.is_none() {
        return Ok(if holds(member_id, "")? { None } else { Some(NotAppointed::HoldsNone) });
    }
    // First signers are for a tunnel without a signer who holds a level by the logbook.
    for one in signers::list(cx.tx, tunnel_id)?.iter().filter(|one| one.cat_group == programme && one.cat_id.is_empty())
    {
        let currency = standing::read(cx.tx, one.member_id, cx.now())?.currency.find(programme);
        if currency.is_some_and(|currency| currency.current) && holds(one.member_id, cat_id)? {
            return Ok(Some(NotAppointed::NotNeeded(one.username.clone())));
        }
    }
    Ok(None)
}

/// Takes a member off a tunnel's list of signers. By admins. Audited.
pub(crate) fn remove(
    cx: &Change,
    member_id: MemberId,
    tunnel_id: TunnelId,
    programme: &'static str,
) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    if signers::end(cx.tx, tunnel_id, member_id, programme, cx.member_id())? == 0 {
        return Ok(Outcome::Unchanged);
    }
    let detail = Detail::none().number("tunnel_id", tunnel_id).word("programme", programme);
    cx.record("signer.removed", &Subject::Member(member_id), &detail)?;
    Ok(Outcome::Done)
}

/// By which level a signer signs now.
pub(crate) enum Standing {
    /// A first signer stands in for this level.
    StandsInFor(String),
    HoldsNone,
    Holds {
        level: String,
        is_current: bool,
    },
}

impl Standing {
    pub(crate) fn read(tx: &Read, one: &Appointment, now: Moment) -> Result<Standing, Failure> {
        if !one.cat_id.is_empty() {
            return Ok(Standing::StandsInFor(one.cat_id.clone()));
        }
        let held = holdings::list(tx, one.member_id)?;
        let level = held.into_iter().filter(|held| held.cat_group == one.cat_group).map(|held| held.cat_id).max();
        let Some(level) = level else { return Ok(Standing::HoldsNone) };
        let currency = standing::read(tx, one.member_id, now)?.currency.find(&one.cat_group);
        Ok(Standing::Holds { level, is_current: currency.is_none_or(|currency| currency.current) })
    }
}
