//! The history on its way upstream: to a receiver over HTTPS, to NATS, and under random faults.

#[path = "../../upstream/book.rs"]
mod book;
#[path = "../../upstream/broker.rs"]
mod broker;
mod desk;
mod document;
mod https;
mod nats;
#[path = "../../binary/harness/random.rs"]
#[allow(dead_code)] // It offers what the other suite needs, too.
mod random;
#[path = "../../upstream/receiver.rs"]
#[allow(dead_code)] // Likewise.
mod receiver;
mod storms;

use crate::harness::Site;
use crate::outbox::office;
use tunneldesk::config::{Nats, Sync, Upstream};
use tunneldesk::jobs::sync::{self, Status, Step, Uploader};
use tunneldesk::site::Site as Inside;
use tunneldesk::store::Write;
use tunneldesk::store::tables::events::{self, About, Event};
use tunneldesk::store::tables::partners;

/// Settings for the receiver of these tests.
fn settings(upstream: Upstream) -> Sync {
    Sync {
        upstream,
        client_id: "windwerk".to_owned(),
        secret_file: None,
        strict: false,
        authority: None,
        batch_rows: 10,
        interval_seconds: 60,
        scheduled: false,
    }
}

/// Settings with the secret in a file of its own.
fn https_settings(url: &str, secret: &tempfile::NamedTempFile) -> Sync {
    std::fs::write(secret.path(), "partner-secret\n").unwrap();
    Sync { secret_file: Some(secret.path().to_owned()), ..settings(Upstream::Https(url.to_owned())) }
}

fn nats_settings(port: u16) -> Sync {
    settings(Upstream::Nats(Nats {
        host: "localhost".to_owned(),
        port,
        tls: false,
        subject: "tunnels.{site_id}.history".to_owned(),
        credentials_file: None,
    }))
}

fn site_with(sync: Sync) -> Site {
    Site::open_with(|config| config.sync = Some(sync))
}

fn uploader(site: &Site) -> Uploader {
    sync::uploader(&site.for_a_job()).unwrap().expect("a receiver is named")
}

fn status(site: &Site) -> Status {
    site.inside().store.release();
    sync::status(site.inside()).unwrap()
}

fn refused(site: &Site) -> Vec<tunneldesk::store::tables::sync::Refused> {
    site.inside().store.release();
    sync::refused(site.inside()).unwrap()
}

/// Adds history rows of a partner, each with a number of its own in its detail.
fn add_rows(site: &Inside, numbers: std::ops::RangeInclusive<i64>) {
    site.store.write(site.now(), |tx| numbers.clone().try_for_each(|n| add_row(tx, n))).unwrap();
}

fn add_row(tx: &Write, n: i64) -> Result<(), tunneldesk::http::failure::Failure> {
    let partner_id = match partners::find(tx, "storm")? {
        Some(partner) => partner.partner_id,
        None => partners::insert(tx, "storm", "Storm", false, None)?,
    };
    let detail = format!("{{\"n\":{n}}}");
    events::insert(tx, Event::TokenIssued, &About { data: Some(&detail), ..About::partner(partner_id) })?;
    Ok(())
}

/// Steps until no row waits. Delays that the uploader asks for are skipped. Returns the number of steps.
fn drain(uploader: &mut Uploader) -> usize {
    for steps in 1..1_000 {
        if uploader.step() == Step::Quiet {
            return steps;
        }
    }
    panic!("it does not end");
}
