//! *Members*, for admins: a list is taken in from a page, by the rules of `tunneldesk import members --update`. The page gives
//! no roles.

use crate::app::import_export::{
    self, Attention, Difference, Fate, ImportCounts, Kind, Mistake, Mode, Refusal, SeenRow,
};
use crate::app::{self, Change, RankedActor};
use crate::auth::Clerk;
use crate::domain::audit::Subject;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::web::Form;
use crate::web::desk::reports::tables;
use crate::web::{Frame, form_status, query_text, read_form, show, upload};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use std::cell::Cell;

const PART: &str = "/desk/members";
const HERE: &str = "/desk/member-list";
/// The bytes of a list that a page takes; longer lists are taken by the command.
const LIST_BYTES_MAX: usize = 1024 * 1024;
/// The letters of such a list between the look at it and its confirmation.
const CARRIED_CHARS_MAX: usize = LIST_BYTES_MAX / 3 * 4 + 4;
/// Rows that the page shows; wrong ones come first.
const ROWS_SHOWN: usize = 1_000;
const MODE: Mode = Mode { dry: false, update: true, roles: false };

#[derive(Template)]
#[template(path = "desk/member_list.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    taken: Option<String>,
    problem: Option<String>,
    looked: Option<Looked>,
}

/// A list that was looked at.
struct Looked {
    /// The bytes of the list, for its confirmation.
    list: String,
    summary: String,
    rows: Vec<Line>,
    more: Option<String>,
    is_wrong: bool,
    /// The rows to take.
    new: usize,
    changed: usize,
}

struct Line {
    line: u64,
    of: String,
    badge: &'static str,
    state: String,
    details: Vec<String>,
}

/// `GET /desk/member-list`: the form for a list, and what the last one changed.
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let count = |name: &str| query_text(call, name).parse::<i64>().ok();
    let taken = count("new").zip(count("changed")).map(|(new, changed)| {
        let text = Text::new("import.done").with_count("new", new).with_count("changed", changed);
        call.language().say(&text)
    });
    let page = Page { frame: Frame::of(site, call, clerk, PART)?, taken, problem: None, looked: None };
    Ok(show(form_status(false), call.language(), &page))
}

/// `POST /desk/member-list`: each row of the uploaded list as new, changed, same or wrong. Nothing is written.
pub(crate) fn look(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let list = upload::file(call)?;
    if list.is_empty() {
        return refused(site, call, clerk, &Text::new("import.nothing"));
    }
    if list.len() > LIST_BYTES_MAX {
        return refused(site, call, clerk, &Text::new("import.too_long").with_count("max", LIST_BYTES_MAX / 1024));
    }
    looked(site, call, clerk, list)
}

/// `POST /desk/member-list/take`: takes in the list that was looked at. Sent again, it gets the first answer.
pub(crate) fn take(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let Confirmed { list, text, number, new, changed } = confirmed(call)?;
    let (actor, is_repeat) = (RankedActor::from(clerk), Cell::new(false));
    let record = |cx: &Change, taken: &ImportCounts| {
        cx.check_admin()?;
        if !cx.is_first_sending_of(number, &text)? {
            is_repeat.set(true);
            return Err(Failure::exists());
        }
        cx.record("members.imported", &Subject::Site, &import_export::audit_detail(taken))
    };
    let was_taken = || app::change(site, clerk, call.language(), |cx| Ok(!cx.is_first_sending_of(number, &text)?));
    let done = |new, changed| Ok(reply::see_other(&format!("{HERE}?new={new}&changed={changed}")));
    let attention = Attention { progress: &mut |_, _, _| {}, beside: Some((&actor, &record)), look: None };
    match import_export::import(site, Kind::Members, &mut &*list, list.len() as u64, MODE, attention) {
        Ok(ImportCounts { new: 0, changed: 0, .. }) if was_taken()? => done(new, changed),
        Ok(taken) => done(taken.new, taken.changed),
        Err(Refusal::Failed(failure)) if failure.status() != StatusCode::CONFLICT => Err(failure),
        Err(Refusal::Failed(_)) if is_repeat.get() || was_taken()? => done(new, changed),
        // Something changed since the look: it is shown anew.
        Err(Refusal::Failed(_) | Refusal::Mistakes(..)) => looked(site, call, clerk, &list),
        Err(Refusal::Unreadable(text)) => refused(site, call, clerk, &text),
    }
}

/// `POST /desk/member-list/mistakes`: the mistakes of the list that was looked at, as CSV.
pub(crate) fn mistakes(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let list = confirmed(call)?.list;
    let rows = judge(site, &list).map_err(|stop| stop.into_failure(|text| Failure::field("list", text)))?;
    let language = call.language();
    let cells = |mistake: Mistake| {
        let (column, heading) =
            mistake.column.clone().map(|(number, name)| (number.to_string(), name)).unwrap_or_default();
        vec![mistake.line.to_string(), column, heading, mistake.value.clone(), mistake.say(language)]
    };
    let wrong = rows.into_iter().filter_map(|row| if let Fate::Wrong(all) = row.fate { Some(all) } else { None });
    tables::file(call, "mistakes.csv", &["line", "column", "heading", "value", "mistake"], wrong.flatten().map(cells))
}

/// A list that the page carried to its confirmation.
struct Confirmed {
    list: Vec<u8>,
    /// The list as it was carried.
    text: String,
    number: Option<i64>,
    /// What the page said that the list does.
    new: u64,
    changed: u64,
}

fn confirmed(call: &Call) -> Result<Confirmed, Failure> {
    let count = |form: &mut Form, name| form.optional(name, fields::whole_in(0..=i64::MAX)).unwrap_or(0).unsigned_abs();
    let read = |form: &mut Form| {
        let text = form.line("list", CARRIED_CHARS_MAX);
        (text, form.number(), count(form, "new"), count(form, "changed"))
    };
    let (text, number, new, changed) = read_form(call, read)?;
    let list = URL_SAFE_NO_PAD.decode(&text).map_err(|_| Failure::field("list", Text::new("import.nothing")))?;
    Ok(Confirmed { list, text, number, new, changed })
}

/// Each row of a list, or why it is none.
fn judge(site: &Site, list: &[u8]) -> Result<Vec<SeenRow>, Stop<Text>> {
    match import_export::preview(site, Kind::Members, list, MODE) {
        Ok(rows) => Ok(rows),
        // The headings are wrong.
        Err(Refusal::Mistakes(mistakes, _)) => {
            let row = |one: Mistake| SeenRow { line: one.line, of: String::new(), fate: Fate::Wrong(vec![one]) };
            Ok(mistakes.into_iter().map(row).collect())
        }
        Err(Refusal::Unreadable(text)) => Err(Stop::Denied(text)),
        Err(Refusal::Failed(failure)) => Err(failure.into()),
    }
}

fn refused(site: &Site, call: &Call, clerk: &Clerk, text: &Text) -> Answer {
    let problem = Some(call.language().say(text));
    let page = Page { frame: Frame::of(site, call, clerk, PART)?, taken: None, problem, looked: None };
    Ok(show(form_status(true), call.language(), &page))
}

fn looked(site: &Site, call: &Call, clerk: &Clerk, list: &[u8]) -> Answer {
    let mut rows = match judge(site, list) {
        Ok(rows) => rows,
        Err(stop) => return refused(site, call, clerk, &stop.denial()?),
    };
    let language = call.language();
    let count = |rank: u8| rows.iter().filter(|row| rank_of(&row.fate) == rank).count();
    let [wrong, changed, new, same] = [0, 1, 2, 3].map(count);
    let summary = Text::new("import.counts")
        .with_count("new", new)
        .with_count("changed", changed)
        .with_count("same", same)
        .with_count("wrong", wrong);
    rows.sort_by_key(|row| rank_of(&row.fate));
    let beyond = rows.len().saturating_sub(ROWS_SHOWN);
    let more = (beyond > 0).then(|| language.say(&Text::new("import.more").with_count("count", beyond)));
    let looked = Looked {
        list: URL_SAFE_NO_PAD.encode(list),
        summary: language.say(&summary),
        rows: rows.into_iter().take(ROWS_SHOWN).map(|row| line(language, row)).collect(),
        more,
        is_wrong: wrong > 0,
        new,
        changed,
    };
    let page = Page { frame: Frame::of(site, call, clerk, PART)?, taken: None, problem: None, looked: Some(looked) };
    Ok(show(form_status(wrong > 0), language, &page))
}

/// The place of a row on the page: what needs a person comes first.
fn rank_of(fate: &Fate) -> u8 {
    match fate {
        Fate::Wrong(_) => 0,
        Fate::Changed(_) => 1,
        Fate::New => 2,
        Fate::Same => 3,
    }
}

fn line(language: Language, row: SeenRow) -> Line {
    let (badge, key) = match row.fate {
        Fate::Wrong(_) => ("bad", "import.wrong"),
        Fate::Changed(_) => ("soon", "import.changed"),
        Fate::New => ("good", "import.new"),
        Fate::Same => ("plain", "import.same"),
    };
    let details = match row.fate {
        Fate::Wrong(mistakes) => mistakes.iter().map(|mistake| wrong_text(language, mistake)).collect(),
        Fate::Changed(differences) => differences.iter().map(|one| changed_text(language, one)).collect(),
        Fate::New | Fate::Same => Vec::new(),
    };
    Line { line: row.line, of: row.of, badge, state: language.say(&Text::new(key)), details }
}

/// A mistake after its column and value.
fn wrong_text(language: Language, mistake: &Mistake) -> String {
    let said = mistake.say(language);
    match &mistake.column {
        None => said,
        Some((number, name)) => {
            let place = Text::new("import.place").with("number", number).with("name", name);
            let value = if mistake.value.is_empty() { String::new() } else { format!(" “{}”", mistake.value) };
            format!("{}{value}: {said}", language.say(&place))
        }
    }
}

fn changed_text(language: Language, change: &Difference) -> String {
    let text = Text::new("import.change").with("field", change.field).with("from", &change.from).with("to", &change.to);
    language.say(&text)
}
