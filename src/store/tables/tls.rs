//! The site's own authority and the certificate that it signed.

use crate::store::{Read, Write};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Result, ToSql, named_params};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Authority,
    Server,
}

#[derive(Debug, Clone)]
pub struct Certificate {
    /// Host names and addresses.
    pub names: Vec<String>,
    pub subject: String,
    /// PEM.
    pub certificate: String,
    pub sealed_key: Vec<u8>,
    pub created_at: i64,
    pub ends_at: i64,
}

impl ToSql for Kind {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(match self {
            Kind::Authority => "authority".into(),
            Kind::Server => "server".into(),
        })
    }
}

pub fn find(tx: &Read, kind: Kind) -> Result<Option<Certificate>> {
    let sql = "SELECT names, subject, certificate, sealed_key, created_at, ends_at FROM tls WHERE kind = ?1";
    tx.find(sql, [kind], |row| {
        Ok(Certificate {
            names: serde_json::from_str(&row.get::<_, String>(0)?).unwrap_or_default(),
            subject: row.get(1)?,
            certificate: row.get(2)?,
            sealed_key: row.get(3)?,
            created_at: row.get(4)?,
            ends_at: row.get(5)?,
        })
    })
}

/// In the place of the one before.
pub fn replace(tx: &Write, kind: Kind, made: &Certificate) -> Result<usize> {
    let sql = "INSERT INTO tls (kind, names, subject, certificate, sealed_key, created_at, ends_at)
               VALUES (:kind, :names, :subject, :certificate, :sealed_key, :created_at, :ends_at)
               ON CONFLICT (kind) DO UPDATE SET names = excluded.names, subject = excluded.subject,
                   certificate = excluded.certificate, sealed_key = excluded.sealed_key,
                   created_at = excluded.created_at, ends_at = excluded.ends_at";
    let names = serde_json::to_string(&made.names).unwrap_or_default();
    tx.run(
        sql,
        named_params! {":kind": kind, ":names": names, ":subject": made.subject, ":certificate": made.certificate,
        ":sealed_key": made.sealed_key, ":created_at": made.created_at, ":ends_at": made.ends_at},
    )
}
