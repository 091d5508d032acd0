//! Records every statement that this process prepares, with its source location. In debug builds only: the tests look
//! at each statement's query plan.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

static STATEMENTS: Mutex<Statements> = Mutex::new(Statements { known: BTreeSet::new(), new: BTreeMap::new() });

struct Statements {
    known: BTreeSet<String>,
    new: BTreeMap<String, &'static Location<'static>>,
}

pub(crate) fn note(sql: &str, location: &'static Location<'static>) {
    let mut statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !statements.known.contains(sql) {
        statements.known.insert(sql.to_owned());
        statements.new.insert(sql.to_owned(), location);
    }
}

/// Returns the statements that were prepared for the first time since the last call.
pub fn take_new() -> BTreeMap<String, &'static Location<'static>> {
    std::mem::take(&mut STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).new)
}
