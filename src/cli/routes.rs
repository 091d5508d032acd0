//! `tunneldesk routes`: the table, as it is.

use super::{as_json, table};
use crate::routes::ROUTES;

pub fn run(json: bool) -> String {
    if json {
        let rows: Vec<_> = ROUTES.iter().map(|r| {
            serde_json::json!({ "method": r.method.as_str(), "path": format!("{}{}", r.base, r.path), "caller": r.caller(), "built": r.built })
        }).collect();
        return as_json(&rows);
    }
    let state = |built: bool| if built { "" } else { "not built yet" };
    let rows: Vec<_> = ROUTES
        .iter()
        .map(|r| {
            vec![
                r.method.to_string(),
                format!("{}{}", r.base, r.path),
                r.caller().to_owned(),
                state(r.built).to_owned(),
            ]
        })
        .collect();
    let later = ROUTES.iter().filter(|r| !r.built).count();
    format!("{}\n\n{} operations, {later} not built yet", table(&["METHOD", "PATH", "CALLER", ""], &rows), ROUTES.len())
}
