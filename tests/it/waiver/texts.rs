//! The texts of the site, and the consents that members give to them.

use super::*;

#[test]
fn a_text_with_the_title_of_its_page_is_not_headed_twice() {
    let site = Site::open_with(on);
    let (admin, jane) = (demand(&site), site.flyer("jane"));
    let paper = format!("/desk/members/{}/waiver", jane.id);
    for (title, headed) in [("WAIVER", false), ("Flying in Windwerk", true)] {
        let form = [("kind", "waiver"), ("language", "en"), ("title", title), ("body", "I fly."), ("questions", "")];
        assert_eq!(admin.post("/desk/texts/edit", &form).status, 303);
        assert_eq!(admin.post("/desk/texts/publish", &[("kind", "waiver")]).status, 303);
        let page = admin.get(&paper).page();
        assert!(page.contains(&format!("aria-label=\"{title}\"")), "a screen reader says it in any case: {page}");
        assert_eq!(page.contains(&format!("<h2>{title}</h2>")), headed, "{page}");
    }
}

#[test]
fn who_writes_a_text_learns_which_letters_cannot_be_printed() {
    let site = Site::open_with(on);
    let admin = demand(&site);
    // No font has the letters of Linear A.
    for (body, hint) in [("I fly at my own risk. 🪂", false), ("I fly \u{10600}.", true)] {
        let form = [("kind", "waiver"), ("language", "en"), ("title", "Waiver"), ("body", body), ("questions", "")];
        assert_eq!(admin.post("/desk/texts/edit", &form).status, 303);
        let page = admin.get("/desk/texts/edit?kind=waiver&language=en").page();
        assert_eq!(page.contains("No font here has these letters: \u{10600}. On paper"), hint, "{page}");
        assert_eq!(page.contains("apt install fonts-noto-core)"), hint, "{page}");
    }
}

#[test]
fn consents_are_recorded_and_staff_sees_the_emergency_contact() {
    let site = Site::open_with(on);
    let (admin, jane) = (demand(&site), site.flyer("jane"));
    publish(&admin, "photos", "We may show pictures of your flight.");
    let (dob, answer) = (format!("dob_{}", jane.id), format!("answer_{}_1", jane.id));
    let form = [
        (&*dob, "1990-05-31"),
        (&*answer, "n"),
        ("photos_version", "1"),
        ("photos_language", "en"),
        ("photos", "on"),
        ("emergency_name", "Joan"),
        ("emergency_phone", "+41 52 000 00 00"),
    ];
    assert_eq!(sign(&admin, &jane, &form).status, 303);
    let card = format!("/desk/members/{}/waiver", jane.id);
    let page = admin.get(&card).page();
    assert!(page.contains("agreed") && page.contains("+41 52 000 00 00"), "{page}");
    let withdraw = format!("/desk/members/{}/consents/withdraw", jane.id);
    assert_eq!(admin.post(&withdraw, &[("kind", "photos")]).status, 303);
    assert_eq!(admin.post(&withdraw, &[("kind", "photos")]).status, 303, "a second time changes nothing");
    let said: Vec<(bool, i64)> =
        site.change(|tx| Ok(tx.list("SELECT given, version FROM consents ORDER BY consent_id", [])?));
    assert_eq!(said, [(true, 1), (false, 1)], "the register keeps both");
    assert!(site.try_change(|tx| Ok(tx.run("UPDATE consents SET given = 1", [])?)).is_err());
    let emergency = format!("/desk/members/{}/emergency", jane.id);
    assert_eq!(admin.post(&emergency, &[("emergency_name", ""), ("emergency_phone", "")]).status, 303);
    assert_eq!(site.rows()["emergency_contacts"], 0);
}

#[test]
fn a_text_is_published_once_however_often_its_form_is_sent() {
    let site = Site::open_with(on);
    let admin = demand(&site);
    let page = admin.get("/desk/texts").page();
    assert!(!page.contains("/desk/texts/publish"), "what is in force is no draft: {page}");
    let edit = |body: &str| {
        let form = [("kind", "waiver"), ("language", "en"), ("title", "Waiver"), ("body", body)];
        let reply = admin.post("/desk/texts/edit", &[&form[..], &[("questions", "Is a shoulder hurt?")]].concat());
        assert_eq!(reply.status, 303, "{reply}");
    };
    let publish = || admin.post("/desk/texts/publish", &[("kind", "waiver"), ("asks_again", "on"), ("seen", "2")]);
    edit("I fly with a helmet and goggles.");
    let page = admin.get("/desk/texts").page();
    assert!(page.contains("name=\"seen\" value=\"2\"") && page.contains("Draft"), "{page}");
    assert!(page.contains("has no text in: Deutsch"), "a language that is missing is named: {page}");
    assert!(!page.contains(" checked"), "whether everybody signs again is chosen: {page}");
    assert_eq!([publish().status, publish().status], [303, 303]);
    let version = || site.change(|tx| Ok(tx.get::<i64>("SELECT max(version) FROM site_texts", [])?));
    assert_eq!(version(), 3);
    edit("I fly with a helmet, goggles and a suit.");
    let refused = publish();
    assert!(refused.status == 422 && refused.page().contains("Version 3"), "{refused}");
    assert_eq!(version(), 3);
    // A colleague has discarded the drafts: there is nothing that the form could have published.
    assert_eq!(admin.post("/desk/texts/discard", &[("kind", "waiver")]).status, 303);
    assert_eq!(publish().status, 422);
}
