//! The fields of a booking, validated alike in a partner's request and in an imported list of bookings.

use crate::domain::ids::TunnelId;
use crate::moment::Moment;

use crate::http::field_types::{Count, FlightMinutes};
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
/// The moments among them, of which 0 counts as absent.
pub(crate) const BOOKING_MOMENTS: [&str; 3] = ["purchase_date", "flight_date", "checkin_time"];
/// The fields that every booking must have.
pub(crate) const REQUIRED_FIELDS: [&str; 3] = ["flight_date", "minutes_booked", "tunnel_id"];

crate::body! {
    /// The fields of a booking as a partner's system sends them, in the API and in a list of bookings alike.
    pub(crate) struct BookingFields {
        /// Your number of the registration: a second request with the same number means the same booking.
        registration_id: Option<Count>,
        /// Your number of the purchase.
        purchase_id: Option<Count>,
        /// Your number of the product.
        product_id: Option<Count>,
        /// The moment of the purchase.
        purchase_date: Option<Moment>,
        /// The moment by which the member should arrive.
        checkin_time: Option<Moment>,
        /// The moment of the flight. Required as soon as any field of a booking is sent.
        flight_date: Option<Moment>,
        /// Required as soon as any field of a booking is sent.
        minutes_booked: Option<FlightMinutes>,
        /// A tunnel that this site knows. Required as soon as any field of a booking is sent.
        tunnel_id: Option<TunnelId>,
    }
    also json!({ "dependentRequired": BOOKING_FIELDS.map(|field| (field, REQUIRED_FIELDS)).into_iter().collect::<BTreeMap<_, _>>() })
}
