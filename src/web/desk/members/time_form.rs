//! The form for flight time, on a card and on a page of its own.

/// The values of the form, as typed.
#[derive(Default, Clone)]
pub(crate) struct TimeForm {
    pub minutes: String,
    /// `2026-05-31`, in the site's time zone.
    pub date: String,
    pub problem: Option<String>,
}
