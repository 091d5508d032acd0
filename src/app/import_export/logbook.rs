//! The list of logbook entries, of all members and kinds. An entry that was signed at the former site is imported as
//! signed: its signer may be unknown here, and the former site has checked the requirements of the level.

use super::cell::{RowWriter, Separator};
use super::reader::{Column, Row};
use super::{Judged, List, ROWS_AT_ONCE, Written, cell, more_problems, wrong, wrong_field};
use crate::app::flights;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::rules::{self, Request};
use crate::domain::booking::Booking;
use crate::domain::entry::{Kind, Status};
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::domain::local_time::TimeZone;
use crate::domain::minutes::MINUTES;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::holdings;
use crate::store::queries::lists::{self, Entry, Names};
use crate::store::tables::{bookings, entry_events, joins, members, partners, skills};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap, HashSet};

const NAME_CHARS_MAX: usize = 254;

/// The state of the import after the lines read so far.
pub(super) struct Logbook {
    zone: TimeZone,
    /// The members whose names were read so far.
    accounts: HashMap<String, MemberId>,
    /// How often an entry occurred in the list, by its digest: two flights of a day may be alike.
    seen: HashMap<[u8; 16], i64>,
    /// Skills that have an entry; a second entry is refused.
    taken: HashSet<(MemberId, String)>,
    booked: HashSet<BookingId>,
    /// The first entries of opening balances, by member and the number in the list.
    openings: HashMap<(MemberId, String), EntryId>,
    /// Members whose levels are derived again.
    holders: BTreeSet<MemberId>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct New {
    entry: Entry,
    opening: String,
}

const fn column(name: &'static str, needed: bool) -> Column {
    Column { name, needed }
}

impl Logbook {
    pub(super) fn new(zone: TimeZone) -> Logbook {
        Logbook {
            zone,
            accounts: HashMap::new(),
            seen: HashMap::new(),
            taken: HashSet::new(),
            booked: HashSet::new(),
            openings: HashMap::new(),
            holders: BTreeSet::new(),
        }
    }
}

impl List for Logbook {
    type Row = New;
    #[rustfmt::skip]
    const COLUMNS: &'static [Column] = &[
        column("username", true), column("kind", true), column("status", false), column("entry_date", true),
        column("minutes", false), column("tunnel", false), column("skill", false), column("instructor", false),
        column("approval_date", false), column("comment", false), column("comments_instructor", false),
        column("comment_denial", false), column("author", false), column("opening", false), column("booking", false),
    ];

    /// An entry whose values all equal those of an existing entry is not inserted again.
    fn judge(&mut self, site: &Site, tx: &Read, row: &Row) -> Result<Judged<New>, Failure> {
        let (entry, recurrent, opening) = match read(site, tx, row, &self.zone, &mut self.accounts) {
            Ok(read) => read,
            Err(failure) => return wrong(row, failure),
        };
        let seen = self.seen.entry(digest(&entry)).or_default();
        *seen += 1;
        if *seen <= lists::count_same(tx, &entry)? {
            return Ok(Judged::Same);
        }
        if let Some(reason) = flights::find_import_denial(site, tx, &entry, site.now())? {
            return Ok(wrong_field(row, "username", &Text::new(reason.key())));
        }
        if let Some(booking_id) = entry.booking_id
            && (!self.booked.insert(booking_id) || lists::is_entered(tx, booking_id)?)
        {
            return Ok(wrong_field(row, "booking", &Text::new("list.booking_differs")));
        }
        let takes = entry.status.blocks_same_skill() && !recurrent;
        if entry.kind != Kind::Time && takes {
            let again = !self.taken.insert((entry.member_id, entry.skill.clone()));
            let item = rules::find_item(site, &entry.skill).ok_or_else(Failure::broken)?;
            if again || rules::is_taken(tx, entry.member_id, &entry.skill, &item, EntryId(0))? {
                return Ok(wrong_field(row, "skill", &Text::new("field.skill_taken").with("skill", &entry.skill)));
            }
        }
        Ok(Judged::New(New { entry, opening }))
    }

    fn write(&mut self, site: &Site, tx: &Write, row: New) -> Result<(), Failure> {
        let New { entry, opening } = row;
        let balance = (entry.member_id, opening);
        let known = if balance.1.is_empty() { None } else { self.openings.get(&balance).copied() };
        let entry_id = flights::import(site, tx, &entry, known)?;
        if !balance.1.is_empty() && known.is_none() {
            skills::set_opening(tx, entry_id)?;
            self.openings.insert(balance.clone(), entry_id);
        }
        if entry.kind == Kind::Skill {
            self.holders.insert(entry.member_id);
        }
        if entry.kind != Kind::Time || !balance.1.is_empty() {
            entry_events::insert(tx, entry_id, entry.author_id, None, entry_events::EntryState::Status(entry.status))?;
        }
        Ok(())
    }

    fn finish(&mut self, site: &Site, tx: &Write) -> Result<(), Failure> {
        Ok(self.holders.iter().try_for_each(|member_id| holdings::refresh(tx, *member_id, site.catalogue))?)
    }
}

/// 128 bits of SHA-256: the probability of a collision is negligible.
fn digest(entry: &Entry) -> [u8; 16] {
    let whole = Sha256::digest(format!("{entry:?}"));
    let mut digest = [0; 16];
    digest.copy_from_slice(&whole[..16]);
    digest
}

/// The parsed cells of a row.
struct Cells {
    username: String,
    kind: Kind,
    status: Status,
    request: Request,
    instructor: Option<String>,
    approval_date: Option<Moment>,
    comments_instructor: String,
    comment_denial: String,
    author: Option<String>,
    opening: String,
    booking: Option<String>,
}

fn cells_of(site: &Site, row: &Row, zone: &TimeZone) -> Result<Cells, Failure> {
    let mut body = Fields::new(row.fields());
    body.ignore_zeros(&["approval_date"]);
    let username = body.required("username", fields::line(NAME_CHARS_MAX));
    let kind = body.required("kind", fields::as_line(kind));
    let status = body.optional("status", fields::as_line(status));
    let entry_date = body.required("entry_date", cell::moment_in(zone));
    let is_time = kind.peek() == Some(&Kind::Time);
    let minutes = if is_time && !body.has("minutes") {
        body.refuse("minutes", Text::new("field.missing"));
        body.optional("nothing", fields::flight_minutes)
    } else if is_time {
        body.optional("minutes", cell::minutes(fields::flight_minutes))
    } else {
        body.optional("minutes", cell::minutes(fields::minutes_up_to(*MINUTES.end())))
    };
    let tunnel = body.optional("tunnel", fields::id);
    let skill = body.optional("skill", fields::line(NAME_CHARS_MAX));
    if !is_time && kind.peek().is_some() && !body.has("skill") {
        body.refuse("skill", Text::new("field.missing"));
    }
    let mut name = |field: &str| body.optional(field, fields::line(NAME_CHARS_MAX));
    let (instructor, author, opening, booking) = (name("instructor"), name("author"), name("opening"), name("booking"));
    let approval_date = body.optional("approval_date", cell::moment_in(zone));
    let mut text = |field: &str| body.optional(field, fields::lines(COMMENT_CHARS_MAX));
    let (comment, signed, denied) = (text("comment"), text("comments_instructor"), text("comment_denial"));
    let ok = body.finish()?;
    Ok(Cells {
        username: username.get(&ok),
        kind: kind.get(&ok),
        status: status.get(&ok).unwrap_or(Status::Open),
        request: Request {
            skill: skill.get(&ok).unwrap_or_default(),
            entry_date: entry_date.get(&ok),
            minutes: minutes.get(&ok).unwrap_or(0),
            tunnel_id: tunnel.get(&ok).unwrap_or(site.tunnel_id),
            comment: comment.get(&ok).unwrap_or_default(),
        },
        instructor: instructor.get(&ok),
        approval_date: approval_date.get(&ok),
        comments_instructor: signed.get(&ok).unwrap_or_default(),
        comment_denial: denied.get(&ok).unwrap_or_default(),
        author: author.get(&ok),
        opening: opening.get(&ok).unwrap_or_default(),
        booking: booking.get(&ok),
    })
}

/// The entry of a row, by the rules of the API for entries; whether its skill may recur; and the number of the opening
/// balance.
fn read(
    site: &Site,
    tx: &Read,
    row: &Row,
    zone: &TimeZone,
    accounts: &mut HashMap<String, MemberId>,
) -> Result<(Entry, bool, String), Failure> {
    let cells = cells_of(site, row, zone)?;
    let mut problems = more_problems();
    let mut find = |field: &str, name: Option<&str>| -> Result<Option<MemberId>, Failure> {
        let Some(name) = name else { return Ok(None) };
        if let Some(known) = accounts.get(name) {
            return Ok(Some(*known));
        }
        let found = members::find_certain_account(tx, name)?;
        let found = found.map(|account| joins::survivor_of(tx, account.member_id)).transpose()?;
        if let Some(member_id) = found {
            accounts.insert(name.to_owned(), member_id);
        } else {
            problems.refuse(field, Text::new("field.unknown_member"));
        }
        Ok(found)
    };
    let member_id = find("username", Some(&cells.username))?;
    let instructor_id = find("instructor", cells.instructor.as_deref())?;
    let author_id = find("author", cells.author.as_deref())?;
    let Some(member_id) = member_id else { return Err(problems.finish().err().unwrap_or_else(Failure::broken)) };
    let booking_id = cells.booking.as_deref().map(|key| find_booking(tx, member_id, key)).transpose()?.flatten();
    if cells.booking.is_some() && booking_id.is_none() {
        problems.refuse("booking", Text::new("list.unknown_booking"));
    }
    // The date of a booked flight may be in the future.
    let known_date = booking_id.map(|_| cells.request.entry_date);
    let place = (Some(cells.request.entry_date), Some(cells.request.tunnel_id));
    rules::check_place(tx, member_id, place, known_date, site.now(), &mut problems)?;
    if instructor_id == Some(member_id) {
        problems.refuse("instructor", Text::new("list.own_signature"));
    }
    let (cat_group, cat_id, recurrent) = catalogue_item(site, &cells, &mut problems);
    problems.finish()?;
    let entry = Entry {
        member_id,
        kind: cells.kind,
        status: cells.status,
        entry_date: cells.request.entry_date,
        minutes: cells.request.minutes,
        tunnel_id: cells.request.tunnel_id,
        cat_group,
        cat_id,
        skill: if cells.kind == Kind::Time { String::new() } else { cells.request.skill },
        instructor_id,
        approval_date: cells.approval_date,
        comment: cells.request.comment,
        comments_instructor: cells.comments_instructor,
        comment_denial: cells.comment_denial,
        author_id: author_id.unwrap_or(member_id),
        booking_id,
    };
    Ok((entry, recurrent, cells.opening))
}

/// Group, category and recurrence of a row's skill. Flight time has none, and is signed only in an opening balance.
fn catalogue_item(site: &Site, cells: &Cells, problems: &mut Fields) -> (String, String, bool) {
    let none = (String::new(), String::new(), false);
    if cells.kind == Kind::Time {
        if cells.status != Status::Open && cells.opening.is_empty() {
            problems.refuse("status", Text::new("list.time_signed"));
        }
        return none;
    }
    match rules::find_item(site, &cells.request.skill) {
        None => problems.refuse("skill", Text::new("field.unknown_skill")),
        Some(item) if item.kind != cells.kind => {
            problems.refuse("kind", Text::new("list.kind").with("kind", item.kind.name()));
        }
        Some(item) => return (item.cat_group.to_owned(), item.cat_id.to_owned(), item.recurrent),
    }
    none
}

fn kind(text: &str) -> Result<Kind, Text> {
    Kind::parse(text).ok_or_else(|| Text::new("field.one_of").with("values", "time, skill, safety"))
}

/// Parses a status. An open entry is written as `not_current`.
fn status(text: &str) -> Result<Status, Text> {
    let values = || Status::ALL.map(Status::name).join(", ");
    Status::parse(text).ok_or_else(|| Text::new("field.one_of").with("values", values()))
}

/// The key of a booking: `CLIENT/registration/NUMBER`, `CLIENT/purchase/NUMBER/FLIGHT` or `CLIENT/flight/FLIGHT`, as
/// partners identify bookings.
fn booking_key(client_id: &str, booking: &Booking) -> String {
    let flight = booking.flight_date;
    match (booking.registration_id, booking.purchase_id) {
        (Some(registration_id), _) => format!("{client_id}/registration/{registration_id}"),
        (None, Some(purchase_id)) => format!("{client_id}/purchase/{purchase_id}/{flight}"),
        (None, None) => format!("{client_id}/flight/{flight}"),
    }
}

fn find_booking(tx: &Read, member_id: MemberId, key: &str) -> Result<Option<BookingId>, Failure> {
    let parts: Vec<&str> = key.split('/').collect();
    let (client_id, registration, purchase, flight) = match parts[..] {
        [client_id, "registration", number] => (client_id, number.parse().ok(), None, Some(Moment(0))),
        [client_id, "purchase", number, flight] => {
            (client_id, None, number.parse().ok(), flight.parse().ok().map(Moment))
        }
        [client_id, "flight", flight] => (client_id, None, None, flight.parse().ok().map(Moment)),
        _ => return Ok(None),
    };
    let (Some(partner), Some(flight_date)) = (partners::find(tx, client_id)?, flight) else { return Ok(None) };
    let sought = Booking {
        registration_id: registration,
        purchase_id: purchase,
        purchase_date: None,
        flight_date,
        minutes_booked: 1,
        product_id: None,
        tunnel_id: TunnelId(0),
        checkin_time: None,
    };
    let found = bookings::find_same(tx, partner.partner_id, member_id, &sought)?;
    Ok(found.filter(|booking| booking.member_id == member_id).map(|booking| booking.booking_id))
}

/// The export of the logbook.
pub(super) struct Table {
    zone: TimeZone,
    separator: Separator,
    /// The numbers of opening balances in the order of the export, because entry numbers mean nothing to another site.
    openings: HashMap<EntryId, usize>,
}

impl Table {
    pub(super) fn new(zone: TimeZone, separator: Separator) -> Table {
        Table { zone, separator, openings: HashMap::new() }
    }

    fn write_row(&mut self, text: &mut String, entry: &Entry, names: &Names) {
        let mut row = RowWriter::begin(text, self.separator);
        row.text(&names.username);
        row.plain(entry.kind.name());
        row.plain(entry.status.name());
        row.exact_moment(&self.zone, entry.entry_date);
        row.number(Some(entry.minutes).filter(|minutes| *minutes > 0));
        row.plain(entry.tunnel_id);
        row.text(&entry.skill);
        row.text(&names.instructor);
        row.exact_moment(&self.zone, entry.approval_date);
        row.text(&entry.comment);
        row.text(&entry.comments_instructor);
        row.text(&entry.comment_denial);
        row.text(&names.author);
        let next = self.openings.len() + 1;
        row.number(names.opening.map(|number| *self.openings.entry(number).or_insert(next) as i64));
        row.text(
            &names.booking.as_ref().map(|booked| booking_key(&booked.client_id, &booked.booking)).unwrap_or_default(),
        );
        row.end();
    }
}

impl super::Table for Table {
    const COLUMNS: &'static [Column] = Logbook::COLUMNS;

    fn last(tx: &Read) -> Result<i64, Failure> {
        Ok(lists::last_entry(tx)?)
    }

    fn write(&mut self, tx: &Read, after: i64, text: &mut String, written: &mut Written) -> Result<(), Failure> {
        Ok(lists::each_entry(tx, after, ROWS_AT_ONCE, |(entry, names)| {
            written.add(names.entry_id);
            self.write_row(text, &entry, &names);
        })?)
    }
}
