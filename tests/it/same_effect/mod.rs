//! The same effect asked for at two edges of two equal sites leaves the same rows: audit, notices, and whatever else the
//! effect changes. One line an effect; what differs is who did the effect from where, and what is random.

mod desk;
mod flying;

use crate::harness::Reply;
use Expected::{Changes, Nothing, Refused};
use tunneldesk::store::Write;

/// One effect at both edges. Each function says whether the edge did what it was asked.
struct Effect<Stage> {
    name: &'static str,
    /// What the effect needs, at both sites; a number for it.
    prepare: fn(&Stage) -> i64,
    one: fn(&Stage, i64) -> bool,
    other: fn(&Stage, i64) -> bool,
    expected: Expected,
    /// Tables, or `audit`, that differ because another person acts, or because one edge speaks for a partner.
    except: &'static [&'static str],
}

impl<Stage> Effect<Stage> {
    /// An effect that needs nothing, changes something, and leaves the same in every table.
    const PLAIN: Effect<Stage> =
        Effect { name: "", prepare: |_| 0, one: |_, _| false, other: |_, _| false, expected: Changes, except: &[] };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Changes,
    /// Done, or so already.
    Nothing,
    Refused,
}

/// Whether an edge did what it was asked. A page that shows what was made counts as done, like one that leads on.
fn done(reply: &Reply) -> bool {
    assert!(reply.status < 500, "{reply}");
    reply.status < 400
}

/// Every row of a table as text, but for the columns that are hidden. Of blobs the length.
fn list_rows(tx: &Write, table: &str, is_hidden: impl Fn(&str) -> bool) -> rusqlite::Result<Vec<String>> {
    let columns: Vec<String> = tx.list("SELECT name FROM pragma_table_info(?1)", [table], |row| row.get(0))?;
    let shown = columns.iter().filter(|column| !is_hidden(column));
    let cell = |c: &String| format!("'{c}=' || iif(typeof({c}) = 'blob', length({c}), quote({c}))");
    let cells = shown.map(cell).collect::<Vec<_>>().join(" || ' ' || ");
    let rows: Vec<String> = tx.list(&format!("SELECT {cells} FROM {table}"), [], |row| row.get(0))?;
    Ok(rows.into_iter().map(|row| format!("{table}: {row}")).collect())
}
