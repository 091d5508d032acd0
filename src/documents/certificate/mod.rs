//! The certificate: one A4 sheet that a member would frame, as a PDF. The same certificate is the same bytes: nothing
//! here knows a clock, a random number or a row.

mod page;
mod streamlines;

pub(crate) use page::draw;

use crate::documents::PersonName;
use crate::i18n::language::Language;

/// The content of the certificate.
#[derive(Debug, Clone)]
pub(crate) struct Certificate {
    pub site_name: String,
    pub site_city: String,
    pub holder: PersonName,
    /// The programme, `Flyer` for instance.
    pub cat_group: String,
    /// `Static`, `Dynamic` …, or empty.
    pub track: String,
    /// As people say it: `Static Level 3`.
    pub level_name: String,
    /// The text in the emblem: the level's number, or a letter where the programme has one level only.
    pub emblem: String,
    /// Since when it is held, in the sheet's language.
    pub day: String,
    /// Empty if there is no signer.
    pub signer: PersonName,
    /// As it is printed.
    pub number: String,
    /// The address in the QR code.
    pub verify_url: String,
    pub language: Language,
}

#[cfg(test)]
mod tests;
