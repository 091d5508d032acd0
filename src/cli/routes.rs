//! `tunneldesk routes`: the table, as it is.

use super::{as_json, table};
use crate::routes::{PAGES, ROUTES, Route, TABLE};

pub fn run(json: bool) -> String {
    if json {
        let rows: Vec<_> = TABLE.iter().map(|r| {
            serde_json::json!({ "method": r.method.as_str(), "path": format!("{}{}", r.base, r.path), "caller": r.caller(), "ours": r.ours })
        }).collect();
        return as_json(&rows);
    }
    let state = |r: &Route| match (r.is_page(), r.ours) {
        (true, _) => "a page, or a form of one",
        (false, true) => "ours, beside the contract",
        (false, false) => "",
    };
    let rows: Vec<_> = TABLE
        .iter()
        .map(|r| {
            vec![r.method.to_string(), format!("{}{}", r.base, r.path), r.caller().to_owned(), state(r).to_owned()]
        })
        .collect();
    let ours = ROUTES.iter().filter(|r| r.ours).count();
    let contract = ROUTES.len() - ours;
    let rows = table(&["METHOD", "PATH", "CALLER", ""], &rows);
    format!("{rows}\n\n{contract} operations of the contract, {ours} of ours, {} rows of pages", PAGES.len())
}
