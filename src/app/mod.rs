//! The effects of the product: one function each, with its rule, its audit row and its notice inside. The API, the
//! pages, the command line and the jobs call the same function, and differ only in parsing and rendering.
//!
//! An effect takes a [`Change`] and returns an outcome, or why it does not take place: a [`Stop`] where an edge words a denial,
//! otherwise a [`Failure`]. An edge renders the outcome after the commit. A call that
//! changes nothing writes no audit row and no notice.

pub(crate) mod accounts;
pub(crate) mod alike;
pub(crate) mod booking_fields;
pub(crate) mod bookings;
pub(crate) mod card;
pub(crate) mod cards;
pub(crate) mod certificates;
pub(crate) mod children;
pub(crate) mod claims;
pub(crate) mod contact;
pub(crate) mod credentials;
pub(crate) mod deletion_requests;
pub(crate) mod events;
pub(crate) mod family;
pub(crate) mod flights;
pub(crate) mod handovers;
pub(crate) mod hooks;
pub(crate) mod import_export;
pub(crate) mod invitations;
pub(crate) mod joining;
pub(crate) mod kiosks;
pub(crate) mod leaving;
pub(crate) mod logbook;
pub(crate) mod mail_events;
pub(crate) mod messages;
pub(crate) mod notice;
mod once;
pub(crate) mod own_data;
pub(crate) mod own_passkeys;
pub(crate) mod own_profile;
pub(crate) mod own_sign_in;
pub(crate) mod papers;
pub(crate) mod partner_tokens;
pub(crate) mod partner_users;
pub(crate) mod partners;
pub(crate) mod payments;
pub(crate) mod person;
pub(crate) mod photos;
pub(crate) mod recovery;
pub(crate) mod registration;
pub(crate) mod second_factors;
pub(crate) mod seen;
pub(crate) mod settings;
pub(crate) mod shift_note;
pub(crate) mod signers;
pub(crate) mod signup;
pub(crate) mod social_accounts;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tunnels;
pub(crate) mod waivers;

pub(crate) use once::{change_once, once};

use crate::auth::clerk::Proofs;
use crate::auth::{Clerk, Member, check_fresh};
use crate::domain::audit::{Actor, ActorId, Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::role::{Rank, Role};
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::erasure;
use crate::store::tables::audit;
use crate::store::tables::joins;
use crate::store::tables::members::{self, Account};
use crate::store::tables::signers::is_signer;
use crate::store::{Read, Write};
use std::ops::Deref;

/// An actor, and the rank that decides which accounts the actor may serve.
#[derive(Debug, Clone)]
pub(crate) struct RankedActor {
    pub actor: Actor,
    pub rank: Rank,
    /// For a clerk, whose cookie alone may be stolen.
    proofs: Option<Proofs>,
}

/// One change under way: the open transaction with its moment, the site, the actor with its rank, and the language in
/// which the actor reads answers and messages.
pub(crate) struct Change<'a> {
    pub site: &'a Site,
    pub tx: &'a Write<'a>,
    pub actor: &'a Actor,
    pub rank: Rank,
    pub language: Language,
    proofs: Option<Proofs>,
}

/// The account that a change is about: one that the actor may serve, or the actor's own.
#[derive(Debug)]
pub(crate) struct SubjectAccount(Account);

/// Whether an effect changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Outcome {
    Done,
    /// The requested state was there already.
    Unchanged,
}

impl RankedActor {
    /// The machine's shell, a job or an import: unrestricted.
    pub(crate) fn owner(actor: &Actor) -> RankedActor {
        RankedActor { actor: actor.clone(), rank: Rank::Owner, proofs: None }
    }

    /// A partner, or a third party that calls a webhook.
    pub(crate) fn outside(id: ActorId, call: &Call) -> RankedActor {
        RankedActor { actor: Actor::caller(id, call.peer), rank: Rank::Outside, proofs: None }
    }

    /// A caller without credentials, whom the effect itself knows by what was sent.
    pub(crate) fn stranger(call: &Call) -> RankedActor {
        RankedActor::outside(ActorId::Sender("stranger"), call)
    }

    /// Starts a change by this actor in an open transaction.
    pub(crate) fn change<'a>(&'a self, site: &'a Site, tx: &'a Write<'a>, language: Language) -> Change<'a> {
        Change { site, tx, actor: &self.actor, rank: self.rank, language, proofs: self.proofs }
    }

    /// A member with the member's role.
    pub(crate) fn account(member_id: MemberId, role: Role, actor: &Actor) -> RankedActor {
        RankedActor { actor: actor.clone(), rank: Rank::Account { member_id, role }, proofs: None }
    }
}

impl From<&Clerk> for RankedActor {
    fn from(clerk: &Clerk) -> RankedActor {
        RankedActor { actor: clerk.actor().clone(), rank: clerk.rank(), proofs: Some(clerk.proofs()) }
    }
}

impl From<&Member> for RankedActor {
    fn from(member: &Member) -> RankedActor {
        RankedActor::account(member.id(), member.role(), member.actor())
    }
}

/// Runs an effect as one transaction.
#[track_caller]
pub(crate) fn change<T>(
    site: &Site,
    actor: impl Into<RankedActor>,
    language: Language,
    effect: impl FnOnce(&Change) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let actor = &actor.into();
    site.store.write(site.now(), |tx| effect(&actor.change(site, tx, language)))
}

/// As [`change`], for an effect that may be denied: a denial takes back what the effect wrote before it. What has to stay, such as
/// a counted miss, is an outcome.
#[track_caller]
pub(crate) fn try_change<T, D>(
    site: &Site,
    actor: impl Into<RankedActor>,
    language: Language,
    effect: impl FnOnce(&Change) -> Result<T, Stop<D>>,
) -> Result<T, Stop<D>> {
    let actor = &actor.into();
    site.store.try_write(site.now(), |tx| effect(&actor.change(site, tx, language)))
}

/// Runs an effect of a caller without credentials as one transaction. The effect knows the caller by what was sent.
#[track_caller]
pub(crate) fn change_by_stranger<T>(
    site: &Site,
    call: &Call,
    effect: impl FnOnce(&Change) -> Result<T, Failure>,
) -> Result<T, Failure> {
    change(site, RankedActor::stranger(call), call.language(), effect)
}

impl Change<'_> {
    /// The moment of the transaction, in Unix seconds.
    pub(crate) fn now(&self) -> Moment {
        self.tx.now()
    }

    /// The number of the actor's own account, if the actor has one.
    pub(crate) fn member_id(&self) -> Option<MemberId> {
        self.rank.member_id()
    }

    /// Adds a row to the audit log.
    pub(crate) fn record(&self, action: &'static str, subject: &Subject, detail: &Detail) -> Result<(), Failure> {
        audit::insert(self.tx, self.actor, action, subject, detail)?;
        Ok(())
    }

    /// 404 where there is no such member, or where the member was erased or joined into another account: the number stays
    /// in records, but accepts no changes.
    pub(crate) fn check_here(&self, member_id: MemberId) -> Result<(), Failure> {
        if self.is_here(member_id)? { Ok(()) } else { Err(Failure::not_found()) }
    }

    /// Whether the member exists and was neither erased nor joined into another account.
    fn is_here(&self, member_id: MemberId) -> Result<bool, Failure> {
        Ok(members::exists(self.tx, member_id)?
            && erasure::find(self.tx, member_id)?.is_none()
            && joins::survivor_of(self.tx, member_id)? == member_id)
    }

    /// The account of a member whom the actor may serve. 404 where there is no such member; 403 with the reason where
    /// the actor's rank forbids it, and where an account of the staff is served on an old proof of identity. An actor's own
    /// account is refused too: its owner uses the members' app.
    pub(crate) fn served(&self, member_id: MemberId) -> Result<SubjectAccount, Failure> {
        self.check_here(member_id)?;
        let account = members::find_account_by_id(self.tx, member_id)?.ok_or_else(Failure::not_found)?;
        if let Some(key) = self.rank.denial(account.member_id, account.role) {
            return Err(Failure::not_allowed().saying(Text::new(key)));
        }
        if account.role.is_above_member() {
            self.proofs.map_or(Ok(()), |proofs| check_fresh(proofs.at, self.now()))?;
        }
        Ok(SubjectAccount(account))
    }

    /// As [`Change::served`], for a change of how the account is opened: 403 also for a member on a list of signers,
    /// unless the actor is an admin. Otherwise a clerk could sign in as an instructor, and sign.
    pub(crate) fn served_with_access(&self, member_id: MemberId) -> Result<SubjectAccount, Failure> {
        let account = self.served(member_id)?;
        if !self.rank.is_admin() && is_signer(self.tx, member_id)? {
            return Err(Failure::not_allowed().saying(Text::new("desk.signers_account")));
        }
        Ok(account)
    }

    /// The actor's own account. 401 where the actor has none.
    pub(crate) fn own(&self) -> Result<SubjectAccount, Failure> {
        let member_id = self.member_id().ok_or_else(Failure::not_signed_in)?;
        members::find_account_by_id(self.tx, member_id)?.map(SubjectAccount).ok_or_else(Failure::not_signed_in)
    }

    /// 403 where a clerk has proved the identity by the sign-in alone, or too long ago: whoever took over a browser just after
    /// the sign-in diverts no codes and links.
    pub(crate) fn check_proven_anew(&self) -> Result<(), Failure> {
        self.proofs.map_or(Ok(()), |proofs| check_fresh(proofs.anew_at, self.now()))
    }

    /// 403 unless the actor is the desk, an admin or the machine's owner.
    pub(crate) fn check_staff(&self) -> Result<(), Failure> {
        if self.rank.is_staff() { Ok(()) } else { Err(Failure::not_allowed()) }
    }

    /// 403 unless the actor is an admin or the machine's owner.
    pub(crate) fn check_admin(&self) -> Result<(), Failure> {
        if self.rank.is_admin() { Ok(()) } else { Err(Failure::not_allowed()) }
    }

    /// The language of a message to a member: the actor's language where the member is the actor, otherwise the
    /// member's own.
    pub(crate) fn language_of(&self, member_id: MemberId) -> Result<Language, Failure> {
        if self.member_id() == Some(member_id) {
            return Ok(self.language);
        }
        let found = members::find_correspondence(self.tx, member_id)?;
        Ok(found.and_then(|(_, tag)| Language::find(&tag)).unwrap_or_default())
    }
}

impl Deref for SubjectAccount {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.0
    }
}

/// The language of a document for a member: the one in which the member signed in last, or chose at the desk; `otherwise`
/// where neither is known.
pub(crate) fn language_on_paper(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    otherwise: Language,
) -> Result<Language, Failure> {
    let tag = members::find_language(tx, member_id)?;
    Ok(tag.and_then(|tag| site.find_language(&tag)).unwrap_or(otherwise))
}

/// The language of a document that a caller of the API reads: the one that the request asks for, else the member's.
pub(crate) fn language_of_reader(site: &Site, call: &Call, member_id: MemberId) -> Result<Language, Failure> {
    match call.asked_language() {
        Some(language) => Ok(language),
        None => site.store.read(|tx| language_on_paper(site, tx, member_id, call.language())),
    }
}

/// The language of a document that the desk prints for a member.
pub(crate) fn language_at_desk(site: &Site, call: &Call, member_id: MemberId) -> Result<Language, Failure> {
    site.store.read(|tx| language_on_paper(site, tx, member_id, call.language()))
}
