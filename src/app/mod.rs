//! The effects of the product: one function each, with its rule, its audit row and its notice inside. The API, the
//! pages, the command line and the jobs call the same function; what differs is how they ask and how they show.
//!
//! An effect takes a [`Change`] and returns an outcome. An edge renders the outcome after the commit. A call that
//! changes nothing writes no audit row and no notice.

pub(crate) mod accounts;
pub(crate) mod booking_fields;
pub(crate) mod bookings;
pub(crate) mod card;
pub(crate) mod cards;
pub(crate) mod certificates;
pub(crate) mod claims;
pub(crate) mod credentials;
pub(crate) mod family;
pub(crate) mod flights;
pub(crate) mod import_export;
pub(crate) mod invitations;
pub(crate) mod kiosks;
pub(crate) mod logbook;
pub(crate) mod messages;
pub(crate) mod notice;
pub(crate) mod partners;
pub(crate) mod payments;
pub(crate) mod person;
pub(crate) mod photos;
pub(crate) mod recovery;
pub(crate) mod registration;
pub(crate) mod shift_note;
pub(crate) mod signup;
pub(crate) mod waivers;
pub(crate) mod wards;

use crate::auth::{Clerk, Member};
use crate::domain::audit::{By, Detail, Origin, Who, Whom};
use crate::domain::role::{Rank, Role};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Write;
use crate::store::queries::erasure;
use crate::store::tables::audit;
use crate::store::tables::members::{self, Account};
use std::ops::Deref;

/// Who makes a change, from where, and whom they may serve.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub by: By,
    pub rank: Rank,
}

/// One change under way: the open transaction with its moment, the site, the actor, and the language in which the actor
/// reads the answer.
pub(crate) struct Change<'a> {
    pub site: &'a Site,
    pub tx: &'a Write<'a>,
    pub actor: &'a Actor,
    pub language: Language,
}

/// The account that a change is about: one that the actor may serve, or the actor's own.
#[derive(Debug)]
pub(crate) struct Subject(Account);

/// Whether an effect changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Outcome {
    Done,
    /// All was as asked for before.
    Unchanged,
}

impl Actor {
    /// The machine's shell, a job or an import: may do everything.
    pub(crate) fn owner(by: &By) -> Actor {
        Actor { by: by.clone(), rank: Rank::Owner }
    }

    /// A partner, or a third party that calls back.
    pub(crate) fn outside(who: Who, call: &Call) -> Actor {
        Actor { by: By { who, origin: Origin::Address(call.peer) }, rank: Rank::Outside }
    }

    /// 403 for everybody but the desk, the admins and the machine's owner.
    pub(crate) fn check_staff(&self) -> Result<(), Failure> {
        if self.rank.is_staff() { Ok(()) } else { Err(Failure::not_allowed()) }
    }

    /// Somebody with an account.
    pub(crate) fn account(member_id: i64, role: Role, by: &By) -> Actor {
        Actor { by: by.clone(), rank: Rank::Account { member_id, role } }
    }
}

impl From<&Clerk> for Actor {
    fn from(clerk: &Clerk) -> Actor {
        Actor { by: clerk.by().clone(), rank: clerk.rank() }
    }
}

impl From<&Member> for Actor {
    fn from(member: &Member) -> Actor {
        Actor::account(member.id(), member.role(), member.by())
    }
}

/// Runs an effect as one transaction at this moment.
#[track_caller]
pub(crate) fn change<T>(
    site: &Site,
    actor: impl Into<Actor>,
    language: Language,
    effect: impl FnOnce(&Change) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let actor = &actor.into();
    site.store.write(site.now(), |tx| effect(&Change { site, tx, actor, language }))
}

/// The same for a call that may be repeated under one `Idempotency-Key`: its answer is kept with the effect.
#[track_caller]
pub(crate) fn change_once(
    site: &Site,
    call: &Call,
    actor: impl Into<Actor>,
    effect: impl FnOnce(&Change) -> Answer,
) -> Answer {
    let actor = &actor.into();
    site.once(call, |tx| effect(&Change { site, tx, actor, language: call.language() }))
}

impl Change<'_> {
    /// The moment of the transaction, in Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        self.tx.now()
    }

    /// The actor's own account, if the actor has one.
    pub(crate) fn member_id(&self) -> Option<i64> {
        self.actor.rank.member_id()
    }

    /// Adds a row to the audit log.
    pub(crate) fn record(&self, action: &'static str, subject: &Whom, detail: &Detail) -> Result<(), Failure> {
        let By { who, origin } = &self.actor.by;
        audit::insert(self.tx, who, action, subject, origin, detail)?;
        Ok(())
    }

    /// 404 where there is no such member, or where the member was erased: the number stays in the books, and nothing is done
    /// for it any more.
    pub(crate) fn check_here(&self, member_id: i64) -> Result<(), Failure> {
        if self.is_here(member_id)? { Ok(()) } else { Err(Failure::not_found()) }
    }

    /// Whether there is such a member, who was not erased.
    fn is_here(&self, member_id: i64) -> Result<bool, Failure> {
        Ok(members::exists(self.tx, member_id)? && erasure::find(self.tx, member_id)?.is_none())
    }

    /// The account of a member whom the actor may serve. 404 where there is none; 403 with the reason where the rank of
    /// the actor forbids it, and for the actor's own: its owner has the members' app.
    pub(crate) fn served(&self, member_id: i64) -> Result<Subject, Failure> {
        self.check_here(member_id)?;
        let account = members::find_account_by_id(self.tx, member_id)?.ok_or_else(Failure::not_found)?;
        let denial = self.actor.rank.denial(account.member_id, account.role);
        denial.map_or(Ok(Subject(account)), |key| Err(Failure::not_allowed().saying(Text::new(key))))
    }

    /// The actor's own account. 401 where the actor has none.
    pub(crate) fn own(&self) -> Result<Subject, Failure> {
        let member_id = self.member_id().ok_or_else(Failure::not_signed_in)?;
        members::find_account_by_id(self.tx, member_id)?.map(Subject).ok_or_else(Failure::not_signed_in)
    }

    /// 403 for everybody but an admin and the machine's owner.
    pub(crate) fn check_admin(&self) -> Result<(), Failure> {
        if self.actor.rank.is_admin() { Ok(()) } else { Err(Failure::not_allowed()) }
    }

    /// The language of a message to a member: the actor's where the member is the actor, else the member's own.
    pub(crate) fn language_of(&self, member_id: i64) -> Result<Language, Failure> {
        if self.member_id() == Some(member_id) {
            return Ok(self.language);
        }
        let found = members::find_correspondence(self.tx, member_id)?;
        Ok(found.and_then(|(_, tag)| Language::of_member(&tag)).unwrap_or_default())
    }
}

impl Deref for Subject {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.0
    }
}
