//! Content negotiation: the language of an answer, and HTML or JSON.

use crate::i18n::language::Language;
use http::header::{self, HeaderMap, HeaderName};

/// Some clients write a tilde before this name.
const TILDE_ACCEPT_LANGUAGE: HeaderName = HeaderName::from_static("~accept-language");

/// The cookie with the language that a guest chose at a kiosk. Its path is the kiosk's, so no other page gets it.
pub(crate) const KIOSK_LANGUAGE: &str = "kiosk-language";

/// The language that a request asks for: the one that a guest chose at a kiosk, else the best of the headers; `None` where it asks for
/// none of ours. The header with a tilde before its name goes first: an app sets it on purpose, while browsers and libraries
/// add the plain header by themselves.
pub(crate) fn language(headers: &HeaderMap) -> Option<Language> {
    let accepted = |name| Language::accepted(headers.get(name)?.to_str().ok()?);
    chosen_at_kiosk(headers).or_else(|| [TILDE_ACCEPT_LANGUAGE, header::ACCEPT_LANGUAGE].into_iter().find_map(accepted))
}

/// The language that the guest chose at this kiosk.
pub(crate) fn chosen_at_kiosk(headers: &HeaderMap) -> Option<Language> {
    let pairs = headers.get(header::COOKIE)?.to_str().ok()?.split(';');
    let tag = pairs.filter_map(|pair| pair.trim().strip_prefix(KIOSK_LANGUAGE)?.strip_prefix('=')).next()?;
    Language::ALL.into_iter().find(|language| language.tag() == tag)
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
