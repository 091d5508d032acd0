//! `tunneldesk check`: the settings in force, each with its origin, and warnings of settings that cannot work. Secrets are
//! not shown.

use super::acquire::{AcquireError, Acquired};
use super::on_site::with_next_step;
use super::owner::become_owner;
use super::shell::Shell;
use super::{CommandResult, Global, Output, Row, Table, control, done, text};
use crate::auth::social;
use crate::clock::Clock;
use crate::config::{Config, OffSiteLocation, desk};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::ops::backup::off_site::mount::is_same_disk;
use crate::routes::TABLE;
use crate::site::{Site, live};
use clap::Args;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

#[derive(Args)]
pub(super) struct Check {}

impl Check {
    /// Runs in the shell's process.
    pub(super) fn run(&self, global: &Global, args: &[OsString]) -> CommandResult {
        let (mut settings, config) = (global.settings(), global.checked()?);
        let mut warnings: Vec<String> = off_site_on_same_disk(&config).into_iter().collect();
        warnings.extend(unusable_keys(&config));
        let open = OpenFromHome::under(&config);
        let unread = set_in_pages(config, args).map(|set| settings.add_desk(&set)).err();
        warnings.splice(0..0, settings.warnings());
        let effective = settings.effective();
        let settings: Vec<_> =
            effective.into_iter().map(|(key, value, origin)| Setting { key, value, origin }).collect();
        let mut values: Map<_, _> = settings.iter().map(|setting| (setting.key.clone(), setting.value())).collect();
        let mut text = Table::new(settings).to_string();
        if let Some(open) = &open {
            text.push_str(&format!("\n\n{open}"));
            values.insert("from_home".to_owned(), open.value());
        }
        if let Some(why) = &unread {
            text.push_str(&format!("\n\nNot shown is what admins set in pages: {why}"));
            values.insert("pages_not_shown".to_owned(), json!(why));
        }
        for warning in &warnings {
            text.push_str(&format!("\n\nWarning: {warning}"));
        }
        if !warnings.is_empty() {
            values.insert("warnings".to_owned(), json!(warnings));
        }
        done(text, Value::Object(values))
    }

    /// Runs in the server's process: what admins set in pages as JSON, for the shell's process.
    pub(super) fn answer(&self, site: &Shell) -> CommandResult {
        text(json!(read(site)?).to_string())
    }
}

/// What admins set in pages, secrets hidden: from the database, or from the server that has its lock. The error says why it is not
/// known, or not in force.
fn set_in_pages(config: Config, args: &[OsString]) -> Result<SetInPages, String> {
    let dir = config.data.clone();
    let set = match control::lock_or_connect(&dir) {
        Ok(Acquired::Locked(data_dir)) => {
            become_owner(&dir).map_err(|e| Output::of(Err(e), false).text)?;
            let site = Site::open(&data_dir, config.clone(), Clock::machine(Moment(0)))?;
            let set = read(&site);
            site.close();
            set.map_err(|e| e.to_string())?
        }
        Ok(Acquired::Server(server)) => {
            let outcome = control::ask(&server, &dir, args)?;
            let set = Some(outcome.text.as_str()).filter(|_| outcome.code == 0).map(serde_json::from_str);
            set.and_then(Result::ok).ok_or("the running server does not tell it: is it another version?")?
        }
        Err(AcquireError::Unusable(why)) => return Err(with_next_step(&why, &dir)),
        Err(AcquireError::InUse(why)) => return Err(why),
    };
    match config.with_desk(&set) {
        Ok(_) => Ok(set),
        Err(mistakes) => Err(format!("it is not in force, because of mistakes: {}", mistakes.join("; "))),
    }
}

/// Keys and values.
type SetInPages = Vec<(String, String)>;

fn read(site: &Site) -> Result<SetInPages, Failure> {
    let set = site.store.read(|tx| live::read(&site.keys, tx))?;
    Ok(set.into_iter().map(|(key, text)| (key.clone(), desk::hidden(&key, text))).collect())
}

/// The key files of other networks that cannot be used: without one nobody signs in by its network.
fn unusable_keys(config: &Config) -> Vec<String> {
    let files = social::look_at_keys(&config.social).into_iter();
    let unusable = files.filter_map(|file| Some((file.network, file.path, file.age.err()?)));
    unusable.map(|(network, path, cause)| format!("social.{network}.keys_file = {}: {cause}", path.display())).collect()
}

/// An off-site directory on the disk of the data directory.
fn off_site_on_same_disk(config: &Config) -> Option<String> {
    let Some(OffSiteLocation::Directory(dir)) = &config.backup.off_site else { return None };
    // Where a directory is not made yet, the one above it says on which disk it will be.
    let existing = |path: &Path| path.ancestors().find(|path| path.exists()).map(Path::to_owned);
    let is_same = is_same_disk(&existing(&config.data)?, &existing(dir)?);
    is_same.then(|| {
        format!(
            "backup.off_site = {}: the same disk as the site's ({}), and lost with it: name a directory on another disk",
            dir.display(),
            config.data.display()
        )
    })
}

/// What is answered under the names by which members come from home.
struct OpenFromHome {
    names: String,
    /// Each path with its methods, in the order of the table.
    paths: Vec<(String, String)>,
}

impl OpenFromHome {
    /// `None` where no name is public.
    fn under(config: &Config) -> Option<OpenFromHome> {
        if config.public_names.is_empty() {
            return None;
        }
        let mut paths: Vec<(String, String)> = Vec::new();
        for row in TABLE.iter().filter(|row| row.from_home) {
            let (path, method) = (format!("{}{}", row.base, row.path), row.method.as_str());
            match paths.iter_mut().find(|(known, _)| *known == path) {
                Some((_, methods)) => *methods = format!("{methods} {method}"),
                None => paths.push((path, method.to_owned())),
            }
        }
        Some(OpenFromHome { names: config.public_names.join(", "), paths })
    }

    fn value(&self) -> Value {
        let paths: Map<_, _> = self.paths.iter().map(|(path, methods)| (path.clone(), json!(methods))).collect();
        json!({ "names": self.names, "paths": paths })
    }
}

impl fmt::Display for OpenFromHome {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Open under {}, and nothing else:", self.names)?;
        self.paths.iter().try_for_each(|(path, methods)| write!(f, "\n  {path} ({methods})"))
    }
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
