//! Erasure of members: from every row, from the texts of other members, and from the bytes of the file. A tombstone beside
//! the backups keeps a restored one from bringing the member back.

use crate::domain::ids::MemberId;
use crate::domain::mention::{Person, Terms};
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::ops::Progress;
use crate::ops::backup::backup_store::{local_store, make_dir};
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::tombstones;
use crate::ops::signature::{Signer, Trust};
use crate::site::Site;
use crate::store::Write;
use crate::store::queries::erasure::{self, Tombstone};
use crate::store::queries::mentions::{self, Change as Mention, Search};
use crate::store::rewrite;
use crate::store::tables::{joins, members, tunnels};
use std::path::{Path, PathBuf};

/// Rows that one read looks at, so that it stays short.
const ROWS_AT_ONCE: i64 = 20_000;
/// A restored file may lack the members of its last days. Larger numbers than it can have given are passed over: they would use
/// up the numbers of its next members.
const MEMBERS_AHEAD_MAX: i64 = 1_000_000;

/// A member who is to be erased, with the texts of others that speak of the member.
#[derive(Debug)]
pub(crate) struct Leaving {
    pub person: Person,
    mentions: Vec<Mention>,
    /// The word that stands in for the person, in the site's language.
    stand_in: String,
    /// The person's accounts that were joined into this one: they go with it.
    joined: Vec<Leaving>,
}

impl Leaving {
    /// The numbers of the accounts that go.
    pub(crate) fn numbers(&self) -> Vec<MemberId> {
        let joined = self.joined.iter().flat_map(Leaving::numbers);
        std::iter::once(self.person.member_id).chain(joined).collect()
    }
}

/// Erases a member from the rows of the site. [`rebuild`] erases the bytes. `erased_at`: the moment of the first erasure.
pub(crate) fn forget(site: &Site, tx: &Write, leaving: &Leaving, erased_at: Moment) -> Result<(), Failure> {
    for mention in &leaving.mentions {
        mentions::change(tx, mention)?;
    }
    erasure::erase(tx, &site.keys, &leaving.person, erased_at, &leaving.stand_in)?;
    tracing::info!(member_id = leaving.person.member_id.0, "a member is erased");
    leaving.joined.iter().try_for_each(|one| forget(site, tx, one, erased_at))
}

/// Finds mentions of a member in every text that is declared as searched. Takes long, so it comes before the change that
/// erases the member, and reads a part at a time.
pub(crate) fn find_mentions(site: &Site, member_id: MemberId, progress: &mut Progress) -> Result<Leaving, Failure> {
    let person = site.store.read(|tx| Ok(erasure::find_person(tx, member_id)?))?.ok_or_else(Failure::not_found)?;
    let stand_in = stand_in(site)?;
    let mentions = search(site, &person.widely(), &stand_in, progress)?;
    let joined = site.store.read(|tx| Ok(joins::list(tx, member_id)?))?;
    site.store.release();
    let joined = joined.iter().map(|one| find_mentions(site, one.joined_id, progress));
    Ok(Leaving { joined: joined.collect::<Result<_, _>>()?, person, mentions, stand_in })
}

fn search(site: &Site, terms: &Terms, stand_in: &str, progress: &mut Progress) -> Result<Vec<Mention>, Failure> {
    let search = Search { keys: &site.keys, terms, stand_in };
    let mut mentions = Vec::new();
    for table in mentions::tables() {
        let all = site.store.read(|tx| Ok(mentions::count(tx, table)?))?;
        let (mut after, mut done) = (None, 0);
        loop {
            let (found, last) =
                site.store.read(|tx| Ok(mentions::list(tx, &search, table, after.as_ref(), ROWS_AT_ONCE)?))?;
            site.store.release();
            mentions.extend(found);
            if last.is_none() {
                break;
            }
            (after, done) = (last, (done + ROWS_AT_ONCE).min(all));
            progress("looking for the name", done as u64, all as u64);
        }
    }
    Ok(mentions)
}

/// The word that stands in for an erased person, in the language of the tunnel's country.
fn stand_in(site: &Site) -> Result<String, Failure> {
    let country = site.store.read(|tx| Ok(tunnels::find_own_country(tx)?))?;
    site.store.release();
    Ok(Language::of_country(&country.unwrap_or_default()).say(&Text::new("erased.person")))
}

/// Erases the members of these tombstones again in a database that came from a backup. Returns how many it still had.
pub(crate) fn erase_again(site: &Site, all: &[Tombstone], progress: &mut Progress) -> Result<usize, Failure> {
    let mut erased = 0;
    let last = site.store.read(|tx| Ok(members::last_id(tx)?))?;
    let (all, odd): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.member_id.0 <= last + MEMBERS_AHEAD_MAX);
    if !odd.is_empty() {
        tracing::warn!(number = odd.len(), "erased members are passed over: the site never had such numbers");
    }
    for tombstone in all {
        if site.store.read(|tx| Ok(erasure::is_here(tx, tombstone)?))? {
            // No audit row: the log of the later state has it, and the restore has one of its own.
            let leaving = find_mentions(site, tombstone.member_id, progress)?;
            site.store.write(site.now(), |tx| forget(site, tx, &leaving, tombstone.erased_at))?;
            erased += 1;
        }
        site.store.write(site.now(), |tx| Ok(erasure::remember(tx, tombstone)?))?;
    }
    Ok(erased)
}

/// Erases the members again whose tombstones are in the local backup store alone: a rollback brings the database back as it
/// was. Returns how many it still had.
pub(crate) fn catch_up(site: &Site, progress: &mut Progress) -> Result<usize, String> {
    let all = tombstones::list(local_store(&site.config.data).dir(), &site.site_id, &Trust::Unsigned)?;
    if all.is_empty() {
        return Ok(0);
    }
    let known = site.store.read(|tx| Ok(erasure::list(tx)?)).map_err(|e| format!("cannot read the file: {e}"))?;
    let is_known = |one: &Tombstone| known.iter().any(|k| (k.member_id, k.join_date) == (one.member_id, one.join_date));
    let gone: Vec<Tombstone> = all.into_iter().filter(|one| !is_known(one)).collect();
    let again = erase_again(site, &gone, progress);
    again.map_err(|e| format!("people who were erased are in the file again, and stay in it: {e}"))
}

/// Rebuilds the database (VACUUM) where erased bytes may be left in it. Backups and rebuilds wait for each other.
pub(crate) fn rebuild(site: &Site, progress: &mut Progress) -> Result<(), String> {
    let unreadable = |e: Failure| format!("cannot read the file: {e}");
    let due = site.store.read(|tx| Ok(erasure::list_to_do(tx)?)).map_err(unreadable)?;
    site.store.release();
    if due.is_empty() {
        return Ok(());
    }
    let backup_store = local_store(&site.config.data);
    let _lock = backup_store.lock_own()?;
    progress("rebuilding the database", 0, 1);
    rewrite(&site.store)?;
    progress("rebuilding the database", 1, 1);
    // A member who was erased meanwhile is due for the next rebuild.
    let note = |member_id: &MemberId| site.store.write(site.now(), |tx| Ok(erasure::set_rebuilt(tx, *member_id)?));
    due.iter().try_for_each(|one| note(one).map(drop)).map_err(|e| format!("cannot write the file: {e}"))
}

/// Adds all tombstones to the local backup store and off site. The error: one of them does not take them.
pub(crate) fn add_tombstones(site: &Site) -> Result<(), String> {
    let all = list(site)?;
    if all.is_empty() {
        return Ok(());
    }
    let own = local_store(&site.config.data);
    let failed = |e: std::io::Error| format!("cannot write to {}: {e}", own.dir().display());
    make_dir(own.dir()).map_err(failed)?;
    tombstones::add(own.dir(), &site.site_id, &all, &Signer::ensure(&site.config.data)?).map_err(failed)?;
    OffSite::of(site).map_or(Ok(()), |off_site| off_site.add_erased(&site.site_id, &all))
}

/// The tombstones in the database. The error is one line.
pub(crate) fn list(site: &Site) -> Result<Vec<Tombstone>, String> {
    let all = site.store.read(|tx| Ok(erasure::list(tx)?)).map_err(|e| format!("cannot read the file: {e}"));
    site.store.release();
    all
}

/// Completes erasures that were interrupted or came by a callback. Runs every minute.
pub(crate) fn complete(site: &Site) {
    let caught_up = catch_up(site, &mut |_, _, _| ());
    if let Err(cause) = caught_up.and_then(|_| rebuild(site, &mut |_, _, _| ())).and_then(|()| add_tombstones(site)) {
        tracing::warn!(cause, "an erasure is not complete; the next minute tries again");
    }
}

/// Copies of the database that nothing prunes: they hold the members who were erased since, until a person removes them.
pub(crate) fn older_copies(data: &Path) -> Vec<PathBuf> {
    let in_dir = |dir: PathBuf| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let begins = |path: &Path, start: &str| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(start));
    let replaced = in_dir(data.to_owned()).filter(|path| begins(path, "replaced-"));
    let upgraded = in_dir(data.join("backups")).filter(|path| begins(path, "before-schema-"));
    let mut copies: Vec<PathBuf> = replaced.chain(upgraded).collect();
    copies.sort();
    copies
}
