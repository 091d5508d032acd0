//! The notifications group, and what makes notices.

mod list;
mod made;
mod reminders;

pub const NOTIFICATIONS: &str = "/account/notifications";
