//! Sign-in without a username: the passkey says whose it is.

use super::authenticator::decoded;
use super::{Key, LIST, OPTION, Page, done, open, question, refused, register, sign_in_question, verify};
use crate::harness::Site;
use http::Method;
use serde_json::{Value, json};

fn anybody(site: &Site, more: Value) -> Value {
    let mut body = json!({ "discoverable": true });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    question(site, &site.stranger(), body)
}

fn answer(site: &Site, key: &mut Key) -> crate::harness::Reply {
    let options = anybody(site, json!({}));
    verify(site, &Page::at(&site.origin()).get(key, &options))
}

#[test]
fn a_passkey_signs_in_its_owner_who_was_not_named() {
    let site = open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let mut keys = [&jane, &mark].map(|member| register(&site, member));
    let options = anybody(&site, json!({ "username": "mark" }));
    assert_eq!(options["allowCredentials"], json!([]), "{options}");
    for (member, key) in [&jane, &mark].into_iter().zip(&mut keys) {
        let reply = answer(&site, key);
        done(&reply);
        assert_eq!(reply.json()["member_id"], member.id);
        assert_eq!(member.get(LIST).ok().json()[0]["last_used"], site.now());
    }
}

#[test]
fn an_answer_with_another_member_s_handle_or_none_is_refused() {
    let site = open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let (key, other) = (register(&site, &jane), register(&site, &mark));
    for handle in [other.handle(), b"", b"sixteen bytes!!!", &[other.handle(), b"0"].concat()] {
        refused(&answer(&site, &mut key.with_handle(handle)));
    }
    // The id and the handle of a passkey, signed by another one, or by nobody's.
    refused(&answer(&site, &mut key.forged()));
    refused(&answer(&site, &mut Key::invented(b"an id that nobody has".to_vec()).with_handle(key.handle())));
    done(&answer(&site, &mut key.clone()));
    // A counter that went back: the answer of a copy.
    refused(&answer(&site, &mut key.clone()));
}

#[test]
fn a_challenge_for_anybody_is_for_one_purpose_once_and_for_the_named_it_names_them() {
    let site = open();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let page = Page::at(&site.origin());
    refused(&verify(&site, &page.get(&mut key, &anybody(&site, json!({ "purpose": "desk" })))));
    let credential = page.get(&mut key, &anybody(&site, json!({})));
    done(&verify(&site, &credential));
    refused(&verify(&site, &credential));
    // A challenge in mark's name is not for jane's passkey.
    site.member("mark");
    refused(&verify(&site, &page.get(&mut key, &sign_in_question(&site, "mark"))));
    let removed = anybody(&site, json!({}));
    jane.delete(&format!("{LIST}/1")).ok();
    refused(&verify(&site, &page.get(&mut key, &removed)));
}

#[test]
fn a_name_is_needed_unless_anybody_may_answer() {
    let site = open();
    let ask =
        |body: Value| site.stranger().ask(Method::POST, OPTION).header("origin", &site.origin()).json(&body).send();
    let named = json!({ "field": "username", "message": "This field is missing." });
    for body in [
        json!({}),
        json!({ "discoverable": false }),
        json!({ "discoverable": true, "purpose": "sign_entry", "entry_id": 1 }),
        json!({ "discoverable": true, "purpose": "sign_paper", "paper": "/desk/x?a=b" }),
    ] {
        let errors = ask(body).refused(422).json()["errors"].clone();
        assert_eq!(errors[0]["field"], named["field"], "{errors}");
        assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors}");
    }
}

#[test]
fn a_new_passkey_is_one_that_is_found_without_a_name_where_the_authenticator_can() {
    let site = open();
    let jane = site.member("jane");
    let options = question(&site, &jane, json!({}));
    assert_eq!(options["authenticatorSelection"]["residentKey"], "preferred", "{options}");
    assert_eq!(options["authenticatorSelection"]["userVerification"], "required", "{options}");
}

#[test]
fn the_transports_of_a_passkey_are_given_back() {
    let site = open();
    for (name, said, kept) in [
        ("jane", json!(["internal"]), json!(["internal"])),
        ("mark", json!(["internal", "hybrid", "hybrid"]), json!(["hybrid", "internal"])),
        ("nina", json!(["usb", "telepathy", "test"]), json!(["usb"])),
        ("otto", json!([]), Value::Null),
        ("pia", Value::Null, Value::Null),
    ] {
        let member = site.member(name);
        let page = Page { transports: said, ..Page::at(&site.origin()) };
        let (mut key, credential) = page.create(&question(&site, &member, json!({})));
        done(&verify(&site, &credential));
        let options = sign_in_question(&site, name);
        assert_eq!(decoded(&options["allowCredentials"][0]["id"]), key.id);
        assert_eq!(options["allowCredentials"][0]["transports"], kept, "{name}");
        // They stay after a sign-in.
        done(&verify(&site, &page.get(&mut key, &options)));
        assert_eq!(sign_in_question(&site, name)["allowCredentials"][0]["transports"], kept, "{name}");
    }
}
