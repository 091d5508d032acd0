//! The statements of each table, one file a table.

pub(crate) mod account_claims;
pub(crate) mod accounts;
pub mod audit;
pub mod bans;
pub mod bookings;
pub(crate) mod brief_pictures;
pub(crate) mod briefs;
pub(crate) mod callbacks;
pub(crate) mod cards;
pub(crate) mod certificates;
pub(crate) mod consents;
pub mod contact;
pub(crate) mod deletions;
pub(crate) mod devices;
pub(crate) mod email_tokens;
pub(crate) mod emergency_contacts;
pub(crate) mod endings;
pub mod entries;
pub(crate) mod entry_events;
pub mod events;
pub(crate) mod failed_attempts;
pub(crate) mod former_names;
pub(crate) mod guardianships;
pub mod history;
pub mod hooks;
pub(crate) mod invitations;
pub(crate) mod joins;
pub(crate) mod kiosks;
pub(crate) mod languages;
pub(crate) mod leavings;
pub(crate) mod media;
pub mod members;
pub mod notices;
pub mod outbox;
pub(crate) mod partner_users;
pub mod partners;
pub(crate) mod passcodes;
pub mod passkeys;
pub(crate) mod payments;
pub mod pins;
pub(crate) mod refused_check_ins;
pub(crate) mod reminders;
pub(crate) mod replays;
pub(crate) mod second_factors;
pub mod security_answers;
pub mod sessions;
pub(crate) mod settings;
pub(crate) mod shift_note;
pub(crate) mod sign_in_steps;
pub mod signers;
pub(crate) mod signing_links;
pub(crate) mod site_texts;
pub mod skills;
pub mod social_links;
pub mod suppressed;
pub mod sync;
pub(crate) mod throttles;
pub(crate) mod till;
pub(crate) mod tls;
pub mod tunnels;
pub(crate) mod undos;
pub(crate) mod waivers;

use crate::store::Write;
use crate::store::personal::{OF_LIBRARIES, Seen, Table};
use crate::store::queries::{holdings, hours};

/// The declarations of all tables. A test walks the schema and fails where one is missing here.
pub(crate) const PERSONAL: &[&[Table]] = &[
    account_claims::PERSONAL,
    audit::PERSONAL,
    bans::PERSONAL,
    bookings::PERSONAL,
    brief_pictures::PERSONAL,
    briefs::PERSONAL,
    callbacks::PERSONAL,
    cards::PERSONAL,
    certificates::PERSONAL,
    consents::PERSONAL,
    contact::PERSONAL,
    deletions::PERSONAL,
    devices::PERSONAL,
    email_tokens::PERSONAL,
    emergency_contacts::PERSONAL,
    entries::PERSONAL,
    entry_events::PERSONAL,
    events::PERSONAL,
    failed_attempts::PERSONAL,
    former_names::PERSONAL,
    guardianships::PERSONAL,
    hooks::PERSONAL,
    invitations::PERSONAL,
    joins::PERSONAL,
    kiosks::PERSONAL,
    media::PERSONAL,
    members::PERSONAL,
    notices::PERSONAL,
    outbox::PERSONAL,
    partner_users::PERSONAL,
    partners::PERSONAL,
    passcodes::PERSONAL,
    passkeys::PERSONAL,
    payments::PERSONAL,
    refused_check_ins::PERSONAL,
    reminders::PERSONAL,
    replays::PERSONAL,
    second_factors::PERSONAL,
    security_answers::PERSONAL,
    sessions::PERSONAL,
    settings::PERSONAL,
    shift_note::PERSONAL,
    sign_in_steps::PERSONAL,
    signers::PERSONAL,
    signing_links::PERSONAL,
    site_texts::PERSONAL,
    social_links::PERSONAL,
    suppressed::PERSONAL,
    sync::PERSONAL,
    throttles::PERSONAL,
    till::PERSONAL,
    tls::PERSONAL,
    tunnels::PERSONAL,
    undos::PERSONAL,
    waivers::PERSONAL,
    holdings::PERSONAL,
    hours::PERSONAL,
    OF_LIBRARIES,
];

/// Removes expired rows of every table, this many of a kind at most. Returns how many.
pub(crate) fn purge_expired(tx: &Write, rows: i64) -> rusqlite::Result<usize> {
    PERSONAL.iter().copied().flatten().try_fold(0, |removed, table| Ok(removed + table.purge(tx, rows)?))
}

/// The tables whose rows are seen there.
pub(crate) fn seen(place: Seen) -> Vec<&'static str> {
    PERSONAL.iter().copied().flatten().filter(|table| table.seen == place).map(|table| table.name).collect()
}
