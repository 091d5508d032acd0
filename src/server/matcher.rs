//! Which row of the table a request means. A plain scan: it costs about a microsecond, and no two rows fit one request.

use crate::http::call::decode;
use crate::routes::{Route, TABLE};
use http::Method;
use std::sync::LazyLock;

/// The rows' paths in parts, as the table has them.
static PATTERNS: LazyLock<Vec<Vec<Part>>> = LazyLock::new(|| TABLE.iter().map(|route| parts(route)).collect());

enum Part {
    Fixed(&'static str),
    Param,
}

/// The row that a method and a path lead to, or why none.
pub(crate) enum Match {
    /// A row by its place in the table, and the parts of the path that it names, decoded.
    Found(usize, Vec<String>),
    /// The path is known, with these methods.
    WrongMethod(String),
    Unknown,
}

fn parts(route: &Route) -> Vec<Part> {
    let segments = route.base.split('/').chain(route.path.split('/')).filter(|segment| !segment.is_empty());
    segments.map(|segment| if segment.starts_with('{') { Part::Param } else { Part::Fixed(segment) }).collect()
}

/// A trailing slash is optional; `HEAD` means what `GET` means.
pub(crate) fn find(method: &Method, path: &str) -> Match {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = if path.is_empty() { Vec::new() } else { path.split('/').collect() };
    let mut allowed: Vec<&'static str> = Vec::new();
    for (place, pattern) in PATTERNS.iter().enumerate() {
        if !fits(pattern, &segments) {
            continue;
        }
        if TABLE[place].method == *method {
            let named = pattern.iter().zip(&segments).filter(|(part, _)| matches!(part, Part::Param));
            return Match::Found(place, named.map(|(_, segment)| decode(segment)).collect());
        }
        allowed.push(TABLE[place].method.as_str());
        if TABLE[place].method == Method::GET {
            allowed.push("HEAD");
        }
    }
    if allowed.is_empty() { Match::Unknown } else { Match::WrongMethod(allowed.join(", ")) }
}

fn fits(pattern: &[Part], segments: &[&str]) -> bool {
    pattern.len() == segments.len()
        && pattern.iter().zip(segments).all(|(part, segment)| match part {
            Part::Fixed(fixed) => fixed == segment,
            Part::Param => !segment.is_empty(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: Method, path: &str) -> Option<(&'static str, Vec<String>)> {
        match find(&method, path) {
            Match::Found(place, params) => Some((TABLE[place].path, params)),
            _ => None,
        }
    }

    #[test]
    fn a_trailing_slash_is_optional_and_a_second_one_is_not() {
        for path in ["/api/account/logbook/time", "/api/account/logbook/time/"] {
            assert_eq!(found(Method::POST, path).unwrap().0, "/account/logbook/time/");
        }
        assert!(found(Method::POST, "/api/account/logbook/time//").is_none());
        assert!(found(Method::POST, "/api//account/logbook/time").is_none());
        assert!(found(Method::GET, "/account/profile/user").is_none());
    }

    #[test]
    fn params_are_decoded_after_the_path_was_cut() {
        let (_, params) = found(Method::GET, "/api/external/partner-metrics/op/a%2Fb%20c").unwrap();
        assert_eq!(params, ["a/b c"]);
        assert!(found(Method::GET, "/api/external/partner-metrics/op//").is_none());
    }

    #[test]
    fn head_is_get_and_wrong_methods_name_the_right_ones() {
        assert!(found(Method::HEAD, "/healthz").is_some());
        match find(&Method::PATCH, "/api/external/partner-metrics/op") {
            Match::WrongMethod(allow) => assert_eq!(allow, "GET, HEAD, POST, PUT"),
            _ => panic!("the path is known"),
        }
    }

    #[test]
    fn no_two_rows_fit_one_request() {
        let concrete = |route: &Route| format!("{}{}", route.base, route.path.replace(['{', '}'], ""));
        for (place, route) in TABLE.iter().enumerate() {
            let path = concrete(route);
            let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
            for (other, pattern) in PATTERNS.iter().enumerate().filter(|(other, _)| *other != place) {
                let same = TABLE[other].method == route.method && fits(pattern, &segments);
                assert!(!same, "{} {path} also fits {}", route.method, TABLE[other].path);
            }
        }
    }
}
