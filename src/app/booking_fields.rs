//! The fields of a booking, validated alike in a partner's request and in an imported list of bookings.

use crate::http::field_types::{Count, FlightMinutes, Id, Moment};
use serde_json::json;
use std::collections::BTreeMap;

/// A request with any of these fields asks for a booking.
pub(crate) const BOOKING_FIELDS: [&str; 8] = [
    "purchase_id",
    "purchase_date",
    "flight_date",
    "minutes_booked",
    "product_id",
    "tunnel_id",
    "checkin_time",
    "registration_id",
];
/// The fields that every booking needs.
pub(crate) const NEEDED: [&str; 3] = ["flight_date", "minutes_booked", "tunnel_id"];

crate::body! {
    /// The fields of a booking as a partner's system sends them, in the API and in a list of bookings alike.
    pub(crate) struct BookingFields {
        /// Your number of the registration: sent again, it is the same booking.
        registration_id: Option<Count>,
        /// Your number of the purchase.
        purchase_id: Option<Count>,
        /// Your number of the product.
        product_id: Option<Count>,
        /// When it was bought.
        purchase_date: Option<Moment>,
        /// When the member should be there.
        checkin_time: Option<Moment>,
        /// When the flight is. Needed as soon as any field of a booking is sent.
        flight_date: Option<Moment>,
        /// Needed as soon as any field of a booking is sent.
        minutes_booked: Option<FlightMinutes>,
        /// A tunnel that this site knows. Needed as soon as any field of a booking is sent.
        tunnel_id: Option<Id>,
    }
    also json!({ "dependentRequired": BOOKING_FIELDS.map(|field| (field, NEEDED)).into_iter().collect::<BTreeMap<_, _>>() })
}
