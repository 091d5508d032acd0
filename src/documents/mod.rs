//! What is drawn: certificates, printed logbooks, the map of progression, pictures and QR codes.

pub mod certificate;
pub mod markup;
pub mod picture;
pub mod printout;
pub mod progression;
pub mod qr;
