//! The same effect, requested at two edges of two equal sites, leaves the same rows: audit, notices, and whatever else
//! the effect changes. Each effect has one line; only the actor, the origin and random values differ.

mod desk;
mod flying;

use crate::harness::Reply;
use Expected::{Changes, Nothing, Refused};
use tunneldesk::store::Write;

/// An effect at two edges. Each function returns whether the edge carried out the request.
struct Effect<Stage> {
    name: &'static str,
    /// Prepares what the effect needs, on both sites; returns a number for it.
    prepare: fn(&Stage) -> i64,
    one: fn(&Stage, i64) -> bool,
    other: fn(&Stage, i64) -> bool,
    expected: Expected,
    /// Tables, or `audit`, that differ because another person acts, or because one edge acts for a partner.
    except: &'static [&'static str],
}

impl<Stage> Effect<Stage> {
    /// An effect that needs no preparation, changes rows, and leaves the same in every table.
    const PLAIN: Effect<Stage> =
        Effect { name: "", prepare: |_| 0, one: |_, _| false, other: |_, _| false, expected: Changes, except: &[] };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Changes,
    /// The request succeeds and changes nothing, because its result exists already.
    Nothing,
    Refused,
}

/// Whether an edge carried out the request. A page that shows the result counts like a redirect.
fn done(reply: &Reply) -> bool {
    assert!(reply.status < 500, "{reply}");
    reply.status < 400
}

/// Every row of a table as text, without the hidden columns; blobs by their length.
fn list_rows(tx: &Write, table: &str, is_hidden: impl Fn(&str) -> bool) -> rusqlite::Result<Vec<String>> {
    let columns: Vec<String> = tx.list("SELECT name FROM pragma_table_info(?1)", [table])?;
    let shown = columns.iter().filter(|column| !is_hidden(column));
    let cell = |c: &String| format!("'{c}=' || iif(typeof({c}) = 'blob', length({c}), quote({c}))");
    let cells = shown.map(cell).collect::<Vec<_>>().join(" || ' ' || ");
    let rows: Vec<String> = tx.list(&format!("SELECT {cells} FROM {table}"), [])?;
    Ok(rows.into_iter().map(|row| format!("{table}: {row}")).collect())
}
