//! Macros that name each column once. `row!` declares a row of a result: a struct, its list of columns and the code
//! that reads them. `insert!` and `update!` write each column beside its value. `sql!` joins a constant statement at
//! compile time, and registers it for the test that prepares every statement against the schema.
//!
//! ```ignore
//! row! {
//!     pub struct Arrival in "b." {
//!         pub booking_id: BookingId,                              // the column b.booking_id
//!         pub arrived: bool = "b.arrived_at IS NOT NULL",   // or this expression
//!     }
//! }
//! tx.list(sql!("SELECT ", Arrival::COLUMNS, " FROM bookings b WHERE b.tunnel_id = ?1"), [tunnel_id])
//! ```

use crate::domain::ids::{
    BookingId, CallbackId, ChangeId, ContactId, EntryId, GuardianshipId, HookId, InvitationId, JoinId, KioskId,
    MemberId, MessageId, NoticeId, PartnerId, PasskeyId, PaymentId, PictureId, SignatureId, TunnelId,
};
use crate::domain::role::Role;
use crate::domain::{entry, payment, till, waiver};
use crate::moment::Moment;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, Value, ValueRef};
use rusqlite::{Result, Row, ToSql};

/// Every statement of `sql!`, with its source location.
#[cfg(test)]
#[linkme::distributed_slice]
pub static STATEMENTS: [(&str, &str)];

/// Reads the columns of a row, from the first to the last.
pub struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

/// A type that reads its value from the next columns of a row.
pub trait FromRow: Sized {
    /// Reads the value, and moves on to the column after it.
    fn read(columns: &mut Columns) -> Result<Self>;
}

/// Reads a row whose columns are exactly those of `T`.
pub(crate) fn row<T: FromRow>(row: &Row) -> Result<T> {
    let mut columns = Columns::of(row);
    let value = columns.read()?;
    debug_assert_eq!(columns.next, row.as_ref().column_count(), "the statement names other columns than its row");
    Ok(value)
}

impl<'r> Columns<'r> {
    pub(crate) fn of(row: &'r Row) -> Columns<'r> {
        Columns { row, next: 0 }
    }

    pub(crate) fn read<T: FromRow>(&mut self) -> Result<T> {
        T::read(self)
    }

    /// The next column as text, without a copy.
    pub(crate) fn text(&mut self) -> Result<&'r str> {
        self.next += 1;
        Ok(self.row.get_ref(self.next - 1)?.as_str()?)
    }

    /// Skips the columns that are left, such as those of an outer join without a match.
    pub(crate) fn end(&mut self) {
        self.next = self.row.as_ref().column_count();
    }

    pub(crate) fn value<T: FromSql>(&mut self) -> Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }
}

/// Implements [`FromRow`] for types of one column.
macro_rules! one_column {
    ($($type:ty),+) => {$(
        impl $crate::store::engine::columns::FromRow for $type {
            fn read(columns: &mut $crate::store::engine::columns::Columns) -> rusqlite::Result<Self> {
                columns.value()
            }
        }
    )+};
}

one_column!(i64, bool, String, Vec<u8>, [u8; 32], Value);

impl<T: FromSql> FromRow for Option<T> {
    fn read(columns: &mut Columns) -> Result<Self> {
        columns.value()
    }
}

/// Implements reading and writing of the numbers of rows.
macro_rules! numbers {
    ($($type:ident),+) => {$(
        impl FromSql for $type {
            fn column_result(value: ValueRef) -> FromSqlResult<Self> {
                i64::column_result(value).map($type)
            }
        }

        impl ToSql for $type {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok(self.0.into())
            }
        }

        one_column!($type);
    )+};
}

numbers!(
    Moment,
    MemberId,
    EntryId,
    BookingId,
    PartnerId,
    PaymentId,
    KioskId,
    HookId,
    TunnelId,
    MessageId,
    SignatureId,
    ContactId,
    PasskeyId,
    JoinId,
    InvitationId,
    ChangeId,
    CallbackId,
    PictureId,
    NoticeId,
    GuardianshipId
);

/// Implements [`FromRow`] for tuples.
macro_rules! side_by_side {
    ($($type:ident)+) => {
        impl<$($type: FromRow),+> FromRow for ($($type,)+) {
            fn read(columns: &mut Columns) -> Result<Self> {
                Ok(($($type::read(columns)?,)+))
            }
        }
    };
}

side_by_side!(A B);
side_by_side!(A B C);
side_by_side!(A B C D);

/// Implements reading and writing of enums that the database stores by name. An unknown name is an error.
macro_rules! kept_by_name {
    ($($type:ty),+) => {$(
        impl rusqlite::types::FromSql for $type {
            fn column_result(value: rusqlite::types::ValueRef) -> rusqlite::types::FromSqlResult<Self> {
                <$type>::parse(value.as_str()?).ok_or(rusqlite::types::FromSqlError::InvalidType)
            }
        }

        impl rusqlite::ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.name().into())
            }
        }

        one_column!($type);
    )+};
}

kept_by_name!(Role, entry::Kind, entry::Status, payment::Status, till::Kind, waiver::Relation, waiver::SigningPlace);

/// Declares an enum that the database stores by name: each variant with its name.
macro_rules! named {
    ($(#[$meta:meta])* $seen:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $seen enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// The name in the database.
            pub(crate) fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            pub(crate) fn parse(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)+ _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(from)?;
                $name::parse(&name).ok_or_else(|| serde::de::Error::unknown_variant(&name, &[$($text),+]))
            }
        }

        kept_by_name!($name);
    };
}

/// The length of all parts in bytes.
pub(crate) const fn length(parts: &[&str]) -> usize {
    let (mut bytes, mut part) = (0, 0);
    while part < parts.len() {
        bytes += parts[part].len();
        part += 1;
    }
    bytes
}

/// Concatenates the parts.
pub(crate) const fn join<const BYTES: usize>(parts: &[&str]) -> [u8; BYTES] {
    let (mut joined, mut at, mut part) = ([0; BYTES], 0, 0);
    while part < parts.len() {
        let bytes = parts[part].as_bytes();
        joined.split_at_mut(at).1.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
        at += bytes.len();
        part += 1;
    }
    joined
}

/// Concatenates constant texts at compile time.
macro_rules! joined {
    ($($part:expr),+ $(,)?) => {{
        const JOINED_PARTS: &[&str] = &[$($part),+];
        const JOINED_BYTES: [u8; $crate::store::engine::columns::length(JOINED_PARTS)] = $crate::store::engine::columns::join(JOINED_PARTS);
        const JOINED_TEXT: &str = match str::from_utf8(&JOINED_BYTES) {
            Ok(text) => text,
            Err(_) => panic!("texts joined are a text"),
        };
        JOINED_TEXT
    }};
}

/// A constant statement of one or several parts.
macro_rules! sql {
    ($($part:expr),+ $(,)?) => {{
        const SQL_TEXT: &str = joined!($($part),+);
        #[cfg(test)]
        #[linkme::distributed_slice($crate::store::engine::columns::STATEMENTS)]
        static SQL_STATEMENT: (&str, &str) = (concat!(file!(), ":", line!()), SQL_TEXT);
        static SQL: $crate::store::engine::statements::Sql = $crate::store::engine::statements::Sql::new(SQL_TEXT);
        &SQL
    }};
}

/// Declares the columns of a struct that is declared elsewhere: see `row!`.
macro_rules! columns {
    (@text $prefix:literal $field:ident) => { concat!($prefix, stringify!($field)) };
    (@text $prefix:literal $field:ident $text:expr) => { $text };
    ($name:ident in $prefix:literal { $($field:ident $(= $text:expr)?),+ $(,)? } $($saved:ident)?) => {
        impl $name {
            /// The list of columns for a `SELECT`, in the order of the fields.
            #[allow(dead_code, reason = "some statements name their columns otherwise")]
            pub(crate) const COLUMNS: &'static str =
                joined!($(", ", columns!(@text $prefix $field $($text)?)),+).split_at(2).1;
        }

        impl $crate::store::engine::columns::FromRow for $name {
            fn read(columns: &mut $crate::store::engine::columns::Columns) -> rusqlite::Result<Self> {
                Ok(Self { $($field: columns.read()?),+ })
            }
        }

        columns! { @written $name { $($field),+ } $($saved)? }
    };
    (@written $name:ident { $($field:ident),+ }) => {};
    // The first column is the key.
    (@written $name:ident { $key:ident, $($field:ident),+ } saved) => {
        #[allow(dead_code, reason = "some rows are only added, some only changed")]
        impl $name {
            const NAMES: &'static str = concat!(stringify!($key), $(", ", stringify!($field)),+);
            const PLACES: &'static str = concat!("?", $(columns!(@place $field)),+);
            const CHANGES: &'static str = concat!(stringify!($key), " = ?", $(", ", stringify!($field), " = ?"),+);
            /// For `ON CONFLICT … DO UPDATE SET`: every column but the first, the key.
            const EXCLUDED: &'static str =
                concat!($(", ", stringify!($field), " = excluded.", stringify!($field)),+).split_at(2).1;

            fn values(&self) -> Vec<&dyn rusqlite::ToSql> {
                vec![&self.$key, $(&self.$field),+]
            }
        }
    };
    (@place $field:ident) => { ", ?" };
    (@value $column:ident) => { $column };
    (@value $column:ident $value:expr) => { $value };
}

/// Declares a struct whose fields are columns: of the field's name after the prefix, or of an expression. With `saved`,
/// the struct can be written too.
macro_rules! row {
    ($(#[$meta:meta])* $seen:vis struct $name:ident { $($fields:tt)+ } $($saved:ident)?) => {
        row! { $(#[$meta])* $seen struct $name in "" { $($fields)+ } $($saved)? }
    };
    ($(#[$meta:meta])* $seen:vis struct $name:ident in $prefix:literal {
        $($(#[$doc:meta])* $shown:vis $field:ident: $type:ty $(= $text:expr)?),+ $(,)?
    } $($saved:ident)?) => {
        $(#[$meta])*
        $seen struct $name { $($(#[$doc])* $shown $field: $type),+ }

        columns! { $name in $prefix { $($field $(= $text)?),+ } $($saved)? }
    };
}

/// Inserts a row: `insert!(tx.run, "INSERT INTO passkeys" { member_id, name: new.name } "ON CONFLICT DO NOTHING")`.
/// With the columns of a saved struct first: `insert!(tx.run, "INSERT INTO sync" State: state, { only: 1 })`.
/// `tx.insert` returns the row's number, `tx.run` how many rows changed.
macro_rules! insert {
    ($tx:ident.$how:ident, $into:literal { $($column:ident $(: $value:expr)?),+ $(,)? } $($rest:expr),*) => {
        $tx.$how(
            sql!(
                $into, " (", concat!($(", ", stringify!($column)),+).split_at(2).1, ") VALUES (",
                concat!($(columns!(@place $column)),+).split_at(2).1, ") ", $($rest),*
            ),
            rusqlite::params![$(columns!(@value $column $($value)?)),+],
        )
    };
    ($tx:ident.$how:ident, $into:literal $row:ident: $saved:expr, { $($column:ident: $value:expr),* $(,)? } $($rest:expr),*) => {
        $tx.$how(
            sql!(
                $into, " (", $row::NAMES, $(", ", stringify!($column),)* ") VALUES (", $row::PLACES,
                $(columns!(@place $column),)* ") ", $($rest),*
            ),
            &*[$saved.values(), vec![$(&$value as &dyn rusqlite::ToSql),*]].concat(),
        )
    };
}

/// Updates rows: `update!(tx, "UPDATE entries" { comment, updated_at: tx.now() } "WHERE entry_id = ?", entry_id)`. With
/// the columns of a saved struct first: `update!(tx, "UPDATE bookings" Booking: sent, { updated_at: tx.now() } …)`.
macro_rules! update {
    ($tx:ident, $table:literal { $($column:ident $(: $value:expr)?),+ $(,)? } $where:literal $(, $key:expr)*) => {
        $tx.run(
            sql!($table, " SET ", concat!($(", ", stringify!($column), " = ?"),+).split_at(2).1, " ", $where),
            rusqlite::params![$(columns!(@value $column $($value)?),)+ $($key),*],
        )
    };
    ($tx:ident, $table:literal $row:ident: $saved:expr, { $($column:ident: $value:expr),+ $(,)? } $where:literal, $key:expr) => {
        $tx.run(
            sql!($table, " SET ", $row::CHANGES, $(", ", stringify!($column), " = ?"),+, " ", $where),
            &*[$saved.values(), vec![$(&$value as &dyn rusqlite::ToSql,)+ &$key]].concat(),
        )
    };
}

#[cfg(test)]
mod tests;
