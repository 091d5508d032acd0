//! The notifications group, and the events that make notices.

mod list;
mod made;
mod reminders;

pub const NOTIFICATIONS: &str = "/account/notifications";
