//! The shift note, shown above *Today*.

use super::shift_note_view::RefusedNote;
use super::today;
use crate::app;
use crate::app::shift_note::{self, NOTE_CHARS_MAX};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{Form, field_error_text, read_form};

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
