//! Content negotiation: the language of an answer, and HTML or JSON.

use crate::i18n::language::Language;
use http::header::{self, HeaderMap, HeaderName};

/// Some clients write a tilde before this name.
const TILDE_ACCEPT_LANGUAGE: HeaderName = HeaderName::from_static("~accept-language");
/// The members' own pages, the board, and those that mails, printed papers and QR codes lead to; they have every language of the kiosk.
const MEMBERS_PAGES: [&str; 8] = ["/me", "/board", "/join", "/claim", "/confirm", "/recover", "/undo", "/verify"];

/// The cookie with the language that a guest chose at a kiosk. Its path is the kiosk's, so no other page gets it.
pub(crate) const KIOSK_LANGUAGE: &str = "kiosk-language";

/// The language of the answer at this path: one of the kiosk's languages for the pages of [`MEMBERS_PAGES`].
pub(crate) fn language_of(path: &str, headers: &HeaderMap) -> Language {
    let leads_there = |page| path.strip_prefix(page).is_some_and(|rest: &str| !rest.starts_with(char::is_alphabetic));
    if MEMBERS_PAGES.into_iter().any(leads_there) { best_of(headers, &Language::AT_KIOSK) } else { language(headers) }
}

/// The language of a member that a request asks for: one of the kiosk's languages. `None` where it asks for none of them.
pub(super) fn member_language(headers: &HeaderMap) -> Option<Language> {
    chosen_at_kiosk(headers).or_else(|| find_best(headers, &Language::AT_KIOSK))
}

/// The language that a request asks for. The header with a tilde before its name goes first: an app sets it on purpose,
/// while browsers and libraries add the plain header by themselves.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    if let Some(chosen) = chosen_at_kiosk(headers) {
        return chosen;
    }
    best_of(headers, &Language::ALL)
}

/// The best of these languages by the headers, or English.
fn best_of(headers: &HeaderMap, known: &[Language]) -> Language {
    find_best(headers, known).unwrap_or_default()
}

fn find_best(headers: &HeaderMap, known: &[Language]) -> Option<Language> {
    let accepted = |name| Language::accepted(headers.get(name)?.to_str().ok()?, known);
    [TILDE_ACCEPT_LANGUAGE, header::ACCEPT_LANGUAGE].into_iter().find_map(accepted)
}

/// The language that the guest chose at this kiosk.
pub(crate) fn chosen_at_kiosk(headers: &HeaderMap) -> Option<Language> {
    let pairs = headers.get(header::COOKIE)?.to_str().ok()?.split(';');
    let tag = pairs.filter_map(|pair| pair.trim().strip_prefix(KIOSK_LANGUAGE)?.strip_prefix('=')).next()?;
    Language::AT_KIOSK.into_iter().find(|language| language.tag() == tag)
}

/// See [`Call::prefers_page`](super::call::Call::prefers_page).
pub(crate) fn prefers_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
    let quality = |media_type: &str| {
        let named = accept.split(',').take(20).map(|one| one.split_once(';').unwrap_or((one, "")));
        let found = named.filter(|(kind, _)| kind.trim().eq_ignore_ascii_case(media_type));
        let read =
            |(_, rest): (&str, &str)| rest.trim().strip_prefix("q=").map_or(Some(1.0), |q| q.trim().parse().ok());
        found.filter_map(read).fold(0.0_f32, f32::max)
    };
    quality("text/html") > quality("application/json")
}
