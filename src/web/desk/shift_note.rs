//! The shift note, shown above *Today*.

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
use crate::web::read_form;

/// The shift note, ready to be rendered.
pub(crate) struct NoteView {
    pub(crate) text: String,
    pub(crate) author: String,
    pub(crate) at: String,
}

pub(crate) fn find(site: &Site, language: Language) -> Result<Option<NoteView>, Failure> {
    let found = site.store.read(|tx| Ok(notes::find(tx)?))?;
    let Some(note) = found else { return Ok(None) };
    let at = when::moment(language, &site.time_zone()?, note.written_at);
    Ok(Some(NoteView { text: note.text, author: note.author, at }))
}

/// `POST /desk/shift-note`: replaces the note; an empty text removes it.
pub(crate) fn leave(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    match read_form(call, |form| form.optional("text", fields::lines(NOTE_CHARS_MAX)))? {
        Some(text) => app::change(site, clerk, call.language(), |cx| shift_note::leave(cx, &text))?,
        None => _ = app::change(site, clerk, call.language(), shift_note::dismiss)?,
    }
    Ok(reply::see_other("/desk?done=shift-note"))
}

/// `POST /desk/shift-note/dismiss`
pub(crate) fn dismiss(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    _ = app::change(site, clerk, call.language(), shift_note::dismiss)?;
    Ok(reply::see_other("/desk"))
}
