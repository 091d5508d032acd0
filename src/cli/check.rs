//! `tunneldesk check`: the settings in force and who said so. Secrets are not shown.

use super::{Global, Trouble, as_json, check_settings, table};

pub fn run(global: &Global) -> Result<String, Trouble> {
    let effective = global.settings().effective();
    check_settings(global.settings())?;
    if global.json {
        let values: serde_json::Map<_, _> = effective
            .into_iter()
            .map(|(key, value, origin)| (key, serde_json::json!({ "value": value, "origin": origin })))
            .collect();
        return Ok(as_json(&values));
    }
    let rows: Vec<_> = effective.into_iter().map(|(key, value, origin)| vec![key, value, origin]).collect();
    Ok(table(&["SETTING", "VALUE", "FROM"], &rows))
}
