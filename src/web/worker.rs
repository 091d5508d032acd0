//! Service workers of our pages, each for its own part of the site: what they share, and how they are served.

use crate::http::assets;
use crate::http::reply::{self, Reply};
use http::{HeaderName, HeaderValue, header};

const SHARED: &str = include_str!("../../assets/script/worker.js");

/// A worker for the pages at and below `scope`, which shows `page` where one cannot be loaded. Its text changes whenever one of
/// the assets of those pages does. `parts` come before what all workers share.
pub(super) fn serve(scope: &'static str, page: &str, files: &[&str], parts: &[&str]) -> Reply {
    let version: String = files.iter().copied().map(assets::path).collect();
    let names = format!("const SCOPE = '{scope}', OFFLINE_PAGE = '{page}', VERSION = '{scope} {version}';");
    let script = [&[&*names], parts, &[SHARED]].concat().join("\n");
    let policy = HeaderValue::from_static("default-src 'none'; connect-src 'self'");
    reply::bytes("text/javascript; charset=utf-8", script)
        .with_header(header::CONTENT_SECURITY_POLICY, policy)
        .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with_header(HeaderName::from_static("service-worker-allowed"), HeaderValue::from_static(scope))
}
