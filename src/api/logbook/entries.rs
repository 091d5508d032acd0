//! The operations that time entries and skills share.

use crate::app::{self, logbook};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Done};
use crate::site::Site;
use serde_json::json;

crate::operation! {
    /// Delete an entry
    ///
    /// The caller's own flight time or unsigned skill; for the desk and admins every member's. A signed entry is part
    /// of the record and cannot be deleted (409).
    DELETE = "deleteEntry"
        .refuses(&["EntrySigned"])
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Deleted." }))
}

pub(crate) fn delete(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, member, call.language(), |cx| logbook::delete(cx, entry_id))?;
    Ok(reply::done(call.say("done.deleted")))
}
