//! Audit rows in words.

use crate::domain::audit::Row;
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::{members, partners};
use serde_json::Value;
use std::collections::HashMap;

/// The name of an actor or subject, with a link to its page.
#[derive(Clone)]
pub(super) struct Named {
    pub text: String,
    pub link: Option<String>,
}

/// Looks up names, each once a page.
pub(super) struct Namer<'a> {
    site: &'a Site,
    call: &'a Call,
    known: HashMap<String, Named>,
}

impl<'a> Namer<'a> {
    pub(super) fn new(site: &'a Site, call: &'a Call) -> Namer<'a> {
        Namer { site, call, known: HashMap::new() }
    }

    pub(super) fn moment(&self, zone: &TimeZone, at: Moment) -> String {
        when::moment(self.call.language(), zone, at)
    }

    /// The actor of a row.
    pub(super) fn actor(&mut self, actor: &str) -> Result<Named, Failure> {
        match actor.split_once(':') {
            Some(("job", _)) => Ok(self.plain(Text::new("audit.by_job"))),
            Some(("sender", _)) => Ok(self.plain(Text::new("audit.by_sender"))),
            Some(("cli", user)) => {
                let name = user.split('(').next().unwrap_or(user);
                Ok(self.plain(Text::new("audit.by_shell").with("name", name)))
            }
            _ => self.subject(actor),
        }
    }

    /// The subject of a row. An erased member is shown by number.
    pub(super) fn subject(&mut self, subject: &str) -> Result<Named, Failure> {
        if let Some(known) = self.known.get(subject) {
            return Ok(known.clone());
        }
        let named = match subject.split_once(':') {
            Some(("member", id)) => self.member(id)?,
            Some(("partner", id)) => self.partner(id)?,
            Some(("tunnel", id)) => self.plain(Text::new("audit.tunnel").with("id", id)),
            Some(("payment", id)) => self.plain(Text::new("audit.payment").with("id", id)),
            Some(("backup", id)) => self.plain(Text::new("audit.backup").with("id", id)),
            _ => self.plain(Text::new("audit.site")),
        };
        self.known.insert(subject.to_owned(), named.clone());
        Ok(named)
    }

    fn member(&self, id: &str) -> Result<Named, Failure> {
        let profile = match id.parse() {
            Ok(member_id) => self.site.store.read(|tx| Ok(members::find(tx, member_id)?))?,
            Err(_) => None,
        };
        Ok(match profile {
            Some(one) => Named { text: one.display_name().to_owned(), link: Some(format!("/desk/members/{id}")) },
            None => self.plain(Text::new("audit.member").with("id", id)),
        })
    }

    fn partner(&self, client_id: &str) -> Result<Named, Failure> {
        let partner = self.site.store.read(|tx| Ok(partners::find(tx, client_id)?))?;
        Ok(match partner {
            Some(one) => Named { text: one.name, link: Some(format!("/desk/partners/{}", one.partner_id)) },
            None => self.plain(Text::new("audit.partner").with("id", client_id)),
        })
    }

    fn plain(&self, text: Text) -> Named {
        Named { text: self.call.language().say(&text), link: None }
    }

    /// The action of a row, with the role that was given, or with the members to whom an import gave each role.
    pub(super) fn action(&mut self, row: &Row) -> Result<String, Failure> {
        let language = self.call.language();
        let detail: Value = serde_json::from_str(&row.detail).unwrap_or_default();
        let mut said = action_text(language, &row.action);
        for role in Role::ALL {
            let members = detail[role.name()].as_array().map(Vec::as_slice).unwrap_or_default();
            if members.is_empty() && detail["role"] != role.name() {
                continue;
            }
            said = language.labelled(&said, &self.call.say(super::super::staff::role_key(role)));
            let names = members.iter().map(|id| Ok(self.subject(&format!("member:{id}"))?.text));
            let names = names.collect::<Result<Vec<_>, Failure>>()?.join(", ");
            if !names.is_empty() {
                said = format!("{said} ({names})");
            }
        }
        Ok(said)
    }

    pub(super) fn origin(&self, origin: &str) -> String {
        match origin {
            "shell" => self.call.say("audit.at_shell"),
            "site" => self.call.say("audit.by_job"),
            address => address.to_owned(),
        }
    }
}

/// The text of an action, else its name, which a newer version may have written.
pub(super) fn action_text(language: Language, action: &str) -> String {
    Text::find(&format!("action.{action}"), |_| None).map_or_else(|| action.to_owned(), |text| language.say(&text))
}

/// Whether the log was intact and the text about it, from the row of a verification.
pub(super) fn verification_text(language: Language, zone: &TimeZone, row: &Row) -> (bool, Text) {
    let detail: Value = serde_json::from_str(&row.detail).unwrap_or_default();
    let number = |name: &str| detail[name].as_i64().unwrap_or_default();
    let at = when::moment(language, zone, row.at);
    if detail["sound"] == true {
        let text = Text::new("audit.sound").with("at", at).with_count("rows", number("rows"));
        return (true, text.with_count("backups", number("backups")));
    }
    let key = format!("audit.break.{}", detail["what"].as_str().unwrap_or("changed"));
    let what = Text::find(&key, |name| (name == "row").then(|| number("row").to_string()));
    let what = what.map(|text| language.say(&text)).unwrap_or_default();
    (false, Text::new("audit.broken").with("at", at).with("what", what))
}
