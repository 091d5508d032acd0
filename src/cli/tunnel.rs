//! `tunneldesk tunnel …`: the tunnels that this site knows, and the import of lists of tunnels.

use super::shell::Shell;
use super::{CommandError, CommandResult, Row as Shown, Table, done, refused};
use crate::app::papers;
use crate::app::tunnels::{self, TunnelCounts};
use crate::domain::ids::TunnelId;
use crate::domain::tunnel::{self, FIELDS, Listed};
use crate::site::Site;
use crate::store::tables::tunnels::list_whole;
use clap::Subcommand;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Enough for some thousands of tunnels; there are some hundreds in the world.
const FILE_BYTES_MAX: usize = 512 * 1024;
/// The most mistakes that are shown.
const MISTAKES_MAX: usize = 50;

#[derive(Subcommand)]
#[command(
    after_help = "Exit codes: 0 done; 1 refused (every mistake of the list is named, and nothing of it is taken); 2 failed."
)]
pub(super) enum Tunnel {
    /// List the tunnels that this site knows
    List,
    /// Take a list of tunnels: new ones are added, known ones changed, none is removed. The same list again changes nothing
    #[command(after_help = "The file is CSV with a line of headings, or JSON, a list of objects. \
        Columns: tunnel_id, name, country (needed), city, time_zone, website, phone. \
        A column that is not there leaves what is known; an empty value removes it.")]
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// A row of an imported list, and its place in the list.
struct Row {
    place: String,
    values: BTreeMap<String, String>,
}

impl Tunnel {
    /// The text of the list.
    pub(super) fn read_file(&self) -> Result<Option<String>, CommandError> {
        let Tunnel::Import { file } = self else { return Ok(None) };
        let unreadable = |e: std::io::Error| refused(format!("{} cannot be read: {e}", file.display()));
        let text = crate::files::read_given_text(file).map_err(unreadable)?;
        if text.len() > FILE_BYTES_MAX {
            return Err(refused(format!("{} is larger than {} KiB", file.display(), FILE_BYTES_MAX / 1024)));
        }
        Ok(Some(text))
    }

    pub(super) fn run(&self, site: &Shell, text: Option<&str>) -> CommandResult {
        match self {
            Tunnel::List => list(site),
            Tunnel::Import { .. } => import(site, text.unwrap_or("")),
        }
    }
}

fn list(site: &Site) -> CommandResult {
    let all = site.store.read(|tx| Ok(list_whole(tx, i64::MAX, 0)?))?;
    let rows = all.into_iter().map(|tunnel| Known { is_ours: tunnel.tunnel_id == site.tunnel_id, tunnel });
    Ok(Box::new(Table::new(rows.collect())))
}

/// A tunnel that the site knows.
struct Known {
    tunnel: tunnel::Tunnel,
    is_ours: bool,
}

impl Shown for Known {
    const HEADINGS: &'static [&'static str] =
        &["NUMBER", "NAME", "CITY", "COUNTRY", "TIME ZONE", "WEBSITE", "PHONE", ""];

    fn cells(&self) -> Vec<String> {
        let tunnel = &self.tunnel;
        let texts = [&tunnel.name, &tunnel.city, &tunnel.country, &tunnel.time_zone, &tunnel.website, &tunnel.phone];
        let mut cells = vec![tunnel.tunnel_id.to_string()];
        cells.extend(texts.into_iter().cloned());
        cells.push(if self.is_ours { "this site" } else { "" }.to_owned());
        cells
    }

    fn value(&self) -> Value {
        let tunnel = &self.tunnel;
        json!({
            "tunnel_id": tunnel.tunnel_id, "name": tunnel.name, "city": tunnel.city, "country": tunnel.country,
            "time_zone": tunnel.time_zone, "website": tunnel.website, "phone": tunnel.phone, "this_site": self.is_ours,
        })
    }
}

/// Imports a list as a whole, or nothing of it.
fn import(site: &Shell, text: &str) -> CommandResult {
    let rows = match text.trim_start().chars().next() {
        Some('[' | '{') => from_json(text),
        _ => from_csv(text),
    };
    let listed = judge(rows.map_err(refused)?).map_err(|mistakes| refused(mistake_list(&mistakes)))?;
    let names: String = listed.iter().map(|one| format!("{} ", one.name)).collect();
    let TunnelCounts { new, changed, same } = site.change(|cx| tunnels::import(cx, listed))?;
    let hint = papers::unprintable(site, &names).map(|texts| texts.map(|text| text.in_english()).join(" "));
    done(
        [Some(format!("{new} new, {changed} changed, {same} as they were")), hint]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n"),
        json!({ "new": new, "changed": changed, "same": same }),
    )
}

/// Checks the rows of a list. The error has every mistake, with its place.
fn judge(rows: Vec<Row>) -> Result<Vec<Listed>, Vec<String>> {
    let (mut listed, mut mistakes) = (Vec::new(), Vec::new());
    let (mut places, mut odd): (BTreeMap<TunnelId, String>, BTreeSet<String>) = Default::default();
    for row in rows {
        // An unknown heading is reported once, not for every row.
        let unknown =
            row.values.keys().filter(|field| !FIELDS.contains(&field.as_str()) && odd.insert((*field).clone()));
        mistakes.extend(unknown.map(|field| format!("{}: there is no column {field:?}", row.place)));
        match Listed::read(|field| row.values.get(field).cloned()) {
            Ok(one) => {
                if let Some(first) = places.insert(one.tunnel_id, row.place.clone()) {
                    mistakes.push(format!("{}: tunnel_id {} stands at {first} already", row.place, one.tunnel_id));
                }
                listed.push(one);
            }
            Err(wrong) => mistakes.extend(wrong.into_iter().map(|what| format!("{}: {what}", row.place))),
        }
    }
    if listed.is_empty() && mistakes.is_empty() {
        mistakes.push("there is no tunnel in it".to_owned());
    }
    if mistakes.is_empty() { Ok(listed) } else { Err(mistakes) }
}

fn mistake_list(mistakes: &[String]) -> String {
    let mut lines = vec!["nothing was taken, because the list has mistakes:".to_owned()];
    lines.extend(mistakes.iter().take(MISTAKES_MAX).map(|mistake| format!("  {mistake}")));
    if mistakes.len() > MISTAKES_MAX {
        lines.push(format!("  … and {} more", mistakes.len() - MISTAKES_MAX));
    }
    lines.join("\n")
}

fn from_csv(text: &str) -> Result<Vec<Row>, String> {
    let text = text.trim_start_matches('\u{feff}');
    // Half of the world's spreadsheets write semicolons.
    let first = text.lines().next().unwrap_or("");
    let delimiter = if first.contains(';') && !first.contains(',') { b';' } else { b',' };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(text.as_bytes());
    let headings: Vec<String> = reader.headers().map_err(|e| e.to_string())?.iter().map(str::to_lowercase).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| format!("the list is not CSV: {e}"))?;
        let line = record.position().map_or(0, |position| line_at(text, position.byte() as usize));
        let values = headings.iter().cloned().zip(record.iter().map(str::to_owned));
        rows.push(Row { place: format!("line {line}"), values: values.collect() });
    }
    Ok(rows)
}

/// The line of the row that begins at `byte`, after the line ends that may precede it: the reader's own count is off
/// by one where lines end in CRLF.
fn line_at(text: &str, byte: usize) -> usize {
    let rest = &text.as_bytes()[byte.min(text.len())..];
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    1 + text.as_bytes()[..byte + ends].iter().filter(|byte| **byte == b'\n').count()
}

fn from_json(text: &str) -> Result<Vec<Row>, String> {
    let items: Vec<Map<String, Value>> =
        serde_json::from_str(text).map_err(|e| format!("the list is not JSON, a list of objects: {e}"))?;
    let value = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    let row = |(place, item): (usize, Map<String, Value>)| Row {
        place: format!("tunnel {}", place + 1),
        values: item.into_iter().filter_map(|(field, said)| Some((field, value(said)?))).collect(),
    };
    Ok(items.into_iter().enumerate().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_named_by_its_line_whatever_ends_the_lines() {
        for end in ["\n", "\r\n"] {
            let lines = ["tunnel_id,name", "1,One", "", "2,\"Two", "Too\"", "3,Three"].join(end);
            for text in [lines.clone(), format!("\u{feff}{lines}{end}{end}")] {
                let places: Vec<_> = from_csv(&text).unwrap().into_iter().map(|row| row.place).collect();
                assert_eq!(places, ["line 2", "line 4", "line 6"], "{text:?}");
            }
        }
    }
}
