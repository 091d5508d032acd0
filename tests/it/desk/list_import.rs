//! A list that an admin takes in from a page: looked at, its mistakes as a file, confirmed.

use super::till::field;
use super::{Clerk, demo};
use crate::harness::{Caller, Reply, Site};
use std::io::Write;
use tunneldesk::moment::Moment;

const PAGE: &str = "/desk/member-list";

/// Jane, whom an earlier list brought, and a site that has her.
fn with_jane() -> (Site, Clerk, i64) {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    assert_eq!(
        take(&admin, "username,real_name,email,phone\nada,Ada Doe,ada@example.org,+41791234567\n").0,
        "1 new, 0 changed"
    );
    let ada = site.change(|tx| Ok(tx.get("SELECT member_id FROM members WHERE username = 'ada'", [])?));
    (site, admin, ada)
}

fn look(clerk: &Clerk, list: &str) -> Reply {
    clerk.upload(PAGE, list.as_bytes())
}

/// Looks at a list without a mistake and takes it in; what was said of it, and the look.
fn take(admin: &Clerk, list: &str) -> (String, String) {
    let looked = look(admin, list);
    assert_eq!(looked.status, 200, "{looked}");
    let page = looked.page();
    let taken = confirm(admin, &page);
    assert_eq!(taken.status, 303, "{taken}");
    let said = admin.get(taken.header("location").unwrap()).page();
    let said =
        said.split_once("The list is imported: ").and_then(|(_, rest)| rest.split_once('.')).expect("what was done").0;
    (said.to_owned(), page)
}

/// Presses the button of a page that looked at a list.
fn confirm(admin: &Clerk, page: &str) -> Reply {
    let sent = ["number", "new", "changed", "list"].map(|name| (name, field(page, name)));
    admin.post(&format!("{PAGE}/take"), &sent.each_ref().map(|(name, value)| (*name, value.as_str())))
}

/// Presses the button of each page at the same time, in browsers of one admin.
fn confirm_together(site: &Site, pages: &[&str]) -> Vec<Reply> {
    let who = site.admin();
    let browsers: Vec<Clerk> = pages.iter().map(|_| Clerk::at(site, &who)).collect();
    std::thread::scope(|scope| {
        let press = |(browser, page): (Clerk, &&str)| {
            let page = (*page).to_owned();
            scope.spawn(move || confirm(&browser, &page))
        };
        let sent: Vec<_> = browsers.into_iter().zip(pages).map(press).collect();
        sent.into_iter().map(|one| one.join().expect("it is sent")).collect()
    })
}

/// The state of each row of the page, by its line.
fn states(page: &str) -> Vec<String> {
    let rows = page.split("<tr><td class=\"figure\">").skip(1);
    let state = |row: &str| {
        let line = row.split('<').next().unwrap_or_default();
        let state = row.split_once("<span class=\"badge ").and_then(|(_, rest)| rest.split_once('>')).unwrap().1;
        format!("{line} {}", state.split('<').next().unwrap_or_default())
    };
    let mut all: Vec<String> = rows.map(state).collect();
    all.sort();
    all
}

fn row(site: &Site, member_id: i64) -> String {
    let sql = "SELECT real_name || ' ' || email || ' ' || phone || ' ' || role || ' ' || coalesce(paid_until, '') FROM members
               WHERE member_id = ?1";
    site.change(|tx| Ok(tx.get(sql, [member_id])?))
}

#[test]
fn each_row_is_new_changed_same_or_wrong_and_a_look_writes_nothing() {
    let (site, admin, ada) = with_jane();
    let rows = (site.rows(), row(&site, ada));
    let list = "Benutzername;Name;E-Mail;Geburtsdatum\nnew1;Nora New;nora@example.org;31.05.1990\n\
                ada;Ada Lovelace;ada@example.org;\nx;Too Short;x@example.org;5/4/1980\n";
    let looked = look(&admin, list);
    let page = looked.page();
    assert_eq!(looked.status, 422);
    assert!(page.contains("1 new, 1 changed, 0 the same, 1 wrong"), "{page}");
    assert_eq!(states(&page), ["2 new", "3 changed", "4 wrong"]);
    for words in
        ["“Ada Doe” becomes “Ada Lovelace”", "Column 1 (username)", "Column 4 (dob)", "5/4/1980", "Nothing is imported"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("Import the list"), "a list with a mistake is not taken: {page}");
    assert_eq!((site.rows(), row(&site, ada)), rows);
    // Not even where somebody confirms what the page does not offer.
    let forced = admin.post(&format!("{PAGE}/take"), &[("list", &field(&page, "list"))]);
    assert_eq!((forced.status, states(&forced.page()).len()), (422, 3), "{forced}");
    assert_eq!((site.rows(), row(&site, ada)), rows);
}

#[test]
fn the_mistakes_are_a_file_with_line_column_and_what_would_be_right() {
    let (_site, admin, _) = with_jane();
    let list = "username,real_name,email,dob\nmark,Mark,mark@example.org,5/4/1980\nnora,,nora@example.org,\n";
    let page = look(&admin, list).page();
    let file = admin.post(&format!("{PAGE}/mistakes"), &[("list", &field(&page, "list"))]);
    assert_eq!(file.status, 200, "{file}");
    let text = String::from_utf8(file.body.clone()).expect("text");
    assert!(file.header("content-disposition").is_some_and(|to| to.contains("mistakes.csv")), "{file}");
    assert!(text.starts_with("\u{feff}line,column,heading,value,mistake"), "{text}");
    assert!(text.contains("2,4,dob,5/4/1980,") && text.contains("3,2,real_name,,"), "{text}");
    assert_eq!(text.trim_end().lines().count(), 3, "{text}");
}

#[test]
fn a_confirmed_list_is_taken_once_and_again_changes_nothing() {
    let (site, admin, ada) = with_jane();
    let list = "username,real_name,email,phone,paid_until\nada,Ada Lovelace,other@example.org,+41790000000,2030-11-26\n\
                mark,Mark Moe,mark@example.org,,\n";
    // Whoever came by a list under the same name may have another address by now: the list does not say which.
    assert_eq!(look(&admin, list).status, 422);
    let list = list.replace("other@example.org", "ada@example.org");
    assert_eq!(take(&admin, &list).0, "1 new, 1 changed");
    let end: i64 = site.change(|tx| Ok(tx.get("SELECT paid_until FROM members WHERE member_id = ?1", [ada])?));
    assert_eq!(row(&site, ada), format!("Ada Lovelace ada@example.org +41791234567 member {end}"));
    assert_eq!(site.inside().time_zone().unwrap().date(Moment(end)), "2030-11-26");
    let rows = site.rows();
    let looked = look(&admin, &list).page();
    assert!(
        looked.contains("Everybody on this list is already here") && states(&looked) == ["2 same", "3 same"],
        "{looked}"
    );
    let again = admin.post(&format!("{PAGE}/take"), &[("list", &encoded(&list))]);
    assert_eq!(again.header("location"), Some("/desk/member-list?new=0&changed=0"));
    assert_eq!(site.rows(), rows);
    let deeds = "SELECT count(*) FROM audit WHERE action = 'members.imported'";
    assert_eq!(site.change(|tx| Ok(tx.get::<i64>(deeds, [])?)), 2, "one a list that changed something");
}

#[test]
fn a_confirmation_that_is_sent_again_gets_the_first_answer_and_takes_nothing_back() {
    let (site, admin, ada) = with_jane();
    let list = "username,real_name,email\nada,Ada Lovelace,ada@example.org\nmark,Mark Moe,mark@example.org\n";
    let page = look(&admin, list).page();
    // Three at the same time: one takes the list in, and the others learn that it is taken.
    let answers = confirm_together(&site, &[&page, &page, &page]);
    for answer in &answers {
        assert_eq!(answer.header("location"), Some("/desk/member-list?new=1&changed=1"), "{answer}");
    }
    let named = || site.change(|tx| Ok(tx.get::<String>("SELECT real_name FROM members WHERE member_id = ?1", [ada])?));
    site.change(|tx| Ok(tx.run("UPDATE members SET real_name = 'Ada Byron' WHERE member_id = ?1", [ada])?));
    assert_eq!(confirm(&admin, &page).header("location"), Some("/desk/member-list?new=1&changed=1"));
    assert_eq!(named(), "Ada Byron", "what the desk changed since stays");
    // The same list on another page is another sending.
    assert_eq!(take(&admin, list).0, "0 new, 1 changed");
    assert_eq!(named(), "Ada Lovelace");
    // Two pages of one list, confirmed at the same time: neither is told of a username that is taken.
    let list = "username,real_name,email\nnora,Nora New,nora@example.org\n";
    let pages = [look(&admin, list).page(), look(&admin, list).page()];
    let answers = confirm_together(&site, &[&pages[0], &pages[1]]);
    assert!(answers.iter().any(|one| one.header("location") == Some("/desk/member-list?new=1&changed=0")));
    for answer in answers.iter().filter(|one| one.status != 303) {
        assert!(answer.status == 200 && answer.page().contains("Everybody on this list is already here"), "{answer}");
    }
}

fn encoded(list: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(list)
}

#[test]
fn a_list_gives_no_role_and_changes_no_staff_from_a_page() {
    let (site, admin, _) = with_jane();
    let desk: Caller = site.desk();
    let list = format!(
        "username,real_name,email,role\nmallory,Mallory,m@example.org,admin\n{0},Renamed,{0}@example.com,admin\n",
        desk.name
    );
    let page = look(&admin, &list).page();
    assert_eq!(states(&page)[0], "2 wrong", "{page}");
    assert!(page.contains("only the command gives it"), "{page}");
    let list = format!("username,real_name,email\n{0},Renamed,{0}@example.com\n", desk.name);
    assert_eq!(states(&look(&admin, &list).page()), ["2 same"]);
}

#[test]
fn the_page_says_of_each_list_what_the_command_says() {
    let (site, admin, _) = with_jane();
    for list in [
        "username,real_name,email\nada,Ada Lovelace,ada@example.org\nmark,Mark,mark@example.org\n",
        "username,real_name,email\nada,Ada Doe,ada@example.org\n",
        "username,real_name,email,paid_until\nada,Ada Doe,ada@example.org,43430\n",
        "first name,surname,email\nAda,Doe,ada@example.org\n",
        "username,real_name,email\nada,\"Ada,ada@example.org\n",
        "username,real_name,email\nada,ZoÃ«,ada@example.org\n",
    ] {
        let mut file = tempfile::NamedTempFile::new().expect("a file for the list");
        file.write_all(list.as_bytes()).expect("the list is written");
        let command = ["import", "members", &file.path().to_string_lossy(), "--update", "--dry-run"];
        let is_taken = site.try_shell(&command);
        let looked = look(&admin, list);
        assert_eq!(looked.status == 200, is_taken, "{list}: {looked}");
    }
}

#[test]
fn what_is_no_list_is_refused_in_words_and_the_page_is_for_admins() {
    let (site, admin, _) = with_jane();
    let long = format!("username,real_name,email\n{}", "a".repeat(1024 * 1024));
    for (bytes, words) in [
        (&b""[..], "Choose a file first"),
        (&[0xff, 0xfe, b'u', 0][..], "UTF-16"),
        (long.as_bytes(), "tunneldesk import members"),
    ] {
        let reply = admin.upload(PAGE, bytes);
        assert_eq!(reply.status, 422, "{words}");
        assert!(reply.page().contains(words), "{words}: {}", reply.page());
    }
    assert!(admin.get("/desk/members").page().contains("href=\"/desk/member-list\""));
    let clerk = Clerk::at(&site, &site.desk());
    assert!(!clerk.get("/desk/members").page().contains("/desk/member-list"));
    assert_eq!(clerk.get(PAGE).status, 403);
    assert_eq!(look(&clerk, "username,real_name,email\nx12,X,x@example.org\n").status, 403);
    assert_eq!(
        clerk
            .post(&format!("{PAGE}/take"), &[("list", &encoded("username,real_name,email\nx12,X,x@example.org\n"))])
            .status,
        403
    );
}

#[test]
fn the_page_speaks_the_clerk_s_language() {
    let (site, admin, _) = with_jane();
    let bad = "username,real_name,email\nada,\"Ada,ada@example.org\n";
    let origin = format!("http://{}", site.address());
    for (language, title, wrong) in [
        ("de", "Liste einlesen", "Hier beginnt ein Anführungszeichen"),
        ("fr", "Importer une liste", "Un guillemet"),
        ("es", "Importar una lista", "Aquí se abre una comilla"),
    ] {
        let headers = [("origin", &*origin), ("accept-language", language)];
        let page = admin.post_from(&format!("{PAGE}/take"), &[("list", &encoded(bad))], &headers).page();
        assert!(page.contains(title) && page.contains(wrong), "{language}: {page}");
    }
}
