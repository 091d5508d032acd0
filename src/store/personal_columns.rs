//! What all tables declare of their columns: see [`crate::store::personal`].

use super::personal::{Column, Erasure, Fate, Table};
use super::tables::PERSONAL;
use crate::keys::SealedColumn;

/// The columns that an erasure leaves as they are: table, column, the reason, and for how long.
pub(crate) fn kept_columns() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    columns().filter_map(|(table, column)| match column.erasure {
        Erasure::Kept(why, how_long) => Some((table.name, column.name, why, how_long)),
        _ => None,
    })
}

/// What a column holds of a member, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldingKind {
    /// The person's own.
    Own,
    /// The person's own, and kept.
    Kept,
    /// Texts that may mention the person.
    Searched,
}

/// A column that can hold something of a member.
#[derive(Debug)]
pub struct Holding {
    /// The table's name.
    pub table: &'static str,
    /// The column's name.
    pub column: &'static str,
    /// What it holds.
    pub kind: HoldingKind,
    /// The conditions of the person's own rows, with the member as `:id`.
    pub condition: Vec<&'static str>,
    /// The column, where the site key seals its values.
    pub sealed: Option<&'static SealedColumn>,
}

/// The columns that can hold something of a member.
pub fn holdings() -> impl Iterator<Item = Holding> {
    columns().filter_map(|(table, column)| {
        let kind = match column.erasure {
            Erasure::NotPersonal(_) => return None,
            Erasure::Kept(..) => HoldingKind::Kept,
            Erasure::Searched(_) => HoldingKind::Searched,
            Erasure::Deleted | Erasure::Replaced(_) => HoldingKind::Own,
        };
        Some(holding(table, column, kind))
    })
}

/// The columns of sealed values that can name a member.
pub fn sealed() -> impl Iterator<Item = Holding> {
    holdings().filter(|holding| holding.sealed.is_some())
}

fn columns() -> impl Iterator<Item = (&'static Table, &'static Column)> {
    PERSONAL.iter().copied().flatten().flat_map(|table| table.columns.iter().map(move |column| (table, column)))
}

fn holding(table: &'static Table, column: &'static Column, kind: HoldingKind) -> Holding {
    let own = table.rows.iter().filter(|rows| !matches!(rows.fate, Fate::Others(_)));
    let condition = own.map(|rows| rows.condition).collect();
    Holding { table: table.name, column: column.name, kind, condition, sealed: column.sealed }
}
