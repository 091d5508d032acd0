//! Reports at the desk: days, partners and members, as pages and as CSV.

use super::{Clerk, HOSTILE, book, day, demo};
use crate::harness::Site;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::entries::{self, NewTime};

/// The rows of a table, without its heading.
fn rows(clerk: &Clerk, path: &str) -> Vec<String> {
    let reply = clerk.get(path);
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/csv; charset=utf-8")), "{reply}");
    assert!(reply.header("content-disposition").unwrap().starts_with("attachment; filename="), "{reply}");
    let text = String::from_utf8(reply.body.clone()).unwrap();
    text.split_terminator("\r\n").skip(1).map(str::to_owned).collect()
}

#[test]
fn days_add_up_to_what_was_booked_and_flown() {
    let site = demo();
    let bookings = day(&site);
    let jane = site.flyer("flown");
    let clerk = Clerk::at(&site, &site.desk());
    clerk.post(&format!("/desk/bookings/{}/check-in", bookings[0]), &[]);
    let found = rows(&clerk, "/desk/reports/days.csv");
    assert_eq!(found.len(), 30, "the usual range");
    let sums: Vec<i64> = (1..6)
        .map(|cell| found.iter().map(|row| row.split(',').nth(cell).unwrap().parse::<i64>().unwrap()).sum())
        .collect();
    let flown = site.change(|tx| {
        Ok(tx.get::<(i64, i64)>(
            "SELECT count(*), sum(minutes) FROM entries WHERE kind = 'time' AND entry_date > ?1",
            [tx.now() - 29 * 86_400],
        )?)
    });
    assert_eq!(sums, [4, 48, 1, flown.0, flown.1], "{found:?}");
    assert!(flown.0 >= 2, "somebody flew: {}", jane.name);
    let page = clerk.get("/desk/reports").page();
    assert!(
        page.contains("Bookings from ")
            && page.contains(", without cancelled ones: 4")
            && page.contains("<title id=\"booked-title\">"),
        "{page}"
    );
    assert!(page.contains("role=\"img\"") && page.matches("<desc id=").count() == 2, "{page}");
    let empty = clerk.get("/desk/reports?from=2020-02-28&to=2020-03-01").page();
    assert!(
        empty.contains("Bookings from 28 February 2020 to 1 March 2020, without cancelled ones: 0")
            && empty.contains("<td>Saturday, 29 February 2020"),
        "{empty}"
    );
}

#[test]
fn a_long_csv_file_is_streamed_with_every_booking_once_and_a_short_one_is_sent_whole() {
    const BOOKINGS: usize = 4_500;
    let site = demo();
    let (jane, _) = (site.member("jane"), site.partner());
    let first = site.now() - 2 * 86_400;
    site.change(|tx| {
        tx.run("UPDATE members SET real_name = ?2 WHERE member_id = ?1", (jane.id, "Jane ".repeat(60)))?;
        // Seven bookings at each moment, so that chunks of the answer end between two of one moment.
        let sql = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
             INSERT INTO bookings (partner_id, member_id, registration_id, flight_date, minutes_booked, tunnel_id, created_at,
                                   updated_at)
             SELECT (SELECT max(partner_id) FROM partners), ?1, i + 1, ?2 + i / 7, 5, tunnel_id, 0, 0 FROM site, n";
        Ok(tx.run(sql, (jane.id, first, BOOKINGS as i64))?)
    });
    let clerk = Clerk::at(&site, &site.desk());
    let date = |days: i64| jiff_date(site.now() + days * 86_400);
    let path = format!("/desk/reports/bookings.csv?from={}&to={}", date(-3), date(0));
    let long = clerk.get(&path);
    assert_eq!((long.status, long.header("content-length"), long.header("etag")), (200, None, None), "{long}");
    let found = rows(&clerk, &path);
    let numbers: Vec<i64> = found.iter().map(|row| row.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(numbers.len(), BOOKINGS);
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "in order, and each once");
    let head = clerk.head(&path);
    assert_eq!((head.status, head.body.len(), head.header("content-type")), (200, 0, Some("text/csv; charset=utf-8")));
    let short = clerk.get(&format!("/desk/reports/bookings.csv?from={0}&to={0}", date(3)));
    assert_eq!(short.header("content-length"), Some(&*short.body.len().to_string()), "{short}");
    assert!(short.header("etag").is_some(), "{short}");
    // If the clerk signs out meanwhile, the answer stops without its end mark, so that a part cannot pass for the
    // whole.
    const END: &[u8] = b"\r\n0\r\n\r\n";
    assert!(read_slowly(&clerk, &path, || ()).ends_with(END));
    let part = read_slowly(&clerk, &path, || assert_eq!(clerk.post("/desk/sign-out", &[]).status, 303));
    assert!(part.starts_with(b"HTTP/1.1 200") && !part.ends_with(END), "{} bytes", part.len());
    assert!(part.len() < long.body.len(), "{} of {} bytes", part.len(), long.body.len());
}

/// An answer as transferred, to a client whose small buffer is full when `meanwhile` runs.
fn read_slowly(clerk: &Clerk, path: &str, meanwhile: impl FnOnce()) -> Vec<u8> {
    const BUFFER_BYTES: usize = 64 * 1024;
    let server: SocketAddr = clerk.origin.strip_prefix("http://").unwrap().parse().unwrap();
    let socket = Socket::new(Domain::for_address(server), Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(BUFFER_BYTES).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket.connect(&server.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\ncookie: {}\r\n\r\n", clerk.line());
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = vec![0];
    stream.read_exact(&mut answer).unwrap();
    meanwhile();
    // An answer that breaks off may end in an error; the part before it counts.
    _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn each_total_is_shown_once_beside_that_of_the_range_before() {
    let site = demo();
    let (jane, _) = (site.member("jane"), site.partner());
    let add = |hours_ago: i64, count: i64| {
        for place in 0..count {
            let at = site.now() - hours_ago * 3600 + place;
            site.change(|tx| {
                Ok(tx.run(
                    "INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
                     SELECT (SELECT max(partner_id) FROM partners), ?1, ?2, 500, tunnel_id, 0, 0 FROM site",
                    (jane.id, at),
                )?)
            });
        }
    };
    add(0, 3);
    add(7 * 24, 2);
    let clerk = Clerk::at(&site, &site.desk());
    let today = jiff_date(site.now());
    let page = clerk.get(&format!("/desk/reports?from={today}&to={today}")).page();
    let sums = page.split("<dl class=\"sums\">").nth(1).and_then(|rest| rest.split("</dl>").next()).unwrap();
    assert!(sums.contains(">3</strong>") && sums.contains("+50% (before: 2)"), "{sums}");
    assert!(sums.contains(">1,500</strong>") && sums.contains("+50% (before: 1,000)"), "{sums}");
    assert!(page.contains(&format!("from={today}&amp;to={today}\" aria-current=\"true\">Today</a>")), "{page}");
    assert!(!page.contains("<tfoot>"), "a total is not said again: {page}");
    assert_eq!(page.matches(">1,500<").count(), 3, "the sum, its partner and its day: {page}");
}

#[test]
fn cached_sums_follow_the_clock_the_bookings_and_the_partners_requests() {
    let site = demo();
    let bookings = day(&site);
    let (jane, partner) = (site.flyer("flown"), site.partner());
    let clerk = Clerk::at(&site, &site.desk());
    let date = |days: i64| site.inside().time_zone().unwrap().date(Moment(site.now() + days * 86_400));
    let query = format!("from={}&to={}", date(-364), date(0));
    let last = || -> Vec<i64> {
        let rows = rows(&clerk, &format!("/desk/reports/days.csv?{query}"));
        rows.last().unwrap().split(',').skip(1).map(|cell| cell.parse().unwrap()).collect()
    };
    let page = || clerk.get(&format!("/desk/reports?{query}")).page();
    let (before, shown) = (last(), page());
    assert_eq!((last(), page()), (before.clone(), shown.clone()), "nothing happened");
    // A flight of the next minute counts as flown once its time has come.
    let flight = NewTime {
        entry_date: Moment(site.now() + 30),
        minutes: 77,
        tunnel_id: Site::TUNNEL_ID,
        comment: String::new(),
    };
    site.change(|tx| Ok(entries::insert_time(tx, MemberId(jane.id), MemberId(jane.id), None, &flight)?));
    assert_eq!(last(), before, "it is still to come");
    site.advance(std::time::Duration::from_secs(30));
    let flown = last();
    assert_eq!((flown[3], flown[4]), (before[3] + 1, before[4] + 77));
    assert_ne!(page(), shown);
    clerk.post(&format!("/desk/bookings/{}/check-in", bookings[0]), &[]);
    assert_eq!(last()[2], before[2] + 1);
    let tokens = || {
        let rows = rows(&clerk, &format!("/desk/reports/partners.csv?{query}"));
        rows.iter().map(|row| row.split(',').nth(5).unwrap().parse::<i64>().unwrap()).sum::<i64>()
    };
    let issued = tokens();
    site.booking_token(&partner, &jane);
    assert_eq!(tokens(), issued + 1, "a request is counted at once");
}

/// The harness compares the sums with the rows themselves, after this test as after every other.
#[test]
fn sums_follow_every_change_of_a_booking() {
    let site = demo();
    let (jane, _) = (site.member("jane"), site.partner());
    let step = |sql: &str| site.change(|tx| Ok(tx.run(sql, [jane.id])?));
    let sums = || {
        let sql =
            "SELECT sum(bookings), sum(minutes), sum(arrived), count(*) FILTER (WHERE bookings <> 0) FROM booked_hours";
        site.change(|tx| Ok(tx.get::<(i64, i64, i64, i64)>(sql, [])?))
    };
    for (hour, minutes) in [(3600, 12), (3660, 10), (7200, 5)] {
        step(&format!(
            "INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
             SELECT (SELECT max(partner_id) FROM partners), ?1, {hour}, {minutes}, tunnel_id, 0, 0 FROM site"
        ));
    }
    assert_eq!(sums(), (3, 27, 0, 2));
    step("UPDATE bookings SET arrived_at = 3700 WHERE member_id = ?1 AND flight_date = 3600");
    step("UPDATE bookings SET flight_date = 7300, minutes_booked = 20 WHERE member_id = ?1 AND flight_date = 3660");
    assert_eq!(sums(), (3, 37, 1, 2));
    step("DELETE FROM bookings WHERE member_id = ?1 AND flight_date <> 7200");
    assert_eq!(sums(), (1, 5, 0, 1));
}

#[test]
fn an_invalid_range_is_refused_with_a_reason() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    for (query, said) in [
        ("from=2026-02-30&to=2026-03-01", "Give both days"),
        ("from=2026-02-28", "Give both days"),
        ("from=2026-03-02&to=2026-03-01", "comes after the last"),
        ("from=2025-01-01&to=2026-01-02", "At most 366 days"),
        ("from=%3Cscript%3E&to=%3Cscript%3E", "Give both days"),
    ] {
        let page = clerk.get(&format!("/desk/reports?{query}"));
        assert!(page.status == 422 && page.page().contains(said), "{query}: {page}");
        assert!(!page.page().contains("<script>"), "{page}");
        assert_eq!(clerk.get(&format!("/desk/reports/days.csv?{query}")).status, 422);
    }
    assert_eq!(clerk.get("/desk/reports?from=2025-01-01&to=2026-01-01").status, 200, "366 days");
}

#[test]
fn csv_cells_are_no_formulas_and_names_cannot_break_out_of_them() {
    let site = demo();
    day(&site);
    let evil = site.member("formula");
    site.change(|tx| {
        tx.run("UPDATE members SET real_name = '=1+1', screen_name = '' WHERE member_id = ?1", [evil.id])?;
        Ok(())
    });
    book(&site, &evil, 600);
    site.change(|tx| Ok(tx.run("UPDATE partners SET name = ?1", [HOSTILE])?));
    let clerk = Clerk::at(&site, &site.desk());
    let date = |days: i64| jiff_date(site.now() + days * 86_400);
    let query = format!("from={}&to={}", date(-1), date(1));
    let bookings = rows(&clerk, &format!("/desk/reports/bookings.csv?{query}"));
    assert_eq!(bookings.len(), 5, "{bookings:?}");
    assert!(bookings.iter().any(|row| row.contains("\"'=1+1\"")), "{bookings:?}");
    let partners = rows(&clerk, &format!("/desk/reports/partners.csv?{query}"));
    assert!(
        partners.len() == 5 && partners.iter().all(|row| row.contains("<script>")),
        "a table is no page: {partners:?}"
    );
    let page = clerk.get(&format!("/desk/reports?{query}")).page();
    assert!(page.contains("&#60;script&#62;") && !page.contains("<script>alert"), "{page}");
}

fn jiff_date(moment: i64) -> String {
    tunneldesk::domain::local_time::TimeZone::named("").date(Moment(moment))
}

#[test]
fn members_are_counted_by_level_and_currency_and_recounted_later() {
    let site = demo();
    site.flyer("jane");
    site.signer("ines", &[("Instructor", "4")]);
    let clerk = Clerk::at(&site, &site.desk());
    let counted = |kind: &str| {
        let found = rows(&clerk, "/desk/reports/members.csv");
        found.into_iter().filter(|row| row.starts_with(kind) && !row.ends_with(",0")).collect::<Vec<_>>()
    };
    let (currency, levels) = (counted("currency"), counted("level"));
    assert!(currency.iter().any(|row| row.starts_with("currency,Flyer,current,")), "{currency:?}");
    assert!(currency.iter().any(|row| row.starts_with("currency,Instructor,")), "{currency:?}");
    assert!(levels.iter().any(|row| row.starts_with("level,")), "{levels:?}");
    let page = clerk.get("/desk/reports/members").page();
    let all: i64 = site.change(|tx| Ok(tx.get("SELECT count(*) FROM members", [])?));
    assert!(page.contains(&format!("<strong class=\"figure\">{all}</strong>")), "{page}");
    site.member("late");
    assert!(
        clerk.get("/desk/reports/members").page().contains(&format!("<strong class=\"figure\">{all}</strong>")),
        "kept"
    );
    site.advance(std::time::Duration::from_secs(601));
    let later = clerk.get("/desk/reports/members").page();
    assert!(later.contains(&format!("<strong class=\"figure\">{}</strong>", all + 1)), "{later}");
}

#[test]
fn many_members_are_counted_in_the_background() {
    let site = demo();
    site.flyer("jane");
    let clerk = Clerk::at(&site, &site.desk());
    assert!(clerk.get("/desk/reports/members").page().contains("By currency"), "few are counted at once");
    site.change(|tx| {
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
                   INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at)
                   SELECT 'many' || i, 'many' || i, 'Many ' || i, 'many' || i || '@example.com', ?1, ?1 FROM n";
        Ok(tx.run(sql, [tx.now()])?)
    });
    site.advance(std::time::Duration::from_secs(600));
    // Ten minutes later the old counts are shown while newer ones are computed.
    let old = clerk.get("/desk/reports/members").page();
    assert!(old.contains("<strong class=\"figure\">2</strong>") && old.contains("id=\"counted\" data-live"), "{old}");
    counted(&clerk);

    // A restarted server has no counts.
    let mut site = site;
    site.restart();
    let clerk = Clerk::at(&site, &site.desk());
    let first = clerk.get("/desk/reports/members").page();
    assert!(first.contains("The members are being counted") && first.contains("id=\"counted\" data-live"), "{first}");
    counted(&clerk);
    let table = rows(&clerk, "/desk/reports/members.csv");
    assert!(table.iter().any(|row| row == "level,Flyer Level 1,holders,1"), "{table:?}");

    site.restart();
    let clerk = Clerk::at(&site, &site.desk());
    let none = clerk.get("/desk/reports/members.csv");
    assert_eq!((none.status, none.header("location")), (303, Some("/desk/reports/members")), "{none}");
}

/// Reloads until the new count is shown and none is being computed.
fn counted(clerk: &Clerk) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let page = clerk.get("/desk/reports/members").page();
        if page.contains("id=\"counted\">") {
            assert!(page.contains("<strong class=\"figure\">60"), "{page}");
            return;
        }
        assert!(std::time::Instant::now() < until, "{page}");
    }
}

#[test]
fn a_booking_counts_as_flown_only_once_its_time_has_come() {
    let site = demo();
    let jane = site.flyer("jane");
    book(&site, &jane, 3_600);
    let ahead = NewTime {
        entry_date: Moment(site.now() + 3_600),
        minutes: 20,
        tunnel_id: crate::harness::Site::TUNNEL_ID,
        comment: String::new(),
    };
    site.change(|tx| Ok(entries::insert_time(tx, MemberId(jane.id), MemberId(jane.id), None, &ahead)?));
    let date = jiff_date(site.now());
    let today = |clerk: &Clerk| rows(clerk, &format!("/desk/reports/days.csv?from={date}&to={date}")).remove(0);
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(today(&clerk), format!("{date},1,12,0,0,0"), "one booking of 12 minutes, and nothing flown");
    site.advance(std::time::Duration::from_secs(3_600));
    assert_eq!(today(&clerk), format!("{date},1,12,0,1,20"));
}

#[test]
fn the_owner_s_report_counts_use_no_shows_flyers_and_fees_and_gives_the_accountant_a_month() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.yearly_fee_cents = 3_000;
    });
    let (jane, joe) = (site.member("jane"), site.member("joe"));
    let clerk = Clerk::at(&site, &site.desk());
    let bookings = [&jane, &joe].map(|member| super::book(&site, member, 0));
    site.change(|tx| {
        tx.run("UPDATE bookings SET arrived_at = flight_date WHERE booking_id = ?1", [bookings[0]])?;
        Ok(tx.run(
            "UPDATE bookings SET ended_as = 'no_show', ended_at = flight_date WHERE booking_id = ?1",
            [bookings[1]],
        )?)
    });
    let cancelled = super::book(&site, &joe, 60);
    assert_eq!(clerk.post(&format!("/desk/bookings/{cancelled}/cancel"), &[]).status, 303);
    super::till::pay(&clerk, jane.id, "cash", "");
    let today = site.inside().time_zone().unwrap().date(Moment(site.now()));
    let csv = clerk.get(&format!("/desk/reports/hall.csv?from={today}&to={today}"));
    let csv = String::from_utf8(csv.body).unwrap();
    for row in [
        "bookings,all,,3",
        "bookings,arrived,,1",
        "bookings,no_show,,1",
        "bookings,cancelled,,1",
        "flyers,new,,1",
        "flyers,returning,,0",
        &format!("fees_cents_CHF,{},cash,3000", &today[..7]),
    ] {
        assert!(csv.lines().any(|line| line == row), "{row}: {csv}");
    }
    let page = clerk.get(&format!("/desk/reports/hall?from={today}&to={today}")).page();
    assert!(page.contains("30.00 CHF") && page.contains("No-shows") && page.contains("class=\"heat"), "{page}");
    assert!(page.contains("Bookings, with cancelled ones"), "{page}");
    let days = clerk.get(&format!("/desk/reports?from={today}&to={today}")).page();
    assert!(days.contains("Bookings, without cancelled ones") && days.contains("ones: 2"), "{days}");
    let month = String::from_utf8(clerk.get(&format!("/desk/reports/month.csv?month={}", &today[..7])).body).unwrap();
    assert!(month.lines().count() == 2 && month.contains(",cash,30.00,CHF,"), "{month}");
    assert_eq!(clerk.get("/desk/reports/month.csv?month=soon").status, 422);
}
