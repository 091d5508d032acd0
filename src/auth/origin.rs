//! The origin of forms. A browser sends its cookies with every request, whichever page caused the request; so a change is
//! accepted from our own pages alone.

use crate::http::call::Call;
use crate::http::failure::Failure;

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
