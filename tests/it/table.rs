//! The table of operations against the contract, in both directions.

use std::collections::BTreeSet;
use tunneldesk::routes::{ROUTES, Route};

const CONTRACT: &str = include_str!("contract/operations.txt");
const OURS: &str = include_str!("contract/ours.txt");

/// The lines of a list of `caller METHOD path`, with their white space normalised.
fn lines(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn line(route: &Route) -> String {
    format!("{} {} {}", route.caller(), route.method, route.path)
}

#[test]
fn the_table_is_the_contract_and_rows_beside_it_are_marked() {
    let (contract, ours) = (lines(CONTRACT), lines(OURS));
    assert_eq!(contract.len(), 62, "the contract has 62 operations");
    let table: BTreeSet<String> = ROUTES.iter().map(line).collect();
    assert_eq!(table.len(), ROUTES.len(), "a row stands twice in the table");
    let wanted: BTreeSet<String> = contract.union(&ours).cloned().collect();
    let missing: Vec<_> = wanted.difference(&table).collect();
    let unknown: Vec<_> = table.difference(&wanted).collect();
    assert!(missing.is_empty(), "not in the table, or for other callers: {missing:#?}");
    assert!(unknown.is_empty(), "in the table and neither in the contract nor ours: {unknown:#?}");
}

#[test]
fn the_contract_stands_below_api_and_only_the_machine_s_own_paths_at_the_root() {
    for route in ROUTES {
        let at_root = ["/healthz", "/readyz", "/verify/{code}", "/ca", "/ca.crt", "/docs"].contains(&route.path);
        assert_eq!(route.base, if at_root { "" } else { "/api" }, "{}", route.path);
    }
}
