//! A printout of a member's logbook.

use crate::app::papers;
use crate::documents::PersonName;
use crate::documents::printout::{self, Flight, Logbook, Signed};
use crate::domain::catalogue::{Level, PROGRAMMES, names};
use crate::domain::currency::{Currencies, Currency};
use crate::domain::entry::{self, Kind, NOT_CURRENT};
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::holdings::{self, Holding};
use crate::store::queries::logbook::{self, Line};
use crate::store::queries::standing;
use crate::store::tables::{members, tunnels};

/// The greatest numbers of flights and signatures that are listed, the latest ones; the sums include all.
const FLIGHTS_MAX: i64 = 1_000;
const SIGNED_MAX: i64 = 500;

/// The logbook of a member as a PDF, A4: flight time oldest first with running sums, the signed skills and safety records
/// with their signers. 404 where there is no such member.
pub(crate) fn pdf(site: &Site, language: Language, member_id: MemberId) -> Result<Vec<u8>, Failure> {
    let printout = site.store.read(|tx| gather(site, language, tx, member_id))?;
    papers::draw(site, move |letters| printout::draw(&printout, letters))
}

fn gather(site: &Site, language: Language, tx: &Read, member_id: MemberId) -> Result<Logbook, Failure> {
    let (now, zone) = (site.now(), tunnels::find_time_zone(tx, site.tunnel_id)?);
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
    let (flights, minutes) = logbook::sum_flown(tx, member_id, now)?;
    let flyer = standing::read(tx, member_id, now)?;
    let held = holdings::list_latest_first(tx, member_id)?;
    let since = |level: &Level| held.iter().find(|one| one.key() == level.key());
    let levels = site
        .catalogue
        .levels()
        .filter_map(|level| Some((names::say(language, &level.name).to_owned(), since(level)?.since)));
    let time = logbook::list_record(tx, member_id, Kind::Time, now, FLIGHTS_MAX)?;
    let signed = |kind| Ok::<_, Failure>(logbook::list_record(tx, member_id, kind, now, SIGNED_MAX)?);
    let note = |line: &Line| note(language, line, &flyer.lapsed);
    Ok(Logbook {
        site_name: home.name,
        site_city: home.city,
        holder: PersonName::new(profile.screen_name, profile.username),
        member_id,
        // The beginning of the day, so that the sheet keeps its bytes and its ETag until the day ends or the logbook changes.
        day: zone.day(now, 0).from,
        minutes,
        flights,
        levels: levels.collect(),
        currencies: currencies(language, &flyer.currency, &held),
        time: time.into_iter().rev().map(flight).collect(),
        skills: by_level(site, language, signed(Kind::Skill)?, note),
        safety: by_logbook(site, language, signed(Kind::Safety)?, note),
        language,
        zone,
    })
}

fn flight(line: Line) -> Flight {
    Flight { day: line.entry_date, tunnel_name: line.tunnel_name, comment: line.comment, minutes: line.minutes }
}

/// The currencies of the programmes that the member holds and that have a currency.
fn currencies(language: Language, currencies: &Currencies, held: &[Holding]) -> Vec<(String, Currency)> {
    let held = |cat_group: &&str| held.iter().any(|level| level.cat_group == **cat_group);
    let named = |cat_group: &str| Some((names::say(language, cat_group).to_owned(), currencies.find(cat_group)?));
    PROGRAMMES.into_iter().filter(held).filter_map(named).collect()
}

/// The remark on a signed entry that is suspended, lapsed or otherwise not in force.
fn note(language: Language, line: &Line, lapsed: &[&str]) -> String {
    match entry::displayed_status(line.kind, &line.cat_group, line.status, lapsed) {
        "suspended" => language.say(&Text::new("printout.suspended")),
        NOT_CURRENT => language.say(&Text::new("printout.not_current")),
        _ => String::new(),
    }
}

/// Groups the signatures by level, in the catalogue's order. Levels and skills that were removed from the catalogue
/// come last, by their numbers.
fn by_level(
    site: &Site,
    language: Language,
    lines: Vec<Line>,
    note: impl Fn(&Line) -> String,
) -> Vec<(String, Vec<Signed>)> {
    let say = |english: &str| names::say(language, english).to_owned();
    let mut groups: Vec<(String, Vec<Signed>)> =
        site.catalogue.levels().map(|level| (say(&level.name), Vec::new())).collect();
    let keys: Vec<_> = site.catalogue.levels().map(|level| level.key()).collect();
    for line in lines.into_iter().rev() {
        match site.catalogue.find_skill(&line.skill) {
            Some((level, skill)) => {
                let place = keys.iter().position(|key| *key == level.key()).unwrap_or(0);
                let note = note(&line);
                groups[place].1.push(signed(line, say(&skill.name), note));
            }
            None => {
                add(&mut groups, format!("{} {}", say(&line.cat_group), line.cat_id), signed_by_number(line, &note))
            }
        }
    }
    groups.retain(|(_, signed)| !signed.is_empty());
    groups
}

fn by_logbook(
    site: &Site,
    language: Language,
    lines: Vec<Line>,
    note: impl Fn(&Line) -> String,
) -> Vec<(String, Vec<Signed>)> {
    let say = |english: &str| names::say(language, english).to_owned();
    let mut groups: Vec<(String, Vec<Signed>)> = Vec::new();
    for line in lines.into_iter().rev() {
        let group = say(&line.cat_group);
        let one = match site.catalogue.find_safety(&line.skill) {
            Some((_, record)) => {
                let note = note(&line);
                signed(line, say(&record.name), note)
            }
            None => signed_by_number(line, &note),
        };
        add(&mut groups, group, one);
    }
    groups
}

fn add(groups: &mut Vec<(String, Vec<Signed>)>, group: String, one: Signed) {
    match groups.iter_mut().find(|(name, _)| *name == group) {
        Some((_, signed)) => signed.push(one),
        None => groups.push((group, vec![one])),
    }
}

fn signed(line: Line, name: String, note: String) -> Signed {
    let day = line.approval_date.unwrap_or(line.entry_date);
    let number = line.instructor_id.map(|id| format!("№ {id}"));
    let signer = PersonName::new(line.instructor_name, number.unwrap_or_default());
    Signed { name, day, signer, tunnel_name: line.tunnel_name, note }
}

fn signed_by_number(line: Line, note: impl Fn(&Line) -> String) -> Signed {
    let (name, note) = (format!("№ {}", line.skill), note(&line));
    signed(line, name, note)
}
