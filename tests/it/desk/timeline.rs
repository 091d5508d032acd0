//! The timeline of a card: every kind of event exactly once, over all pages.

use super::till::pay;
use super::{Clerk, book};
use crate::harness::Site;
use std::collections::BTreeMap;

#[test]
fn the_timeline_has_every_event_by_year_and_loses_none_between_pages() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.yearly_fee_cents = 3_000;
    });
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    site.brief(&jane, "Flyer");
    let asked = site.ask_for(&jane, "10101", &ines);
    ines.post(&format!("/account/logbook/entries/{asked}/sign"), serde_json::json!({ "comments_instructor": "calm" }))
        .ok();
    let bookings = [600, 1_200].map(|at| book(&site, &jane, at));
    clerk.post(&format!("/desk/bookings/{}/check-in", bookings[0]), &[]);
    clerk.post(&format!("/desk/bookings/{}/cancel", bookings[1]), &[]);
    pay(&clerk, jane.id, "cash", "");
    assert_eq!(clerk.post(&format!("{card}/note"), &[("text", "left-handed")]).status, 303);
    assert_eq!(clerk.post(&format!("{card}/ban"), &[("reason", "rude")]).status, 303);
    // Years of flights, several of them at the same time.
    site.change(|tx| {
        let sql = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 240)
                   INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                   SELECT ?1, 'time', 'open', ?2 - (n / 3) * 8 * 86400, 300 + n, ?3, ?1, ?2, ?2 FROM n";
        Ok(tx.run(sql, (jane.id, tx.now() - 86_400, Site::TUNNEL_ID))?)
    });
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut path, mut pages) = (format!("{card}?tab=timeline"), Vec::new());
    loop {
        let page = clerk.get(&path).page();
        for line in page.split("<p class=\"what\">").skip(1) {
            let minutes = line.split("<bdi>").nth(1).and_then(|rest| rest.split(" min<").next());
            *seen.entry(minutes.unwrap_or_default().to_owned()).or_default() += 1;
        }
        let older = page.split("href=\"").skip(1).filter_map(|rest| {
            let (href, words) = rest.split_once('"')?;
            words.starts_with(">Older").then(|| href.replace("&#38;", "&"))
        });
        let next = older.last();
        pages.push(page);
        match next {
            Some(next) => path = next,
            None => break,
        }
    }
    assert_eq!(pages.len(), 3);
    for n in 301..=540 {
        assert_eq!(seen.get(&n.to_string()), Some(&1), "{n}");
    }
    // Two older entries, the skill and its signature, two bookings and their endings, a payment, a note, a ban.
    let lines: usize = seen.values().sum();
    assert_eq!(lines, 240 + 2 + 2 + 2 + 2 + 1 + 1 + 1, "{seen:?}");
    for said in ["Cancelled", "30.00 CHF", "Banned", "note"] {
        assert!(pages[0].to_lowercase().contains(&said.to_lowercase()), "{said}: {}", pages[0]);
    }
    for year in ["2026", "2025", "2024"] {
        assert_eq!(pages.iter().filter(|page| page.contains(&format!("<h3>{year}</h3>"))).count().min(1), 1, "{year}");
        assert!(pages[0].contains(&format!("#logbook\">{year}</a>")), "{year}: {}", pages[0]);
    }
    // The timeline of another member is empty.
    let other = clerk.get(&format!("/desk/members/{}?tab=timeline", site.member("joe").id)).page();
    assert!(other.contains("Nothing has happened yet"), "{other}");
}
