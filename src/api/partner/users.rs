//! The user records of a partner: the e-mail addresses of the partner's customers. A record shows the member who has
//! confirmed its address, if there is one. No partner sees another's records: their ids are 404.

use crate::app::{self, RankedActor, flights, partner_users};
use crate::auth::{Partner, limits};
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Email, Id};
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::partner_users::{self as rows, PartnerUser};
use crate::store::tables::{bookings, tunnels};
use serde::{Deserialize, Serialize};

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

#[derive(Serialize, Deserialize)]
struct UserReply {
    id: i64,
    email: String,
    /// The member who has confirmed this address.
    member_id: Option<i64>,
    /// Unix seconds.
    created_at: i64,
    /// Unix seconds.
    updated_at: i64,
}

/// One record, with whether its member may be checked in.
#[derive(Serialize, Deserialize)]
struct KnownUser {
    user: UserReply,
    may_check_in: Option<bool>,
}

/// The answer of one record: with `status` and `message`, like every answer that is no list.
#[derive(Serialize)]
struct OneUserReply {
    status: bool,
    message: String,
    #[serde(flatten)]
    user: UserReply,
    /// Whether the member may be checked in for the next booking that this partner made. Left out where the site asks for no
    /// waiver, and where there is no such booking from today on.
    #[serde(skip_serializing_if = "Option::is_none")]
    may_check_in: Option<bool>,
}

impl From<KnownUser> for OneUserReply {
    fn from(KnownUser { user, may_check_in }: KnownUser) -> OneUserReply {
        OneUserReply { status: true, message: String::new(), user, may_check_in }
    }
}

impl From<PartnerUser> for UserReply {
    fn from(user: PartnerUser) -> UserReply {
        UserReply {
            id: user.id,
            email: user.email,
            member_id: user.member_id,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

/// `GET /external/partner-metrics/op`: a page of the partner's records, newest first.
pub(crate) fn list(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let users = rows::list(tx, partner.id(), page.limit, page.offset)?;
        Ok(reply::list(call, page, rows::count(tx, partner.id())?, users.into_iter().map(UserReply::from)))
    })
}

/// `POST /external/partner-metrics/op`: creates a record of an address. 409 where the partner has one of that address,
/// 429 above the pace of new records.
pub(crate) fn create(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let PartnerUserNew { email } = call.body()?;
    let user = app::change_once(site, call, actor(call, partner), |cx| {
        limits::RECORDS.take(site, partner.id())?;
        let id = partner_users::add(cx, partner.id(), &email)?;
        find(site, cx.tx, partner, id)
    })?;
    Ok(reply::created(&OneUserReply::from(user)))
}

/// `PUT /external/partner-metrics/op`: changes the address of a record. 404 for an unknown id, 409 where another record of
/// the partner has the address.
pub(crate) fn edit(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let PartnerUserEdit { email, id } = call.body()?;
    let user = app::change(site, actor(call, partner), call.mail_language(), |cx| {
        partner_users::edit(cx, partner.id(), id, &email)?;
        find(site, cx.tx, partner, id)
    })?;
    Ok(reply::ok(&OneUserReply::from(user)))
}

/// `GET /external/partner-metrics/op/{id}`: one record. 404 for an unknown id.
pub(crate) fn get(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let user = site.store.read(|tx| find(site, tx, partner, id))?;
    Ok(reply::ok(&OneUserReply::from(user)))
}

/// `DELETE /external/partner-metrics/op/{id}`: deletes a record. The partner cannot undo that (the desk can), and the
/// history keeps the record's events. 404 for an unknown id.
pub(crate) fn delete(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, actor(call, partner), call.mail_language(), |cx| partner_users::delete(cx, partner.id(), id))?;
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
fn may_check_in(site: &Site, tx: &Read, partner: &Partner, member_id: i64) -> Result<Option<bool>, Failure> {
    let today = tunnels::find_time_zone(tx, site.tunnel_id)?.day(site.now(), 0);
    let next = bookings::find_next(tx, (partner.id(), member_id), site.tunnel_id, today.from)?;
    next.map_or(Ok(None), |flight_date| flights::may_check_in(site, tx, member_id, flight_date))
}
