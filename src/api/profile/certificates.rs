//! What a member has earned, to take home.

use crate::auth::{Member, take_document};
use crate::documents::certificate::{self, Certificate};
use crate::domain::catalogue::Level;
use crate::domain::certificate::{self as rule, CODE_BYTES, Signed};
use crate::domain::local_time::Hall;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::kinds::{Id, Line, Moment, ShortLine, Whole};
use crate::http::reply;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::certificates::{self, Held};
use crate::store::tables::{members, tunnels};
use crate::store::{Read, Write};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// Longer than any programme with a track of a site's own catalogue.
const TYPE_CHARS_MAX: usize = 120;

crate::body! {
    pub(crate) struct CertificateRequest {
        /// As it stands in the row.
        kind as "type": ShortLine<TYPE_CHARS_MAX>,
        cat_id: Whole,
        screen_name: Line<60>,
        entry_date: Moment,
        /// Oneself; anybody else is 403.
        member_id: Id,
    }
}

/// A level that the caller holds; the contract's five fields of it, sent back as they are, ask for its certificate.
#[derive(Serialize)]
pub(crate) struct Row {
    /// Programme and track, `Flyer Static`: with `cat_id` it names the level, also among those of one moment.
    r#type: String,
    cat_id: i64,
    cat_group: String,
    track: String,
    pub name: String,
    screen_name: String,
    /// Held since then.
    pub entry_date: i64,
    member_id: i64,
    /// Where the last skill that it needs was signed, and by whom: the real name, as on the paper.
    pub tunnel_name: String,
    pub signer_name: String,
}

/// The rows of a member, and whose name stands on their papers.
pub(crate) struct Earned {
    pub rows: Vec<(Row, Held)>,
    /// The real name.
    holder: String,
}

/// `GET /account/profile/certificate-list`: the levels that the caller holds, the latest first.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let earned = site.store.read(|tx| read_earned(site, tx, member.id()))?;
    Ok(reply::part(call, page, earned.rows.into_iter().map(|(row, _)| row).collect()))
}

/// `POST /account/profile/get-certificate`: a row of the certificate-list as a PDF, as base64 in a JSON string.
pub(crate) fn get(site: &Site, call: &Call, member: &Member) -> Answer {
    let CertificateRequest { kind, cat_id, screen_name, entry_date, member_id } = call.body()?;
    if member_id != member.id() {
        return Err(Failure::not_allowed());
    }
    let asked = |row: &Row| {
        (row.r#type.as_str(), row.cat_id, row.entry_date) == (kind.as_str(), cat_id, entry_date)
            && row.screen_name.trim() == screen_name
    };
    let (paper, held) = site.store.read(|tx| {
        let Earned { rows, holder } = read_earned(site, tx, member.id())?;
        let (row, held) = rows.into_iter().find(|(row, _)| asked(row)).ok_or_else(Failure::not_found)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        let paper = Paper { row, holder, home, hall: tunnels::find_hall(tx, site.tunnel_id)? };
        Ok((paper, held))
    })?;
    let code = code(site, member.id(), &held);
    take_document(site, member.id(), member.role())?;
    let sheet = paper.sheet(site, call, &code);
    let pdf = site.draw(move || certificate::draw(&sheet))?.map_err(|e| Failure::broken().because(e))?;
    site.once(call, |tx| {
        certificates::insert(tx, &code, member.id(), &held)?;
        Ok(reply::ok(&STANDARD.encode(&pdf)))
    })
}

/// What a member may be certified, the latest first.
pub(crate) fn read_earned(site: &Site, tx: &Read, member_id: i64) -> Result<Earned, Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
    let screen_name = &profile.screen_name;
    let signed = certificates::list_signed(tx, member_id)?;
    let held = certificates::list_held(tx, member_id)?;
    // A level that has left the catalogue has no name to print.
    let known = held.into_iter().filter_map(|held| Some((site.catalogue.find_level(held.key())?, held)));
    let rows = known.map(|(level, held)| (row(member_id, screen_name, level, &held, &signed), held)).collect();
    let holder = rule::name_on_paper(&profile.real_name, screen_name, &profile.username);
    Ok(Earned { rows, holder: holder.to_owned() })
}

fn row(member_id: i64, screen_name: &str, level: &Level, held: &Held, signed: &[Signed]) -> Row {
    let last = rule::completing(level, signed);
    Row {
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
    }
}

/// The same for the same certificate, and not to be guessed without the site's key.
fn code(site: &Site, member_id: i64, held: &Held) -> String {
    let (member, since) = (member_id.to_be_bytes(), held.since.to_be_bytes());
    let parts = [&member[..], held.cat_group.as_bytes(), held.cat_id.as_bytes(), held.track.as_bytes(), &since];
    let hash = site.keys.hash(Purpose::Certificate, &parts);
    let (bytes, _) = hash.split_first_chunk::<CODE_BYTES>().expect("a hash is longer than a code");
    rule::code(bytes)
}

/// Where anybody sees whether the certificate holds.
fn verify_url(site: &Site, code: &str) -> String {
    format!("{}/verify/{code}", site.public_url())
}

/// Remembers the certificate, and says where it is to be seen.
pub(crate) fn publish(site: &Site, tx: &Write, member_id: i64, held: &Held) -> Result<String, Failure> {
    let code = code(site, member_id, held);
    certificates::insert(tx, &code, member_id, held)?;
    Ok(verify_url(site, &code))
}

/// What goes on a paper.
struct Paper {
    row: Row,
    holder: String,
    home: tunnels::Tunnel,
    hall: Hall,
}

impl Paper {
    fn sheet(self, site: &Site, call: &Call, code: &str) -> Certificate {
        let Paper { row, holder, home, hall } = self;
        let levels = site.catalogue.find_programme(&row.cat_group).map_or(0, |programme| programme.levels.len());
        let emblem = if levels > 1 { row.cat_id.to_string() } else { row.cat_group.chars().take(1).collect() };
        Certificate {
            site_name: home.name,
            site_city: home.city,
            holder,
            cat_group: row.cat_group,
            track: row.track,
            level_name: row.name,
            emblem,
            day: when::day(call.language(), &hall, row.entry_date),
            signer_name: row.signer_name,
            number: rule::number(code),
            verify_url: verify_url(site, code),
            language: call.language(),
        }
    }
}
