//! Lists that the technician imports, on a site where people signed up already.

use crate::harness::{PASSWORD, Site};
use serde_json::json;
use std::io::Write;

/// Imports the list of one member, and returns whether it was taken.
fn import(site: &Site, username: &str, joined: &str) -> bool {
    let list =
        format!("username,real_name,email,join_date\n{username},{username} Example,{username}@example.com,{joined}\n");
    let mut file = tempfile::NamedTempFile::new().expect("a file for the list");
    file.write_all(list.as_bytes()).expect("the list is written");
    site.try_shell(&["import", "members", &file.path().to_string_lossy()])
}

#[test]
fn an_imported_member_is_not_taken_for_a_stranger_s_account_of_the_same_name_and_address() {
    let site = Site::open();
    let sign_up = |name: &str| {
        let body = json!({ "username": name, "real_name": "Some One", "email": format!("{name}@example.com"),
                           "password": PASSWORD, "terms": true });
        site.stranger().post("/auth/signup", body).ok().json()["member_id"].as_i64().unwrap()
    };
    let squatter = sign_up("jane");
    let before = site.rows()["members"];
    assert!(!import(&site, "jane", "2020-01-02"), "the account may be a stranger's");
    assert_eq!(site.rows()["members"], before);
    let sql = "UPDATE members SET email_confirmed_at = 1 WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, [squatter])?));
    assert!(import(&site, "jane", "2020-01-02"), "the owner of the address confirmed it");
    // The same list again finds its own members, whether or not they chose a password meanwhile.
    for _ in 0..2 {
        assert!(import(&site, "mark", "2021-02-03"));
        site.change(|tx| Ok(tx.run("UPDATE members SET password_hash = 'x' WHERE username = 'mark'", [])?));
    }
    assert_eq!(site.rows()["members"], before + 1);
}
