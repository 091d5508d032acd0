//! The operator's texts, which admins write and publish: waiver, safety brief, consents.

use crate::app;
use crate::app::papers;
use crate::app::waivers::texts;
use crate::auth::Clerk;
use crate::domain::ids::PictureId;
use crate::domain::waiver::{self, BODY_CHARS_MAX, QUESTION_CHARS_MAX, QUESTIONS_MAX, TITLE_CHARS_MAX};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::keys::hex;
use crate::site::Site;
use crate::store::tables::brief_pictures;
use crate::store::tables::site_texts::{self, Draft, Kind, SiteText};
use crate::web::waiver_form::paragraphs;
use crate::web::{Frame, check_waivers_required, field_error_text, form_status, query_text, read_form, show as shown};
use askama::Template;
use http::StatusCode;

const PART: &str = "/desk/site";
/// Versions of a text that the page lists.
const VERSIONS_MAX: i64 = 50;
/// Longest field that is read: longer than the rules allow, so that the rules can name what is too long.
const FORM_CHARS_MAX: usize = 2 * BODY_CHARS_MAX;
const DONE: [(&str, &str); 5] = [
    ("saved", "texts.done_saved"),
    ("published", "texts.done_published"),
    ("discarded", "texts.done_discarded"),
    ("picture", "texts.done_picture"),
    ("no-picture", "texts.done_no_picture"),
];
/// The questions that a first waiver begins with.
const FIRST_QUESTIONS: [&str; 3] = ["waiver.ask_weight", "waiver.ask_pregnancy", "waiver.ask_shoulder"];

#[derive(Template)]
#[template(path = "desk/texts.html", config = "assets/templates/askama.toml")]
struct ListPage {
    frame: Frame,
    kinds: Vec<Tab>,
    kind: &'static str,
    languages: Vec<Written>,
    versions: Vec<Version>,
    /// Whether a draft differs from the text in force.
    has_drafts: bool,
    /// Text that names the languages without a draft; empty where each has one.
    missing: String,
    /// The mark of the drafts.
    seen_drafts: String,
    /// The version in force when the page was made; 0 for none.
    seen: i64,
    is_waiver: bool,
    /// IDs of the pictures; `None` for other texts than the brief.
    pictures: Option<Vec<PictureId>>,
    problem: Option<String>,
}

struct Tab {
    kind: &'static str,
    name: String,
    shown: bool,
}

struct Written {
    tag: &'static str,
    name: &'static str,
    has_draft: bool,
}

struct Version {
    version: i64,
    at: String,
    asks_again: bool,
    languages: Vec<String>,
}

#[derive(Template)]
#[template(path = "desk/text_edit.html", config = "assets/templates/askama.toml")]
struct EditPage {
    frame: Frame,
    kind: &'static str,
    name: String,
    language: Language,
    draft: Draft,
    /// The mark of the stored text.
    seen: String,
    /// The stored text.
    preview_title: String,
    /// The letters of the stored text that cannot be printed.
    unprintable: Option<String>,
    paragraphs: Vec<String>,
    questions: Vec<String>,
    is_waiver: bool,
    /// Whether a draft waits to be published.
    has_draft: bool,
    title_max: usize,
    body_max: usize,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "desk/text.html", config = "assets/templates/askama.toml")]
struct TextPage {
    frame: Frame,
    name: String,
    text: SiteText,
    at: String,
    hash: String,
    paragraphs: Vec<String>,
    questions: Vec<String>,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::Waiver, "waiver.title"),
    (Kind::Brief, "waiver.brief"),
    (Kind::Photos, "waiver.photos"),
    (Kind::Newsletter, "waiver.newsletter"),
];

fn name_key(kind: Kind) -> &'static str {
    KINDS.iter().find(|(one, _)| *one == kind).map_or("waiver.title", |(_, key)| key)
}

/// The kind of a text by its name; 404 on a site that requires no waivers.
fn find_kind(site: &Site, name: &str) -> Result<Kind, Failure> {
    check_waivers_required(site)?;
    let known = if name.is_empty() { Some(Kind::Waiver) } else { Kind::parse(name) };
    known.filter(|kind| KINDS.iter().any(|(one, _)| one == kind)).ok_or_else(Failure::not_found)
}

fn find_language(tag: &str) -> Result<Language, Failure> {
    Language::ALL.into_iter().find(|one| one.tag() == tag).ok_or_else(Failure::not_found)
}

/// `GET /desk/texts`: the drafts and versions of one `kind`.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let kind = find_kind(site, &query_text(call, "kind"))?;
    page(site, call, clerk, kind, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, kind: Kind, problem: Option<String>) -> Answer {
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let (zone, language) = (site.time_zone()?, call.language());
    let (drafts, all_drafts, versions) = site.store.read(|tx| {
        let all = site_texts::list_drafts(tx, kind)?;
        Ok((texts::list_changed(tx, kind)?, all, site_texts::list_versions(tx, kind, VERSIONS_MAX)?))
    })?;
    let missing: Vec<&str> = Language::ALL
        .into_iter()
        .filter(|one| !all_drafts.iter().any(|draft| draft.language == one.tag()))
        .map(Language::name)
        .collect();
    let missing = match missing.is_empty() {
        true => String::new(),
        false => language.say(&Text::new("texts.missing").with("languages", missing.join(", "))),
    };
    let seen = versions.iter().map(|one| one.version).max().unwrap_or(0);
    let version = |one: site_texts::Version| Version {
        version: one.version,
        at: when::moment(language, &zone, one.published_at),
        asks_again: one.asks_again,
        languages: one.languages.split(", ").map(str::to_owned).collect(),
    };
    let written = |one: Language| Written {
        tag: one.tag(),
        name: one.name(),
        has_draft: drafts.iter().any(|language| language == one.tag()),
    };
    let tab = |(one, key): (Kind, &'static str)| Tab { kind: one.name(), name: call.say(key), shown: one == kind };
    let pictures = match kind {
        Kind::Brief => Some(site.store.read(|tx| Ok(brief_pictures::list(tx)?))?),
        _ => None,
    };
    let status = form_status(problem.is_some());
    let page = ListPage {
        kinds: KINDS.map(tab).into(),
        kind: kind.name(),
        languages: Language::ALL.map(written).into(),
        versions: versions.into_iter().map(version).collect(),
        has_drafts: !drafts.is_empty(),
        missing,
        seen_drafts: texts::mark(&all_drafts),
        seen,
        is_waiver: kind == Kind::Waiver,
        pictures,
        problem,
        frame,
    };
    Ok(shown(status, language, &page))
}

/// `GET /desk/texts/edit`: the draft of a kind in a language, where none is known in the clerk's; without a draft, the version in force.
pub(crate) fn edit(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let kind = find_kind(site, &query_text(call, "kind"))?;
    let language = find_language(&query_text(call, "language")).unwrap_or(call.language());
    edit_page(site, call, clerk, (kind, language), None)
}

/// The first draft of a text: its title, and for a waiver the usual questions.
fn first_draft(kind: Kind, language: Language) -> Draft {
    let say = |key| language.say(&Text::new(key));
    let questions = if kind == Kind::Waiver { FIRST_QUESTIONS.map(say).join("\n") } else { String::new() };
    Draft { language: language.tag().to_owned(), title: say(name_key(kind)), body: String::new(), questions }
}

/// `POST /desk/texts/edit`: saves the draft and shows a preview.
pub(crate) fn save(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (kind, draft, seen) = read_form(call, |form| {
        let kind = form.required("kind", fields::line(20));
        let draft = Draft {
            language: form.required("language", fields::line(5)),
            title: form.line("title", FORM_CHARS_MAX),
            body: form.lines("body", FORM_CHARS_MAX),
            questions: form.lines("questions", FORM_CHARS_MAX),
        };
        (kind, draft, form.seen())
    })?;
    let (kind, language) = (find_kind(site, &kind)?, find_language(&draft.language)?);
    match app::change(site, clerk, call.language(), |cx| texts::save(cx, kind, &draft, &seen)) {
        Ok(()) => {
            let (kind, tag) = (kind.name(), language.tag());
            Ok(reply::see_other(&format!("/desk/texts/edit?kind={kind}&language={tag}&done=saved")))
        }
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            edit_page(site, call, clerk, (kind, language), Some((draft, problem)))
        }
    }
}

fn edit_page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    (kind, language): (Kind, Language),
    refused: Option<(Draft, String)>,
) -> Answer {
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let status = form_status(refused.is_some());
    let stored = site.store.read(|tx| texts::find(tx, kind, language.tag()))?;
    let (seen, has_draft) = (texts::mark(&stored), stored.is_some());
    // Beside a text that was refused stands the stored one, which somebody else may have saved meanwhile.
    let shown_draft = stored.unwrap_or_else(|| first_draft(kind, language));
    let (draft, problem) = match refused {
        Some((draft, problem)) => (draft, Some(problem)),
        None => (shown_draft.clone(), None),
    };
    let on_paper = format!("{} {} {}", shown_draft.title, shown_draft.body, shown_draft.questions);
    let page = EditPage {
        unprintable: papers::unprintable(site, &on_paper)
            .map(|texts| texts.map(|text| call.language().say(&text)).join(" ")),
        seen,
        kind: kind.name(),
        name: call.say(name_key(kind)),
        language,
        preview_title: shown_draft.title,
        paragraphs: paragraphs(&shown_draft.body),
        questions: waiver::questions(&shown_draft.questions).map(str::to_owned).collect(),
        draft,
        is_waiver: kind == Kind::Waiver,
        has_draft,
        title_max: TITLE_CHARS_MAX,
        body_max: BODY_CHARS_MAX.max(QUESTIONS_MAX * QUESTION_CHARS_MAX),
        problem,
        frame,
    };
    Ok(shown(status, call.language(), &page))
}

/// `POST /desk/texts/publish`: publishes the drafts of a kind as its next version.
pub(crate) fn publish(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (kind, again, seen, seen_drafts) = read_form(call, |form| {
        (
            form.required("kind", fields::line(20)),
            form.line("asks_again", 5) == "on",
            form.optional("seen", fields::whole_in(0..=i64::MAX)),
            form.seen_in("drafts"),
        )
    })?;
    let kind = find_kind(site, &kind)?;
    match app::change(site, clerk, call.language(), |cx| texts::publish(cx, kind, again, seen, &seen_drafts)) {
        Ok(_) => Ok(reply::see_other(&format!("/desk/texts?kind={}&done=published", kind.name()))),
        Err(failure) => page(site, call, clerk, kind, Some(field_error_text(failure, call.language())?)),
    }
}

/// `POST /desk/texts/discard`: deletes the drafts of a kind.
pub(crate) fn discard(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (kind, seen) = read_form(call, |form| (form.required("kind", fields::line(20)), form.seen_in("drafts")))?;
    let kind = find_kind(site, &kind)?;
    match app::change(site, clerk, call.language(), |cx| texts::discard(cx, kind, &seen)) {
        Ok(_) => Ok(reply::see_other(&format!("/desk/texts?kind={}&done=discarded", kind.name()))),
        Err(failure) => page(site, call, clerk, kind, Some(field_error_text(failure, call.language())?)),
    }
}

/// `GET /desk/texts/version`: a published version.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let kind = find_kind(site, &query_text(call, "kind"))?;
    let version = query_text(call, "version").parse().map_err(|_| Failure::not_found())?;
    let tag = query_text(call, "language");
    let text = site.store.read(|tx| Ok(site_texts::find(tx, kind, version, &tag)?))?.ok_or_else(Failure::not_found)?;
    let page = TextPage {
        frame: Frame::of(site, call, clerk, PART)?,
        name: call.say(name_key(kind)),
        at: when::moment(call.language(), &site.time_zone()?, text.published_at),
        hash: hex(&text.text_hash),
        paragraphs: paragraphs(&text.body),
        questions: waiver::questions(&text.questions).map(str::to_owned).collect(),
        text,
    };
    Ok(shown(StatusCode::OK, call.language(), &page))
}
