//! Everything that the site holds about a member, for the member.

use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::personal_columns;
use crate::store::queries::personal_data;
use crate::store::tables::joins;
use serde_json::{Map, Value, json};

/// The member's data as JSON: the rows of each data set, what is left out and why, and what stays after an erasure.
pub(crate) fn of_member(site: &Site, member_id: MemberId) -> Result<Value, Failure> {
    // The accounts that were joined into this one are the same person's.
    let numbers = site.store.read(|tx| Ok(joins::list_numbers(tx, member_id)?))?;
    let (mut parts, mut hidden, mut stays) = (Map::new(), Vec::new(), Map::new());
    for (table, rows) in personal_data::data_sets() {
        let mut found = site.store.read(|tx| {
            let of = |number: &MemberId| personal_data::rows(tx, &site.keys, (table, rows), *number);
            Ok(numbers.iter().map(of).collect::<Result<Vec<_>, _>>()?.concat())
        })?;
        site.store.release();
        // A join is a row of both its accounts.
        found.dedup();
        parts.insert(rows.part.to_owned(), json!(found));
        let not_shown = personal_data::hidden(table, rows).into_iter();
        hidden.extend(not_shown.map(|(column, why)| json!({ "part": rows.part, "column": column, "why": why })));
        stays.extend(rows.kept_because().map(|why| (rows.part.to_owned(), Value::from(why))));
    }
    let kept: Vec<Value> = personal_columns::kept_columns()
        .map(|(table, column, why, how_long)| json!({ "table": table, "column": column, "why": why, "kept": how_long }))
        .collect();
    Ok(json!({
        "member_id": member_id, "site_id": &*site.site_id, "exported_at": site.now(), "held": parts,
        "not_shown": hidden, "stays_after_an_erasure": stays,
        "columns_kept_after_an_erasure": kept,
    }))
}
