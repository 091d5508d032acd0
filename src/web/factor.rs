//! The cards about a second factor, which clerks and members see with words and addresses of their own: the code of a sign-in,
//! the secret for an authenticator app, and the recovery codes.

use super::Frame;
use crate::documents::qr;
use crate::domain::{totp, when};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use askama::Template;

/// Asks for the code of a sign-in's second step.
#[derive(Template)]
#[template(path = "public/second_step.html", config = "assets/templates/askama.toml")]
pub(super) struct CodeCard {
    pub frame: Frame,
    pub words: &'static CodeWords,
    /// Who signs in: in another tab, another sign-in may have begun.
    pub username: String,
    pub prompt: String,
    /// What the form carries beside the code: names and values.
    pub sent: [(&'static str, String); 2],
    pub problem: Option<String>,
}

/// The keys and addresses of a [`CodeCard`].
pub(super) struct CodeWords {
    pub title: &'static str,
    pub code: &'static str,
    pub go_on: &'static str,
    pub other: &'static str,
    pub action: &'static str,
    pub back: &'static str,
}

/// Shows the secret for an authenticator app, and asks for its first code.
#[derive(Template)]
#[template(path = "public/app_setup.html", config = "assets/templates/askama.toml")]
pub(super) struct SecretCard {
    frame: Frame,
    words: &'static SecretWords,
    /// SVG.
    qr: String,
    /// Base32, in groups.
    secret: String,
    problem: Option<String>,
}

/// The keys and addresses of a [`SecretCard`].
pub(super) struct SecretWords {
    pub title: &'static str,
    pub why: &'static str,
    pub picture: &'static str,
    pub secret: &'static str,
    pub code: &'static str,
    pub turn_on: &'static str,
    pub action: &'static str,
    /// Address and label.
    pub back: (&'static str, &'static str),
}

impl SecretCard {
    pub(super) fn new(
        site: &Site,
        call: &Call,
        words: &'static SecretWords,
        username: &str,
        secret: &[u8],
        problem: Option<&'static str>,
    ) -> Result<SecretCard, Failure> {
        let frame = Frame::outside(site, call)?;
        let made = totp::setup(secret, &frame.site_name, username);
        let qr = qr::svg(&made.otpauth_url)
            .ok_or_else(|| Failure::broken().because("the authenticator's URL is too long for a QR code"))?;
        let groups: Vec<String> =
            made.secret.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into_owned()).collect();
        Ok(SecretCard { problem: problem.map(|key| frame.say(key)), frame, words, qr, secret: groups.join(" ") })
    }
}

/// Shows recovery codes once, to be printed, with site, username and date.
#[derive(Template)]
#[template(path = "public/recovery_codes.html", config = "assets/templates/askama.toml")]
pub(super) struct RecoveryCodesCard {
    frame: Frame,
    words: &'static RecoveryWords,
    username: String,
    made_on: String,
    codes: Vec<String>,
}

/// The keys and the onward address of a [`RecoveryCodesCard`].
pub(super) struct RecoveryWords {
    pub title: &'static str,
    pub username: &'static str,
    pub made: &'static str,
    pub why: &'static str,
    pub used: &'static str,
    pub print: &'static str,
    pub copy: &'static str,
    pub copied: &'static str,
    pub kept: &'static str,
    pub onward: &'static str,
}

impl RecoveryCodesCard {
    pub(super) fn new(
        site: &Site,
        call: &Call,
        words: &'static RecoveryWords,
        username: String,
        codes: Vec<String>,
    ) -> Result<RecoveryCodesCard, Failure> {
        let made_on = when::day(call.language(), &site.time_zone()?, site.now());
        Ok(RecoveryCodesCard { frame: Frame::outside(site, call)?, words, username, made_on, codes })
    }
}
