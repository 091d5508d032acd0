//! The member search: by card, member number, e-mail address and telephone number, then by beginnings of words, then by parts
//! of words; where nothing matches, by similar words.

use crate::domain::card;
use crate::domain::member_query::{self, MemberQuery};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::member_search::{self, Found};
use crate::store::tables::cards;
use crate::web::initials;

/// Results on one page; a longer query narrows them down.
const HITS_MAX: usize = 20;
/// Members that are ranked for one pattern.
const JUDGED_MAX: i64 = 200;
/// Members that are compared when no pattern matches and the query may be mistyped, the newest first.
const GUESSED_MAX: i64 = 300;

pub(crate) struct Hit {
    pub member_id: i64,
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
}

/// The members who match, the best match first; the newest members for an empty query.
pub(crate) fn find(site: &Site, typed: &str) -> Result<Hits, Failure> {
    let query = MemberQuery::parse(typed);
    let found = site.store.read(|tx| match typed.is_empty() {
        true => Ok(member_search::list_newest(tx, HITS_MAX as i64)?),
        false => search(tx, typed, &query),
    })?;
    let more = !typed.is_empty() && found.len() > HITS_MAX;
    Ok(Hits { hits: found.into_iter().take(HITS_MAX).map(hit).collect(), more })
}

/// The IDs of up to two members whose names contain every typed word or begin with it.
pub(crate) fn by_name(site: &Site, typed: &str) -> Result<Vec<i64>, Failure> {
    let query = MemberQuery::parse(typed);
    let Some(pattern) = query.prefix_pattern() else { return Ok(Vec::new()) };
    let found = site.store.read(|tx| Ok(nearest(&query, member_search::list(tx, &pattern, JUDGED_MAX)?)))?;
    // An exact name wins over names that only begin with it.
    let exact = found.iter().filter(|one| distance(&query, words(one)) == Some(0)).map(|one| one.member_id);
    let exact: Vec<i64> = exact.take(2).collect();
    Ok(if exact.is_empty() { found.iter().map(|one| one.member_id).take(2).collect() } else { exact })
}

fn search(tx: &Read, typed: &str, query: &MemberQuery) -> Result<Vec<Found>, Failure> {
    let full = |found: &[Found]| found.len() > HITS_MAX;
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
            return Ok(found);
        }
    }
    if let Some(pattern) = query.phone_pattern() {
        add(&mut found, member_search::list(tx, &pattern, one_more)?);
    }
    // Few members contain several words, and those whose words begin with them are among these: one query finds both.
    let several = query.substring_pattern().filter(|_| query.has_several_words());
    let few = several.map(|pattern| member_search::list(tx, &pattern, JUDGED_MAX)).transpose()?;
    match few.filter(|few| few.len() < JUDGED_MAX as usize) {
        Some(few) => add(&mut found, nearest(query, few)),
        None => {
            for pattern in [query.prefix_pattern(), query.substring_pattern()].into_iter().flatten() {
                if !full(&found) {
                    add(&mut found, nearest(query, member_search::list(tx, &pattern, JUDGED_MAX)?));
                }
            }
        }
    }
    if found.is_empty() {
        found = guess(tx, query)?;
    }
    Ok(found)
}

fn add(found: &mut Vec<Found>, others: Vec<Found>) {
    for other in others {
        if !found.iter().any(|one| one.member_id == other.member_id) {
            found.push(other);
        }
    }
}

/// Sorts members by the distance of their names. Members whom the index matches and [`distance`] does not (it folds fewer
/// alphabets) come last.
fn nearest(query: &MemberQuery, found: Vec<Found>) -> Vec<Found> {
    let mut judged: Vec<(u32, Found)> =
        found.into_iter().map(|one| (distance(query, words(&one)).unwrap_or(u32::MAX), one)).collect();
    judged.sort_by(|(a, left), (b, right)| {
        member_query::order((*a, left.real_name.as_str()), (*b, right.real_name.as_str()))
    });
    judged.into_iter().map(|(_, one)| one).collect()
}

/// Members with words similar to the typed ones: they share a part of each word and are within the allowed distance.
fn guess(tx: &Read, query: &MemberQuery) -> Result<Vec<Found>, Failure> {
    let mut near = Vec::new();
    for pattern in query.misspelling_patterns(|word| member_search::exists(tx, word))? {
        near = member_search::sift(tx, &pattern, GUESSED_MAX, |member_id, words| {
            Some((distance(query, words)?, words[0].to_owned(), member_id))
        })?;
        if !near.is_empty() {
            break;
        }
    }
    near.sort_by(|(a, left, _), (b, right, _)| member_query::order((*a, left), (*b, right)));
    let nearest = near.into_iter().take(HITS_MAX + 1).map(|(.., member_id)| member_search::find(tx, member_id));
    Ok(nearest.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The distance of a member, by real name, screen name, username, mailbox and telephone number.
fn distance(query: &MemberQuery, [real_name, screen_name, username, email, phone]: [&str; 5]) -> Option<u32> {
    let mailbox = email.split('@').next().unwrap_or("");
    query.distance([real_name, screen_name, username, mailbox, phone].into_iter())
}

fn words(found: &Found) -> [&str; 5] {
    [&found.real_name, &found.screen_name, &found.username, &found.email, &found.phone]
}

fn hit(found: Found) -> Hit {
    let name = found.display_name().to_owned();
    let about = [found.username, found.email, found.phone];
    let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty() && *text != name).collect();
    Hit {
        member_id: found.member_id,
        initials: initials(&name),
        name,
        has_photo: found.has_photo,
        about: about.join(" · "),
        banned: found.banned,
    }
}
