//! The own account: PIN, password and signed-in devices.

use super::own_pages;
use crate::desk::demo;
use crate::desk::kiosk::paired;
use crate::desk::till::field;
use crate::harness::PASSWORD;

const NEW: &str = "four dry socks in a row";

#[test]
fn a_new_pin_is_shown_once_and_signs_in_at_the_kiosk() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = own_pages(&site, &jane);
    let number = field(&browser.get("/me/account").page(), "number");
    let made = browser.post("/me/account/pin", &[("number", &number)]).page();
    let pin = made.split("<p class=\"number figure\">").nth(1).and_then(|rest| rest.split('<').next()).expect("a PIN");
    let again = browser.post("/me/account/pin", &[("number", &number)]);
    assert_eq!(again.header("location"), Some("/me/account?done=before"), "loaded again it is no other PIN");
    let id = jane.id.to_string();
    assert_eq!(
        paired(&site).post("/kiosk/number", &[("number", &id), ("pin", pin)]).header("location"),
        Some("/kiosk/home")
    );
}

#[test]
fn a_new_password_needs_the_old_one_and_ends_the_other_devices() {
    let site = demo();
    let jane = site.member("jane");
    let (browser, other) = (own_pages(&site, &jane), own_pages(&site, &jane));
    for (current, new, again, said) in [
        ("wrong", NEW, NEW, "This is not your current password"),
        (PASSWORD, NEW, "another one of these", "not the same"),
        (PASSWORD, "password1", "password1", "role=\"alert\""),
        (PASSWORD, PASSWORD, PASSWORD, "This is your current password"),
    ] {
        let form = [("current", current), ("password", new), ("again", again)];
        let refused = browser.post("/me/account/password", &form);
        assert!(refused.status == 422 && refused.page().contains(said), "{said}: {refused}");
    }
    let done = browser.post("/me/account/password", &[("current", PASSWORD), ("password", NEW), ("again", NEW)]);
    assert_eq!(done.header("location"), Some("/me/account?done=password"), "{done}");
    assert_eq!((browser.get("/me").status, other.get("/me").status), (200, 303));
}

#[test]
fn an_e_mail_address_is_taken_over_by_password_and_code() {
    let site = demo();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let browser = own_pages(&site, &jane);
    let send =
        |email: &str, password: &str| browser.post("/me/account/email", &[("email", email), ("password", password)]);
    let code = browser.post("/me/account/email/code", &[("email", "new@example.org"), ("code", "123456")]);
    assert!(code.status == 422 && !code.page().contains("on its way"), "no code was asked for: {code}");
    for (email, password, said) in
        [("jane", PASSWORD, "role=\"alert\""), ("new@example.org", "wrong", "This is not your current password")]
    {
        let refused = send(email, password);
        assert!(refused.status == 422 && refused.page().contains(said), "{said}: {refused}");
        assert!(refused.page().contains(&format!("value=\"{email}\"")), "what was typed stays: {refused}");
    }
    assert!(site.mails().is_empty());
    let sent = send("new@example.org", PASSWORD);
    assert!(sent.status == 200 && sent.page().contains("on its way to new@example.org"), "{sent}");
    let code = site.mails().pop().expect("a mail")["values"]["passcode"].as_str().unwrap().to_owned();
    let verify = |who: &crate::desk::Clerk, code: &str| {
        who.post("/me/account/email/code", &[("email", "new@example.org"), ("code", code)])
    };
    assert_eq!(verify(&own_pages(&site, &mark), &code).status, 422, "the code of somebody else");
    let wrong = verify(&browser, "000000");
    assert!(wrong.status == 422 && wrong.page().contains("wrong or has expired"), "{wrong}");
    assert_eq!(verify(&browser, &code).header("location"), Some("/me/account?done=email"));
    assert!(browser.get("/me/account").page().contains("<bdi>new@example.org</bdi>"));
}

#[test]
fn a_telephone_number_is_taken_over_by_password_and_code() {
    let site = demo();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    assert!(browser.get("/me/account").page().contains("No number yet"));
    let send =
        |phone: &str, password: &str| browser.post("/me/account/phone", &[("phone", phone), ("password", password)]);
    for (phone, password) in [("12", PASSWORD), ("+1 212 555 0123", PASSWORD), ("+41446681800", "wrong")] {
        let refused = send(phone, password);
        assert!(refused.status == 422 && refused.page().contains("role=\"alert\""), "{phone}: {refused}");
        assert!(refused.page().contains(&format!("value=\"{phone}\"")), "what was typed stays: {refused}");
    }
    assert!(site.mails().is_empty());
    let sent = send("+41 44 668 18 00", PASSWORD);
    assert!(sent.status == 200 && sent.page().contains("on its way to +41446681800"), "{sent}");
    let message = site.mails().pop().expect("a message");
    assert_eq!(message["channel"], "sms", "{message}");
    let code = message["values"]["passcode"].as_str().unwrap().to_owned();
    let verify = |phone: &str, code: &str| browser.post("/me/account/phone/code", &[("phone", phone), ("code", code)]);
    assert_eq!(verify("", &code).header("location"), Some("/me/account/phone"), "no code went anywhere");
    assert_eq!(verify("+41446681801", &code).status, 422, "another number");
    assert_eq!(verify("+41446681800", &code).header("location"), Some("/me/account?done=phone"));
    assert!(browser.get("/me/account").page().contains("+41446681800"));
    site.advance(std::time::Duration::from_secs(11 * 60));
    let late = verify("+41446681800", &code);
    assert_eq!(late.header("location"), Some("/me/account/prove?to=%2Fme%2Faccount%2Fphone"), "{late}");
}

#[test]
fn a_language_that_was_chosen_outlasts_a_sign_in() {
    let site = demo();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    let language =
        || -> String { site.change(|tx| Ok(tx.get("SELECT language FROM members WHERE member_id = ?1", [jane.id])?)) };
    let choose = |tag: &str| browser.post("/me/account/language", &[("language", tag)]);
    assert_eq!(choose("xx").status, 422);
    assert_eq!(choose("it").header("location"), Some("/me/account?done=language"));
    assert!(browser.get("/me/account").page().contains("<option value=\"it\" lang=\"it\" selected>Italiano"));
    let sign_in = || {
        let body = serde_json::json!({ "username": jane.name, "password": PASSWORD });
        let asking = site.stranger();
        asking.ask(http::Method::POST, "/auth/login").header("accept-language", "fr").json(&body).send().ok();
    };
    sign_in();
    assert_eq!(language(), "it");
    assert_eq!(choose("").status, 303);
    sign_in();
    assert_eq!(language(), "fr", "without a choice it is that of the sign-in");
}

#[test]
fn the_own_data_is_a_file_for_who_proved_who_it_is() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.member("mark"));
    let browser = own_pages(&site, &jane);
    assert!(browser.get("/me/account").page().contains("href=\"/me/account/data.json\""));
    let file = browser.get("/me/account/data.json");
    assert_eq!((file.status, file.header("content-type")), (200, Some("application/json")), "{file}");
    assert_eq!(file.header("cache-control"), Some("no-store"));
    let data: serde_json::Value = serde_json::from_slice(&file.body).unwrap();
    assert_eq!(data["member_id"], jane.id);
    let text = data.to_string();
    assert!(text.contains("jane@example.com") && !text.contains(&format!("{}@example.com", mark.name)), "{text}");
    site.advance(std::time::Duration::from_secs(11 * 60));
    let late = browser.get("/me/account/data.json");
    assert_eq!(late.header("location"), Some("/me/account/prove?to=%2Fme%2Faccount%2Fdata.json"), "{late}");
}

#[test]
fn a_body_that_is_no_form_is_refused_in_words_for_people() {
    let site = demo();
    let browser = own_pages(&site, &site.member("jane"));
    let asking = site.stranger();
    let asking = asking.ask_at_root(http::Method::POST, "/me/account/devices").header("cookie", &browser.line());
    let reply = asking.header("origin", &browser.origin).json(&serde_json::json!({})).send();
    assert!(reply.status == 415 && reply.page().contains("takes only what its own form sends"), "{reply}");
    assert!(!reply.page().contains("json"), "{reply}");
}

#[test]
fn a_photo_is_uploaded_shown_and_removed() {
    let site = demo();
    let browser = own_pages(&site, &site.member("jane"));
    assert_eq!(browser.get("/me/account/photo.jpg").status, 404);
    let refused = browser.upload("/me/account/photo", b"no picture");
    assert!(refused.status == 422 && refused.page().contains("role=\"alert\""), "{refused}");
    let done = browser.upload("/me/account/photo", &crate::harness::pictures::png(60, 60));
    assert_eq!(done.header("location"), Some("/me/account?done=photo"), "{done}");
    let picture = browser.get("/me/account/photo.jpg");
    assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/jpeg")), "{picture}");
    assert_eq!(picture.header("cache-control"), Some("no-store"));
    assert_eq!(browser.post("/me/account/photo/remove", &[]).header("location"), Some("/me/account?done=no-photo"));
    assert_eq!(browser.get("/me/account/photo.jpg").status, 404);
}

#[test]
fn names_change_with_the_password() {
    let site = demo();
    let jane = site.member("jane");
    site.member("mark");
    let browser = own_pages(&site, &jane);
    let tunnel = crate::harness::Site::TUNNEL_ID.to_string();
    let change = |username: &str, password: &str| {
        let names = [("real_name", "Jane Okonkwo"), ("screen_name", "Jay"), ("username", username)];
        browser
            .post("/me/account/profile", &[&names[..], &[("tunnel", tunnel.as_str()), ("password", password)]].concat())
    };
    for (username, password, said) in [
        ("jay", "wrong", "This is not your current password"),
        ("mark", PASSWORD, "role=\"alert\""),
        ("j", PASSWORD, "3 to 32"),
    ] {
        let refused = change(username, password);
        assert!((400..500).contains(&refused.status) && refused.page().contains(said), "{said}: {refused}");
        assert!(refused.page().contains("value=\"Jane Okonkwo\""), "what was typed stays: {refused}");
    }
    assert_eq!(change("jay", PASSWORD).header("location"), Some("/me/account?done=profile"));
    let page = browser.get("/me/account").page();
    assert!(page.contains("<bdi>Jay</bdi> · <bdi>jay</bdi>"), "{page}");
}

#[test]
fn another_device_is_signed_out_by_itself_or_with_all_others() {
    let site = demo();
    let jane = site.member("jane");
    let (browser, second, third) = (own_pages(&site, &jane), own_pages(&site, &jane), own_pages(&site, &jane));
    let sessions: Vec<String> = {
        let page = browser.get("/me/account").page();
        page.split("name=\"session\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    assert!(sessions.len() >= 2, "{sessions:?}");
    assert_eq!(browser.post("/me/account/devices", &[("session", &sessions[0])]).status, 303);
    let foreign = own_pages(&site, &site.member("mark"));
    assert_eq!(foreign.post("/me/account/devices", &[("session", &sessions[1])]).status, 404);
    let left = [&second, &third].iter().filter(|one| one.get("/me").status == 200).count();
    assert!(left <= 2, "{left}");
    assert_eq!(browser.post("/me/account/devices", &[]).header("location"), Some("/me/account?done=devices"));
    assert_eq!((browser.get("/me").status, second.get("/me").status, third.get("/me").status), (200, 303, 303));
}
