//! The pages of a child, for the adults who act for it: card, bookings and logbook, to be seen and not to be changed. Each parent has
//! an own login.

use super::frame::Shell;
use super::{bookings, card, family, logbook, show};
use crate::app::{family as rules, waivers};
use crate::auth::Member;
use crate::documents::qr;
use crate::domain::ids::MemberId;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::queries::logbook as entries;
use crate::web::badge::Badge;
use crate::web::{check_waivers_required, pages_beside, path_id, skipped};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "member/child.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    name: String,
    number: MemberId,
    /// SVG of the number.
    qr: String,
    /// The label of the picture.
    label: String,
    waiver: Badge,
    /// Number and name of each child, this one too.
    children: Vec<(MemberId, String)>,
    coming: Vec<bookings::Coming>,
    flown: String,
    rows: Vec<logbook::Row>,
    newer: Option<i64>,
    older: Option<i64>,
}

/// `GET /me/children/{child_id}`: 404 for whom the member does not act.
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    check_waivers_required(site)?;
    let (child_id, skip) = (path_id(call, 0)?, skipped(call));
    let shell = Shell::of(site, call, member, card::PATH)?;
    let page = site.store.read(|tx| {
        let wards = rules::list_wards(site, tx, member.id())?;
        let own = wards.iter().find(|ward| ward.child_id == child_id).ok_or_else(Failure::not_found)?;
        let mut rows = logbook::list_of_child(site, call, tx, child_id, skip)?;
        let (newer, older) = pages_beside(&mut rows, logbook::LINES_MAX, skip);
        Ok(Page {
            name: own.child.clone(),
            number: child_id,
            qr: qr::svg(&child_id.to_string()).ok_or_else(Failure::broken)?,
            label: shell.tell(&Text::new("me.card_qr").with("number", child_id)),
            waiver: family::badge(site, tx, &waivers::find_due(site, tx, child_id)?, call.language())?,
            children: wards.iter().map(|ward| (ward.child_id, ward.child.clone())).collect(),
            coming: bookings::list_of_child(site, call, tx, child_id)?,
            flown: minutes::show(entries::sum_flown(tx, child_id, site.now())?.1),
            rows,
            newer,
            older,
            shell,
        })
    })?;
    Ok(show(StatusCode::OK, call.language(), &page))
}
