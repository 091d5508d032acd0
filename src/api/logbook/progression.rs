//! A member's progression as a picture.

use super::readable_member;
use crate::app::language_of_reader;
use crate::app::logbook::progression;
use crate::auth::Bearer;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;

crate::operation! {
    /// A member's progression as a picture
    ///
    /// The held, open and next levels of every track of the catalogue, in the caller's language.
    SVG = "progression"
        .takes(&["AcceptLanguage"])
        .prints("image/svg+xml", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "The picture.")
}

pub(crate) fn svg(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    let language = language_of_reader(site, call, member_id)?;
    Ok(reply::picture("image/svg+xml", progression::svg(site, member_id, language)?))
}
