//! What a member has earned, to take home.

use crate::call::Call;
use crate::certificate::{self, Certificate};
use crate::domain::catalogue::Level;
use crate::domain::certificate::{self as rule, CODE_BYTES, Signed};
use crate::domain::local_time::Hall;
use crate::failure::Failure;
use crate::fields;
use crate::gate::Member;
use crate::keys::Purpose;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::certificates::{self, Held};
use crate::store::{Read, Write, members, tunnels};
use crate::when;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// The one type of certificate so far.
const LEVEL: &str = "level";

/// A level that the caller holds; sent back as it is, it asks for the certificate.
#[derive(Serialize)]
pub struct Row {
    r#type: &'static str,
    cat_id: i64,
    cat_group: String,
    track: String,
    pub name: String,
    screen_name: String,
    /// Held since then.
    pub entry_date: i64,
    member_id: i64,
    /// Where the last skill that it needs was signed, and by whom.
    pub tunnel_name: String,
    pub signer_name: String,
}

/// `GET /account/profile/certificate-list`: the levels that the caller holds, the latest first.
pub fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let rows = site.store.read(|tx| rows(site, tx, member.id()))?;
    Ok(reply::part(call, page, rows.into_iter().map(|(row, _)| row).collect()))
}

/// `POST /account/profile/get-certificate`: a row of the certificate-list as a PDF, as base64 in a JSON string.
pub fn get(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.fields()?;
    let kind = body.required("type", fields::line(20));
    let cat_id = body.required("cat_id", fields::whole);
    let screen_name = body.required("screen_name", fields::line(60));
    let entry_date = body.required("entry_date", fields::moment);
    let member_id = body.required("member_id", fields::id);
    // Ours: two levels of one number can be earned at the same moment; without these the first of the list is meant.
    let (cat_group, track) = (body.optional("cat_group", fields::line(20)), body.optional("track", fields::line(20)));
    let ok = body.finish()?;
    if member_id.get(&ok) != member.id() {
        return Err(Failure::not_allowed());
    }
    let (kind, cat_id, screen_name, entry_date) =
        (kind.get(&ok), cat_id.get(&ok), screen_name.get(&ok), entry_date.get(&ok));
    let (cat_group, track) = (cat_group.get(&ok), track.get(&ok));
    let asked = |row: &Row| {
        (row.r#type, row.cat_id, row.entry_date) == (kind.as_str(), cat_id, entry_date)
            && row.screen_name.trim() == screen_name
            && cat_group.as_ref().is_none_or(|group| *group == row.cat_group)
            && track.as_ref().is_none_or(|track| *track == row.track)
    };
    let (row, held, home, hall) = site.store.read(|tx| {
        let found = rows(site, tx, member.id())?.into_iter().find(|(row, _)| asked(row));
        let (row, held) = found.ok_or_else(Failure::not_found)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok((row, held, home, tunnels::find_hall(tx, site.tunnel_id)?))
    })?;
    let code = code(site, member.id(), &held);
    let pdf =
        certificate::draw(&sheet(site, call, &row, &code, home, &hall)).map_err(|e| Failure::broken().because(e))?;
    site.once(call, |tx| {
        certificates::insert(tx, &code, member.id(), &held)?;
        Ok(reply::ok(&STANDARD.encode(&pdf)))
    })
}

/// What a member may be certified, the latest first.
pub fn rows(site: &Site, tx: &Read, member_id: i64) -> Result<Vec<(Row, Held)>, Failure> {
    let screen_name = members::find(tx, member_id)?.ok_or_else(Failure::not_signed_in)?.screen_name;
    let signed = certificates::list_signed(tx, member_id)?;
    let held = certificates::list_held(tx, member_id)?;
    // A level that has left the catalogue has no name to print.
    let known = held.into_iter().filter_map(|held| Some((site.catalogue.find_level(held.key())?, held)));
    Ok(known.map(|(level, held)| (row(member_id, &screen_name, level, &held, &signed), held)).collect())
}

fn row(member_id: i64, screen_name: &str, level: &Level, held: &Held, signed: &[Signed]) -> Row {
    let last = rule::completing(level, signed);
    Row {
        r#type: LEVEL,
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
pub fn publish(site: &Site, tx: &Write, member_id: i64, held: &Held) -> Result<String, Failure> {
    let code = code(site, member_id, held);
    certificates::insert(tx, &code, member_id, held)?;
    Ok(verify_url(site, &code))
}

fn sheet(site: &Site, call: &Call, row: &Row, code: &str, home: tunnels::Tunnel, hall: &Hall) -> Certificate {
    let levels = site.catalogue.find_programme(&row.cat_group).map_or(0, |programme| programme.levels.len());
    let emblem = if levels > 1 { row.cat_id.to_string() } else { row.cat_group.chars().take(1).collect() };
    Certificate {
        site_name: home.name,
        site_city: home.city,
        holder: row.screen_name.clone(),
        cat_group: row.cat_group.clone(),
        track: row.track.clone(),
        level_name: row.name.clone(),
        emblem,
        day: when::day(call.language(), hall, row.entry_date),
        signer_name: row.signer_name.clone(),
        number: rule::number(code),
        verify_url: verify_url(site, code),
        language: call.language(),
    }
}
