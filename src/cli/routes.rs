//! `tunneldesk routes`: prints the table of operations.

use super::{CommandResult, Row, Table};
use crate::routes::{ROUTES, Route, TABLE};
use serde_json::{Value, json};

pub(super) fn run() -> CommandResult {
    let ours = ROUTES.iter().filter(|route| route.ours).count();
    let contract = ROUTES.len() - ours;
    let pages = TABLE.len() - ROUTES.len();
    let total = format!("{contract} operations of the contract, {ours} of ours, {pages} rows of pages");
    Ok(Box::new(Table::new(TABLE.iter().copied().collect()).total(total)))
}

impl Row for &Route {
    const HEADINGS: &'static [&'static str] = &["METHOD", "PATH", "CALLER", "", ""];

    fn cells(&self) -> Vec<String> {
        let state = match (self.is_page(), self.ours) {
            (true, _) => "a page, or a form of one",
            (false, true) => "ours, beside the contract",
            (false, false) => "",
        };
        let path = format!("{}{}", self.base, self.path);
        let from_home = if self.from_home { "from home too" } else { "" };
        vec![self.method.to_string(), path, self.caller().to_owned(), from_home.to_owned(), state.to_owned()]
    }

    fn value(&self) -> Value {
        json!({ "method": self.method.as_str(), "path": format!("{}{}", self.base, self.path),
                "caller": self.caller(), "from_home": self.from_home, "ours": self.ours })
    }
}
