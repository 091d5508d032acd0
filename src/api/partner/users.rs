//! The user records of a partner: the e-mail addresses of the partner's customers. A record shows the member who has
//! confirmed its address, if there is one. No partner sees another's records: their ids are 404.

use crate::app::{self, RankedActor, flights, partner_users};
use crate::auth::{Partner, limits};
use crate::domain::audit::ActorId;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::answer::{Sometimes, True};
use crate::http::body::Flattened;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Email, Id};
use crate::http::reply::{self, Done};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::partner_users as rows;
use crate::store::tables::{bookings, tunnels};
use serde::{Deserialize, Serialize};
use serde_json::json;

crate::body! {
    pub(crate) struct PartnerUserNew {
        email: Email,
    }
}

crate::body! {
    pub(crate) struct PartnerUserEdit {
        email: Email,
        /// The record to change.
        id: Id,
    }
}

crate::answer! {
    /// One user record of a partner.
    #[derive(Deserialize)]
    struct PartnerUser {
        /// The record's number.
        id: Id = 41,
        /// As the partner gave it.
        email: String = "jane@example.com",
        /// The member who has confirmed this address; null where there is none.
        member_id: Option<MemberId> = 1204,
        /// When the record was made.
        created_at: Moment = 1779913600,
        /// When it was last changed.
        updated_at: Moment = 1780000000,
    }
}

/// One record, with whether its member may be checked in.
#[derive(Serialize, Deserialize)]
struct KnownUser {
    user: PartnerUser,
    may_check_in: Option<bool>,
}

crate::answer! {
    /// One user record, as the answer to a request about it.
    struct OnePartnerUser {
        status: True,
        message: String = "",
        user: Flattened<PartnerUser>,
        /// On a site that asks for waivers, while you have a booking of this member that is still to come: whether
        /// the site may check the member in for the next one as things stand. The reason is between the member and
        /// the site.
        may_check_in: Sometimes<bool>,
    }
}

impl From<KnownUser> for OnePartnerUser {
    fn from(KnownUser { user, may_check_in }: KnownUser) -> OnePartnerUser {
        OnePartnerUser { status: true, message: String::new(), user, may_check_in }
    }
}

impl From<rows::PartnerUser> for PartnerUser {
    fn from(user: rows::PartnerUser) -> PartnerUser {
        PartnerUser {
            id: user.id,
            email: user.email,
            member_id: user.member_id,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

crate::answer! {
    /// The partner's records, newest first.
    struct PartnerUserList = Vec<PartnerUser>;
}

crate::operation! {
    /// List your user records
    ///
    /// Your records, newest first. Records that you deleted are gone.
    LIST = "listPartnerUsers"
        .answers::<PartnerUserList>("The records.")
}

pub(crate) fn list(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let users = rows::list(tx, partner.id(), page.limit, page.offset)?;
        Ok(reply::list(call, page, rows::count(tx, partner.id())?, users.into_iter().map(PartnerUser::from)))
    })
}

crate::operation! {
    /// Create a user record
    ///
    /// A record for an address that you have none for. `member_id` is there as soon as a member of the site has
    /// confirmed the address.
    CREATE = "createPartnerUser"
        .body(|| json!({ "email": "jane@example.com" }))
        .refuses(&["EmailTakenRecord"])
        .creates::<OnePartnerUser>("The new record.")
}

pub(crate) fn create(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let PartnerUserNew { email } = call.body()?;
    let user = app::change_once(site, call, actor(call, partner), |cx| {
        limits::RECORDS.take(site, partner.id())?;
        let id = partner_users::add(cx, partner.id(), &email)?;
        find(site, cx.tx, partner, id)
    })?;
    Ok(reply::created(&OnePartnerUser::from(user)))
}

crate::operation! {
    /// Change a user record
    ///
    /// Another address for one of your records.
    EDIT = "editPartnerUser"
        .body(|| json!({ "email": "jane.doe@example.com", "id": 41 }))
        .refuses(&["EmailTakenRecord", "NotFound"])
        .answers::<OnePartnerUser>("The record as it is now.")
        .example(|| json!({ "email": "jane.doe@example.com" }))
}

pub(crate) fn edit(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let PartnerUserEdit { email, id } = call.body()?;
    let user = app::change(site, actor(call, partner), call.language(), |cx| {
        partner_users::edit(cx, partner.id(), id, &email)?;
        find(site, cx.tx, partner, id)
    })?;
    Ok(reply::ok(&OnePartnerUser::from(user)))
}

crate::operation! {
    /// Read one user record
    ///
    /// By the number that its creation answered. Those of other partners are 404.
    GET = "getPartnerUser"
        .answers::<OnePartnerUser>("The record.")
}

pub(crate) fn get(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let user = site.store.read(|tx| find(site, tx, partner, id))?;
    Ok(reply::ok(&OnePartnerUser::from(user)))
}

crate::operation! {
    /// Delete a user record
    ///
    /// Final for you; the history keeps that it was there.
    DELETE = "deletePartnerUser"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Deleted." }))
}

pub(crate) fn delete(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, actor(call, partner), call.language(), |cx| partner_users::delete(cx, partner.id(), id))?;
    Ok(reply::done(call.say("done.deleted")))
}

fn actor(call: &Call, partner: &Partner) -> RankedActor {
    RankedActor::outside(ActorId::Partner(partner.client_id().to_owned()), call)
}

/// One record of the partner; 404 where the partner has no such record.
fn find(site: &Site, tx: &Read, partner: &Partner, id: i64) -> Result<KnownUser, Failure> {
    let user = rows::find(tx, partner.id(), id)?.ok_or_else(Failure::not_found)?;
    let may_check_in = match user.member_id {
        Some(member_id) if site.config.waiver.required => may_check_in(site, tx, partner, member_id)?,
        _ => None,
    };
    Ok(KnownUser { user: user.into(), may_check_in })
}

/// Whether the member may be checked in for the next booking that this partner made, today's included. `None` without such
/// a booking, and where the site asks for no waiver.
fn may_check_in(site: &Site, tx: &Read, partner: &Partner, member_id: MemberId) -> Result<Option<bool>, Failure> {
    let today = tunnels::find_time_zone(tx, site.tunnel_id)?.day(site.now(), 0);
    let next = bookings::find_next(tx, (partner.id(), member_id), site.tunnel_id, today.from)?;
    next.map_or(Ok(None), |flight_date| flights::may_check_in(site, tx, member_id, flight_date))
}
