//! Restores users that a partner deleted. The signature of an empty body never changes, so a captured call can be replayed to
//! delete users; the desk can undo that.

use super::card;
use crate::app;
use crate::app::partners::{self, RestoreOutcome};
use crate::auth::Clerk;
use crate::domain::ids::PartnerId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::web::path_id;

/// `POST /desk/partners/{partner_id}/users/{user_id}/restore`: one user, unless the address has a new record.
pub(crate) fn restore(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let user_id = path_id(call, 1)?;
    let (partner_id, restored) = app::change(site, clerk, call.language(), |cx| {
        let partner = card::find(cx.tx, call)?;
        Ok((partner.partner_id, partners::restore_user(cx, &partner, user_id)?))
    })?;
    back(partner_id, restored)
}

/// `POST /desk/partners/{partner_id}/users/restore`: all users whose address has no new record.
pub(crate) fn restore_all(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (partner_id, restored) = app::change(site, clerk, call.language(), |cx| {
        let partner = card::find(cx.tx, call)?;
        Ok((partner.partner_id, partners::restore_users(cx, &partner)?))
    })?;
    back(partner_id, if restored == 0 { RestoreOutcome::Unknown } else { RestoreOutcome::Done })
}

/// Back to the partner's page, which says the outcome.
fn back(partner_id: PartnerId, restored: RestoreOutcome) -> Answer {
    let word = match restored {
        RestoreOutcome::Done => "restored",
        RestoreOutcome::Unknown => "nothing",
        RestoreOutcome::Taken => "taken",
    };
    Ok(reply::see_other(&format!("/desk/partners/{partner_id}?done={word}#deleted")))
}
