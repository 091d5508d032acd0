//! Families: who acts for which child. A guardian signs for the child and checks the child in. At the age that the
//! settings name, the account becomes the child's own, and no guardian acts for it any more.

use super::{Change, Outcome};
use crate::app::flights;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::waiver::Relation;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::guardianships::{self, Guardianship};
use crate::store::tables::{members, notices};
use serde_json::json;

/// Greatest length of the staff's note on a written permission, in characters.
pub(crate) const PERMISSION_CHARS_MAX: usize = 200;
/// The greatest number of adults of one child, and of children of one adult.
const GUARDIANS_MAX: usize = 6;
const WARDS_MAX: usize = 12;

/// Lets an adult act for a child. Staff only: the clerk has seen the proof; a written permission is noted. 422 names
/// what is wrong. Audited.
pub(crate) fn add(
    cx: &Change,
    child_id: MemberId,
    guardian_id: MemberId,
    relation: Relation,
    permission: &str,
) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    if relation == Relation::Permission && permission.trim().is_empty() {
        return Err(Failure::field("permission", Text::new("family.permission_missing")));
    }
    link(cx, child_id, guardian_id, relation, permission.trim())
}

/// Links as [`add`] where the right was shown otherwise: the guardian has just created the account, or the child's PIN
/// was typed.
pub(super) fn link(
    cx: &Change,
    child_id: MemberId,
    guardian_id: MemberId,
    relation: Relation,
    permission: &str,
) -> Result<Outcome, Failure> {
    let wrong = |field: &str, key| Err(Failure::field(field, Text::new(key)));
    if relation == Relation::Own {
        return wrong("relation", "field.missing");
    }
    cx.check_here(child_id)?;
    let child = members::find_holder(cx.tx, child_id)?;
    if guardian_id == child_id || !cx.is_here(guardian_id)? {
        return wrong("guardian", "family.unknown");
    }
    let is_minor = |dob| flights::is_minor(cx.site, cx.tx, dob);
    if !may_act(cx.site, cx.tx, guardian_id)? {
        return wrong("guardian", "family.guardian_minor");
    }
    match child.dob {
        None => return wrong("child", "family.dob_missing"),
        Some(dob) if !is_minor(dob)? => return wrong("child", "family.is_adult"),
        Some(_) => {}
    }
    if guardianships::find(cx.tx, child_id, guardian_id)?.is_some() {
        return Ok(Outcome::Unchanged);
    }
    if guardianships::list_of_child(cx.tx, child_id)?.len() >= GUARDIANS_MAX
        || guardianships::list_of_guardian(cx.tx, guardian_id)?.len() >= WARDS_MAX
    {
        return wrong("guardian", "family.too_many");
    }
    let actor = cx.member_id().filter(|id| *id != guardian_id);
    let number = guardianships::insert(cx.tx, (child_id, guardian_id), relation, permission, actor)?;
    notices::insert(cx.tx, child_id, "notice.guardian_added", &json!({ "guardian_id": guardian_id }).to_string())?;
    let detail = Detail::none().number("guardianship_id", number).word("relation", relation.name());
    cx.record("guardian.added", &Subject::Member(child_id), &detail)?;
    Ok(Outcome::Done)
}

/// Ends the right of an adult to act for a child. Staff only. Audited.
pub(crate) fn end(cx: &Change, child_id: MemberId, guardian_id: MemberId) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    let Some(known) = guardianships::find(cx.tx, child_id, guardian_id)? else { return Ok(Outcome::Unchanged) };
    guardianships::end(cx.tx, known.guardianship_id)?;
    let detail = Detail::none().number("guardianship_id", known.guardianship_id);
    cx.record("guardian.ended", &Subject::Member(child_id), &detail)?;
    Ok(Outcome::Done)
}

/// Whether a member may act for another. A known minor may not, even where the day of birth was corrected later.
pub(crate) fn may_act(site: &Site, tx: &Read, guardian_id: MemberId) -> Result<bool, Failure> {
    match members::find_holder(tx, guardian_id)?.dob {
        Some(dob) => Ok(!flights::is_minor(site, tx, dob)?),
        None => Ok(true),
    }
}

/// The children for whom a member acts now; none of them is an adult.
pub(crate) fn list_wards(site: &Site, tx: &Read, member_id: MemberId) -> Result<Vec<Guardianship>, Failure> {
    if !site.config.waiver.required || !may_act(site, tx, member_id)? {
        return Ok(Vec::new());
    }
    let mut wards = Vec::new();
    for ward in guardianships::list_of_guardian(tx, member_id)? {
        if ward.born.map_or(Ok(false), |dob| flights::is_minor(site, tx, dob))? {
            wards.push(ward);
        }
    }
    Ok(wards)
}

/// Whether a member acts for another now.
pub(crate) fn acts_for(site: &Site, tx: &Read, member_id: MemberId, child_id: MemberId) -> Result<bool, Failure> {
    Ok(list_wards(site, tx, member_id)?.iter().any(|ward| ward.child_id == child_id))
}
