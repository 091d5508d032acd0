//! Mails as they arrive at a mail server, and mails that are never sent.

use super::*;
use tunneldesk::moment::Moment;

fn header<'a>(mail: &'a Value, name: &str) -> Vec<&'a str> {
    let headers = mail["headers"].as_array().unwrap().iter();
    let named = headers.filter(|header| header[0].as_str().unwrap().eq_ignore_ascii_case(name));
    named.map(|header| header[1].as_str().unwrap()).collect()
}

fn part<'a>(mail: &'a Value, kind: &str) -> &'a str {
    let parts = mail["parts"].as_array().unwrap().iter();
    parts.filter(|part| part["type"] == kind).map(|part| part["text"].as_str().unwrap()).next().unwrap()
}

#[test]
fn a_mail_arrives_in_its_language_as_text_and_html_over_tls() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    for (language, subject, words) in [
        ("en", "Your sign-in code for Windwerk", "nobody at Windwerk will ask for it"),
        ("de", "Dein Anmeldecode für Windwerk", "mit diesem Code meldest du dich bei Windwerk an"),
        ("fr", "Votre code de connexion pour Windwerk", "Si ce n'était pas vous, vous n'avez rien à faire."),
        ("es", "Tu código para entrar en Windwerk", "Con este código terminas de iniciar sesión"),
    ] {
        queue(&site, Channel::Email, "jane@example.com", language, "passcode_sign_in", &json!({"passcode": "012345"}));
        round(&mut sender(&site));
        let mail = office.next();
        assert_eq!((mail["tls"].as_bool(), mail["user"].as_str()), (Some(true), Some(ACCOUNT.0)));
        assert_eq!(header(&mail, "subject"), [subject]);
        assert_eq!(header(&mail, "from"), ["Windwerk <desk@windwerk.example>"]);
        assert_eq!(mail["type"], "multipart/alternative");
        let (text, html) = (part(&mail, "text/plain"), part(&mail, "text/html"));
        assert!(text.contains(words) && text.contains("012345"), "{text}");
        assert!(html.contains(">012345</p>") && !html.contains("http"), "{html}");
        assert_eq!(mail["ascii"], true, "old mail servers take seven bits");
    }
}

#[test]
fn implicit_tls_works_too() {
    let office = Office::mail("tls");
    let site = site_with(mail_settings(&office, Security::Tls));
    queue_welcome(&site, "jane@example.com");
    round(&mut sender(&site));
    let mail = office.next();
    assert_eq!(mail["tls"], true);
    let link = "https://tunnel.example.org/confirm?token=the-token";
    assert!(part(&mail, "text/plain").contains(link) && part(&mail, "text/html").contains(&format!("href=\"{link}\"")));
}

#[test]
fn mails_bear_our_id_for_a_provider_with_events_alone() {
    let office = Office::mail("starttls");
    for key in [None, Some(Secret::new("mail-key"))] {
        let reports = key.is_some();
        let site = Site::open_with(|config| {
            config.mail = Some(mail_settings(&office, Security::StartTls));
            config.callbacks.mail_key = key;
        });
        let message_id = queue_welcome(&site, "jane@example.com");
        round(&mut sender(&site));
        let tags: Vec<Value> =
            header(&office.next(), "x-mc-metadata").iter().map(|tag| serde_json::from_str(tag).unwrap()).collect();
        let name = message(&site, message_id).provider_id;
        assert_eq!(tags, if reports { vec![json!({ "message_id": name })] } else { vec![] });
    }
}

#[test]
fn no_mail_is_sent_without_tls_and_the_right_certificate() {
    let stranger = Office::mail("starttls");
    let site = site_with(Mail { authority: None, ..mail_settings(&stranger, Security::StartTls) });
    let untrusted = queue_welcome(&site, "jane@example.com");
    round(&mut sender(&site));
    assert_eq!(state(&site, untrusted), "waiting");
    assert!(message(&site, untrusted).last_error.contains("certificate"), "{:?}", message(&site, untrusted));

    let open = Office::mail("none");
    let site = site_with(mail_settings(&open, Security::StartTls));
    let in_the_open = queue_welcome(&site, "jane@example.com");
    round(&mut sender(&site));
    assert!(message(&site, in_the_open).last_error.contains("STARTTLS"), "{:?}", message(&site, in_the_open));
    assert!(stranger.rest().is_empty() && open.rest().is_empty());
}

#[test]
fn no_name_and_no_address_adds_a_header_or_a_recipient() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let name = "Wind\r\nBcc: a@evil.example\r\n\r\n<b>werk";
    site.change(|tx| Ok(tx.run("UPDATE tunnels SET name = ?1", [name])?));
    let values = json!({"token": "t\r\n.\r\nMAIL FROM:<a@evil.example>\r\nBcc: a@evil.example"});
    queue(&site, Channel::Email, "jane@example.com", "de", "confirm_email", &values);
    let odd = [
        "jane@example.com\r\nRCPT TO:<a@evil.example>",
        "jane@example.com> <a@evil.example",
        "jane@example.com, a@evil.example",
        "a@evil.example\0@example.com",
        "jane",
        "",
    ]
    .map(|recipient| queue_passcode(&site, recipient));
    round(&mut sender(&site));
    let mail = office.next();
    assert_eq!(mail["to"], json!(["jane@example.com"]));
    assert_eq!(header(&mail, "to"), ["jane@example.com"]);
    assert!(header(&mail, "bcc").is_empty(), "{mail}");
    assert_eq!(mail["headers"].as_array().unwrap().len(), 8, "{mail}");
    assert!(part(&mail, "text/html").contains("&lt;b&gt;werk") && !part(&mail, "text/html").contains("<b>"));
    for message_id in odd {
        assert_eq!(state(&site, message_id), "dead");
    }
    assert!(office.rest().is_empty());
}

#[test]
fn non_ascii_addresses_work_and_their_domains_are_sent_in_ascii() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    queue_passcode(&site, "jane@bücher.example");
    queue_passcode(&site, "jörg@example.com");
    round(&mut sender(&site));
    assert_eq!(office.next()["to"], json!(["jane@xn--bcher-kva.example"]));
    assert_eq!(office.next()["to"], json!(["jörg@example.com"]));
}

#[test]
fn a_sent_message_is_wiped_and_known_by_its_message_id() {
    let office = Office::mail("starttls");
    let site = site_with_mail(&office);
    let message_id = queue_welcome(&site, "jane@example.com");
    round(&mut sender(&site));
    let (mail, kept) = (office.next(), message(&site, message_id));
    assert_eq!((kept.state.as_str(), kept.sealed, kept.sent_at), ("sent", None, Some(Moment(site.now()))));
    assert_eq!(header(&mail, "message-id"), [format!("<{}>", kept.provider_id)]);
    assert_eq!(header(&mail, "auto-submitted"), ["auto-generated"]);
    assert!(kept.provider_id.ends_with("@windwerk.example") && kept.provider_id.len() > 30, "{}", kept.provider_id);
}

#[test]
fn replies_to_a_contact_message_go_to_its_sender() {
    let office = Office::mail("starttls");
    let site = Site::open_with(|config| {
        let reply_to = Some("answers@windwerk.example".parse().unwrap());
        config.mail = Some(Mail { reply_to, ..mail_settings(&office, Security::StartTls) });
        config.contact_to = Some("people@windwerk.example".to_owned());
    });
    for (email, answered_to) in [
        ("ann@example.com", "ann@example.com"),
        ("ann@bücher.example", "ann@xn--bcher-kva.example"),
        // Old mail servers refuse such a name in a header; the message matters more than the header.
        ("jörg@example.com", "answers@windwerk.example"),
    ] {
        let form = json!({ "name": "Ann <a@evil.example>, \u{201c}x\u{201d}", "email": email, "message": ".\nBcc: a@evil.example\n\nBye" });
        site.stranger().post("/public/contact", form).ok();
        round(&mut sender(&site));
        let mail = office.next();
        assert_eq!(mail["to"], json!(["people@windwerk.example"]));
        assert_eq!(header(&mail, "reply-to"), [answered_to]);
        assert_eq!(header(&mail, "from"), ["Windwerk <desk@windwerk.example>"]);
        assert!(
            header(&mail, "bcc").is_empty() && header(&mail, "subject")[0].contains("Ann <a@evil.example>"),
            "{mail}"
        );
        let text = part(&mail, "text/plain").replace("\r\n", "\n");
        assert!(text.contains("\n\n> .\n> Bcc: a@evil.example\n>\n> Bye\n\n") && text.contains(email), "{text}");
        assert_eq!(mail["ascii"], true, "old mail servers take seven bits");
    }
    assert!(office.rest().is_empty());
}
