//! The certificates of the levels that a member holds: the list, the document, and the code by which anyone can verify
//! it.

use crate::app::{Change, papers};
use crate::documents::PersonName;
use crate::documents::certificate;
use crate::domain::catalogue::{Level, names};
use crate::domain::certificate::{self as rule, CODE_BYTES, Signed};
use crate::domain::ids::MemberId;
use crate::domain::when;
use crate::http::answer::{Hidden, Int};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::Purpose;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::holdings::{self, Holding};
use crate::store::tables::{certificates, members, tunnels};

crate::answer! {
    /// A level that the member holds. Sent to `get-certificate` as it is, it asks for the paper.
    pub(crate) struct Certificate {
        /// Programme and track: `Flyer Static`, `Coach`. With `cat_id` it names the level.
        r#type as "type": String { "minLength": 1 } = "Flyer Static",
        /// The level.
        cat_id: Int = 3,
        /// The programme.
        cat_group: String = "Flyer",
        /// `Static`, `Dynamic` or `Formation`; empty where the level has none.
        track: String = "Static",
        /// The title of the certificate.
        name: String = "Static Level 3",
        /// The member's.
        screen_name: String = "Jane",
        /// Held since then.
        entry_date: Moment = 1780000000,
        member_id: MemberId = 1204,
        /// Where the last skill was signed.
        tunnel_name: String = "Windwerk",
        /// By whom: the real name, as on the paper.
        signer_name: String = "Mark Vogt",
        signer_username: Hidden<String>,
    }
}

impl Certificate {
    /// What a form names the row by: a place in the list would be another level's once a newer one is signed.
    pub(crate) fn key(&self) -> String {
        format!("{} {} {}", self.entry_date, self.cat_id, self.r#type)
    }
}

/// The levels that a member holds, the latest first, and the name on the certificates.
pub(crate) struct Earned {
    pub(crate) rows: Vec<(Certificate, Holding)>,
    /// The name that is printed: see [`rule::name_on_paper`].
    holder: PersonName,
}

/// A certificate that is ready to be drawn.
pub(crate) struct Paper {
    pub(crate) held: Holding,
    sheet: certificate::Certificate,
}

/// The levels for which a member can have a certificate. 401 where the member no longer exists.
pub(crate) fn read_earned(site: &Site, tx: &Read, member_id: MemberId) -> Result<Earned, Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
    let screen_name = &profile.screen_name;
    let signed = certificates::list_signed(tx, member_id)?;
    let held = holdings::list_latest_first(tx, member_id)?;
    // A level that was removed from the catalogue has no name to print.
    let known = held.into_iter().filter_map(|held| Some((site.catalogue.find_level(held.key())?, held)));
    let rows = known.map(|(level, held)| (row(member_id, screen_name, level, &held, &signed), held)).collect();
    let holder = rule::name_on_paper(&profile.real_name, screen_name, &profile.username);
    let number = format!("{} (№ {member_id})", profile.username);
    Ok(Earned { rows, holder: PersonName::new(holder, number) })
}

fn row(member_id: MemberId, screen_name: &str, level: &Level, held: &Holding, signed: &[Signed]) -> Certificate {
    let last = rule::completing(level, signed);
    Certificate {
        r#type: format!("{} {}", held.cat_group, held.track).trim_end().to_owned(),
        cat_id: held.cat_id.parse().unwrap_or(0),
        cat_group: held.cat_group.clone(),
        track: held.track.clone(),
        name: level.name.clone(),
        screen_name: screen_name.to_owned(),
        entry_date: held.since,
        member_id,
        tunnel_name: last.map(|one| one.tunnel_name.clone()).unwrap_or_default(),
        signer_name: last.map(|one| one.signer_name.clone()).unwrap_or_default(),
        signer_username: last.map(|one| one.signer_username.clone()).unwrap_or_default(),
    }
}

/// The certificate of the first row that `is_wanted` accepts. 404 where no row fits.
pub(crate) fn prepare(
    site: &Site,
    member_id: MemberId,
    language: Language,
    is_wanted: impl Fn(&Certificate) -> bool,
) -> Result<Paper, Failure> {
    site.store.read(|tx| {
        let Earned { rows, holder } = read_earned(site, tx, member_id)?;
        let (row, held) = rows.into_iter().find(|(row, _)| is_wanted(row)).ok_or_else(Failure::not_found)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
        let say = |english: &str| names::say(language, english).to_owned();
        let code = code(site, member_id, &held);
        let levels = site.catalogue.find_programme(&row.cat_group).map_or(0, |programme| programme.levels.len());
        let emblem = if levels > 1 { row.cat_id.to_string() } else { say(&row.cat_group).chars().take(1).collect() };
        let sheet = certificate::Certificate {
            site_name: home.name,
            site_city: home.city,
            holder,
            cat_group: say(&row.cat_group),
            track: say(&row.track),
            level_name: say(&row.name),
            emblem,
            day: when::day(language, &zone, row.entry_date),
            signer: PersonName::new(row.signer_name, row.signer_username),
            number: rule::number(&code),
            verify_url: verify_url(site, &code),
            language,
        };
        Ok(Paper { held, sheet })
    })
}

impl Paper {
    /// Draws the PDF.
    pub(crate) fn draw(&self, site: &Site) -> Result<Vec<u8>, Failure> {
        let sheet = self.sheet.clone();
        papers::draw(site, move |letters| certificate::draw(&sheet, letters))
    }
}

/// Stores that a certificate was issued, and returns the URL of the page that verifies it. A certificate that was
/// issued before changes nothing.
pub(crate) fn publish(cx: &Change, member_id: MemberId, held: &Holding) -> Result<String, Failure> {
    let code = code(cx.site, member_id, held);
    certificates::insert(cx.tx, &code, member_id, held)?;
    Ok(verify_url(cx.site, &code))
}

/// The code of a certificate: always the same, and impossible to guess without the site's key.
fn code(site: &Site, member_id: MemberId, held: &Holding) -> String {
    let (member, since) = (member_id.0.to_be_bytes(), held.since.0.to_be_bytes());
    let parts = [&member[..], held.cat_group.as_bytes(), held.cat_id.as_bytes(), held.track.as_bytes(), &since];
    let hash = site.keys.hash(Purpose::Certificate, &parts);
    let (bytes, _) = hash.split_first_chunk::<CODE_BYTES>().expect("a hash is longer than a code");
    rule::code(bytes)
}

fn verify_url(site: &Site, code: &str) -> String {
    format!("{}/verify/{code}", site.public_url())
}
