//! Invitations as the page of the staff shows them: the open ones, and the form for another.

use crate::app::invitations::ROLES;
use crate::domain::ids::{InvitationId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::invitations::{self, Invitation};
use crate::web::new_form_number;

/// Open invitations that are listed.
const ROWS_MAX: i64 = 50;

/// The values of the form, as typed.
pub(crate) struct InvitationInput {
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) role: Role,
    pub(crate) language: Language,
    pub(crate) number: i64,
    /// The problem, and the ID of the member who has the address.
    pub(crate) problem: Option<(String, Option<MemberId>)>,
}

/// An open invitation, ready to be rendered.
pub(crate) struct Open {
    pub(crate) invitation_id: InvitationId,
    pub(crate) name: String,
    /// E-mail address, or the text that the code was printed.
    pub(crate) way: String,
    pub(crate) role: String,
    /// Inviter and end.
    pub(crate) about: String,
}

impl InvitationInput {
    pub(crate) fn blank(language: Language) -> InvitationInput {
        let (name, email) = (String::new(), String::new());
        InvitationInput { name, email, role: Role::Desk, language, number: new_form_number(), problem: None }
    }
}

/// The open invitations, the newest first.
pub(crate) fn list(site: &Site, tx: &Read, call: &Call, zone: &TimeZone) -> Result<Vec<Open>, Failure> {
    let say = |one: Invitation| Open {
        invitation_id: one.invitation_id,
        name: one.name,
        way: if one.email.is_empty() { call.say("invite.on_paper") } else { one.email },
        role: call.say(role_key(one.role)),
        about: call.language().say(
            &Text::new("invite.about")
                .with("name", one.inviter)
                .with("until", when::moment(call.language(), zone, one.ends_at)),
        ),
    };
    Ok(invitations::list(tx, site.now(), ROWS_MAX)?.into_iter().map(say).collect())
}

/// Key of the name of an offered role.
pub(crate) fn role_key(role: Role) -> &'static str {
    ROLES.iter().find(|(known, _)| *known == role).map_or("invite.instructor", |(_, key)| key)
}
