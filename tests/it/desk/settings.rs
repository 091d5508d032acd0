//! *Settings*: what admins set in pages counts at once, wins over nothing that the file says, and is undone by one click.

use super::Clerk;
use crate::harness::{PASSWORD, Site, senders};

const PATH: &str = "/desk/site/settings";

fn site() -> Site {
    Site::open_with(|config| config.demo = true)
}

/// Every field of a group as the page shows it, with some replaced.
pub fn save(clerk: &Clerk, group: &str, fields: &[(&str, &str)]) -> crate::harness::Reply {
    let page = clerk.get(PATH).page();
    let form = page.split(&format!("action=\"{PATH}/{group}\"")).nth(1).expect("the form of the group");
    let form = form.split("</form>").next().expect("the end of the form");
    let mut sent: Vec<(String, String)> = Vec::new();
    for field in form.split("name=\"").skip(1) {
        let name = field.split('"').next().expect("a name").to_owned();
        let value = match field
            .split("selected")
            .next()
            .filter(|before| field.contains("<option") && before.len() < field.len())
        {
            Some(before) => before.rsplit("value=\"").next().and_then(|rest| rest.split('"').next()),
            None => field
                .split('>')
                .next()
                .and_then(|tag| tag.split("value=\"").nth(1))
                .and_then(|rest| rest.split('"').next()),
        };
        sent.push((name, value.unwrap_or_default().replace("&quot;", "\"").replace("&#34;", "\"")));
    }
    for (name, value) in fields {
        sent.retain(|(known, _)| known != name);
        sent.push(((*name).to_owned(), (*value).to_owned()));
    }
    let sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    clerk.post(&format!("{PATH}/{group}"), &sent)
}

#[test]
fn a_fee_that_an_admin_sets_counts_at_once_and_is_undone_by_one_click() {
    let site = site();
    let (jane, clerk, admin) = (site.member("jane"), Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    assert_eq!(clerk.get(PATH).status, 403, "for admins");
    let fee = format!("/desk/members/{}/payment", jane.id);
    assert!(clerk.get(&fee).page().contains("charges no membership fee"));
    let saved = save(&admin, "membership", &[("membership.yearly_fee_cents", "45.50"), ("membership.currency", "EUR")]);
    assert_eq!(saved.status, 303, "{saved}");
    assert!(clerk.get(&fee).page().contains("45.50 EUR"), "{}", clerk.get(&fee).page());
    let page = admin.get(PATH).page();
    assert!(page.contains("45.50") && page.contains("Fee of a year"), "{page}");
    let audited: i64 = site.change(|tx| Ok(tx.get("SELECT count(*) FROM audit WHERE action = 'setting.changed'", [])?));
    assert_eq!(audited, 2);
    let change: i64 =
        site.change(|tx| Ok(tx.get("SELECT change_id FROM settings WHERE key = 'membership.yearly_fee_cents'", [])?));
    let undone = admin.post("/desk/site/setting-changes/undo", &[("change", &change.to_string())]);
    assert_eq!(undone.status, 303, "{undone}");
    assert!(clerk.get(&fee).page().contains("charges no membership fee"));
}

#[test]
fn an_amount_is_read_in_the_currency_that_the_same_form_names() {
    let site = site();
    let admin = Clerk::at(&site, &site.admin());
    let fee = |amount: &str, currency: &str| {
        let sent = [("membership.yearly_fee_cents", amount), ("membership.currency", currency)];
        let status = save(&admin, "membership", &sent).status;
        (status, site.inside().config.yearly_fee_cents)
    };
    assert_eq!(fee("45.50", "CHF"), (303, 4_550));
    assert_eq!(fee("3000", "JPY"), (303, 3_000), "a yen has no hundredths");
    assert_eq!(fee("30.50", "JPY"), (422, 3_000));
    assert_eq!(fee("5.000", "KWD"), (303, 5_000), "a dinar has thousandths");
    assert_eq!(fee("5.000", "XXX"), (422, 5_000), "no currency");
    assert_eq!(fee("30", "CHF"), (303, 3_000));
    assert_eq!(fee("31.50", ""), (303, 3_150), "that of the country");
}

#[test]
fn a_change_is_told_in_the_currency_of_then_and_no_undo_makes_a_fee_that_nobody_entered() {
    let site = site();
    let admin = Clerk::at(&site, &site.admin());
    let fee = |amount: &str, currency: &str| {
        let sent = [("membership.yearly_fee_cents", amount), ("membership.currency", currency)];
        save(&admin, "membership", &sent)
    };
    let now = || (site.inside().config.yearly_fee_cents, site.inside().config.fee_currency.clone().unwrap_or_default());
    let undo = |key: &str| {
        let sql = "SELECT max(change_id) FROM settings WHERE key = ?1";
        let change: i64 = site.change(|tx| Ok(tx.get(sql, [key])?));
        admin.post("/desk/site/setting-changes/undo", &[("change", &change.to_string())])
    };
    assert_eq!(fee("80.00", "CHF").status, 303);
    assert_eq!(fee("8000", "JPY").status, 303, "the same number of another unit");
    assert_eq!(fee("9000", "JPY").status, 303);
    let page = admin.get(PATH).page();
    let changes = page.split("id=\"changes\"").nth(1).expect("the changes");
    for told in ["80.00 CHF", "8,000 JPY", "9,000 JPY"] {
        assert!(changes.contains(told), "{told}: {changes}");
    }
    assert_eq!((undo("membership.yearly_fee_cents").status, now()), (303, (8_000, "JPY".to_owned())));
    assert_eq!((undo("membership.currency").status, now()), (303, (8_000, "CHF".to_owned())), "as it was: 80.00 CHF");

    assert_eq!(fee("9000", "JPY").status, 303);
    for key in ["membership.currency", "membership.yearly_fee_cents"] {
        let refused = undo(key);
        assert!(
            refused.status == 422 && refused.page().contains("Before it the fee was 80.00 CHF"),
            "{key}: {refused}"
        );
        let page = refused.page();
        assert!(page.contains("value=\"80.00\"") && page.contains("value=\"CHF\""), "ready to be saved: {page}");
        assert_eq!(now(), (9_000, "JPY".to_owned()));
    }
    let refused = fee("90.50", "JPY");
    assert!(refused.status == 422 && refused.page().contains("like 123."), "a yen has no decimals: {refused}");
    assert!(fee("many", "CHF").page().contains("like 123.50."));
}

#[test]
fn repeated_minutes_and_hours_in_which_nothing_is_sent_are_refused_with_what_would_be_right() {
    let site = site();
    let admin = Clerk::at(&site, &site.admin());
    let hours = |from: &str, until: &str| {
        save(&admin, "reminders", &[("reminders.from_hour", from), ("reminders.until_hour", until)])
    };
    for (refused, words) in [
        (save(&admin, "flying", &[("tunnel.usual_minutes", "5, 5, 5")]), "names 5 twice"),
        (save(&admin, "flying", &[("tunnel.kiosk_minutes", "2, 5, 2")]), "names 2 twice"),
        (hours("20", "20"), "later on the same day"),
        (hours("20", "9"), "later on the same day"),
    ] {
        assert!(refused.status == 422 && refused.page().contains(words), "{words}: {refused}");
    }
    assert_eq!((hours("20", "21").status, hours("0", "24").status), (303, 303));
}

#[test]
fn a_setting_that_cannot_be_is_refused_by_its_name_and_nothing_changes() {
    let site = site();
    let admin = Clerk::at(&site, &site.admin());
    let refused = save(&admin, "flying", &[("tunnel.kiosk_minutes", "5, many"), ("tunnel.cancel_hours", "3")]);
    assert!(refused.status == 422 && refused.page().contains("Minutes that guests book at the kiosk"), "{refused}");
    let rows: i64 = site.change(|tx| Ok(tx.get("SELECT count(*) FROM settings", [])?));
    assert_eq!((rows, site.inside().config.cancel_hours), (0, 24));
    let saved = save(&admin, "flying", &[("tunnel.kiosk_minutes", "2, 5"), ("tunnel.cancel_hours", "3")]);
    assert_eq!(saved.status, 303, "{saved}");
    assert_eq!((site.inside().config.cancel_hours, site.inside().config.kiosk_minutes.clone()), (3, vec![2, 5]));
}

#[test]
fn a_change_of_the_mail_server_tells_every_admin_and_shows_no_secret() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
    });
    let (admin, other) = (Clerk::at(&site, &site.admin()), site.admin());
    // The sign-in just before is no proof: somebody else may sit at that browser now.
    let refused = save(&admin, "mail", &[("mail.server", "mail.example.org:587"), ("mail.from", "desk@example.org")]);
    assert!(refused.status == 403 && refused.page().contains("action=\"/desk/prove\""), "{refused}");
    let proof = [("prove_to", PATH), ("prove_password", PASSWORD)];
    assert_eq!(admin.post("/desk/prove", &proof).status, 303);
    let saved = save(
        &admin,
        "mail",
        &[
            ("mail.server", "mail.example.org:587"),
            ("mail.from", "desk@example.org"),
            ("mail.username", "desk"),
            ("mail.password", "opensesame"),
        ],
    );
    assert_eq!(saved.status, 303, "{saved}");
    assert_eq!(site.inside().config.mail.as_ref().map(|mail| mail.host.as_str()), Some("mail.example.org"));
    assert!(!admin.get(PATH).page().contains("opensesame"));
    let kept: Vec<u8> = site.change(|tx| Ok(tx.get("SELECT sealed FROM settings WHERE key = 'mail.password'", [])?));
    assert!(!String::from_utf8_lossy(&kept).contains("opensesame"));
    assert!(site.notices(&other).iter().any(|notice| notice == "notice.settings_changed"));
    // An empty field leaves the password as it is.
    let saved = save(&admin, "mail", &[("mail.from", "hall@example.org")]);
    assert_eq!(saved.status, 303, "{saved}");
    let rows: i64 = site.change(|tx| Ok(tx.get("SELECT count(*) FROM settings WHERE key = 'mail.password'", [])?));
    assert_eq!(rows, 1);
}

#[test]
fn an_admin_hands_out_and_erases_a_person_in_pages() {
    let site = site();
    let (jane, clerk, admin) = (site.member("jane"), Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let path = format!("/desk/members/{}/data", jane.id);
    assert_eq!((clerk.get(&path).status, clerk.post(&format!("{path}/export"), &[]).status), (403, 403));
    let whole = admin.post(&format!("{path}/export"), &[]);
    assert!(whole.status == 200 && String::from_utf8_lossy(&whole.body).contains("jane@example.com"), "{whole}");
    let other = admin.post(&format!("{path}/erase"), &[("username", "joe")]);
    assert!(other.status == 422 && other.page().contains("Nobody was erased"), "{other}");
    assert_eq!(admin.post(&format!("{path}/erase"), &[("username", "jane")]).status, 303);
    assert!(!admin.get(&format!("/desk/members/{}", jane.id)).page().contains("jane@example.com"));
    let newest = admin.get("/desk/members").page();
    assert!(!newest.contains(&format!("/desk/members/{}\"", jane.id)), "nobody looks for who is erased: {newest}");
}

#[test]
fn a_page_that_was_open_while_somebody_else_saved_overwrites_nothing() {
    let site = site();
    let (ann, ben) = (Clerk::at(&site, &site.admin()), Clerk::at(&site, &site.admin()));
    // Ann's page was made before Ben saved: it carries the values of then.
    let stale = [("seen_tunnel.cancel_hours", "24"), ("tunnel.minutes_per_quarter_hour", "20")];
    assert_eq!(save(&ben, "flying", &[("tunnel.cancel_hours", "3")]).status, 303);
    let both = save(&ann, "flying", &[&stale[..], &[("tunnel.cancel_hours", "48")]].concat());
    assert!(both.status == 422 && both.page().contains("It is now") && both.page().contains(": 3"), "{both}");
    assert_eq!(site.inside().config.cancel_hours, 3);
    let left = save(&ann, "flying", &[&stale[..], &[("tunnel.cancel_hours", "24")]].concat());
    assert_eq!(left.status, 303, "{left}");
    let now = site.inside().config.clone();
    assert_eq!((now.cancel_hours, now.minutes_per_quarter_hour), (3, 20), "what Ann did not touch stays Ben's");
}

#[test]
fn a_slip_of_the_finger_is_asked_about_once() {
    let site = site();
    let admin = Clerk::at(&site, &site.admin());
    let slip = [("membership.yearly_fee_cents", "99999"), ("membership.currency", "EUR")];
    let asked = save(&admin, "membership", &slip);
    assert!(asked.status == 422 && asked.page().contains("99999? Save again to confirm."), "{asked}");
    let odd = asked.page().split("name=\"sure\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let other = [("membership.yearly_fee_cents", "88888"), ("membership.currency", "EUR"), ("sure", &*odd)];
    assert_eq!(save(&admin, "membership", &other).status, 422, "another slip is asked about anew");
    assert_eq!(save(&admin, "membership", &[&slip[..], &[("sure", &*odd)]].concat()).status, 303);
    assert_eq!(site.inside().config.yearly_fee_cents, 9_999_900);
}

#[test]
fn a_test_message_without_a_server_says_what_to_do_and_a_waiver_without_a_text_that_nobody_signs() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.waiver.required = true;
    });
    let admin = Clerk::at(&site, &site.admin());
    for path in ["/desk/site/sms-test", "/desk/site/mail-test"] {
        let refused = admin.post(path, &[]);
        assert_eq!(refused.status, 422, "{refused}");
    }
    assert!(admin.get(PATH).page().contains("nobody can sign and nobody is stopped"));
}
