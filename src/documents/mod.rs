//! Documents and pictures: certificates, printed logbooks, the map of progression, photos and QR codes.

pub(crate) mod certificate;
pub(crate) mod markup;
mod paint;
pub(crate) mod picture;
pub(crate) mod printout;
pub(crate) mod progression;
pub(crate) mod qr;
mod typesetting;

#[cfg(test)]
mod tests;
