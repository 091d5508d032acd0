//! The list of members. Passwords are not exported: a member with a confirmed address sets a new one by mail.

use super::cell::RowWriter;
use super::reader::{Column, Row};
use super::{Judged, List, ROWS_AT_ONCE, Written, cell, more_problems, wrong, wrong_field};
use crate::app::person::{self, Person};
use crate::domain::email;
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::http::body::{Field, Flattened, ParsedBody};
use crate::http::failure::Failure;
use crate::http::field_types::{Line, Moment, Name, Named, bounded};
use crate::http::fields::Fields;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::queries::lists::{self, Member};
use crate::store::queries::member_search;
use crate::store::tables::members::{self, Account};
use crate::store::tables::{account_claims, pins, tunnels};
use crate::store::{Read, Write};
use serde_json::Value;
use std::collections::HashMap;

/// Greatest length of a language tag, in characters, with a margin.
const TAG_CHARS_MAX: usize = 8;
/// From this number of new members on, the search index is merged into one segment, which makes searches a third
/// faster.
const GATHERED_MIN: usize = 1_000;

/// The state of the import after the lines read so far.
pub(super) struct Members {
    /// The site's country, for telephone numbers without a calling code.
    home: String,
    zone: TimeZone,
    /// Usernames and confirmed addresses in lower case, with their lines in the list.
    usernames: HashMap<String, u64>,
    confirmed: HashMap<String, u64>,
    written: usize,
}

impl Members {
    pub(super) fn new(site: &Site) -> Result<Members, Failure> {
        let home = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.country)))?;
        let (home, zone) = (home.unwrap_or_default(), site.time_zone()?);
        Ok(Members { home, zone, usernames: HashMap::new(), confirmed: HashMap::new(), written: 0 })
    }
}

crate::body! {
    struct MemberRow {
        person: Flattened<Person>,
        email_confirmed_at: Option<Moment>,
        phone_confirmed_at: Option<Moment>,
        terms_accepted_at: Option<Moment>,
        paid_until: Option<Moment>,
        banned_at: Option<Moment>,
        join_date: Option<Moment>,
        role: Option<Name<Role>>,
        language: Option<LanguageTag>,
    }
}

const fn column(name: &'static str, needed: bool) -> Column {
    Column { name, needed }
}

impl List for Members {
    type Row = Member;
    #[rustfmt::skip]
    const COLUMNS: &'static [Column] = &[
        column("username", true), column("real_name", true), column("screen_name", false), column("email", true),
        column("email_confirmed_at", false), column("phone", false), column("phone_confirmed_at", false),
        column("country", false), column("country_code", false), column("dob", false), column("tunnel", false),
        column("role", false), column("terms_accepted_at", false), column("paid_until", false), column("banned_at", false),
        column("join_date", false), column("language", false),
    ];

    /// A member whose username exists already stays unchanged; the address must be the same too.
    fn judge(&mut self, site: &Site, tx: &Read, row: &Row) -> Result<Judged<Member>, Failure> {
        let member = match read(site, row, &self.home, &self.zone) {
            Ok(member) => member,
            Err(failure) => return wrong(row, failure),
        };
        if let Some(line) = self.usernames.insert(member.username.to_lowercase(), row.line()) {
            return Ok(wrong_field(row, "username", &Text::new("list.twice").with("line", line)));
        }
        if let Some(known) = members::find_account(tx, &member.username)? {
            let same = email::canonical(&known.email) == email::canonical(&member.email);
            return Ok(match same {
                false => wrong_field(row, "username", &Text::new("list.other_owner")),
                true if is_certain(tx, &known, &member)? => Judged::Same,
                true => wrong_field(row, "username", &Text::new("list.unproven_owner")),
            });
        }
        if let Some(text) = self.address_trouble(tx, row, &member)? {
            return Ok(wrong_field(row, "email", &text));
        }
        let mut problems = more_problems();
        if let Some(tunnel_id) = member.tunnel_id
            && !tunnels::exists(tx, tunnel_id)?
        {
            problems.refuse("tunnel", Text::new("field.unknown_tunnel"));
        }
        match problems.finish() {
            Ok(_) => Ok(Judged::New(member)),
            Err(failure) => wrong(row, failure),
        }
    }

    fn write(&mut self, _: &Site, tx: &Write, row: Member) -> Result<(), Failure> {
        self.written += 1;
        lists::insert_member(tx, &row).map(drop)
    }

    fn finish(&mut self, _: &Site, tx: &Write) -> Result<(), Failure> {
        if self.written >= GATHERED_MIN {
            member_search::gather(tx)?;
        }
        Ok(())
    }
}

impl Members {
    /// A confirmed address may belong to one member only.
    fn address_trouble(&mut self, tx: &Read, row: &Row, member: &Member) -> Result<Option<Text>, Failure> {
        if member.email_confirmed_at.is_none() || member.email.is_empty() {
            return Ok(None);
        }
        if let Some(line) = self.confirmed.insert(member.email.to_lowercase(), row.line()) {
            return Ok(Some(Text::new("list.twice").with("line", line)));
        }
        let other = members::find_by_confirmed_email(tx, &member.email)?;
        Ok(other.map(|_| Text::new("list.confirmed_by_another")))
    }
}

/// Whether an account with the username and the address of a row is certainly that member's. A stranger may have signed up
/// with both before the import: such an account has a way in, and an address that nobody confirmed.
fn is_certain(tx: &Read, known: &Account, row: &Member) -> Result<bool, Failure> {
    let id = known.member_id;
    let has_way_in = || Ok::<_, Failure>(!account_claims::is_unclaimed(tx, id)? || pins::find(tx, id)?.is_some());
    let joined = || Ok::<_, Failure>(members::find(tx, id)?.map(|profile| profile.join_date));
    Ok(known.email_confirmed || known.email.is_empty() || !has_way_in()? || joined()? == Some(row.join_date))
}

/// Parses a row by the rules of signing up, with fields that an account otherwise gets later.
fn read(site: &Site, row: &Row, home: &str, zone: &TimeZone) -> Result<Member, Failure> {
    let mut fields = Fields::new(row.fields());
    fields.convert("dob", cell::read_birthday);
    for field in
        ["email_confirmed_at", "phone_confirmed_at", "terms_accepted_at", "paid_until", "banned_at", "join_date"]
    {
        fields.convert(field, cell::moment_in(zone));
    }
    let mut body = ParsedBody::<MemberRow>::read(fields);
    person::judge(&mut body.read.person, site.now(), home, &mut body.fields);
    let row = body.finish()?;
    let person = row.person;
    let email = person.email.unwrap_or_default();
    Ok(Member {
        screen_name: person.screen_name.unwrap_or_else(|| person.username.clone()),
        username: person.username,
        real_name: person.real_name,
        email_confirmed_at: row.email_confirmed_at.filter(|_| !email.is_empty()),
        email,
        phone_confirmed_at: row.phone_confirmed_at.filter(|_| person.phone.is_some()),
        phone: person.phone.unwrap_or_default(),
        country: person.country.unwrap_or_default(),
        country_code: person.country_code.unwrap_or_default(),
        dob: person.dob,
        tunnel_id: person.tunnel_id.or(Some(site.tunnel_id)),
        role: row.role.unwrap_or(Role::Member),
        terms_accepted_at: row.terms_accepted_at,
        paid_until: row.paid_until,
        banned_at: row.banned_at,
        join_date: row.join_date.unwrap_or(site.now()),
        language: row.language.unwrap_or_default(),
    })
}

impl Named for Role {
    const NAMES: &'static [(&'static str, Role)] =
        &[("member", Role::Member), ("desk", Role::Desk), ("admin", Role::Admin), ("sync", Role::Sync)];
}

/// A language tag, stored with its region.
struct LanguageTag;

impl Field for LanguageTag {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        let text = Line::<1024>::read(value)?;
        let known = Language::of_member(&text).filter(|_| text.len() <= TAG_CHARS_MAX);
        known.map(|_| text).ok_or_else(|| Text::new("field.one_of").with("values", Language::member_tags()))
    }

    fn schema() -> Value {
        bounded("Line", TAG_CHARS_MAX)
    }
}

/// The export of members.
pub(super) struct Table(TimeZone);

impl Table {
    pub(super) fn new(zone: TimeZone) -> Table {
        Table(zone)
    }
}

impl super::Table for Table {
    const COLUMNS: &'static [Column] = Members::COLUMNS;

    fn last(tx: &Read) -> Result<i64, Failure> {
        Ok(lists::last_member(tx)?)
    }

    fn write(&mut self, tx: &Read, after: i64, text: &mut String, written: &mut Written) -> Result<(), Failure> {
        Ok(lists::each_member(tx, after, ROWS_AT_ONCE, |(member_id, member)| {
            written.add(member_id);
            let mut row = RowWriter::begin(text);
            row.text(&member.username);
            row.text(&member.real_name);
            row.text(&member.screen_name);
            row.text(&member.email);
            row.exact_moment(&self.0, member.email_confirmed_at);
            row.text(&member.phone);
            row.exact_moment(&self.0, member.phone_confirmed_at);
            row.text(&member.country);
            row.text(&member.country_code);
            row.text(&member.dob.map(cell::birthday).unwrap_or_default());
            row.number(member.tunnel_id);
            row.plain(member.role.name());
            row.exact_moment(&self.0, member.terms_accepted_at);
            row.exact_moment(&self.0, member.paid_until);
            row.exact_moment(&self.0, member.banned_at);
            row.exact_moment(&self.0, member.join_date);
            row.text(&member.language);
            row.end();
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_may_have_each_language_that_members_read() {
        for tag in ["en", "de-CH", "IT", "it-CH", "fr", "es"] {
            assert_eq!(LanguageTag::read(&tag.into()).unwrap(), tag);
            assert!(Language::of_member(tag).is_some_and(|language| tag.to_lowercase().starts_with(language.tag())));
        }
        let refused = Language::English.say(&LanguageTag::read(&"rm".into()).unwrap_err());
        assert!(refused.contains("en, de, fr, es, it"), "{refused}");
    }
}
