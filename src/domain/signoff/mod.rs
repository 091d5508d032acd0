//! Who may sign for whom: derived at the moment of signing from the levels that the signer holds, the signer's currency
//! and the tunnel's list. Without clock and database.

use super::catalogue::{Catalogue, Level, LevelKey};
use super::currency::Currencies;
use crate::domain::ids::MemberId;

/// A possible signer, at one tunnel and one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signer<'a> {
    pub member_id: MemberId,
    /// The levels held, and those for which the signer is appointed as a first signer.
    pub held: &'a [LevelKey<'a>],
    pub currency: Currencies,
    /// The programmes for which the tunnel lists the signer.
    pub listed: &'a [String],
    /// The account is not banned, and its e-mail address is confirmed.
    pub in_good_standing: bool,
}

/// Proof that a signer may sign an entry of this holder. Only [`authority`] creates it, and only with it an entry is
/// opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    signer_id: MemberId,
    holder_id: MemberId,
}

/// Why a signer may not sign, the gravest reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    Oneself,
    /// The signer holds no level that the entry's level may be signed by.
    Level,
    /// The tunnel does not list the signer for a sufficient programme.
    NotListed,
    NotCurrent,
    /// The account is banned, or its e-mail address is not confirmed.
    Account,
}

impl Authority {
    pub(crate) fn signer_id(&self) -> MemberId {
        self.signer_id
    }

    pub(crate) fn holder_id(&self) -> MemberId {
        self.holder_id
    }
}

impl Denial {
    /// The key of the denial's text.
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

/// Checks whether the signer may sign a skill of this level for the holder.
pub(crate) fn authority(signer: &Signer, holder_id: MemberId, level: &Level) -> Result<Authority, Denial> {
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

/// The level whose signers sign this skill: its own level; for a safety brief or training, the first level of the
/// programme that owns the logbook. The contract does not state the latter rule; the catalogue names signers only by
/// level.
pub(crate) fn level_of<'c>(catalogue: &'c Catalogue, skill: &str) -> Option<&'c Level> {
    match catalogue.find_skill(skill) {
        Some((level, _)) => Some(level),
        None => catalogue.find_safety(skill)?.0.levels.first(),
    }
}

#[cfg(test)]
mod tests;
