//! The origin of forms. A browser sends its cookies with every request, whichever page caused the request; so a change is
//! accepted from our own pages alone.

use super::{cookie, hidden_callers};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use std::sync::{Mutex, PoisonError};

/// Longest path and query of a page that [`page_of`] returns.
const PAGE_CHARS_MAX: usize = 200;

/// Longest text of a header that a [`RefusedForm`] keeps.
const KEPT_CHARS_MAX: usize = 100;

/// A form that was refused because of where it came from, with what was compared with what: behind a proxy that passes another
/// `Host` on, every form of the site is.
#[derive(Clone)]
pub(crate) struct RefusedForm {
    pub at: Moment,
    /// The origin or page that the browser named.
    pub from: String,
    pub host: String,
}

/// The last refused form of each way to the site: straight, and through a proxy. The next form that is taken that way removes
/// it: past a proxy that passes another `Host` on none is. So a stranger's form raises no warning of a site in use.
#[derive(Default)]
struct LastRefused(Mutex<[Option<RefusedForm>; 2]>);

fn set_last_refused(site: &Site, call: &Call, refused: Option<RefusedForm>) {
    let by_proxy = !site.config.proxies.is_empty() && call.header("x-forwarded-for").is_some();
    site.state::<LastRefused>().0.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(by_proxy)] = refused;
}

/// The last form since the start that was refused because of where it came from, unless one was taken the same way since.
pub(crate) fn last_refused(site: &Site) -> Option<RefusedForm> {
    let last = site.state::<LastRefused>().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    last.into_iter().flatten().max_by_key(|refused| refused.at)
}

fn note(site: &Site, call: &Call, from: &str, host: &str) {
    let kept = |text: &str| text.chars().take(KEPT_CHARS_MAX).collect();
    let refused = RefusedForm { at: site.now(), from: kept(from), host: kept(host) };
    set_last_refused(site, call, Some(refused));
}

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

/// Redirects to a sign-in, which leads back to the requested page, or to the page of the form that was sent; `home` is where it
/// leads anyway. The sign-in then says that the form was not saved, unless it was to sign out.
pub(super) fn to_sign_in(call: &Call, home: &str, sign_in: &str, sign_out: &str) -> Reply {
    let is_lost = !call.reads() && call.path != sign_out;
    let page = match call.reads() {
        true => Some(address(&call.path, &call.query)),
        false => page_of(call).filter(|_| is_lost),
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    if is_lost {
        query.append_pair("lost", "1");
    }
    if let Some(page) = page.filter(|page| page.trim_end_matches('/') != home) {
        query.append_pair("to", &page);
    }
    let query = query.finish();
    let mark = if query.is_empty() { "" } else { "?" };
    reply::see_other(&format!("{sign_in}{mark}{query}"))
}

/// A path with its query; without, where it would be too long.
pub(crate) fn address(path: &str, query: &str) -> String {
    match query {
        "" => path.to_owned(),
        query if path.len() + query.len() >= PAGE_CHARS_MAX => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Refuses a change that did not come from a page of this site. Browsers name the origin of a form in `Origin`, and over
/// https also in `Sec-Fetch-Site`; text browsers name the page alone, in `Referer`. One of them must be present, and none may
/// name another origin. A proxy may send another `Host` than the browser's, so the site's `public_url` counts as well. A page
/// of desk, kiosk or member that was opened over plain http, at the name of a `public_url` with https, is told that address: its
/// browser would drop the cookie of a sign-in, which is for https alone, and show the empty form again.
pub(crate) fn check(site: &Site, call: &Call) -> Result<(), Failure> {
    if call.reads() {
        return Ok(());
    }
    let (origin, fetched) = (call.header("origin"), call.header("sec-fetch-site"));
    let page = call.header("referer").filter(|_| origin.is_none() && fetched.is_none());
    let named = origin.or(page);
    let host = call.header("host").unwrap_or_default();
    let own = |named: &str| {
        is_of_host(named, host) || site.config.public_url.as_deref().is_some_and(|url| is_same(named, url))
    };
    let is_foreign = named.is_some_and(|named| !own(named)) || fetched.is_some_and(|from| from != "same-origin");
    if is_foreign || (named.is_none() && fetched.is_none()) {
        let from = named.map(|named| named.split(['?', '#']).next().unwrap_or_default()).or(fetched);
        if let Some(named) = named {
            note(site, call, named.split(['?', '#']).next().unwrap_or_default(), host);
        }
        let why = format_args!("from {}, which is not the Host {host}", from.unwrap_or("nowhere"));
        return Err(Failure::foreign_form().because(why));
    }
    let is_plain = named.is_some_and(|named| named.starts_with("http://")) && !call.secure;
    let needs_cookie = ["/desk", "/kiosk", "/me"].iter().any(|part| call.path.starts_with(part));
    if is_plain && needs_cookie && cookie::is_secure(site, call) {
        let public = site.config.public_url.as_deref().unwrap_or_default();
        let text = Text::new("plain_form").with("url", public);
        return Err(Failure::foreign_form()
            .saying(text)
            .because(format_args!("sent over plain http, not from {public}")));
    }
    set_last_refused(site, call, None);
    hidden_callers::look(site, call, named);
    Ok(())
}

/// Scheme, host and port of an origin or an address. The default port equals no port (RFC 9110 4.2.3).
fn parts(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let place = rest.split(['/', '?', '#']).next()?;
    Some((scheme, without_default_port(scheme, place)))
}

fn without_default_port<'p>(scheme: &str, place: &'p str) -> &'p str {
    let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    place.strip_suffix(port).unwrap_or(place)
}

fn is_of_host(address: &str, host: &str) -> bool {
    parts(address).is_some_and(|(scheme, place)| {
        place.eq_ignore_ascii_case(without_default_port(scheme, host)) && !place.is_empty()
    })
}

fn is_same(address: &str, other: &str) -> bool {
    let (Some(one), Some(two)) = (parts(address), parts(other)) else { return false };
    one.0.eq_ignore_ascii_case(two.0) && one.1.eq_ignore_ascii_case(two.1)
}

#[cfg(test)]
mod tests {
    use super::{is_of_host, is_same};

    #[test]
    fn the_default_port_of_the_scheme_equals_no_port() {
        for (address, host) in [
            ("https://hall.example", "hall.example"),
            ("https://hall.example", "hall.example:443"),
            ("https://hall.example:443", "Hall.Example"),
            ("http://hall.example", "hall.example:80"),
            ("http://hall.example:8080/desk?day=1", "hall.example:8080"),
            ("http://[2001:db8::7]", "[2001:db8::7]:80"),
        ] {
            assert!(is_of_host(address, host), "{address} {host}");
        }
        for (address, host) in [
            ("https://hall.example", "hall.example:80"),
            ("http://hall.example", "hall.example:443"),
            ("https://hall.example:8443", "hall.example"),
            ("https://other.example", "hall.example"),
            ("https://hall.example.evil.example", "hall.example"),
            ("null", "hall.example"),
            ("https://", ""),
        ] {
            assert!(!is_of_host(address, host), "{address} {host}");
        }
        assert!(
            is_same("https://hall.example", "https://hall.example:443/")
                && !is_same("http://a.example", "https://a.example")
        );
    }
}
