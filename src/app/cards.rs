//! Cards and wristbands that say who somebody is where a reader types them: never a proof.

use super::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::domain::card;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::cards;

/// Cards of one member: one worn, one at home, some lost.
const CARDS_MAX: usize = 5;

/// Ties a card to a member. Audited without its number. 422 at `card` for what is no card, is another member's, or is one too
/// many; 403 where the actor may not serve the account.
pub(crate) fn tie(cx: &Change, member_id: i64, typed: &str) -> Result<Outcome, Failure> {
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

/// Takes a card from a member: it was lost, or goes to somebody else. Audited. 403 where the actor may not serve the account.
pub(crate) fn untie(cx: &Change, member_id: i64, number: &str) -> Result<Outcome, Failure> {
    cx.served(member_id)?;
    if cards::delete(cx.tx, number, member_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("member.card_untied", &Subject::Member(member_id), &Detail::none())?;
    Ok(Outcome::Done)
}
