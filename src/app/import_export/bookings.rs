//! The list of bookings. Each booking belongs to a partner, whose current client identifier must be known here, or to the
//! desk. Imported bookings are not written to the history, which has only the partners' requests at this site.

use super::cell::{RowWriter, Separator};
use super::reader::{Column, Row};
use super::{Judged, List, ROWS_AT_ONCE, Written, cell, more_problems, wrong, wrong_field};
use crate::app::booking_fields::{BOOKING_MOMENTS, BookingFields, REQUIRED_FIELDS};
use crate::app::bookings::{self as booked, DESK_CLIENT_ID, desk_client};
use crate::domain::booking::Booking;
use crate::domain::ids::{MemberId, PartnerId, TunnelId};
use crate::domain::local_time::TimeZone;
use crate::http::body::{Flattened, ParsedBody};
use crate::http::failure::Failure;
use crate::http::field_types::{Line, LineAsTyped};
use crate::http::fields::{self, Fields};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::lists;
use crate::store::tables::{bookings, joins, members, partners, tunnels};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The bookings read so far: the line in the list by the partner's identifier of a booking.
pub(super) struct Bookings {
    zone: TimeZone,
    keys: HashMap<Key, u64>,
}

impl Bookings {
    pub(super) fn new(zone: TimeZone) -> Bookings {
        Bookings { zone, keys: HashMap::new() }
    }
}

/// Partner, and registration, or purchase and flight, or member and flight: the unique keys of the database.
type Key = (PartnerId, u8, i64, Moment);

#[derive(Serialize, Deserialize)]
pub(super) struct New {
    /// `None`: the desk, which has not booked at this site.
    partner_id: Option<PartnerId>,
    member_id: MemberId,
    numbers: [Option<i64>; 3],
    purchase_date: Option<Moment>,
    checkin_time: Option<Moment>,
    flight_date: Moment,
    minutes_booked: i64,
    tunnel_id: TunnelId,
}

crate::body! {
    struct BookingRow {
        client_id: Line<100>,
        username: LineAsTyped<254>,
        booking: Flattened<BookingFields>,
    }
}

const fn column(name: &'static str, needed: bool) -> Column {
    Column { name, needed }
}

impl List for Bookings {
    type Row = New;
    #[rustfmt::skip]
    const COLUMNS: &'static [Column] = &[
        column("client_id", true), column("username", true), column("registration_id", false),
        column("purchase_id", false), column("purchase_date", false), column("flight_date", true),
        column("minutes_booked", true), column("product_id", false), column("tunnel_id", true),
        column("checkin_time", false),
    ];

    /// A booking that the site has already must have the same values.
    fn judge(&mut self, _: &Site, tx: &Read, row: &Row) -> Result<Judged<New>, Failure> {
        let mut fields = Fields::new(row.fields());
        fields.ignore_zeros(&BOOKING_MOMENTS);
        REQUIRED_FIELDS.iter().for_each(|field| fields.demand(field));
        for field in BOOKING_MOMENTS {
            fields.convert(field, cell::moment_in(&self.zone));
        }
        fields.convert("minutes_booked", cell::minutes(fields::flight_minutes));
        let (client_id, username, booking) = match ParsedBody::<BookingRow>::read(fields).finish() {
            Ok(BookingRow { client_id, username, booking }) => (client_id, username, booking),
            Err(failure) => return wrong(row, failure),
        };
        let booking = booking.complete().ok_or_else(Failure::broken)?;
        let mut problems = more_problems();
        let partner_id = partners::find(tx, &client_id)?.map(|partner| partner.partner_id);
        let member = members::find_certain_account(tx, &username)?;
        if partner_id.is_none() && client_id != DESK_CLIENT_ID {
            problems.refuse("client_id", Text::new("list.unknown_client"));
        }
        if member.is_none() {
            problems.refuse("username", Text::new("field.unknown_member"));
        }
        if !tunnels::exists(tx, booking.tunnel_id)? {
            problems.refuse("tunnel_id", Text::new("field.unknown_tunnel"));
        }
        if let Err(failure) = problems.finish() {
            return wrong(row, failure);
        }
        let member_id = joins::survivor_of(tx, member.ok_or_else(Failure::broken)?.member_id)?;
        // Numbers of partners begin at 1.
        let known_partner = partner_id.unwrap_or_default();
        let (key, field) = key(known_partner, member_id, &booking);
        if let Some(line) = self.keys.insert(key, row.line()) {
            return Ok(wrong_field(row, field, &Text::new("list.twice").with("line", line)));
        }
        Ok(match bookings::find_same(tx, known_partner, member_id, &booking)? {
            None => Judged::New(New::of(partner_id, member_id, &booking)),
            Some(known) if known.member_id != member_id => {
                wrong_field(row, field, &Text::new("list.booking_of_another"))
            }
            Some(known) if known.booking == booking => Judged::Same,
            Some(_) => wrong_field(row, field, &Text::new("list.booking_differs")),
        })
    }

    fn write(&mut self, _: &Site, tx: &Write, row: New) -> Result<(), Failure> {
        let partner_id = row.partner_id.map_or_else(|| desk_client(tx), Ok)?;
        booked::import(tx, partner_id, row.member_id, &row.booking())
    }

    fn finish(&mut self, _: &Site, _: &Write) -> Result<(), Failure> {
        Ok(())
    }
}

impl New {
    fn of(partner_id: Option<PartnerId>, member_id: MemberId, booking: &Booking) -> New {
        let Booking { registration_id, purchase_id, purchase_date, product_id, checkin_time, .. } = *booking;
        New {
            partner_id,
            member_id,
            numbers: [registration_id, purchase_id, product_id],
            purchase_date,
            checkin_time,
            flight_date: booking.flight_date,
            minutes_booked: booking.minutes_booked,
            tunnel_id: booking.tunnel_id,
        }
    }

    fn booking(&self) -> Booking {
        let [registration_id, purchase_id, product_id] = self.numbers;
        Booking {
            registration_id,
            purchase_id,
            purchase_date: self.purchase_date,
            flight_date: self.flight_date,
            minutes_booked: self.minutes_booked,
            product_id,
            tunnel_id: self.tunnel_id,
            checkin_time: self.checkin_time,
        }
    }
}

/// The key of a booking, and the column to which a mistake about it refers.
fn key(partner_id: PartnerId, member_id: MemberId, booking: &Booking) -> (Key, &'static str) {
    match (booking.registration_id, booking.purchase_id) {
        (Some(registration_id), _) => ((partner_id, 0, registration_id, Moment(0)), "registration_id"),
        (None, Some(purchase_id)) => ((partner_id, 1, purchase_id, booking.flight_date), "purchase_id"),
        (None, None) => ((partner_id, 2, member_id.0, booking.flight_date), "flight_date"),
    }
}

/// The export of bookings.
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
    const COLUMNS: &'static [Column] = Bookings::COLUMNS;

    fn last(tx: &Read) -> Result<i64, Failure> {
        Ok(lists::last_booking(tx)?)
    }

    fn write(&mut self, tx: &Read, after: i64, text: &mut String, written: &mut Written) -> Result<(), Failure> {
        Ok(lists::each_booking(tx, after, ROWS_AT_ONCE, |(booking_id, client_id, username, booking)| {
            written.add(booking_id);
            let mut row = RowWriter::begin(text, self.separator);
            row.text(&client_id);
            row.text(&username);
            row.number(booking.registration_id);
            row.number(booking.purchase_id);
            row.exact_moment(&self.zone, booking.purchase_date);
            row.exact_moment(&self.zone, booking.flight_date);
            row.plain(booking.minutes_booked);
            row.number(booking.product_id);
            row.plain(booking.tunnel_id);
            row.exact_moment(&self.zone, booking.checkin_time);
            row.end();
        })?)
    }
}
