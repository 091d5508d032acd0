//! Finds the row of the table that a request matches. Rows are grouped by the number of segments in their paths; no two rows
//! match the same request.

use crate::http::call::decode;
use crate::http::row::Row;
use crate::routes::{Route, TABLE};
use http::Method;
use std::sync::LazyLock;

/// The rows by the number of segments in their paths, each group in the order of the table.
static PATTERNS: LazyLock<Vec<Vec<Pattern>>> = LazyLock::new(|| {
    let all = || TABLE.iter().enumerate().map(|(index, route)| Pattern { index, parts: parts(route) });
    let most = all().map(|pattern| pattern.parts.len()).max().unwrap_or(0);
    (0..=most).map(|count| all().filter(|pattern| pattern.parts.len() == count).collect()).collect()
});

struct Pattern {
    index: usize,
    parts: Vec<Part>,
}

enum Part {
    Fixed(&'static str),
    Param,
}

/// The result of matching a method and a path.
pub(crate) enum Match {
    /// The index of the row in the table, and the path's parameters, decoded.
    Found(usize, Vec<String>),
    /// The path has only these methods.
    WrongMethod(String),
    Unknown,
}

fn parts(route: &Route) -> Vec<Part> {
    let segments = route.base.split('/').chain(route.path.split('/')).filter(|segment| !segment.is_empty());
    segments.map(|segment| if segment.starts_with('{') { Part::Param } else { Part::Fixed(segment) }).collect()
}

/// Finds the row of a request among those that `exists` takes. A trailing slash is optional, and `HEAD` matches `GET`.
pub(crate) fn find(method: &Method, path: &str, exists: impl Fn(&Row) -> bool) -> Match {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = if path.is_empty() { Vec::new() } else { path.split('/').collect() };
    let same_length = PATTERNS.get(segments.len()).map_or(&[][..], Vec::as_slice);
    let fitting = same_length.iter().filter(|pattern| fits(pattern, &segments) && exists(TABLE[pattern.index]));
    let found = fitting.clone().find(|pattern| TABLE[pattern.index].method == *method);
    if let Some(Pattern { index, parts }) = found {
        let named = parts.iter().zip(&segments).filter(|(part, _)| matches!(part, Part::Param));
        return Match::Found(*index, named.map(|(_, segment)| decode(segment)).collect());
    }
    let mut allowed: Vec<&'static str> = Vec::new();
    for pattern in fitting {
        let method = &TABLE[pattern.index].method;
        allowed.push(method.as_str());
        if *method == Method::GET {
            allowed.push("HEAD");
        }
    }
    if allowed.is_empty() { Match::Unknown } else { Match::WrongMethod(allowed.join(", ")) }
}

/// Whether a path with the same number of segments matches; compared from the end, where most paths differ.
fn fits(pattern: &Pattern, segments: &[&str]) -> bool {
    pattern.parts.iter().zip(segments).rev().all(|(part, segment)| match part {
        Part::Fixed(fixed) => fixed == segment,
        Part::Param => !segment.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: Method, path: &str) -> Option<(&'static str, Vec<String>)> {
        match find(&method, path, |_| true) {
            Match::Found(index, params) => Some((TABLE[index].path, params)),
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
    fn params_are_decoded_after_the_path_is_split() {
        let (_, params) = found(Method::GET, "/api/external/partner-metrics/op/a%2Fb%20c").unwrap();
        assert_eq!(params, ["a/b c"]);
        assert!(found(Method::GET, "/api/external/partner-metrics/op//").is_none());
    }

    #[test]
    fn head_matches_get_and_a_wrong_method_names_the_allowed_ones() {
        assert!(found(Method::HEAD, "/healthz").is_some());
        match find(&Method::PATCH, "/api/external/partner-metrics/op", |_| true) {
            Match::WrongMethod(allow) => assert_eq!(allow, "GET, HEAD, POST, PUT"),
            _ => panic!("the path is known"),
        }
    }

    #[test]
    fn no_two_rows_match_one_request() {
        let concrete = |route: &Route| format!("{}{}", route.base, route.path.replace(['{', '}'], ""));
        for (index, route) in TABLE.iter().enumerate() {
            let path = concrete(route);
            let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
            for pattern in PATTERNS[segments.len()].iter().filter(|pattern| pattern.index != index) {
                let other = TABLE[pattern.index];
                let same = other.method == route.method && fits(pattern, &segments);
                assert!(!same, "{} {path} also fits {}", route.method, other.path);
            }
        }
    }
}
