//! The shift note, shown above *Today*.

use super::today;
use crate::app;
use crate::app::shift_note::{self, NOTE_CHARS_MAX};
use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::shift_note as notes;
use crate::web::{Form, field_error_text, read_form};

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
    typed: String,
    problem: Option<String>,
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

/// `POST /desk/shift-note`: replaces the note; an empty text removes it.
pub(crate) fn leave(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (text, seen) = read_form(call, |form| (form.optional("text", fields::lines(NOTE_CHARS_MAX)), form.seen()))?;
    let left = app::change(site, clerk, call.language(), |cx| match &text {
        Some(text) => shift_note::leave(cx, text, &seen),
        None => shift_note::dismiss(cx, &seen).map(drop),
    });
    match left {
        Ok(()) => Ok(reply::see_other("/desk?done=shift-note")),
        Err(failure) => refuse(site, call, clerk, text.unwrap_or_default(), failure),
    }
}

/// `POST /desk/shift-note/dismiss`
pub(crate) fn dismiss(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let seen = read_form(call, Form::seen)?;
    match app::change(site, clerk, call.language(), |cx| shift_note::dismiss(cx, &seen)) {
        Ok(_) => Ok(reply::see_other("/desk")),
        Err(failure) => refuse(site, call, clerk, String::new(), failure),
    }
}

fn refuse(site: &Site, call: &Call, clerk: &Clerk, typed: String, failure: Failure) -> Answer {
    let problem = Some(field_error_text(failure, call.language())?);
    today::refuse_note(site, call, clerk, RefusedNote { typed, problem })
}
