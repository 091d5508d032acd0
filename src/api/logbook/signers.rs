//! The members who may sign a skill.

use crate::auth::Member;
use crate::domain::ids::MemberId;
use crate::domain::signoff;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::{signers, tunnels};

crate::answer! {
    struct Signer {
        /// The same as `member_id`.
        id: MemberId = 17,
        member_id: MemberId = 17,
        /// The value for `instructor` of an entry.
        instructor: String = "17",
        instructor_name: String = "Mark Vogt",
        /// The highest programme held.
        role_name: &'static str = "Instructor",
    }
}

crate::answer! {
    /// By name.
    struct SignerList = Vec<Signer>;
}

crate::operation! {
    /// Who may sign a skill at a tunnel
    ///
    /// Members who may sign now: current, of the required level, and authorised at that tunnel. The caller is never
    /// among them, because members do not sign for themselves.
    LIST = "listInstructors"
        .answers::<SignerList>("The signers.")
}

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
                rows.push(Signer {
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
