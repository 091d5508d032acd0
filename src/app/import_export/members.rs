//! The list of members. Passwords are not exported: a member with a confirmed address sets a new one by mail.

use super::cell::{RowWriter, Separator};
use super::reader::{Column, Row};
use super::{
    Difference, GivenRole, Judged, List, Mode, ROWS_AT_ONCE, Written, cell, more_problems, wrong, wrong_field,
};
use crate::app::person::{self, Person};
use crate::domain::email;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::http::body::{Field, Flattened, ParsedBody};
use crate::http::failure::Failure;
use crate::http::field_types::{Line, Name, Named, StoredMoment, bounded};
use crate::http::fields::Fields;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::lists::{self, Member};
use crate::store::queries::member_search;
use crate::store::tables::members::{self, Account};
use crate::store::tables::{account_claims, pins, tunnels};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};
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
    /// Whether known members get the values of the list.
    updates: bool,
    written: usize,
    /// Whether the list may give roles above `member`.
    may_give_roles: bool,
    roles: Vec<GivenRole>,
}

/// What a line does.
#[derive(Serialize, Deserialize)]
pub(super) enum Staged {
    New(Member),
    /// A known member, with the new values.
    Changed(MemberId, Member),
}

impl Members {
    pub(super) fn new(site: &Site, mode: Mode) -> Result<Members, Failure> {
        let home = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.country)))?;
        let (home, zone) = (home.unwrap_or_default(), site.time_zone()?);
        Ok(Members {
            home,
            zone,
            usernames: HashMap::new(),
            confirmed: HashMap::new(),
            updates: mode.update,
            written: 0,
            may_give_roles: mode.roles,
            roles: Vec::new(),
        })
    }
}

crate::body! {
    struct MemberRow {
        person: Flattened<Person>,
        email_confirmed_at: Option<StoredMoment>,
        phone_confirmed_at: Option<StoredMoment>,
        terms_accepted_at: Option<StoredMoment>,
        paid_until: Option<StoredMoment>,
        banned_at: Option<StoredMoment>,
        join_date: Option<StoredMoment>,
        role: Option<Name<Role>>,
        language: Option<LanguageTag>,
    }
}

const MOMENTS: [&str; 6] =
    ["email_confirmed_at", "phone_confirmed_at", "terms_accepted_at", "paid_until", "banned_at", "join_date"];

const fn column(name: &'static str, needed: bool) -> Column {
    Column { name, needed }
}

/// Takes a value of a list over.
type Take = fn(&mut Member, &Member);

/// The values that a list may change of a known member: no way to reach or to open the account, no role and no ban.
const TAKEN: [(&str, Take); 8] = [
    ("real_name", |known, listed| known.real_name.clone_from(&listed.real_name)),
    ("screen_name", |known, listed| known.screen_name.clone_from(&listed.screen_name)),
    ("country", |known, listed| known.country.clone_from(&listed.country)),
    ("dob", |known, listed| known.dob = listed.dob),
    ("tunnel", |known, listed| known.tunnel_id = listed.tunnel_id),
    ("paid_until", |known, listed| known.paid_until = listed.paid_until),
    ("join_date", |known, listed| known.join_date = listed.join_date),
    ("language", |known, listed| known.language.clone_from(&listed.language)),
];

impl List for Members {
    type Row = Staged;
    #[rustfmt::skip]
    const COLUMNS: &'static [Column] = &[
        column("username", true), column("real_name", true), column("screen_name", false), column("email", true),
        column("email_confirmed_at", false), column("phone", false), column("phone_confirmed_at", false),
        column("country", false), column("country_code", false), column("dob", false), column("tunnel", false),
        column("role", false), column("terms_accepted_at", false), column("paid_until", false), column("banned_at", false),
        column("join_date", false), column("language", false),
    ];

    /// A member whose username exists already stays unchanged, or gets the values of the list where that is asked for; the
    /// address must be the same too, or the name, of a member who came by a list.
    fn judge(&mut self, site: &Site, tx: &Read, row: &Row) -> Result<Judged<Staged>, Failure> {
        let member = match read(site, row, &self.home, &self.zone) {
            Ok(member) => member,
            Err(failure) => return wrong(row, failure),
        };
        if let Some(line) = self.usernames.insert(member.username.to_lowercase(), row.line()) {
            return Ok(wrong_field(row, "username", &Text::new("list.twice").with("line", line)));
        }
        if let Some(known) = members::find_account(tx, &member.username)? {
            return match find_owner(tx, &known, &member)? {
                Owner::Another => Ok(wrong_field(row, "username", &Text::new("list.other_owner"))),
                Owner::Unproven => Ok(wrong_field(row, "username", &Text::new("list.unproven_owner"))),
                Owner::Certain if self.updates => self.compare(tx, row, known.member_id, &member),
                Owner::Certain => Ok(Judged::Same),
            };
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
        if member.role.is_above_member() && !self.may_give_roles {
            problems.refuse("role", Text::new("list.role_unasked"));
        }
        if let Err(failure) = problems.finish() {
            return wrong(row, failure);
        }
        if member.role.is_above_member() {
            self.roles.push(GivenRole { role: member.role, username: member.username.clone(), member_id: None });
        }
        Ok(Judged::New(Staged::New(member)))
    }

    fn write(&mut self, _: &Site, tx: &Write, row: Staged) -> Result<(), Failure> {
        self.written += 1;
        match row {
            Staged::New(member) => {
                let member_id = lists::insert_member(tx, &member)?;
                if member.role.is_above_member()
                    && let Some(given) = self.roles.iter_mut().find(|given| given.username == member.username)
                {
                    given.member_id = Some(member_id);
                }
                Ok(())
            }
            Staged::Changed(member_id, member) => Ok(lists::update_member(tx, member_id, &member).map(drop)?),
        }
    }

    fn roles(&self) -> &[GivenRole] {
        &self.roles
    }

    fn finish(&mut self, _: &Site, tx: &Write) -> Result<(), Failure> {
        if self.written >= GATHERED_MIN {
            member_search::gather(tx)?;
        }
        Ok(())
    }
}

impl Members {
    /// The values of a row that differ from those of a known member. Staff stay as they are.
    fn compare(&self, tx: &Read, row: &Row, member_id: MemberId, listed: &Member) -> Result<Judged<Staged>, Failure> {
        let known = lists::find_member(tx, member_id)?.ok_or_else(Failure::not_found)?;
        if known.role != Role::Member {
            return Ok(Judged::Same);
        }
        if let Some(tunnel_id) = listed.tunnel_id
            && !tunnels::exists(tx, tunnel_id)?
        {
            return Ok(wrong_field(row, "tunnel", &Text::new("field.unknown_tunnel")));
        }
        let mut new = known.clone();
        for (field, take) in TAKEN {
            if row.has(field) {
                take(&mut new, listed);
            }
        }
        let (before, after) = (self.shown(&known), self.shown(&new));
        let differences: Vec<Difference> = before
            .into_iter()
            .zip(after)
            .filter(|(before, after)| before != after)
            .map(|((field, from), (_, to))| Difference {
                line: row.line(),
                of: known.username.clone(),
                field,
                from,
                to,
            })
            .collect();
        if differences.is_empty() {
            return Ok(Judged::Same);
        }
        Ok(Judged::Changed(Staged::Changed(member_id, new), differences))
    }

    /// The values that a list may change, in words.
    fn shown(&self, member: &Member) -> [(&'static str, String); 8] {
        let day = |moment: Option<Moment>| moment.map(|moment| self.zone.date(moment)).unwrap_or_default();
        [
            ("real_name", member.real_name.clone()),
            ("screen_name", member.screen_name.clone()),
            ("country", member.country.clone()),
            ("dob", member.dob.map(cell::birthday).unwrap_or_default()),
            ("tunnel", member.tunnel_id.map(|id| id.to_string()).unwrap_or_default()),
            ("paid_until", day(member.paid_until)),
            ("join_date", day(Some(member.join_date))),
            ("language", member.language.clone()),
        ]
    }

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

/// Whose an account with the username of a row is.
enum Owner {
    Certain,
    /// The username is another's.
    Another,
    /// Perhaps a stranger's, who signed up with the member's username and address before the import: such an account has a way
    /// in, and an address that nobody confirmed.
    Unproven,
}

fn find_owner(tx: &Read, known: &Account, row: &Member) -> Result<Owner, Failure> {
    let id = known.member_id;
    let profile = members::find(tx, id)?.ok_or_else(Failure::not_found)?;
    let is_listed = !lists::is_signed_up_here(tx, id)?;
    if email::canonical(&known.email) != email::canonical(&row.email) {
        // Whoever came by a list may have another address by now.
        let is_same_name = profile.real_name.to_lowercase() == row.real_name.to_lowercase();
        return Ok(if is_listed && is_same_name { Owner::Certain } else { Owner::Another });
    }
    let has_way_in = || Ok::<_, Failure>(!account_claims::is_unclaimed(tx, id)? || pins::find(tx, id)?.is_some());
    let is_certain = is_listed
        || known.email_confirmed
        || known.email.is_empty()
        || profile.join_date == row.join_date
        || !has_way_in()?;
    Ok(if is_certain { Owner::Certain } else { Owner::Unproven })
}

/// Parses a row by the rules of signing up, with fields that an account otherwise gets later.
fn read(site: &Site, row: &Row, home: &str, zone: &TimeZone) -> Result<Member, Failure> {
    let mut fields = Fields::new(row.fields());
    fields.convert("dob", cell::read_birthday);
    fields.ignore_zeros(&MOMENTS);
    for field in MOMENTS.into_iter().filter(|field| *field != "paid_until") {
        fields.convert(field, cell::moment_in(zone));
    }
    fields.convert("paid_until", cell::last_day_in(zone));
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

/// A language tag, stored with its region; or the language's own name.
struct LanguageTag;

impl Field for LanguageTag {
    type Value = String;

    fn read(value: &Value) -> Result<String, Text> {
        let text = Line::<1024>::read(value)?.replace('_', "-");
        let named = Language::ALL.iter().find(|one| one.name().to_lowercase() == text.to_lowercase());
        let tag = named.map_or(text, |language| language.tag().to_owned());
        let known = Language::find(&tag).filter(|_| tag.len() <= TAG_CHARS_MAX);
        known.map(|_| tag).ok_or_else(|| Text::new("field.one_of").with("values", Language::tags()))
    }

    fn schema() -> Value {
        bounded("Line", TAG_CHARS_MAX)
    }
}

/// The export of members.
pub(super) struct Table {
    zone: TimeZone,
    separator: Separator,
}

impl Table {
    pub(super) fn new(zone: TimeZone, separator: Separator) -> Table {
        Table { zone, separator }
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
            let mut row = RowWriter::begin(text, self.separator);
            row.text(&member.username);
            row.text(&member.real_name);
            row.text(&member.screen_name);
            row.text(&member.email);
            row.exact_moment(&self.zone, member.email_confirmed_at);
            row.text(&member.phone);
            row.exact_moment(&self.zone, member.phone_confirmed_at);
            row.text(&member.country);
            row.text(&member.country_code);
            row.text(&member.dob.map(cell::birthday).unwrap_or_default());
            row.number(member.tunnel_id.map(i64::from));
            row.plain(member.role.name());
            row.exact_moment(&self.zone, member.terms_accepted_at);
            row.exact_moment(&self.zone, member.paid_until);
            row.exact_moment(&self.zone, member.banned_at);
            row.exact_moment(&self.zone, member.join_date);
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
        }
        for (written, tag) in [("de_CH", "de-CH"), ("Deutsch", "de"), ("FRANÇAIS", "fr"), ("italiano", "it")] {
            assert_eq!(LanguageTag::read(&written.into()).unwrap(), tag);
        }
        let refused = LanguageTag::read(&"rm".into()).unwrap_err().in_english();
        assert!(refused.contains("en, de, fr, es, it"), "{refused}");
    }
}
