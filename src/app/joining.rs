//! Joining two accounts of one person: everything moves to the account that survives, but for what opens or reaches an account.
//! The old number leads to the survivor. A join can be undone for a day.

use super::{Change, SubjectAccount, accounts, bookings, events, language_on_paper};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::{JoinId, MemberId};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::queries::joining::{self, JoinedRows, Pair};
use crate::store::queries::{erasure, holdings};
use crate::store::tables::events::Event;
use crate::store::tables::joins::{self, Joined};
use crate::store::tables::members::{self, Account};
use crate::store::tables::outbox::{self, Channel, NewMessage};
use crate::store::tables::{bans, bookings as booking_rows, sessions};
use serde_json::json;

/// For how long a join can be undone.
pub(crate) const UNDO_SECONDS: i64 = 86_400;

/// What a join would do.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) parts: Vec<JoinedRows>,
    /// The keys of the reasons why the accounts cannot be joined.
    pub(crate) refusals: Vec<&'static str>,
}

/// What a join of these accounts would do.
pub(crate) fn preview(tx: &Read, joined: &Account, survivor: &Account) -> Result<Preview, Failure> {
    let pair = Pair { joined: joined.member_id, survivor: survivor.member_id };
    if pair.joined == pair.survivor {
        return Ok(Preview { parts: Vec::new(), refusals: vec!["join.same"] });
    }
    let is_staff = [joined, survivor].iter().any(|one| one.role != Role::Member);
    let is_banned = joined.banned || survivor.banned;
    let mut refusals = joining::list_refusals(tx, pair)?;
    refusals.extend(is_staff.then_some("join.staff"));
    refusals.extend(is_banned.then_some("join.banned"));
    Ok(Preview { parts: joining::count(tx, pair)?, refusals })
}

/// Joins an account into another one of the same person. The joined account is closed: its sign-in, sessions and codes end.
/// Both addresses are told. Audited. 403 unless the actor is an admin who may serve both; 404 where one is not there; 422 at
/// `with` where the two cannot be joined.
pub(crate) fn join(cx: &Change, joined_id: MemberId, survivor_id: MemberId) -> Result<(), Failure> {
    cx.check_admin()?;
    let (joined, survivor) = (cx.served(joined_id)?, cx.served(survivor_id)?);
    if let Some(key) = preview(cx.tx, &joined, &survivor)?.refusals.first() {
        return Err(Failure::field("with", Text::new(key)));
    }
    let pair = Pair { joined: joined_id, survivor: survivor_id };
    let join_id = joins::insert(cx.tx, (joined_id, survivor_id), cx.member_id(), extend_membership(cx, pair)?)?;
    joining::move_rows(cx.tx, join_id, pair)?;
    follow(cx, join_id, pair, survivor_id)?;
    close(cx, &joined)?;
    if joins::find_alike(cx.tx, survivor_id)?.is_some_and(|alike| alike.other_id == joined_id) {
        joins::settle_alike(cx.tx, survivor_id)?;
    }
    tell(cx, joined_id, "joined_away")?;
    tell(cx, survivor_id, "joined")?;
    events::tell_member(cx.tx, Event::MemberJoined, survivor_id, &json!({ "joined_id": joined_id }))?;
    cx.record("member.joined", &Subject::Member(survivor_id), &Detail::none().number("joined_id", joined_id))
}

/// Undoes the join of an account: it gets back exactly what was moved, and what came later stays with the survivor. Its owner
/// signs in again. Both addresses are told. Audited. 403 unless the actor is an admin; 404 where there is no such join; 409
/// after a day, and where the survivor was joined into a third account or became one of the staff since.
pub(crate) fn undo(cx: &Change, joined_id: MemberId) -> Result<MemberId, Failure> {
    cx.check_admin()?;
    let Joined { join_id, survivor_id, joined_at, paid_from, paid_to, .. } =
        joins::find(cx.tx, joined_id)?.ok_or_else(Failure::not_found)?;
    if erasure::find(cx.tx, joined_id)?.is_some() {
        return Err(Failure::not_found());
    }
    if cx.now() >= joined_at + UNDO_SECONDS {
        return Err(Failure::exists().saying(Text::new("join.too_late")));
    }
    if joins::find(cx.tx, survivor_id)?.is_some() {
        return Err(Failure::exists().saying(Text::new("join.later_first")));
    }
    if cx.served(survivor_id)?.role != Role::Member {
        return Err(Failure::exists().saying(Text::new("join.staff_since")));
    }
    let pair = Pair { joined: joined_id, survivor: survivor_id };
    joining::give_back(cx.tx, join_id, pair)?;
    follow(cx, join_id, pair, joined_id)?;
    if paid_to.is_some() && members::find_paid_until(cx.tx, survivor_id)?.flatten() == paid_to {
        members::set_paid_until(cx.tx, survivor_id, paid_from)?;
    }
    bans::set(cx.tx, joined_id, None)?;
    joins::set_undone(cx.tx, join_id)?;
    tell(cx, joined_id, "unjoined")?;
    tell(cx, survivor_id, "unjoined")?;
    events::tell_member(cx.tx, Event::MemberUnjoined, survivor_id, &json!({ "joined_id": joined_id }))?;
    cx.record("member.unjoined", &Subject::Member(survivor_id), &Detail::none().number("joined_id", joined_id))?;
    Ok(survivor_id)
}

/// Marks that a member who signed up alone is another person than the one who is alike. Audited.
pub(crate) fn settle_alike(cx: &Change, member_id: MemberId) -> Result<(), Failure> {
    cx.check_staff()?;
    if joins::settle_alike(cx.tx, member_id)? {
        cx.record("member.told_apart", &Subject::Member(member_id), &Detail::none())?;
    }
    Ok(())
}

/// The membership lasts until the later end of the two. Returns the survivor's end before and after, where it changes.
fn extend_membership(cx: &Change, pair: Pair) -> Result<(Option<Moment>, Option<Moment>), Failure> {
    let paid_until = |member_id| Ok::<_, Failure>(members::find_paid_until(cx.tx, member_id)?.flatten());
    let (before, other) = (paid_until(pair.survivor)?, paid_until(pair.joined)?);
    if other <= before {
        return Ok((None, None));
    }
    members::set_paid_until(cx.tx, pair.survivor, other)?;
    Ok((before, other))
}

/// Brings in line what depends on rows that moved to `owner`: levels, and the history of the partners' bookings.
fn follow(cx: &Change, join_id: JoinId, pair: Pair, owner: MemberId) -> Result<(), Failure> {
    for member_id in [pair.joined, pair.survivor] {
        holdings::refresh(cx.tx, member_id, cx.site.catalogue)?;
    }
    for booking_id in joining::list_bookings(cx.tx, join_id)? {
        if booking_rows::find_by_id(cx.tx, booking_id)?.is_some_and(|row| row.member_id == owner) {
            bookings::note_owner(cx, booking_id)?;
        }
    }
    Ok(())
}

/// Closes an account as a ban does, which every way in respects.
fn close(cx: &Change, joined: &SubjectAccount) -> Result<(), Failure> {
    sessions::end_credentials(cx.tx, joined.member_id, None)?;
    accounts::delete_unused_codes(cx.tx, joined.member_id)?;
    accounts::delete_issued(cx, joined.member_id)?;
    bans::set(cx.tx, joined.member_id, Some(cx.now()))?;
    joins::settle_alike(cx.tx, joined.member_id)?;
    Ok(())
}

/// Mails the account's address, confirmed or not: whoever reads it there learns no other address or name.
fn tell(cx: &Change, member_id: MemberId, event: &str) -> Result<(), Failure> {
    let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    if profile.email.is_empty() {
        return Ok(());
    }
    let language = language_on_paper(cx.site, cx.tx, member_id, cx.language)?;
    let message = NewMessage {
        channel: Channel::Email,
        member_id: Some(member_id),
        recipient: &profile.email,
        language: language.tag(),
        template: "security_event",
        values: &json!({ "event": event }),
    };
    outbox::insert(cx.tx, &cx.site.keys, &message)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::i18n::language::Language;
    use crate::store::queries::joining;

    #[test]
    fn what_a_join_moves_and_why_it_is_refused_has_words_in_every_language() {
        for language in Language::ALL {
            for key in joining::tables().map(|table| format!("join.part.{table}")).chain(joining::reasons()) {
                assert!(language.texts().contains_key(&key), "{key} {language:?}");
            }
        }
    }
}
