//! The pictures of members.

use super::{Change, Outcome, SubjectAccount};
use crate::documents::picture;
use crate::domain::audit::{Detail, Subject};
use crate::http::failure::Failure;
use crate::store::tables::media;

/// Replaces a member's picture. `jpeg` comes from `documents::picture`. Audited, unless the picture is the actor's own.
pub(crate) fn set(cx: &Change, subject: &SubjectAccount, jpeg: &[u8]) -> Result<(), Failure> {
    media::set(cx.tx, subject.member_id, jpeg)?;
    record(cx, "member.photo_taken", subject)
}

/// Removes the picture. Audited, unless the picture is the actor's own.
pub(crate) fn remove(cx: &Change, subject: &SubjectAccount) -> Result<Outcome, Failure> {
    if media::delete(cx.tx, subject.member_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    record(cx, "member.photo_removed", subject)?;
    Ok(Outcome::Done)
}

fn record(cx: &Change, action: &'static str, subject: &SubjectAccount) -> Result<(), Failure> {
    if cx.member_id() == Some(subject.member_id) {
        return Ok(());
    }
    cx.record(action, &Subject::Member(subject.member_id), &Detail::none())
}

/// A drawn picture for an invented person of the demo, chosen by a number. JPEG.
pub(crate) fn invented(number: usize) -> Vec<u8> {
    picture::draw_figure(number)
}
