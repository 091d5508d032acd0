//! The note that one shift leaves for the next.

use super::seen::{self, Seen};
use super::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::shift_note::{self, ShiftNote};

/// Greatest length of the note, in characters.
pub(crate) const NOTE_CHARS_MAX: usize = 500;

/// The mark of the note, for the forms that replace or delete it.
pub(crate) fn mark(note: Option<&ShiftNote>) -> String {
    note.map_or_else(|| seen::mark(&[]), |note| seen::mark(&[&note.text, &note.author]))
}

/// Replaces the note. Staff only. Audited without its text. 422 where another note than `seen` is there.
pub(crate) fn leave(cx: &Change, text: &str, seen: &Seen) -> Result<(), Failure> {
    cx.check_staff()?;
    let author_id = cx.member_id().ok_or_else(Failure::not_allowed)?;
    if shift_note::find(cx.tx)?.is_some_and(|note| note.text == text) {
        return Ok(());
    }
    check_seen(cx, seen)?;
    shift_note::set(cx.tx, text, author_id)?;
    cx.record("shift_note.left", &Subject::Site, &Detail::none())
}

/// Deletes the note once it is done. Staff only. Audited. 422 where another note than `seen` is there.
pub(crate) fn dismiss(cx: &Change, seen: &Seen) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    check_seen(cx, seen)?;
    if shift_note::delete(cx.tx)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("shift_note.dismissed", &Subject::Site, &Detail::none())?;
    Ok(Outcome::Done)
}

/// A note that is gone hides nothing from anybody.
fn check_seen(cx: &Change, seen: &Seen) -> Result<(), Failure> {
    let Some(note) = shift_note::find(cx.tx)? else { return Ok(()) };
    if seen.is(&[&note.text, &note.author]) {
        return Ok(());
    }
    Err(Failure::field(seen::FIELD, Text::new("account.shift_changed").with("author", note.author)))
}
