//! Where a form was sent from. A cookie travels with every request of its browser, whichever page had the idea: so what
//! changes something is taken from our own pages alone.

use crate::http::call::Call;
use crate::http::failure::Failure;

/// Refuses a change that did not come from a page of the same origin. Browsers say where a form stood in `Origin`, and
/// over https also in `Sec-Fetch-Site`; one of them must be there, and none may name another place.
pub(crate) fn check(call: &Call) -> Result<(), Failure> {
    if call.reads() {
        return Ok(());
    }
    let (origin, site) = (call.header("origin"), call.header("sec-fetch-site"));
    let host = call.header("host").unwrap_or_default();
    let own = |origin: &str| origin.split_once("://").is_some_and(|(_, place)| place.eq_ignore_ascii_case(host));
    let named_other = origin.is_some_and(|origin| !own(origin)) || site.is_some_and(|site| site != "same-origin");
    if named_other || (origin.is_none() && site.is_none()) {
        return Err(Failure::foreign_form().because(format_args!("from {}", origin.or(site).unwrap_or("nowhere"))));
    }
    Ok(())
}
