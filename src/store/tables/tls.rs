//! The certificate of the site's own authority, and the server certificate that it signed.

use crate::moment::Moment;
use crate::store::personal::{OUR_WORD, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Result, ToSql};
use serde::Serialize;
use std::ops::Deref;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::nobodys(
    "tls",
    &[
        not_personal("kind", OUR_WORD),
        not_personal("names", "the site's own"),
        not_personal("subject", "the site's own"),
        not_personal("certificate", "the site's own"),
        not_personal("sealed_key", "the site's own"),
    ],
)];

named! {
    /// The certificates of a site.
    pub(crate) enum Kind {
        /// The site's own authority.
        Authority = "authority",
        /// The server certificate, signed by the authority.
        Server = "server",
    }
}

row! {
    /// A certificate that the site made.
    #[derive(Debug, Clone)]
    pub struct Certificate {
        /// The names and addresses for which the certificate is valid.
        pub names: Names,
        /// The subject in readable form.
        pub subject: String,
        /// The certificate in PEM.
        pub certificate: String,
        /// The private key, sealed for its row.
        pub sealed_key: Vec<u8>,
        /// When the certificate was made, in Unix seconds.
        pub created_at: Moment,
        /// When the certificate expires, in Unix seconds.
        pub ends_at: Moment,
    } saved
}

/// Host names and addresses; kept as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Names(pub Vec<String>);

impl FromSql for Names {
    fn column_result(value: ValueRef) -> FromSqlResult<Self> {
        Ok(Names(serde_json::from_str(value.as_str()?).unwrap_or_default()))
    }
}

impl ToSql for Names {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(serde_json::to_string(&self.0).unwrap_or_default().into())
    }
}

one_column!(Names);

impl Deref for Names {
    type Target = Vec<String>;

    fn deref(&self) -> &Vec<String> {
        &self.0
    }
}

pub(crate) fn find(tx: &Read, kind: Kind) -> Result<Option<Certificate>> {
    tx.find(sql!("SELECT ", Certificate::COLUMNS, " FROM tls WHERE kind = ?1"), [kind])
}

/// Sets a certificate, in place of the earlier one.
pub(crate) fn replace(tx: &Write, kind: Kind, made: &Certificate) -> Result<usize> {
    insert!(tx.run, "INSERT INTO tls" Certificate: made, { kind: kind }
            "ON CONFLICT (kind) DO UPDATE SET names = excluded.names, ", Certificate::EXCLUDED)
}
