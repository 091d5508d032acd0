//! Content negotiation: the language of an answer, and HTML or JSON.

use crate::i18n::language::{Language, weighed};
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
    let page = wish(headers, "text/html");
    page.weight > 0.0 && page > wish(headers, "application/json")
}

/// Whether a client wants JSON from an operation that streams by default: it prefers JSON, or refuses the stream.
pub(crate) fn prefers_json_to_stream(headers: &HeaderMap) -> bool {
    let stream = wish(headers, "text/event-stream");
    wish(headers, "application/json") > stream || matches!(stream, Wish { weight: 0.0, nearness: 1.. })
}

/// How much a client wants a media type.
#[derive(PartialEq, PartialOrd)]
struct Wish {
    /// From 0 to 1.
    weight: f32,
    /// How exactly `Accept` names the type: 0, not at all; 1, as one of all; 2, by its first half; 3, itself.
    nearness: u8,
}

fn wish(headers: &HeaderMap, media_type: &str) -> Wish {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let half = media_type.split_once('/').map_or("", |(half, _)| half);
    let nearness = |name: &str| match name.split_once('/')? {
        _ if name.eq_ignore_ascii_case(media_type) => Some(3),
        (first, "*") if first.eq_ignore_ascii_case(half) => Some(2),
        ("*", "*") => Some(1),
        _ => None,
    };
    let named = lines.flat_map(weighed).filter_map(|(name, weight)| Some((nearness(name)?, weight)));
    // What names the type most exactly is what counts of it.
    let found = named.max_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    found.map_or(Wish { weight: 0.0, nearness: 0 }, |(nearness, weight)| Wish { weight, nearness })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn accepting(accept: &[&'static str]) -> HeaderMap {
        accept.iter().map(|line| (header::ACCEPT, HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn a_stream_is_the_default_and_a_refused_one_is_none() {
        for json in [
            "application/json",
            "text/event-stream;q=0, application/json",
            "text/event-stream;q=0",
            "text/*;q=0, */*",
            "text/event-stream; charset=utf-8; q=0.0, */*",
            "application/json, text/plain, */*",
            "application/json, text/event-stream;q=0.9",
            "*/*;q=0.5, application/json;q=0.6",
        ] {
            assert!(prefers_json_to_stream(&accepting(&[json])), "{json}");
        }
        assert!(prefers_json_to_stream(&accepting(&["text/event-stream;q=0", "application/json"])));
        for stream in [
            "",
            "*/*",
            "text/html",
            "text/event-stream",
            "application/json, text/event-stream",
            "application/json;q=0.5, text/event-stream",
            "application/json;q=0, */*",
            "application/jsonx",
        ] {
            assert!(!prefers_json_to_stream(&accepting(&[stream])), "{stream}");
        }
    }

    #[test]
    fn a_page_is_for_whoever_prefers_it_to_json() {
        for page in [
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "text/*, application/json;q=0.5",
            "application/json;q=0, text/html;q=0.1",
        ] {
            assert!(prefers_page(&accepting(&[page])), "{page}");
        }
        for json in
            ["", "*/*", "application/json, text/html", "text/html;q=0, */*", "text/html;v=1;q=0", "text/html;q=x"]
        {
            assert!(!prefers_page(&accepting(&[json])), "{json}");
        }
    }
}
