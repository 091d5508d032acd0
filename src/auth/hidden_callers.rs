//! Proxies that hide their callers: limits by address then take all of them for one. A form whose page was opened over https, and
//! which came without this server's own TLS, came through a proxy.

use crate::http::call::Call;
use crate::http::forwarded;
use crate::moment::Moment;
use crate::site::Site;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// The last form that came through a proxy which named nobody, or which the settings do not know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HiddenCaller {
    pub at: Moment,
    pub proxy: IpAddr,
}

#[derive(Default)]
struct Last(Mutex<Option<HiddenCaller>>);

/// The last such form since the start, unless a caller was named since.
pub(crate) fn last(site: &Site) -> Option<HiddenCaller> {
    *site.state::<Last>().0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks at a form that was taken, sent from a page of this `origin`.
pub(super) fn look(site: &Site, call: &Call, origin: Option<&str>) {
    if call.secure || !origin.is_some_and(|origin| origin.starts_with("https://")) {
        return;
    }
    let is_proxy = site.config.proxies.iter().any(|network| network.contains(&call.peer));
    let is_named = !is_proxy && forwarded::list(&call.headers).contains(&Some(call.peer));
    let hidden = (!is_named).then(|| HiddenCaller { at: site.now(), proxy: call.peer });
    *site.state::<Last>().0.lock().unwrap_or_else(PoisonError::into_inner) = hidden;
}
