//! The site's address as a QR code, for a device that stands in front of the screen.

use crate::documents::qr;
use crate::site::Site;

pub(crate) struct AddressCode {
    pub url: String,
    /// SVG.
    pub qr: String,
}

impl AddressCode {
    /// The code of a page. `None`: the settings name no address that another device could open.
    pub(crate) fn of(site: &Site, path: &str) -> Option<AddressCode> {
        let origin = site.public_url();
        let host = origin.parse::<http::Uri>().ok()?.host()?.to_owned();
        let only_here = host == "localhost" || host.starts_with("127.") || host == "[::1]";
        let url = format!("{origin}{path}");
        (!only_here).then(|| qr::svg(&url).map(|qr| AddressCode { url, qr })).flatten()
    }
}
