//! Edits of a skill entry. The meaning of an edit depends on the caller.

use super::SkillWritten;
use super::ask::{ECHO_CHARS_MAX, Echoes};
use crate::api::logbook::time::check_number;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::edit::Patch;
use crate::app::logbook::rules::{self, PartialRequest};
use crate::app::{self, Change, RankedActor, logbook};
use crate::auth::Member;
use crate::domain::entry::{self, Status};
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::http::Answer;
use crate::http::body::{Clearable, Field, Flattened, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{EntryMinutes, Id, Line, Lines, StoredMoment, Whole};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::skills;
use serde_json::{Value, json};

crate::body! {
    /// Absent fields keep their values.
    pub(crate) struct SkillEdit {
        echoes: Flattened<Echoes>,
        entry_date: Option<StoredMoment>,
        /// Minutes in the air, 0 to 600, or `H:MM`.
        minutes as "time": Option<EntryMinutes>,
        tunnel_id as "tunnel": Option<TunnelId>,
        comment: Clearable<Lines<COMMENT_CHARS_MAX>>,
        /// The requested signer.
        instructor_id as "instructor": Option<MemberId>,
        /// The skill's number in the catalogue.
        skill: Option<Line<ECHO_CHARS_MAX>>,
        /// The signer's comment.
        comments_instructor: Option<Lines<COMMENT_CHARS_MAX>>,
        comment_denial: Option<Lines<COMMENT_CHARS_MAX>>,
        /// Ours: `open` signs, `cancelled` withdraws. The present status changes nothing.
        status: Option<WantedStatus>,
        /// Ours, by a signer: the entry's `version` that the signer saw; 409 if it has changed. Without a version the fields
        /// above are compared. Without both, the entry must be the same as when the signature was requested to be signed, and
        /// is refused as it is now.
        version: Option<Id>,
        /// The number in the path, or absent.
        entry_id: Option<Whole>,
        /// The number in the path, or absent.
        id: Option<Whole>,
    }
}

/// The requested status.
pub(crate) struct WantedStatus;

impl Field for WantedStatus {
    type Value = Status;

    fn read(value: &Value) -> Result<Status, Text> {
        let name = Line::<ECHO_CHARS_MAX>::read(value)?;
        // Lists show an open entry as `not_current` after a lapse.
        let status = if name == entry::NOT_CURRENT { Some(Status::Open) } else { Status::parse(&name) };
        let values = || Status::ALL.map(Status::name).join(", ");
        status.ok_or_else(|| Text::new("field.one_of").with("values", values()))
    }

    fn schema() -> Value {
        let names: Vec<&str> = Status::ALL.into_iter().map(Status::name).chain([entry::NOT_CURRENT]).collect();
        json!({ "enum": names })
    }
}

crate::operation! {
    /// Change, sign, deny or withdraw an entry
    ///
    /// By the **member**: given fields replace the old values until the entry is signed, and a refused entry is
    /// requested again; `status: "cancelled"` (ours) withdraws it. By the **named signer**: a `comment_denial`
    /// refuses; `comments_instructor`, or `status: "open"` (ours), signs, if the entry is the one that was shown. The
    /// **desk** may do the same as the member, and sign by the rules for every signer, but not refuse.
    EDIT = "editSkill"
        .body(|| json!({ "comments_instructor": "Clean.", "entry_id": 6001, "id": 6001, "version": 1 }))
        .refuses(&["EntryConflict"])
        .answers::<SkillWritten>("The entry's state afterwards.")
        .example(|| json!({ "entry_status": "open" }))
}

pub(crate) fn edit(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = call.parse_body::<SkillEdit>()?;
    check_number(entry_id, body.read.entry_id, body.read.id, &mut body.fields);
    let asks = !matches!(body.read.status, Some(Some(Status::Cancelled | Status::Open | Status::Suspended)));
    if body.fields.is_refused() && asks {
        check_request(site, member, entry_id, &mut body)?;
    }
    let body = body.finish()?;
    let patch = Patch {
        entry_date: body.entry_date,
        minutes: body.minutes,
        tunnel_id: body.tunnel_id,
        comment: body.comment,
        instructor_id: body.instructor_id,
        skill: body.skill,
        comments_instructor: body.comments_instructor,
        comment_denial: body.comment_denial,
        status: body.status,
        version: body.version,
    };
    let edit = |cx: &Change| logbook::edit::edit(cx, entry_id, &patch);
    let status = app::change(site, member, call.language(), edit)?;
    Ok(reply::ok(&SkillWritten::new(call.say("done.saved"), entry_id, status)))
}

/// Adds the problems of the new values, for callers who may request a signature with them.
fn check_request(
    site: &Site,
    member: &Member,
    entry_id: EntryId,
    body: &mut ParsedBody<SkillEdit>,
) -> Result<(), Failure> {
    let ParsedBody { read, fields } = body;
    site.store.read(|tx| {
        let Some(entry) = skills::find(tx, entry_id)? else { return Ok(()) };
        let relation = logbook::relation(RankedActor::from(member).rank, &entry);
        let may_ask = relation.holder || (relation.staff && !relation.named && !fields.has("comment_denial"));
        if !may_ask || entry.status.is_signed() || entry.opening.is_some() {
            return Ok(());
        }
        // An absent field keeps its old value; the value of an invalid one is unknown.
        let request = PartialRequest {
            entry_date: read.entry_date.map(|date| date.unwrap_or(entry.entry_date)),
            tunnel_id: read.tunnel_id.map(|id| id.unwrap_or(entry.tunnel_id)),
            skill: read.skill.as_ref().map(|skill| skill.as_deref().unwrap_or(&entry.skill)),
            instructor_id: read.instructor_id.and_then(|id| id.or(entry.instructor_id)),
        };
        rules::judge(site, tx, entry.member_id, request, Some(entry.entry_date), site.now(), fields)
    })
}
