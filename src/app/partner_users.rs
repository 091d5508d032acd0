//! The user records of a partner, each change with its event in the partner's history.

use super::{Change, events};
use crate::domain::ids::PartnerId;
use crate::http::failure::Failure;
use crate::store::tables::events::{About, Event};
use crate::store::tables::partner_users;

/// Adds a record of an address. 409 where the partner has one of that address.
pub(crate) fn add(cx: &Change, partner_id: PartnerId, email: &str) -> Result<i64, Failure> {
    let id = partner_users::insert(cx.tx, partner_id, email)?;
    record_event(cx, partner_id, Event::UserCreated, id)?;
    Ok(id)
}

/// Changes the address of a record. 404 for an unknown id, 409 where another record of the partner has the address.
pub(crate) fn edit(cx: &Change, partner_id: PartnerId, id: i64, email: &str) -> Result<(), Failure> {
    if partner_users::update(cx.tx, partner_id, id, email)? == 0 {
        return Err(Failure::not_found());
    }
    record_event(cx, partner_id, Event::UserEdited, id)
}

/// Deletes a record; the history keeps its events. 404 for an unknown id.
pub(crate) fn delete(cx: &Change, partner_id: PartnerId, id: i64) -> Result<(), Failure> {
    if partner_users::delete(cx.tx, partner_id, id)? == 0 {
        return Err(Failure::not_found());
    }
    record_event(cx, partner_id, Event::UserDeleted, id)
}

fn record_event(cx: &Change, partner_id: PartnerId, event: Event, user_id: i64) -> Result<(), Failure> {
    events::tell(cx.tx, event, &About { user_id: Some(user_id), ..About::partner(partner_id) })
}
