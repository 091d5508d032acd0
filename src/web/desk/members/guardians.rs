//! The guardians of a child, added and ended on the waiver page.

use super::search::{self, NotOne};
use super::waiver::{GuardianForm, Sent, back, find_id, page};
use crate::app::{self, family};
use crate::auth::Clerk;
use crate::domain::waiver::Relation;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::web::{field_error_text, read_form};

/// `POST /desk/members/{member_id}/guardians`: adds a guardian.
pub(crate) fn add_guardian(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let sent = read_form(call, |form| GuardianForm {
        guardian: form.line("guardian", 254),
        relation: form.line("relation", 20),
        permission: form.line("permission", family::PERMISSION_CHARS_MAX),
    })?;
    let guardian_id = match search::find_one(site, &sent.guardian) {
        Ok(guardian_id) => guardian_id,
        Err(stop) => {
            let problem = call.language().say(&not_one(&stop.denial()?));
            return page(site, call, clerk, Some((Sent::Guardian(sent), problem)));
        }
    };
    let relation = Relation::parse(&sent.relation).unwrap_or(Relation::Own);
    let added = app::change(site, clerk, call.language(), |cx| {
        family::add(cx, member_id, guardian_id, relation, &sent.permission)
    });
    match added {
        Ok(_) => back(member_id, "guardian"),
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            page(site, call, clerk, Some((Sent::Guardian(sent), problem)))
        }
    }
}

/// Why a typed text names no adult, with the members who may be meant.
fn not_one(why: &NotOne) -> Text {
    match why {
        NotOne::TwoAccounts => Text::new("desk.member_two"),
        NotOne::Nobody => Text::new("family.unknown"),
        NotOne::Several(hits) | NotOne::Similar(hits) => Text::new("family.several").with("who", search::named(hits)),
    }
}

/// `POST /desk/members/{member_id}/guardians/end`: ends a guardianship.
pub(crate) fn end_guardian(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let guardian_id = read_form(call, |form| form.required("guardian", fields::id))?;
    _ = app::change(site, clerk, call.language(), |cx| family::end(cx, member_id, guardian_id))?;
    back(member_id, "guardian-ended")
}
