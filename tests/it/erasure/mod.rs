//! One person, whose name stands in every column that can hold it, by the pages, the API, the shell, the kiosk, callbacks and
//! lists; and that nothing is left after an erasure: in no byte of the data directory or of a new backup, in whatever form.

mod bytes;
mod deeds;

use crate::harness::Site;
use deeds::{ADDRESS, Cast};
use std::collections::BTreeSet;
use tunneldesk::store::personal::{self, Holding, HoldingKind};

/// Columns that no deed here fills, and why.
const NOT_REACHED: &[&str] = &[];

fn opened(site: &Site, holding: &Holding, rest: &str, member_id: i64) -> Vec<String> {
    let keys = &site.inside().keys;
    let sql = format!(
        "SELECT CAST({0} AS BLOB) FROM {1} WHERE {0} IS NOT NULL AND ({rest}) AND :id = :id",
        holding.column, holding.table
    );
    let values: Vec<Vec<u8>> = site.change(|tx| Ok(tx.list(&sql, &[(":id", &member_id as &dyn rusqlite::ToSql)][..])?));
    let open = |value: Vec<u8>| match holding.sealed {
        Some(purpose) => keys.unseal(purpose, &value).unwrap_or_default(),
        None => value,
    };
    values.into_iter().map(|value| String::from_utf8_lossy(&open(value)).into_owned()).collect()
}

/// Whether the column holds something of the person: a value in the person's rows, or a text that names the person.
fn is_filled(site: &Site, holding: &Holding, member_id: i64) -> bool {
    let own =
        holding.condition.iter().any(|rows| opened(site, holding, rows, member_id).iter().any(|text| !text.is_empty()));
    let named = || opened(site, holding, "1", member_id).iter().any(|text| bytes::names(text.as_bytes()).is_some());
    match holding.kind {
        HoldingKind::Searched => named(),
        HoldingKind::Own | HoldingKind::Kept => own,
    }
}

/// Columns of the person's, filled and not.
fn filled(site: &Site, member_id: i64) -> (BTreeSet<String>, BTreeSet<String>) {
    personal::holdings().map(|one| (format!("{}.{}", one.table, one.column), is_filled(site, &one, member_id))).fold(
        Default::default(),
        |(mut with, mut without), (name, is_filled)| {
            if is_filled {
                with.insert(name)
            } else {
                without.insert(name)
            };
            (with, without)
        },
    )
}

#[test]
fn nothing_of_an_erased_person_is_left_in_any_column_or_byte() {
    let cast = Cast::on_stage(0);
    let site = &cast.world.site;
    cast.play();
    let (with, without) = filled(site, cast.person.id);
    let reached: BTreeSet<&str> = without.iter().map(String::as_str).collect();
    assert_eq!(reached, NOT_REACHED.iter().copied().collect(), "{} columns are filled", with.len());
    assert!(!bytes::traces(site).is_empty(), "the search sees nothing at all");
    site.shell(&["member", "erase", ADDRESS, "--yes"]);
    site.shell(&["backup"]);
    assert_eq!(bytes::traces(site), Vec::<String>::new());
}

#[test]
fn what_is_kept_of_an_erased_person_is_declared_as_kept() {
    let cast = Cast::on_stage(10);
    let site = &cast.world.site;
    cast.sign_waivers();
    site.shell(&["member", "erase", ADDRESS, "--yes"]);
    let mut found: Vec<String> = deeds::MARKS.iter().flat_map(|mark| site.holds_text(mark)).collect();
    found.sort();
    found.dedup();
    assert_eq!(found, ["waiver_signatures.flyer_name", "waiver_signatures.signer_name"]);
    let kept: BTreeSet<String> = personal::holdings()
        .filter(|one| matches!(one.kind, HoldingKind::Kept))
        .map(|one| format!("{}.{}", one.table, one.column))
        .collect();
    assert!(found.iter().all(|column| kept.contains(column)), "{kept:?}");
}
