//! The card of a member: forms that another tab has overtaken, and help for a lost password.

use super::{Clerk, demo};

#[test]
fn a_form_that_was_opened_before_another_change_does_not_undo_it() {
    let site = demo();
    let jane = site.member("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/edit", jane.id);
    // Both tabs show the form before either saves it.
    let tab = |page: String| -> Vec<(String, String)> {
        let inputs = page.split("<input").skip(1).filter_map(|input| {
            let value = |name: &str| Some(input.split_once(&format!(" {name}=\""))?.1.split('"').next()?.to_owned());
            Some((value("name")?, value("value")?))
        });
        inputs.collect()
    };
    let (one, other) = (tab(clerk.get(&path).page()), tab(clerk.get(&path).page()));
    let save = |form: &[(String, String)], changed: &str, to: &str| {
        let value = |(name, value): &(String, String)| if name == changed { to.to_owned() } else { value.clone() };
        let values: Vec<String> = form.iter().map(value).collect();
        let form: Vec<(&str, &str)> =
            form.iter().zip(&values).map(|((name, _), value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(clerk.post(&path, &form).status, 303);
    };
    save(&one, "real_name", "Jane Doe");
    save(&other, "dob", "1990-05-31");
    let page = clerk.get(&path).page();
    assert!(page.contains("name=\"real_name\" value=\"Jane Doe\"") && page.contains("value=\"1990-05-31\""), "{page}");
}

#[test]
fn the_card_says_what_to_do_for_a_member_who_lost_the_password() {
    let site = demo();
    let jane = site.member("jane");
    let page = Clerk::at(&site, &site.desk()).get(&format!("/desk/members/{}?tab=security", jane.id)).page();
    assert!(page.contains("sets a new one by a code") && page.contains("href=\"/recover\""), "{page}");
}

#[test]
fn a_mail_that_came_back_is_on_the_card_with_its_day() {
    let site = demo();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let card = || clerk.get(&format!("/desk/members/{}", jane.id)).page();
    assert!(!card().contains("mail came back"));
    site.change(|tx| {
        let sql = "INSERT INTO suppressed (address, reason, detail, since)
                   SELECT email, 'hard_bounce', '', 1779796800 FROM members WHERE member_id = ?1";
        Ok(tx.run(sql, [jane.id])?)
    });
    assert!(card().contains("mail came back on 26 May 2026"), "{}", card());
}
