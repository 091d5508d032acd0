//! The shift note as *Today* shows it, with the form that replaces it.

use crate::app::shift_note;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::shift_note as notes;

/// The shift note with the form that replaces it, ready to be rendered.
pub(super) struct NoteView {
    pub(super) note: Option<Note>,
    /// The mark of the note.
    pub(super) seen: String,
    /// The text of a form that was refused, and why.
    pub(super) typed: String,
    pub(super) problem: Option<String>,
}

impl NoteView {
    /// Whether a text was refused; otherwise a problem is about removing the note.
    pub(super) fn is_refused(&self) -> bool {
        !self.typed.is_empty()
    }

    /// The text in the form: as typed, else the note, which is continued.
    pub(super) fn text(&self) -> &str {
        match &self.note {
            Some(note) if self.typed.is_empty() => &note.text,
            _ => &self.typed,
        }
    }
}

pub(super) struct Note {
    pub(super) text: String,
    pub(super) author: String,
    pub(super) at: String,
}

/// A form about the note that was refused.
#[derive(Default)]
pub(super) struct RefusedNote {
    pub(super) typed: String,
    pub(super) problem: Option<String>,
}

pub(super) fn read(site: &Site, language: Language, refused: RefusedNote) -> Result<NoteView, Failure> {
    let found = site.store.read(|tx| Ok(notes::find(tx)?))?;
    let (seen, zone) = (shift_note::mark(found.as_ref()), site.time_zone()?);
    let note = found.map(|note| Note {
        at: when::moment(language, &zone, note.written_at),
        text: note.text,
        author: note.author,
    });
    Ok(NoteView { note, seen, typed: refused.typed, problem: refused.problem })
}
