//! Members who may be the same person as somebody who signs up: by address, by name and day of birth, or by telephone number.

use crate::domain::ids::MemberId;
use crate::domain::member_query;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::tables::account_claims::{self, Alike};
use crate::store::tables::joins;
use crate::store::{Read, Write};

/// The greatest number of members born on one day whose names are compared.
const BORN_MAX: i64 = 1_000;
/// The greatest number of possible duplicates that are listed, of each kind.
const ALIKE_MAX: i64 = 5;

/// What a person says of themselves. Unknown fields are empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) real_name: &'a str,
    pub(crate) email: &'a str,
    /// Midnight UTC of the day of birth, in Unix seconds.
    pub(crate) dob: Option<Moment>,
    /// The telephone number in E.164.
    pub(crate) phone: &'a str,
}

/// The members who may be this person, those with the address first, and of these whoever confirmed it.
pub(crate) fn list(tx: &Read, told: Told) -> Result<Vec<Alike>, Failure> {
    let mut alike = account_claims::list_with_email(tx, told.email, ALIKE_MAX)?;
    let mut others = Vec::new();
    if let Some(dob) = told.dob {
        others = account_claims::list_born(tx, dob, BORN_MAX)?;
        others.retain(|one| member_query::is_same_name(&one.name, told.real_name));
    }
    if !told.phone.is_empty() {
        others.extend(account_claims::list_with_phone(tx, told.phone, ALIKE_MAX)?);
    }
    for other in others.into_iter().take(ALIKE_MAX as usize) {
        if !alike.iter().any(|one| one.member_id == other.member_id) {
            alike.push(other);
        }
    }
    Ok(alike)
}

/// Tells the desk of a person who just signed up alone and may be a known member: it has a line in *To do*.
pub(crate) fn tell_desk(tx: &Write, member_id: MemberId, told: Told) -> Result<(), Failure> {
    for other in list(tx, told)? {
        let other_id = joins::survivor_of(tx, other.member_id)?;
        if other_id != member_id {
            joins::insert_alike(tx, member_id, other_id)?;
            return Ok(());
        }
    }
    Ok(())
}
