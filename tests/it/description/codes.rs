//! The codes of failures: the codes that the product can send are those that the description lists.

use crate::harness::description::DESCRIPTION;
use std::collections::BTreeMap;

/// The source of the failures, which lists the codes.
const FAILURES: &str = include_str!("../../../src/http/failure.rs");

/// The codes and statuses in the source, written as `name = STATUS;`.
fn said() -> BTreeMap<String, u16> {
    let kinds = FAILURES.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "));
    kinds
        .filter(|(name, status)| {
            let lower = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            lower && status.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        })
        .map(|(name, status)| (name.to_owned(), number(status)))
        .collect()
}

fn number(status: &str) -> u16 {
    let words = status.replace('_', " ");
    let known = (100..600).filter_map(|number| http::StatusCode::from_u16(number).ok());
    let reason = |status: &http::StatusCode| status.canonical_reason().unwrap_or("").replace('-', " ").to_uppercase();
    known.into_iter().find(|status| reason(status) == words).map_or(0, |status| status.as_u16())
}

#[test]
fn the_codes_that_are_said_are_described_with_their_status() {
    let listed = DESCRIPTION.document["components"]["schemas"]["RefusalCode"]["x-codes"].as_array().unwrap();
    let described: BTreeMap<String, u16> = listed
        .iter()
        .map(|one| {
            let (status, _) = one["description"].as_str().unwrap().split_once(": ").expect("status: meaning");
            (one["const"].as_str().unwrap().to_owned(), status.parse().unwrap())
        })
        .collect();
    let mut said = said();
    // Codes of pages only: no operation accepts forms of a signed-in browser.
    assert_eq!(said.remove("foreign_form"), Some(403));
    assert_eq!(said.remove("partner_revoked"), Some(409));
    assert!(said.len() > 30, "the kinds were not found: {said:?}");
    assert_eq!(described, said);
}
