//! The end of the audit log in a small file beside the database, with its mark. Who can write the database alone can put an
//! earlier state of it back, with the mark of that state; the file still names the later end.
//!
//! The file is written once a second at most, and names an end that was committed by then. So rows behind that end are
//! normal, and an end that the database lacks is a cut. A restore removes the file, and the next second writes it anew.

use crate::domain::audit::Head;
use crate::domain::audit_break::Break;
use crate::http::failure::Failure;
use crate::keys::{hex, unhex};
use crate::log;
use crate::site::Site;
use crate::store::data_dir::audit_end;
use crate::store::tables::audit;
use crate::store::{Condition, Read, Store};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);

/// The end that the file names. `Err`: the file is damaged, or of another site.
fn read(tx: &Read, dir: &Path) -> Result<Option<Head>, ()> {
    let Ok(bytes) = crate::files::read(&audit_end(dir)) else { return Ok(None) };
    // A power cut may leave the file empty.
    if bytes.is_empty() { Ok(None) } else { parse(tx, &String::from_utf8_lossy(&bytes)).map(Some).ok_or(()) }
}

fn parse(tx: &Read, text: &str) -> Option<Head> {
    let mut words = text.split_whitespace();
    let (seq, hash, mark) = (words.next()?.parse().ok()?, unhex(words.next()?)?, unhex(words.next()?)?);
    let end = Head { seq, hash: hash.try_into().ok()? };
    (audit::end_mark(tx, &end)?[..] == mark[..]).then_some(end)
}

/// Compares the database with the file. `None`: they agree, or there is no file yet.
pub(crate) fn judge(tx: &Read, dir: &Path) -> Result<Option<Break>, Failure> {
    let head = audit::head(tx)?;
    Ok(match read(tx, dir) {
        Ok(None) => None,
        Err(()) => Some(Break::EndDiffers { row: head.seq }),
        Ok(Some(end)) if end.seq > head.seq => Some(Break::Missing { row: head.seq + 1, to: end.seq }),
        Ok(Some(Head { seq: 0, .. })) => None,
        Ok(Some(end)) => {
            let is_there = audit::find_hash(tx, end.seq)?.is_some_and(|hash| hash == end.hash);
            (!is_there).then_some(Break::EndDiffers { row: end.seq })
        }
    })
}

/// Reports at the start that the end of the log is not the one that this site left.
pub(crate) fn report(store: &Store, dir: &Path) {
    let judged = store.read(|tx| {
        let unmarked = (!audit::is_end_marked(tx)?).then_some(Break::EndDiffers { row: audit::head(tx)?.seq });
        Ok(unmarked.or(judge(tx, dir)?))
    });
    store.release();
    match judged {
        Ok(None) => {}
        Ok(Some(broken)) => {
            tracing::error!(%broken, "the end of the audit log was cut off or changed: `tunneldesk audit verify`")
        }
        Err(cause) => tracing::warn!(%cause, "the end of the audit log could not be compared"),
    }
}

/// Writes the file, unless the database lacks the end that it names: that end stays until somebody has noted it.
pub(crate) fn keep(site: &Site) {
    if let Ok(Some(end)) = next(site) {
        write(site, &end);
    }
}

/// The file's next text, where the log has a later end than the file names.
fn next(site: &Site) -> Result<Option<String>, Failure> {
    if site.store.writer().condition() == Condition::ReadOnly {
        return Ok(None);
    }
    let text = site.store.read(|tx| {
        let head = audit::head(tx)?;
        let stands = read(tx, &site.config.data).is_ok_and(|end| end == Some(head));
        let Some(mark) = audit::end_mark(tx, &head).filter(|_| !stands) else { return Ok(None) };
        if !audit::is_end_marked(tx)? || judge(tx, &site.config.data)?.is_some() {
            return Ok(None);
        }
        Ok(Some(format!("{} {} {}\n", head.seq, hex(&head.hash), hex(&mark))))
    });
    site.store.release();
    text
}

fn write(site: &Site, text: &str) {
    let beside = site.config.data.join(".audit-end.new");
    let written =
        crate::files::write(&beside, text).and_then(|()| std::fs::rename(&beside, audit_end(&site.config.data)));
    if let Err(e) = written
        && let Some(left_out) = log::due(("audit end", e.kind()))
    {
        tracing::warn!(cause = %e, left_out, "the end of the audit log was not written beside the database");
    }
}

/// Removes the file once somebody has noted that writes were lost.
pub(crate) fn forget(dir: &Path) {
    _ = std::fs::remove_file(audit_end(dir));
}

/// Writes the file once a second, until the sender of `stop` is dropped. What was read a second before is on the disk by
/// now, also where a reader sees a commit before it is flushed.
pub(crate) fn keep_until_stopped(site: &Site, stop: &Receiver<()>) {
    let mut seen: Option<String> = None;
    while site.rest(stop, INTERVAL) {
        if let Some(text) = seen.take() {
            write(site, &text);
        }
        seen = next(site).unwrap_or_default();
    }
}
