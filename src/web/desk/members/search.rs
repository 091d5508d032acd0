//! The member search: by card, member number, e-mail address and telephone number, then by beginnings of words, then by parts
//! of words; where nothing matches, by similar words.

use super::lookup::{self, Lookup};
use crate::domain::card;
use crate::domain::ids::MemberId;
use crate::domain::member_query::{self, MemberQuery};
use crate::http::failure::{Failure, Stop};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::member_search::{self, Found};
use crate::store::tables::{cards, joins};
use crate::web::initials;
use std::ops::ControlFlow;

/// Results on one page; a longer query narrows them down.
const HITS_MAX: usize = 20;
/// Members that are ranked for one pattern, the newest first.
const JUDGED_MAX: usize = 200;
/// Members that are ranked for one pattern when the query may be mistyped.
const GUESSED_MAX: usize = 300;

pub(crate) struct Hit {
    pub member_id: MemberId,
    pub name: String,
    pub initials: String,
    pub has_photo: bool,
    /// Username, e-mail address and telephone number, which tell members of the same name apart.
    pub about: String,
    pub banned: bool,
}

pub(crate) struct Hits {
    pub hits: Vec<Hit>,
    /// Whether there are more.
    pub more: bool,
    /// Whether nobody has the typed words, and the members have similar ones.
    pub guessed: bool,
}

/// The members who match, the best match first; the newest members for an empty query.
pub(crate) fn find(site: &Site, typed: &str) -> Result<Hits, Failure> {
    let query = MemberQuery::parse(typed);
    site.store.read(|tx| {
        let (found, guessed) = match typed.is_empty() {
            true => (member_search::list_newest(tx, HITS_MAX as i64)?, false),
            false => search(tx, typed, &query)?,
        };
        let more = !typed.is_empty() && found.len() > HITS_MAX;
        let hits = found.into_iter().take(HITS_MAX).map(|found| hit(tx, found)).collect::<Result<_, Failure>>()?;
        Ok(Hits { hits, more, guessed })
    })
}

/// Why a typed text names no single member.
pub(crate) enum NotOne {
    /// The number of one member and the username of another.
    TwoAccounts,
    Nobody,
    /// Members of that name.
    Several(Vec<Hit>),
    /// Members whom the search finds in spite of the typing: the clerk confirms who is meant.
    Similar(Vec<Hit>),
}

/// The first of them by name and number, for a text that asks who is meant.
pub(crate) fn named(hits: &[Hit]) -> String {
    const NAMED_MAX: usize = 4;
    let named: Vec<String> =
        hits.iter().take(NAMED_MAX).map(|hit| format!("{} #{}", hit.name, hit.member_id)).collect();
    named.join(", ")
}

/// The member with this number, username, e-mail address or name.
pub(crate) fn find_one(site: &Site, typed: &str) -> Result<MemberId, Stop<NotOne>> {
    match site.store.read(|tx| lookup::find_member(tx, typed))? {
        Lookup::One(member_id) => return Ok(member_id),
        Lookup::Two => return Err(Stop::Denied(NotOne::TwoAccounts)),
        Lookup::Nobody => {}
    }
    let found = by_name(site, typed)?;
    if let [one] = found.as_slice() {
        return Ok(*one);
    }
    let hits = find(site, typed)?.hits;
    Err(Stop::Denied(match found.is_empty() {
        true if hits.is_empty() => NotOne::Nobody,
        true => NotOne::Similar(hits),
        false => NotOne::Several(hits),
    }))
}

/// The IDs of up to two members whose names contain every typed word or begin with it.
fn by_name(site: &Site, typed: &str) -> Result<Vec<MemberId>, Failure> {
    let query = MemberQuery::parse(typed);
    site.store.read(|tx| {
        // An exact name wins over names that only begin with it.
        for pattern in [query.whole_word_pattern(), query.prefix_pattern()].into_iter().flatten() {
            let found = member_search::list(tx, &pattern, 2)?;
            if !found.is_empty() {
                let mut numbers =
                    found.iter().map(|one| joins::survivor_of(tx, one.member_id)).collect::<Result<Vec<_>, _>>()?;
                numbers.dedup();
                return Ok(numbers);
            }
        }
        Ok(Vec::new())
    })
}

/// The members who match, and whether they are guesses.
fn search(tx: &Read, typed: &str, query: &MemberQuery) -> Result<(Vec<Found>, bool), Failure> {
    let one_more = HITS_MAX as i64 + 1;
    let mut found = Vec::new();
    // Cards come before member numbers: a card reader types no member number.
    if let Some(owner) = card::parse(typed).map(|number| cards::find(tx, &number)).transpose()?.flatten() {
        found.extend(member_search::find(tx, owner)?);
    }
    if let Some(number) = query.number {
        add(&mut found, member_search::find(tx, number)?.into_iter().collect());
    }
    if let Some(email) = &query.email {
        add(&mut found, member_search::list_by_email(tx, email, one_more)?);
        // An e-mail address that matches is no name.
        if !found.is_empty() {
            return Ok((found, false));
        }
    }
    if let Some(pattern) = query.phone_pattern() {
        add(&mut found, member_search::list(tx, &pattern, one_more)?);
    }
    // Where no member has a typed word, none has them all.
    let known = query.known_words(|word| member_search::exists(tx, word))?;
    if !known.contains(&false) {
        add_by_words(tx, query, &mut found)?;
    }
    if let Some(pattern) = query.joined_pattern().filter(|_| found.is_empty()) {
        add(&mut found, nearest(tx, judge(tx, query, &pattern, JUDGED_MAX, 0)?)?);
    }
    if let Some((spelt_out, pattern)) = MemberQuery::spelt_out(typed).filter(|_| found.len() <= HITS_MAX) {
        let mut judged = judge(tx, &spelt_out, &pattern, JUDGED_MAX, 0)?;
        judged.retain(|one| MemberQuery::is_without_mistake(one.distance));
        add(&mut found, nearest(tx, judged)?);
    }
    match found.is_empty() {
        true => Ok((guess(tx, query, &known)?, true)),
        false => Ok((found, false)),
    }
}

/// Adds members by their words: first those with the typed words, then those whose words begin with them, then those whose
/// words contain them. Each step leaves the distances of the steps before, so it knows the least distance that is left.
fn add_by_words(tx: &Read, query: &MemberQuery, found: &mut Vec<Found>) -> Result<(), Failure> {
    // Few members contain several words: one query finds them all, and those with the words themselves are the nearest.
    if let Some(pattern) = query.substring_pattern().filter(|_| query.has_several_words()) {
        let few = judge(tx, query, &pattern, JUDGED_MAX, 0)?;
        if few.len() < JUDGED_MAX {
            add(found, nearest(tx, few)?);
            return Ok(());
        }
    }
    let steps = [query.whole_word_pattern(), query.prefix_pattern(), query.substring_pattern()];
    for (pattern, least) in steps.into_iter().flatten().zip(0..) {
        if found.len() <= HITS_MAX {
            add(found, nearest(tx, judge(tx, query, &pattern, JUDGED_MAX, least)?)?);
        }
    }
    Ok(())
}

fn add(found: &mut Vec<Found>, others: Vec<Found>) {
    for other in others {
        if !found.iter().any(|one| one.member_id == other.member_id) {
            found.push(other);
        }
    }
}

/// A member whose names were compared with the typed text.
struct Judged {
    /// [`UNLIKE`] for a member whom the index matches and [`distance`] does not: it folds fewer alphabets.
    distance: u32,
    name: String,
    member_id: MemberId,
}

const UNLIKE: u32 = u32::MAX;

/// Compares up to `max` members that match the pattern with the typed text, the newest first. Ends as soon as a page is full of
/// members at the distance `least`, when nobody can be nearer: a common name is the name of thousands.
fn judge(tx: &Read, query: &MemberQuery, pattern: &str, max: usize, least: u32) -> Result<Vec<Judged>, Failure> {
    let mut nearest = 0;
    Ok(member_search::sift(tx, pattern, max as i64, |member_id, words| {
        let distance = distance(query, words).unwrap_or(UNLIKE);
        nearest += usize::from(distance <= least);
        let judged = Judged { distance, name: words[0].to_owned(), member_id };
        (judged, if nearest > HITS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?)
}

/// The nearest members, one more than fit a page; those at the same distance by name.
fn nearest(tx: &Read, mut judged: Vec<Judged>) -> Result<Vec<Found>, Failure> {
    judged.sort_by(|a, b| member_query::order((a.distance, &a.name), (b.distance, &b.name)));
    let found = judged.iter().take(HITS_MAX + 1).map(|one| member_search::find(tx, one.member_id));
    Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Members with words similar to the typed ones: they share a part of each word and are within the allowed distance.
fn guess(tx: &Read, query: &MemberQuery, known: &[bool]) -> Result<Vec<Found>, Failure> {
    let guesses = query.misspelling_patterns(known);
    for pattern in guesses.patterns {
        let mut near = judge(tx, query, &pattern, GUESSED_MAX, guesses.least)?;
        near.retain(|one| one.distance != UNLIKE);
        if !near.is_empty() {
            return nearest(tx, near);
        }
    }
    Ok(Vec::new())
}

/// The distance of a member, by real name, screen name, username, mailbox and telephone number.
fn distance(query: &MemberQuery, [real_name, screen_name, username, email, phone]: [&str; 5]) -> Option<u32> {
    let mailbox = email.split('@').next().unwrap_or("");
    query.distance([real_name, screen_name, username, mailbox, phone].into_iter())
}

/// A member in the list; of an account that was joined into another one its own names, with that other's number.
fn hit(tx: &Read, found: Found) -> Result<Hit, Failure> {
    let own = found.member_id;
    // A joined account is closed as a banned one.
    let member_id = if found.banned { joins::survivor_of(tx, own)? } else { own };
    let name = found.display_name().to_owned();
    let about = [found.username, found.email, found.phone];
    let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty() && *text != name).collect();
    Ok(Hit {
        member_id,
        initials: initials(&name),
        name,
        has_photo: found.has_photo && member_id == own,
        about: about.join(" · "),
        banned: found.banned && member_id == own,
    })
}
