//! Children whom an adult brings along: signed up by the adult, or linked with the child's own PIN at a kiosk. An adult
//! cannot claim an existing account of a child without the child's PIN or the staff.

use super::person::AGE_SECONDS_MAX;
use super::{Change, Outcome, family, flights, signup};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::waiver::Relation;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members::{self, NewMember};
use crate::store::tables::{account_claims, guardianships};
use serde_json::Value;

const NAME_CHARS_MAX: usize = 100;
const WORD_CHARS_MAX: usize = 20;

/// A child as its guardian describes it.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) real_name: String,
    /// Midnight UTC of the day of birth, in Unix seconds.
    pub(crate) dob: Moment,
    pub(crate) relation: Relation,
    /// Identifies the form, so that a form that is sent twice creates one child.
    pub(crate) form_number: i64,
}

impl Child {
    /// Reads the fields of a form. 422 lists every mistake.
    pub(crate) fn read(now: Moment, typed: &[(String, String)]) -> Result<Child, Failure> {
        let mut fields = signup::person_fields(typed, &["real_name", "dob", "relation", "number"]);
        let real_name = fields.required("real_name", fields::line(NAME_CHARS_MAX));
        let dob = fields.required("dob", fields::day_of_birth);
        if dob.peek().is_some_and(|dob| !(now - AGE_SECONDS_MAX + 1..=now).contains(dob)) {
            fields.refuse("dob", Text::new("field.dob"));
        }
        let relation = fields.required("relation", read_relation);
        let form_number = fields.required("number", fields::whole_in(1..=i64::from(u32::MAX) + 1));
        if signup::given(typed, "terms").is_empty() {
            fields.refuse("terms", Text::new("field.terms"));
        }
        let ok = fields.finish()?;
        let (real_name, dob, relation) = (real_name.get(&ok), dob.get(&ok), relation.get(&ok));
        Ok(Child { real_name, dob, relation, form_number: form_number.get(&ok) })
    }
}

/// Reads the relation that an adult may declare without proof: parent or guardian. Only the staff accepts a written
/// permission.
pub(crate) fn read_relation(value: &Value) -> Result<Relation, Text> {
    let name = fields::line(WORD_CHARS_MAX)(value)?;
    let said = Relation::parse(&name).filter(|one| matches!(one, Relation::Parent | Relation::Guardian));
    said.ok_or_else(|| Text::new("field.missing"))
}

/// Whether a member may bring children along: the site requires waivers, and the member is known to be an adult.
pub(crate) fn may_have(site: &Site, tx: &Read, member_id: MemberId) -> Result<bool, Failure> {
    if !site.config.waiver.required || flights::find_demand(site, tx)?.is_none() {
        return Ok(false);
    }
    Ok(match members::find_holder(tx, member_id)?.dob {
        Some(dob) => !flights::is_minor(site, tx, dob)?,
        None => false,
    })
}

/// The actor's number, if the actor may bring children along; otherwise 404.
fn guardian(cx: &Change) -> Result<MemberId, Failure> {
    let guardian_id = cx.member_id().ok_or_else(Failure::not_found)?;
    if may_have(cx.site, cx.tx, guardian_id)? { Ok(guardian_id) } else { Err(Failure::not_found()) }
}

/// Signs a child up and lets the actor act for the child. The account has no password and no address, and becomes the
/// child's own at the age that the settings name. A child whom the actor has already brought along is not created
/// again. Audited. 422 names what is wrong. Returns the child's number.
pub(crate) fn sign_up(cx: &Change, child: &Child) -> Result<MemberId, Failure> {
    let guardian_id = guardian(cx)?;
    if !flights::is_minor(cx.site, cx.tx, child.dob)? {
        return Err(Failure::field("dob", Text::new("family.is_adult")));
    }
    if let Some(known) = find_same(cx, guardian_id, child)? {
        return Ok(known);
    }
    let new = NewMember {
        real_name: &child.real_name,
        dob: Some(child.dob),
        tunnel_id: Some(cx.site.tunnel_id),
        ..NewMember::default()
    };
    let child_id = signup::create(cx, new, Some(cx.language), &[], child.form_number)?;
    account_claims::insert_registration(cx.tx, child.form_number, child_id, None)?;
    cx.record("member.added", &Subject::Member(child_id), &Detail::none().flag("by_guardian", true))?;
    _ = family::link(cx, child_id, guardian_id, child.relation, "")?;
    Ok(child_id)
}

/// The actor's child with the same name and day of birth. 409 where this form created another account.
fn find_same(cx: &Change, guardian_id: MemberId, child: &Child) -> Result<Option<MemberId>, Failure> {
    let wards = guardianships::list_of_guardian(cx.tx, guardian_id)?;
    let is_same = |ward: &&guardianships::Guardianship| {
        ward.born == Some(child.dob) && ward.child.to_lowercase() == child.real_name.to_lowercase()
    };
    if let Some(known) = wards.iter().find(is_same) {
        return Ok(Some(known.child_id));
    }
    let made = account_claims::find_registered(cx.tx, child.form_number)?;
    if made.is_some() { Err(Failure::exists()) } else { Ok(None) }
}

/// Lets the actor act for a child whose PIN was typed in the actor's session. Audited. 422 names what is wrong.
pub(crate) fn link(cx: &Change, child_id: MemberId, relation: Relation) -> Result<Outcome, Failure> {
    let guardian_id = guardian(cx)?;
    family::link(cx, child_id, guardian_id, relation, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(more: &[(&str, &str)]) -> Result<Child, Vec<String>> {
        let good = [
            ("real_name", "Ada"),
            ("day", "1"),
            ("month", "2"),
            ("year", "2016"),
            ("relation", "parent"),
            ("number", "7"),
            ("terms", "1"),
        ];
        let typed: Vec<(String, String)> = good
            .iter()
            .filter(|(name, _)| !more.iter().any(|(other, _)| other == name))
            .chain(more)
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        let named = |failure: Failure| failure.problems().iter().map(|problem| problem.field.clone()).collect();
        Child::read(Moment(1_780_000_000), &typed).map_err(named)
    }

    #[test]
    fn a_form_is_read_whole_and_every_mistake_is_named() {
        let child = read(&[]).unwrap();
        assert_eq!(
            (child.real_name.as_str(), child.dob, child.relation),
            ("Ada", Moment(1_454_284_800), Relation::Parent)
        );
        assert_eq!(read(&[("year", ""), ("dob", "2016-02-01")]).unwrap().dob, child.dob, "a date of a telephone");
        for (more, named) in [
            (("real_name", " "), "real_name"),
            (("day", "31"), "dob"),
            (("year", "2090"), "dob"),
            (("year", "1890"), "dob"),
            (("relation", "permission"), "relation"),
            (("relation", "self"), "relation"),
            (("number", "0"), "number"),
            (("terms", ""), "terms"),
        ] {
            assert_eq!(read(&[more]).unwrap_err(), [named], "{more:?}");
        }
    }
}
