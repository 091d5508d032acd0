//! The origin of forms. A browser sends its cookies with every request, whichever page caused the request; so a change is
//! accepted from our own pages alone.

use crate::http::call::Call;
use crate::http::failure::Failure;

/// Longest path and query of a page that [`page_of`] returns.
const PAGE_CHARS_MAX: usize = 200;

/// The path and the query of the page from which a form was sent, where that is a page of this site. A value that says
/// what was done is left out: it is not done again by opening the page.
pub(crate) fn page_of(call: &Call) -> Option<String> {
    let (_, place) = call.header("referer")?.split_once("://")?;
    let (host, rest) = place.split_at(place.find('/')?);
    if !host.eq_ignore_ascii_case(call.header("host")?) {
        return None;
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let query: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("done=")).collect();
    Some(address(path, &query.join("&")))
}

/// A path with its query; without, where it would be too long.
pub(crate) fn address(path: &str, query: &str) -> String {
    match query {
        "" => path.to_owned(),
        query if path.len() + query.len() >= PAGE_CHARS_MAX => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Refuses a change that did not come from a page of the same origin. Browsers name the origin of a form in `Origin`, and
/// over https also in `Sec-Fetch-Site`: one of the two must be present, and none may name another origin.
pub(crate) fn check(call: &Call) -> Result<(), Failure> {
    if call.reads() {
        return Ok(());
    }
    let (origin, site) = (call.header("origin"), call.header("sec-fetch-site"));
    let host = call.header("host").unwrap_or_default();
    let own = |origin: &str| origin.split_once("://").is_some_and(|(_, place)| place.eq_ignore_ascii_case(host));
    let is_foreign = origin.is_some_and(|origin| !own(origin)) || site.is_some_and(|site| site != "same-origin");
    if is_foreign || (origin.is_none() && site.is_none()) {
        return Err(Failure::foreign_form().because(format_args!("from {}", origin.or(site).unwrap_or("nowhere"))));
    }
    Ok(())
}
