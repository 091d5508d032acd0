//! The whole logbook: as a picture, as CSV and as a PDF.

use super::given::{self, DAY};
use crate::harness::{Caller, Reply, Site};
use http::Method;
use serde_json::json;
use std::process::Command;
use std::time::Duration;

fn get(reader: &Caller, what: &str, member: &Caller) -> Reply {
    reader.get(&format!("/account/logbook/{what}/{}", member.id)).ok()
}

fn text(reply: &Reply) -> String {
    // A table begins with a byte order mark.
    String::from_utf8(reply.body.clone()).unwrap().replace('\u{feff}', "")
}

fn rename(site: &Site, member: &Caller, screen_name: &str) {
    let sql = "UPDATE members SET screen_name = ?2 WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, (member.id, screen_name))?));
}

/// A flyer who holds two levels, is briefed, and has a skill that waits.
fn climber(site: &Site) -> Caller {
    let (jane, signer) = (site.flyer("jane"), site.member("Łukasz"));
    given::safety(site, &jane, "10001", "open", site.now() - 40 * DAY);
    given::level(site, &jane, "Flyer Level 1", &signer);
    given::level(site, &jane, "Backflying Level 2", &signer);
    given::skill(site, &jane, "11301", "open", Some(&signer));
    given::skill(site, &jane, "11302", "pending", Some(&signer));
    jane
}

mod picture {
    use super::*;

    #[test]
    fn it_shows_what_is_held_open_and_next_and_stays_the_same() {
        let site = Site::open();
        let jane = climber(&site);
        let reply = get(&jane, "progression", &jane);
        assert_eq!(reply.header("content-type"), Some("image/svg+xml"));
        assert!(reply.header("content-security-policy").unwrap().contains("default-src 'none'"));
        let svg = text(&reply);
        for part in
            ["Flyer Level 1: held", "Static Level 3: open 1 of 8 signed", "Static Level 4: next", "Examiner: later"]
        {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
        assert!(svg.starts_with("<?xml") && svg.len() < 60_000);
        site.advance(Duration::from_secs(5));
        assert_eq!(text(&get(&jane, "progression", &jane)), svg, "the same on the same day");
    }

    #[test]
    fn it_speaks_the_reader_s_language_and_names_are_text() {
        let site = Site::open();
        let jane = climber(&site);
        rename(&site, &jane, "<script>alert(1)</script> & Söhne");
        let said = |tag: &str| {
            let asking = jane.ask(Method::GET, &format!("/account/logbook/progression/{}", jane.id));
            text(&asking.header("accept-language", tag).send().ok())
        };
        let german = said("de");
        assert!(german.contains("Flieger Stufe 1: erreicht") && german.contains("xml:lang=\"de\""));
        let italian = said("it");
        assert!(italian.contains("Volatore Livello 1: raggiunto") && italian.contains("xml:lang=\"it\""));
        for tag in ["en", "de", "fr", "es", "it"] {
            let svg = said(tag);
            assert!(
                !svg.contains("<script") && svg.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; Söhne"),
                "{svg}"
            );
        }
    }

    #[test]
    fn a_lapse_shows_and_so_does_a_level_of_the_site_s_own() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), include_str!("../../../packaging/catalogue.json")).unwrap();
        let site = Site::open_with(|config| {
            let json = std::fs::read_to_string(file.path()).unwrap();
            config.catalogue = Box::leak(Box::new(config.catalogue.extended(&json).unwrap()));
        });
        let jane = climber(&site);
        assert!(text(&get(&jane, "progression", &jane)).contains("Wingsuit Level 4: next"));
        let skills = site.stranger().get("/public/skills").ok().json();
        let levels = skills[0]["levels"].as_array().unwrap();
        assert_eq!(levels.last().unwrap()["cat_name"], "Wingsuit Level 4");
        site.advance(Duration::from_secs(300 * 86_400));
        let jane = site.again(&jane);
        assert!(text(&get(&jane, "progression", &jane)).contains("Flyer Level 1: not current"));
    }
}

mod table {
    use super::*;

    /// The cells of a CSV text, parsed by RFC 4180.
    fn parse(csv: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
        let mut letters = csv.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if quoted && letters.peek() == Some(&'"') => cell.push(letters.next().unwrap()),
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !quoted && letters.peek() == Some(&'\n') => {
                    letters.next();
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                letter => cell.push(letter),
            }
        }
        assert!(!quoted && row.is_empty() && cell.is_empty(), "it ends with a line's end");
        rows
    }

    /// The cells of a column, without its heading.
    fn column(csv: &str, name: &str) -> Vec<String> {
        let rows = parse(csv);
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "every row has every cell");
        let place = rows[0].iter().position(|one| one == name).unwrap_or_else(|| panic!("no column {name}"));
        rows[1..].iter().map(|row| row[place].clone()).collect()
    }

    #[test]
    fn every_entry_is_a_row_newest_first() {
        let site = Site::open();
        let jane = climber(&site);
        let reply = get(&jane, "export", &jane);
        assert_eq!(reply.header("content-type"), Some("text/csv; charset=utf-8"));
        assert_eq!(
            reply.header("content-disposition"),
            Some(&*format!("attachment; filename=\"logbook-{}.csv\"", jane.id))
        );
        assert_eq!(reply.header("link"), None);
        let csv = text(&reply);
        let kinds = column(&csv, "kind");
        assert_eq!(kinds.len() as i64, site.rows()["entries"]);
        assert_eq!((kinds[0].as_str(), kinds.last().unwrap().as_str()), ("skill", "safety"));
        assert!(column(&csv, "entry_date").is_sorted_by(|one, other| one >= other));
        assert!(column(&csv, "entry_date")[0].starts_with("2026-05-28T20:26:40"), "{csv}");
        let named = |name: &str, cell: &str| assert!(column(&csv, name).iter().any(|one| one == cell), "{cell}: {csv}");
        named("skill_name", "Hand signals, seen and answered");
        named("skill_name", "Flyer safety brief before the first flight");
        named("cat_name", "Backflying Level 2");
        named("instructor_name", "Łukasz");
        named("status", "pending");
        named("minutes", "10");
    }

    #[test]
    fn what_people_wrote_survives_and_is_no_formula() {
        let site = Site::open();
        let jane = site.member("jane");
        let comments = [
            "say \"hi\", twice",
            "two\nlines",
            "=HYPERLINK(\"http://x\")",
            "@SUM(A1)",
            "-1",
            "+1",
            "Zoë 王",
            ",",
            "\"",
            "a;b\tc",
        ];
        for (ago, comment) in comments.iter().enumerate() {
            let body = json!({ "entry_date": site.now() - ago as i64, "time": 5, "comment": comment });
            jane.post("/account/logbook/time/", body).ok();
        }
        let csv = text(&get(&jane, "export", &jane));
        let told: Vec<String> = column(&csv, "comment");
        for (cell, comment) in told.iter().zip(comments) {
            let formula = comment.starts_with(['=', '@', '-', '+']);
            assert_eq!(*cell, if formula { format!("'{comment}") } else { comment.to_owned() });
        }
        assert_eq!(told.len(), comments.len());
    }

    #[test]
    fn a_lapsed_skill_shows_as_not_current_and_nothing_is_a_heading_alone() {
        let site = Site::open();
        let jane = climber(&site);
        site.advance(Duration::from_secs(300 * 86_400));
        let jane = site.again(&jane);
        assert!(column(&text(&get(&jane, "export", &jane)), "status").iter().any(|status| status == "not_current"));
        let nora = site.member("nora");
        assert_eq!(parse(&text(&get(&nora, "export", &nora))).len(), 1);
    }

    #[test]
    fn a_long_logbook_comes_in_parts_that_link_to_each_other() {
        const ENTRIES: i64 = 5_003;
        let site = Site::open();
        let jane = site.member("jane");
        let sql = "WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
                   INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                   SELECT ?1, 'time', 'open', ?3 - n, 5, ?4, ?1, ?3, ?3 FROM n";
        site.change(|tx| Ok(tx.run(sql, (jane.id, ENTRIES, tx.now(), Site::TUNNEL_ID))?));
        let first = get(&jane, "export", &jane);
        let link = first.header("link").unwrap().to_owned();
        let query = link.strip_prefix('<').and_then(|rest| rest.split_once('>')).unwrap();
        assert_eq!(query.1, "; rel=\"next\"");
        let rest = jane.get(&format!("/account/logbook/export/{}{}", jane.id, query.0)).ok();
        assert_eq!(rest.header("link"), None);
        let (mut ids, more) = (column(&text(&first), "entry_id"), column(&text(&rest), "entry_id"));
        assert_eq!((ids.len(), more.len()), (5_000, 3));
        ids.extend(more);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len() as i64, ENTRIES);
        jane.get(&format!("/account/logbook/export/{}?offset=-1", jane.id)).refused(422);
    }
}

mod paper {
    use super::*;

    /// The text of a PDF; `None` if no extraction tool is installed.
    fn words(pdf: &[u8]) -> Option<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pdf).unwrap();
        let read = Command::new("pdftotext").arg("-layout").arg(file.path()).arg("-").output().ok()?;
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        Some(String::from_utf8_lossy(&read.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn flights_signatures_and_sums_are_on_it_and_what_nobody_signed_is_not() {
        let site = Site::open();
        let jane = climber(&site);
        rename(&site, &jane, "Jane Fairweather");
        jane.post(
            "/account/logbook/time/",
            json!({"entry_date": site.now(), "time": "1:05", "comment": "carving at last"}),
        )
        .ok();
        let reply = get(&jane, "print", &jane);
        assert_eq!(reply.header("content-type"), Some("application/pdf"));
        assert_eq!(
            reply.header("content-disposition"),
            Some(&*format!("inline; filename=\"logbook-{}.pdf\"", jane.id))
        );
        assert!(reply.body.starts_with(b"%PDF-"));
        site.advance(Duration::from_secs(60));
        let later = get(&jane, "print", &jane);
        assert_eq!(
            (&later.body, later.header("etag")),
            (&reply.body, reply.header("etag")),
            "the same on the same day"
        );
        let Some(words) = words(&reply.body) else { return };
        for part in [
            "Jane Fairweather",
            "Jane Fairweather · Windwerk · 28 May 2026",
            "carving at last",
            "Total 1:15",
            "Backflying Level 2",
            "Neutral sit position",
            "Łukasz",
            "Flyer safety brief before the first flight",
            "28 May 2026",
            "Page 1 of",
        ] {
            assert!(words.contains(part), "{part} is not in {words}");
        }
        assert!(!words.contains("Sit up and down"), "it waits for its signer");
    }

    #[test]
    fn requests_that_were_withdrawn_push_no_signature_off_the_paper() {
        let site = Site::open();
        let jane = climber(&site);
        let before = get(&jane, "print", &jane).body;
        let sql = "WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
                   INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
                   SELECT e.member_id, e.kind, 'cancelled', e.entry_date, e.tunnel_id, e.author_id, e.cat_group, e.cat_id, e.skill,
                          e.created_at, e.updated_at FROM n, entries e WHERE e.member_id = ?1 AND e.skill IN ('10101', '10001')";
        site.change(|tx| Ok(tx.run(sql, [jane.id])?));
        assert_eq!(get(&jane, "print", &jane).body, before);
    }

    #[test]
    fn a_suspended_skill_and_a_lapse_are_said_and_the_future_is_not_flown() {
        let site = Site::open();
        let jane = climber(&site);
        given::skill(&site, &jane, "11303", "suspended", None);
        site.booking_token(&site.partner(), &jane);
        let printed = words(&get(&jane, "print", &jane).body);
        assert!(printed.is_none_or(|words| words.contains("stopped on heading (suspended)")));
        site.advance(Duration::from_secs(300 * 86_400));
        let jane = site.again(&jane);
        let Some(words) = words(&get(&jane, "print", &jane).body) else { return };
        assert!(words.contains("lapsed after") && words.contains("(not current)"), "{words}");
    }
}
