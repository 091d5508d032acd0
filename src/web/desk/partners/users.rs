//! Restores records that a partner deleted. A signature over an empty body never changes, so a captured call can delete
//! what it could read; the desk undoes that, one by one or all at once.

use super::card;
use crate::app;
use crate::app::partners::{self, Restored};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;

/// `POST /desk/partners/{partner_id}/users/{user_id}/restore`
pub(crate) fn restore(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let user_id = call.param_id(1).ok_or_else(Failure::not_found)?;
    let (partner_id, restored) = app::change(site, clerk, call.language(), |cx| {
        let partner = card::find(cx.tx, call)?;
        Ok((partner.partner_id, partners::restore_user(cx, &partner, user_id)?))
    })?;
    back(partner_id, restored)
}

/// `POST /desk/partners/{partner_id}/users/restore`: all whose address has no new record.
pub(crate) fn restore_all(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (partner_id, restored) = app::change(site, clerk, call.language(), |cx| {
        let partner = card::find(cx.tx, call)?;
        Ok((partner.partner_id, partners::restore_users(cx, &partner)?))
    })?;
    back(partner_id, if restored == 0 { Restored::Unknown } else { Restored::Done })
}

fn back(partner_id: i64, restored: Restored) -> Answer {
    let word = match restored {
        Restored::Done => "restored",
        Restored::Unknown => "nothing",
        Restored::Taken => "taken",
    };
    Ok(reply::see_other(&format!("/desk/partners/{partner_id}?done={word}#deleted")))
}
