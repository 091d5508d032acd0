//! Documents and pictures: certificates, printed logbooks, the map of progression, photos and QR codes.

pub(crate) mod certificate;
pub(crate) mod markup;
mod paint;
pub(crate) mod picture;
pub(crate) mod printout;
pub(crate) mod progression;
pub(crate) mod qr;
mod typesetting;

use crate::i18n::language::Language;
use krilla::metadata::Metadata;

/// The properties of a PDF: its title, the site as its author, and its language.
fn describe(title: String, site_name: &str, language: Language) -> Metadata {
    Metadata::new().title(title).authors(vec![site_name.to_owned()]).language(language.tag().to_owned())
}
