//! The members who may sign a skill.

use crate::auth::Member;
use crate::domain::signoff;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::{signers, tunnels};
use serde::Serialize;

/// A signer, in the fields of an entry.
#[derive(Serialize)]
struct SignerReply {
    id: i64,
    member_id: i64,
    instructor: String,
    instructor_name: String,
    /// The highest programme held.
    role_name: &'static str,
}

/// `GET /account/logbook/instructors/{skill}/{tunnel}`: the members who may sign the skill, safety brief or training
/// at that tunnel now, by name. The caller is never among them, because members do not sign for themselves.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let level = signoff::level_of(site.catalogue, call.param(0)).ok_or_else(Failure::not_found)?;
    let tunnel_id = call.param_id(1).ok_or_else(Failure::not_found)?;
    let page = call.page()?;
    site.store.read(|tx| {
        if !tunnels::exists(tx, tunnel_id)? {
            return Err(Failure::not_found());
        }
        let mut rows = Vec::new();
        for able in signers::list_able(tx, site.catalogue, level, tunnel_id, site.now())? {
            if able.member_id != member.id() {
                rows.push(SignerReply {
                    id: able.member_id,
                    member_id: able.member_id,
                    instructor: able.member_id.to_string(),
                    instructor_name: able.screen_name,
                    role_name: able.role_name,
                });
            }
        }
        Ok(reply::part(call, page, rows))
    })
}
