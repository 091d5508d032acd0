//! Cards and wristbands, whose number a reader types. A card identifies a member and never authenticates one.

use super::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::domain::card;
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::cards;

/// The greatest number of cards of one member: one worn, one at home, some lost.
const CARDS_MAX: usize = 5;

/// Links a card to a member. Audited without its number. 422 at `card` where the number is malformed, belongs to
/// another member, or exceeds [`CARDS_MAX`]; 403 where the actor may not serve the account.
pub(crate) fn tie(cx: &Change, member_id: MemberId, typed: &str) -> Result<Outcome, Failure> {
    let account = cx.served(member_id)?;
    let wrong = |key| Failure::field("card", Text::new(key));
    let number = card::parse(typed).ok_or_else(|| wrong("desk.card_wrong"))?;
    match cards::find(cx.tx, &number)? {
        Some(owner) if owner == account.member_id => return Ok(Outcome::Unchanged),
        Some(_) => return Err(wrong("desk.card_taken")),
        None => {}
    }
    if cards::list(cx.tx, member_id)?.len() >= CARDS_MAX {
        return Err(wrong("desk.card_many"));
    }
    cards::insert(cx.tx, &number, member_id)?;
    cx.record("member.card_tied", &Subject::Member(member_id), &Detail::none())?;
    Ok(Outcome::Done)
}

/// Removes a card from a member: a lost card, or one that is given to another member. Audited. 403 where the actor may
/// not serve the account.
pub(crate) fn untie(cx: &Change, member_id: MemberId, number: &str) -> Result<Outcome, Failure> {
    cx.served(member_id)?;
    if cards::delete(cx.tx, number, member_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("member.card_untied", &Subject::Member(member_id), &Detail::none())?;
    Ok(Outcome::Done)
}
