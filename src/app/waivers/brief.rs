//! The safety brief, which a member reads at a kiosk and an instructor signs like every brief.

use crate::app::logbook::requests;
use crate::app::logbook::rules::{self, Item, Request};
use crate::app::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::domain::catalogue::SafetyKind;
use crate::domain::ids::{EntryId, MemberId, PictureId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::brief_pictures;
use crate::store::tables::briefs;
use crate::store::tables::site_texts::{self, Kind};

/// The flyers' initial brief, with its number in the catalogue.
pub(crate) fn find_item(site: &Site) -> Option<(&'static str, Item)> {
    let programme = site.catalogue.find_programme("Flyer")?;
    let brief = programme.safety.iter().find(|safety| safety.kind == SafetyKind::Initial)?;
    Some((brief.skill.as_str(), rules::find_item(site, &brief.skill)?))
}

/// Whether a member must read the brief here: the operator has published one, and the member has none that is signed or
/// pending.
pub(crate) fn is_due(site: &Site, tx: &Read, member_id: MemberId) -> Result<bool, Failure> {
    if !site.config.waiver.required || site_texts::find_in_force(tx, Kind::Brief)?.is_none() {
        return Ok(false);
    }
    Ok(match find_item(site) {
        Some((skill, item)) => !rules::is_taken(tx, member_id, skill, &item, EntryId(0))?,
        None => false,
    })
}

/// The state of a member's safety brief: `missing`, `pending` (an instructor is asked to sign it) or `signed`.
pub(crate) fn find_state(site: &Site, tx: &Read, member_id: MemberId) -> Result<&'static str, Failure> {
    let (Some(programme), Some((skill, item))) = (site.catalogue.find_programme("Flyer"), find_item(site)) else {
        return Ok("missing");
    };
    if rules::list_briefed(tx, member_id, site.now())?.contains(&programme.safety_logbook) {
        return Ok("signed");
    }
    Ok(if rules::is_taken(tx, member_id, skill, &item, EntryId(0))? { "pending" } else { "missing" })
}

/// Confirms that the actor has read a version of the brief, and asks an instructor to sign it. 409 where the version is
/// no longer in force.
pub(crate) fn confirm(cx: &Change, version: i64, language: &str, instructor_id: MemberId) -> Result<EntryId, Failure> {
    let member_id = cx.member_id().ok_or_else(Failure::not_allowed)?;
    if !is_due(cx.site, cx.tx, member_id)? {
        return Err(Failure::not_found());
    }
    let in_force = site_texts::find_in_force(cx.tx, Kind::Brief)?.filter(|known| known.version == version);
    let in_force = in_force.ok_or_else(Failure::waiver_changed)?;
    let text = site_texts::find(cx.tx, Kind::Brief, in_force.version, language)?.ok_or_else(Failure::waiver_changed)?;
    briefs::insert(cx.tx, member_id, &text)?;
    let (skill, _) = find_item(cx.site).ok_or_else(Failure::not_found)?;
    let request = Request {
        skill: skill.to_owned(),
        entry_date: cx.now(),
        minutes: 0,
        tunnel_id: cx.site.tunnel_id,
        comment: String::new(),
    };
    requests::ask(cx, &request, Some(instructor_id))
}

/// The greatest number of pictures in a brief.
const PICTURES_MAX: usize = 8;

/// Adds a picture below the brief. Admins only. `jpeg` comes from `documents::picture`. Audited. 422 where the brief
/// has [`PICTURES_MAX`] pictures.
pub(crate) fn add_picture(cx: &Change, jpeg: &[u8]) -> Result<PictureId, Failure> {
    check_admin(cx)?;
    if brief_pictures::list(cx.tx)?.len() >= PICTURES_MAX {
        return Err(Failure::field("picture", Text::new("texts.pictures_many").with("most", PICTURES_MAX)));
    }
    let picture_id = brief_pictures::insert(cx.tx, jpeg, cx.member_id())?;
    cx.record("text.picture_added", &Subject::Site, &Detail::none().number("picture_id", picture_id))?;
    Ok(picture_id)
}

/// Removes a picture from the brief. Admins only. Audited.
pub(crate) fn remove_picture(cx: &Change, picture_id: PictureId) -> Result<Outcome, Failure> {
    check_admin(cx)?;
    if brief_pictures::remove(cx.tx, picture_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("text.picture_removed", &Subject::Site, &Detail::none().number("picture_id", picture_id))?;
    Ok(Outcome::Done)
}

/// 403 unless the actor is an admin; 404 on a site that requires no waiver and so has no texts.
fn check_admin(cx: &Change) -> Result<(), Failure> {
    if cx.site.config.waiver.required { cx.check_admin() } else { Err(Failure::not_found()) }
}
