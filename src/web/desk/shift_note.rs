//! The note for the next shift, above *Today*.

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
use crate::web::form;

/// The note as *Today* shows it.
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) author: String,
    pub(crate) at: String,
}

pub(crate) fn find(site: &Site, language: Language) -> Result<Option<Shown>, Failure> {
    let found = site.store.read(|tx| Ok(notes::find(tx)?))?;
    let Some(note) = found else { return Ok(None) };
    let at = when::moment(language, &site.time_zone()?, note.written_at);
    Ok(Some(Shown { text: note.text, author: note.author, at }))
}

/// `POST /desk/shift-note`: in place of the one before; an empty one takes it away.
pub(crate) fn leave(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let text = body.optional("text", fields::lines(NOTE_CHARS_MAX));
    let ok = body.finish()?;
    match text.get(&ok) {
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
