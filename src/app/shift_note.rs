//! The note that one shift leaves for the next.

use super::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::http::failure::Failure;
use crate::store::tables::shift_note;

/// Greatest length of the note, in characters.
pub(crate) const NOTE_CHARS_MAX: usize = 500;

/// Replaces the note. Staff only. Audited without its text.
pub(crate) fn leave(cx: &Change, text: &str) -> Result<(), Failure> {
    cx.check_staff()?;
    let author_id = cx.member_id().ok_or_else(Failure::not_allowed)?;
    shift_note::set(cx.tx, text, author_id)?;
    cx.record("shift_note.left", &Subject::Site, &Detail::none())
}

/// Deletes the note once it is done. Staff only. Audited.
pub(crate) fn dismiss(cx: &Change) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    if shift_note::delete(cx.tx)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("shift_note.dismissed", &Subject::Site, &Detail::none())?;
    Ok(Outcome::Done)
}
