//! Who may sign for whom: derived at the moment of signing from what the signer holds, where the signer is current and
//! which tunnel lists the signer. Knows no clock and no row.

use super::catalogue::{Catalogue, Level, LevelKey};
use super::currency::Currencies;

/// Somebody who would sign, at one tunnel and one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signer<'a> {
    pub member_id: i64,
    /// The levels held, and those that a first signer stands in for.
    pub held: &'a [LevelKey<'a>],
    pub currency: Currencies,
    /// The programmes as whose holder the tunnel lets them sign.
    pub listed: &'a [String],
    /// Neither banned nor with an unconfirmed e-mail address.
    pub in_good_standing: bool,
}

/// Proof that somebody may sign an entry of this holder: nothing else opens one, and only [`authority`] makes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    signer_id: i64,
    holder_id: i64,
}

/// Why somebody may not sign; the gravest reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    Oneself,
    /// Holds nothing that the level is signed by.
    Level,
    /// Not on the tunnel's list as a holder of what it takes.
    NotListed,
    NotCurrent,
    /// Banned, or the e-mail address is not confirmed.
    Account,
}

impl Authority {
    pub(crate) fn signer_id(&self) -> i64 {
        self.signer_id
    }

    pub(crate) fn holder_id(&self) -> i64 {
        self.holder_id
    }
}

impl Denial {
    /// The key of its text.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Denial::Oneself => "signer.oneself",
            Denial::Level => "signer.level",
            Denial::NotListed => "signer.not_listed",
            Denial::NotCurrent => "signer.not_current",
            Denial::Account => "signer.account",
        }
    }
}

/// Whether the signer may sign a skill of this level for the holder.
pub(crate) fn authority(signer: &Signer, holder_id: i64, level: &Level) -> Result<Authority, Denial> {
    if signer.member_id == holder_id {
        return Err(Denial::Oneself);
    }
    let listed = |key: &LevelKey| signer.listed.iter().any(|programme| programme == key.cat_group);
    // A programme without a currency of its own (AFC) does not lapse.
    let current = |key: &LevelKey| signer.currency.find(key.cat_group).is_none_or(|one| one.current);
    let signs = |counts: &dyn Fn(&LevelKey) -> bool| {
        let held: Vec<LevelKey> = signer.held.iter().filter(|key| counts(key)).copied().collect();
        level.signable_by(&held)
    };
    if !signs(&|_| true) {
        Err(Denial::Level)
    } else if !signs(&listed) {
        Err(Denial::NotListed)
    } else if !signs(&|key| listed(key) && current(key)) {
        Err(Denial::NotCurrent)
    } else if !signer.in_good_standing {
        Err(Denial::Account)
    } else {
        Ok(Authority { signer_id: signer.member_id, holder_id })
    }
}

/// The level whose signers sign this skill: its own; of a safety brief or training the first level of the programme in
/// whose logbook it is kept. Not shown in the contract: that rule, because the catalogue names signers by level alone.
pub(crate) fn level_of<'c>(catalogue: &'c Catalogue, skill: &str) -> Option<&'c Level> {
    match catalogue.find_skill(skill) {
        Some((level, _)) => Some(level),
        None => catalogue.find_safety(skill)?.0.levels.first(),
    }
}

#[cfg(test)]
mod tests;
