//! Cookies by which browsers are known: the desk's sessions, those of members, and a kiosk with its guest.

use crate::http::call::{self, Call};
use crate::http::reply::Reply;
use crate::site::Site;

/// Over https a browser takes a cookie of this prefix from this very host and over nothing else. Over plain http, also
/// at `localhost`, browsers refuse the prefix.
const SECURE_PREFIX: &str = "__Host-";
const TOKEN_CHARS_MAX: usize = 128;

/// The prefix of a cookie below a path of its own, which [`SECURE_PREFIX`] does not allow.
const SECURE_PREFIX_BELOW: &str = "__Secure-";

/// A cookie that the pages below its path get and no script reads.
pub(crate) struct Cookie {
    name: &'static str,
    path: &'static str,
    /// Whether the browser sends it also when a link of another site is followed.
    by_links: bool,
    /// For how long the browser keeps the cookie; `None`: until the browser ends.
    seconds: Option<i64>,
    chars_max: usize,
}

impl Cookie {
    pub(super) const fn new(name: &'static str, seconds: Option<i64>) -> Cookie {
        Cookie { name, path: "/", by_links: false, seconds, chars_max: TOKEN_CHARS_MAX }
    }

    /// For the pages below this path alone.
    pub(super) const fn below(self, path: &'static str) -> Cookie {
        Cookie { path, ..self }
    }

    /// Sent also when a link in a mail is followed, so that it opens its page without a sign-in. Forms of other sites are
    /// refused by their origin, see [`super::origin`].
    pub(super) const fn sent_by_links(self) -> Cookie {
        Cookie { by_links: true, ..self }
    }

    fn prefix(&self, site: &Site, call: &Call) -> &'static str {
        match is_secure(site, call) {
            true if self.path == "/" => SECURE_PREFIX,
            true => SECURE_PREFIX_BELOW,
            false => "",
        }
    }

    pub(super) const fn with_chars_max(self, chars_max: usize) -> Cookie {
        Cookie { chars_max, ..self }
    }

    /// The value that the browser sent.
    pub(crate) fn value<'c>(&self, site: &Site, call: &'c Call) -> Option<&'c str> {
        let prefix = self.prefix(site, call);
        let mut pairs = call.header("cookie").into_iter().flat_map(|line| line.split(';'));
        let named = |pair: &'c str| pair.trim().strip_prefix(prefix)?.strip_prefix(self.name)?.strip_prefix('=');
        pairs.find_map(named).filter(|value| !value.is_empty() && value.len() <= self.chars_max)
    }

    /// The reply that has the browser keep `value`.
    pub(crate) fn set(&self, site: &Site, call: &Call, reply: Reply, value: &str) -> Reply {
        self.add_to(site, call, reply, value, self.seconds)
    }

    /// The reply that has the browser drop the cookie.
    pub(crate) fn clear(&self, site: &Site, call: &Call, reply: Reply) -> Reply {
        self.add_to(site, call, reply, "", Some(0))
    }

    fn add_to(&self, site: &Site, call: &Call, reply: Reply, value: &str, seconds: Option<i64>) -> Reply {
        let (prefix, name, path) = (self.prefix(site, call), self.name, self.path);
        let secure = if prefix.is_empty() { "" } else { "; Secure" };
        let age = seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
        let same_site = if self.by_links { "Lax" } else { "Strict" };
        reply.with_cookie(&format!("{prefix}{name}={value}; Path={path}{age}; HttpOnly; SameSite={same_site}{secure}"))
    }
}

/// Whether the browser speaks https: with this server, or with the reverse proxy before it.
pub(super) fn is_secure(site: &Site, call: &Call) -> bool {
    let public = site.config.public_url.as_deref().and_then(|url| url.strip_prefix("https://"));
    let host = public.and_then(|rest| rest.split('/').next()).map(call::host_name);
    call.secure || host.is_some_and(|host| call.host() == Some(host))
}
