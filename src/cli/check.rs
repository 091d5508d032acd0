//! `tunneldesk check`: the settings in force, each with its origin, and warnings of settings that cannot work. Secrets are
//! not shown.

use super::{CommandResult, Global, Row, Table, check_settings, done};
use serde_json::{Map, Value, json};

pub(super) fn run(global: &Global) -> CommandResult {
    let (effective, warnings) = (global.settings().effective(), global.settings().warnings());
    check_settings(global.settings())?;
    let settings: Vec<_> = effective.into_iter().map(|(key, value, origin)| Setting { key, value, origin }).collect();
    let mut values: Map<_, _> = settings.iter().map(|setting| (setting.key.clone(), setting.value())).collect();
    let mut text = Table::new(settings).to_string();
    for warning in &warnings {
        text.push_str(&format!("\n\nWarning: {warning}"));
    }
    if !warnings.is_empty() {
        values.insert("warnings".to_owned(), json!(warnings));
    }
    done(text, Value::Object(values))
}

struct Setting {
    key: String,
    value: String,
    origin: String,
}

impl Row for Setting {
    const HEADINGS: &'static [&'static str] = &["SETTING", "VALUE", "FROM"];

    fn cells(&self) -> Vec<String> {
        vec![self.key.clone(), self.value.clone(), self.origin.clone()]
    }

    fn value(&self) -> Value {
        json!({ "value": self.value, "origin": self.origin })
    }
}
