//! Printed slips with a code that opens an account: of a member whom the desk registered, or of an invited colleague.

use crate::app::papers;
use crate::documents::PersonName;
use crate::documents::printout::account_slip::{self, AccountSlip};
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::tunnels;

/// Whom a slip is for.
pub(super) struct Recipient {
    /// Key of the title.
    pub(super) title: &'static str,
    pub(super) name: String,
    /// Member number or role.
    pub(super) about: String,
}

/// The slip as a PDF, in `language`. The code is valid until `ends_at`.
pub(super) fn pdf(
    site: &Site,
    language: Language,
    recipient: Recipient,
    code: String,
    ends_at: Moment,
) -> Result<Vec<u8>, Failure> {
    let (home, zone) = site.store.read(|tx| {
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok((home, tunnels::find_time_zone(tx, site.tunnel_id)?))
    })?;
    let say = |text: Text| language.say(&text);
    let url = format!("{}/claim", site.public_url());
    let slip = AccountSlip {
        site_name: home.name,
        site_city: home.city,
        title: say(Text::new(recipient.title)),
        name: PersonName::new(recipient.name, &*recipient.about),
        number: recipient.about,
        lines: vec![
            say(Text::new("claim.slip_how").with("site", &url)),
            say(Text::new("claim.slip_until").with("until", when::day(language, &zone, ends_at))),
        ],
        code_word: say(Text::new("claim.code")),
        link: format!("{url}?code={code}"),
        code,
        language,
    };
    papers::draw(site, move |letters| account_slip::draw(&slip, letters))
}
