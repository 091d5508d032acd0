//! What a partner deleted comes back. A signature over an empty body never changes, so a captured call can delete what it
//! could read; the desk undoes that, one by one or all at once.

use super::card;
use crate::auth::Clerk;
use crate::domain::audit::{Detail, Whom};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::history::{self, About, Event};
use crate::store::tables::partner_users;
use crate::store::tables::partners::Partner;
use crate::web::record_about;

/// Brought back at once; more are for the next press.
const RESTORED_MAX: i64 = 500;
/// For the partner the record is there from now on, so the history says that it was made, and by whom.
const BY_DESK: &str = r#"{"restored_by":"desk"}"#;

/// `POST /desk/partners/{partner_id}/users/{user_id}/restore`
pub fn restore(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let user_id = call.param_id(1).ok_or_else(Failure::not_found)?;
    site.store.write(site.now(), |tx| {
        let partner = card::find(tx, call)?;
        let partner_id = partner.partner_id;
        let word = match bring_back(tx, clerk, &partner, user_id) {
            Ok(0) => "nothing",
            Ok(_) => "restored",
            Err(failure) if failure.code() == Failure::email_taken().code() => "taken",
            Err(failure) => return Err(failure),
        };
        Ok(reply::see_other(&format!("/desk/partners/{partner_id}?done={word}#deleted")))
    })
}

/// `POST /desk/partners/{partner_id}/users/restore`: all whose address has no new record.
pub fn restore_all(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    site.store.write(site.now(), |tx| {
        let partner = card::find(tx, call)?;
        let partner_id = partner.partner_id;
        let mut restored = 0;
        for user in partner_users::list_deleted(tx, partner_id, RESTORED_MAX)? {
            // Of two deleted records of one address the later one comes back.
            let taken = user.replaced || partner_users::has(tx, partner_id, &user.email)?;
            restored += if taken { 0 } else { bring_back(tx, clerk, &partner, user.id)? };
        }
        let word = if restored == 0 { "nothing" } else { "restored" };
        Ok(reply::see_other(&format!("/desk/partners/{partner_id}?done={word}#deleted")))
    })
}

fn bring_back(tx: &Write, clerk: &Clerk, partner: &Partner, user_id: i64) -> Result<usize, Failure> {
    let partner_id = partner.partner_id;
    let restored = partner_users::restore(tx, partner_id, user_id)?;
    if restored > 0 {
        let about = About { user_id: Some(user_id), detail: Some(BY_DESK), ..About::default() };
        history::insert(tx, partner_id, Event::UserCreated, &about)?;
        let detail = Detail::none().number("user_id", user_id);
        record_about(tx, clerk, "partner_user.restored", &Whom::Partner(partner.client_id.clone()), &detail)?;
    }
    Ok(restored)
}
