//! Documents and pictures: certificates, printed logbooks, the map of progression, photos and QR codes.

pub(crate) mod calendar;
pub(crate) mod certificate;
pub(crate) mod fonts;
pub(crate) mod markup;
mod paint;
pub(crate) mod picture;
pub(crate) mod printout;
pub(crate) mod progression;
pub(crate) mod qr;
pub(crate) mod typesetting;

#[cfg(test)]
mod tests;

/// A person's name on a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PersonName {
    pub name: String,
    /// What is printed where a letter of the name cannot be: the username, or the member's number.
    pub otherwise: String,
}

impl PersonName {
    pub(crate) fn new(name: impl Into<String>, otherwise: impl Into<String>) -> PersonName {
        PersonName { name: name.into(), otherwise: otherwise.into() }
    }
}
