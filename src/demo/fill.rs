//! Fills an empty site.

use super::{Made, Plan};
use crate::site::Site;

pub fn fill(_site: &Site, _plan: &Plan, _visibly: bool) -> Result<Made, String> {
    Ok(Made { members: 0, entries: 0, bookings: 0 })
}
