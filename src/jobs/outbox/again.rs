//! Whether a message can be put in line anew. The shell and the desk ask the same.

use super::Message;
use crate::http::failure::Failure;
use crate::store::tables::outbox;
use crate::store::tables::suppressed::{self, Mark};
use crate::store::{Read, Write};

/// What keeps a message from being sent again.
#[derive(Debug)]
pub enum Bar {
    /// It is sent.
    Sent,
    /// What it said is wiped.
    Wiped,
    /// No mail goes to its address.
    Marked(Mark),
}

pub fn bar(tx: &Read, message: &Message) -> Result<Option<Bar>, Failure> {
    if message.sealed.is_none() {
        return Ok(Some(if message.sent_at.is_some() { Bar::Sent } else { Bar::Wiped }));
    }
    Ok(suppressed::find(tx, &message.recipient)?.map(Bar::Marked))
}

/// Puts it in line; the caller has asked for a [`bar`].
pub fn put(tx: &Write, message_id: i64) -> Result<usize, Failure> {
    Ok(outbox::retry(tx, message_id)?)
}

/// Mail goes to the address again: the mark that was lifted, if there was one.
pub fn lift(tx: &Write, address: &str) -> Result<Option<Mark>, Failure> {
    let found = suppressed::find(tx, address)?;
    if let Some(mark) = &found {
        // The provider's clock may be ahead of ours.
        suppressed::lift(tx, address, tx.now().max(mark.since))?;
    }
    Ok(found)
}
