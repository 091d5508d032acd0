//! The operator's texts: edited as drafts, and published as versions that never change.

use crate::app::seen::{self, Seen};
use crate::app::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::domain::waiver::{self, BODY_CHARS_MAX, QUESTION_CHARS_MAX, QUESTIONS_MAX, TITLE_CHARS_MAX};
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::{Language, Text};
use crate::store::Read;
use crate::store::tables::site_texts::{self, Draft, Kind, SiteText};

/// The draft of a kind in a language; without one, the version in force.
pub(crate) fn find(tx: &Read, kind: Kind, language: &str) -> Result<Option<Draft>, Failure> {
    if let Some(draft) = site_texts::find_draft(tx, kind, language)? {
        return Ok(Some(draft));
    }
    let Some(in_force) = site_texts::find_in_force(tx, kind)? else { return Ok(None) };
    let text = site_texts::find(tx, kind, in_force.version, language)?;
    Ok(text.map(|SiteText { language, title, body, questions, .. }| Draft { language, title, body, questions }))
}

/// The mark of texts, for the forms that replace, publish or discard them.
pub(crate) fn mark<'d>(drafts: impl IntoIterator<Item = &'d Draft>) -> String {
    let values = |draft: &'d Draft| [&*draft.language, &*draft.title, &*draft.body, &*draft.questions];
    seen::mark(&drafts.into_iter().flat_map(values).collect::<Vec<_>>())
}

/// Stores a draft. Admins only. An empty title and text delete it. 422 names what is too long or missing; 422 too where
/// another text than `seen` is there.
pub(crate) fn save(cx: &Change, kind: Kind, draft: &Draft, seen: &Seen) -> Result<(), Failure> {
    check_admin(cx)?;
    if !Language::ALL.iter().any(|language| language.tag() == draft.language) {
        return Err(Failure::not_found());
    }
    let stored = find(cx.tx, kind, &draft.language)?;
    let check_seen = || match seen.is_mark(&mark(&stored)) {
        true => Ok(()),
        false => Err(Failure::field(seen::FIELD, Text::new("texts.saved_meanwhile"))),
    };
    if draft.title.trim().is_empty() && draft.body.trim().is_empty() {
        check_seen()?;
        site_texts::delete_drafts(cx.tx, kind, Some(&draft.language))?;
        return Ok(());
    }
    let mut problems = Fields::new(Default::default());
    let longer = |text: &str, max: usize| text.chars().count() > max;
    if draft.title.trim().is_empty() || longer(&draft.title, TITLE_CHARS_MAX) {
        problems.refuse("title", Text::new("texts.title_wrong").with_count("max", TITLE_CHARS_MAX));
    }
    if draft.body.trim().is_empty() || longer(&draft.body, BODY_CHARS_MAX) {
        problems.refuse("body", Text::new("texts.body_wrong").with_count("max", BODY_CHARS_MAX));
    }
    let asked: Vec<&str> = waiver::questions(&draft.questions).collect();
    if asked.len() > QUESTIONS_MAX || asked.iter().any(|one| longer(one, QUESTION_CHARS_MAX)) {
        let text =
            Text::new("texts.questions_wrong").with_count("most", QUESTIONS_MAX).with_count("max", QUESTION_CHARS_MAX);
        problems.refuse("questions", text);
    }
    problems.finish()?;
    let questions = if kind == Kind::Waiver { asked.join("\n") } else { String::new() };
    let clean = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    let draft = Draft { title: clean(&draft.title), body: clean(&draft.body), questions, ..draft.clone() };
    if stored.as_ref() != Some(&draft) {
        check_seen()?;
    }
    site_texts::set_draft(cx.tx, kind, &draft)?;
    Ok(())
}

/// Publishes the drafts of a kind as its next version. Admins only. The version has only the languages with a draft.
/// `asks_again`: signers of an earlier version must sign again. 422 where there is no draft, where the languages have
/// different numbers of questions, or where another version than `seen` is in force. If that version has the same
/// texts, the form was sent twice, and the version stays. 422 too where the drafts are others than `seen_drafts`. Audited.
/// Returns the version.
pub(crate) fn publish(
    cx: &Change,
    kind: Kind,
    asks_again: bool,
    seen: Option<i64>,
    seen_drafts: &Seen,
) -> Result<i64, Failure> {
    check_admin(cx)?;
    let drafts = site_texts::list_drafts(cx.tx, kind)?;
    let Some(first) = drafts.first() else {
        return Err(Failure::field("drafts", Text::new("texts.no_draft")));
    };
    let known = site_texts::find_in_force(cx.tx, kind)?.map_or(0, |known| known.version);
    if seen.is_some_and(|seen| seen != known) {
        if list_changed(cx.tx, kind)?.is_empty() {
            return Ok(known);
        }
        return Err(Failure::field("drafts", Text::new("texts.published_before").with("version", known)));
    }
    check_drafts(&drafts, seen_drafts)?;
    let asked = |draft: &Draft| waiver::questions(&draft.questions).count();
    if drafts.iter().any(|draft| asked(draft) != asked(first)) {
        return Err(Failure::field("questions", Text::new("texts.questions_differ")));
    }
    let version = known + 1;
    for draft in &drafts {
        let hash = waiver::text_hash(&draft.title, &draft.body, &draft.questions);
        site_texts::insert(cx.tx, (kind, version, asks_again || version == 1), draft, &hash, cx.member_id())?;
    }
    let detail = Detail::none().word("kind", kind.name()).number("version", version).flag("asks_again", asks_again);
    cx.record("text.published", &Subject::Site, &detail)?;
    Ok(version)
}

/// The languages whose draft differs from the text in force.
pub(crate) fn list_changed(tx: &Read, kind: Kind) -> Result<Vec<String>, Failure> {
    let known = site_texts::find_in_force(tx, kind)?.map_or(0, |known| known.version);
    let mut changed = Vec::new();
    for draft in site_texts::list_drafts(tx, kind)? {
        let hash = waiver::text_hash(&draft.title, &draft.body, &draft.questions);
        let published = site_texts::find(tx, kind, known, &draft.language)?;
        if published.is_none_or(|published| published.text_hash != hash) {
            changed.push(draft.language);
        }
    }
    Ok(changed)
}

/// Deletes the drafts of a kind. Admins only. 422 where the drafts are others than `seen_drafts`.
pub(crate) fn discard(cx: &Change, kind: Kind, seen_drafts: &Seen) -> Result<Outcome, Failure> {
    check_admin(cx)?;
    let drafts = site_texts::list_drafts(cx.tx, kind)?;
    if drafts.is_empty() {
        return Ok(Outcome::Unchanged);
    }
    check_drafts(&drafts, seen_drafts)?;
    let gone = site_texts::delete_drafts(cx.tx, kind, None)?;
    Ok(if gone > 0 { Outcome::Done } else { Outcome::Unchanged })
}

fn check_drafts(drafts: &[Draft], seen: &Seen) -> Result<(), Failure> {
    if seen.is_mark(&mark(drafts)) {
        return Ok(());
    }
    Err(Failure::field("drafts", Text::new("texts.drafts_changed")))
}

/// 403 unless the actor is an admin; 404 on a site that requires no waiver and so has no texts.
fn check_admin(cx: &Change) -> Result<(), Failure> {
    if cx.site.config.waiver.required { cx.check_admin() } else { Err(Failure::not_found()) }
}
