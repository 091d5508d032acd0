//! What is drawn: certificates, printed logbooks, the map of progression, pictures and QR codes.

pub(crate) mod certificate;
pub(crate) mod markup;
pub(crate) mod picture;
pub(crate) mod printout;
pub(crate) mod progression;
pub(crate) mod qr;
