//! Tests of the facts that a demo prints and keeps beside its site.

use super::*;

#[test]
fn the_facts_begin_with_a_current_flyer_and_show_every_state() {
    let made = make(PLAN);
    let mut facts = Facts::gather(&made.site).unwrap();
    let text = facts.publish(made.dir.path(), "http://localhost:8080", &[]).unwrap();
    let first = &facts.members[0];
    assert_eq!((first.role.name(), first.state), ("member", "current flyer"));
    let flyer = made.site.store.read(|tx| Ok(standing::read(tx, first.member_id, NOW)?)).unwrap();
    assert!(flyer.currency.flyer.current && flyer.holds_flyer_1);
    assert!(facts.members.len() >= 20);
    for state in [
        "lapsed",
        "about to lapse",
        "unpaid",
        "e-mail not confirmed",
        "banned",
        "instructor 1",
        "instructor 2",
        "instructor 3",
        "instructor 4",
        "instructor 2, not current",
        "trainer 1",
        "trainer 4",
        "examiner",
        "coach",
        "military",
        "desk",
        "admin",
        "sync",
        "sign-off pending",
        "sign-off denied",
        "skill suspended",
        "beginner",
        "never flown",
    ] {
        assert!(facts.find(state).is_some(), "nobody is {state}");
    }
    for member in &facts.members {
        let owner = Owner { username: &member.username, email: &member.email, ..Owner::default() };
        password::check(member.password, &owner).unwrap();
    }
    assert!(
        text.contains(&first.username)
            && text.contains(&facts.secrets.partner.secret)
            && text.contains("curl http://localhost:8080/api/")
    );
}

#[test]
fn the_facts_stay_while_they_are_in_force_and_are_renewed_when_not() {
    let made = make(PLAN);
    let publish = || -> Facts {
        let mut facts = Facts::gather(&made.site).unwrap();
        facts.publish(made.dir.path(), "http://localhost:1", &[]).unwrap();
        facts
    };
    let (one, two) = (publish(), publish());
    assert_eq!(
        (&one.secrets.sync_token, &one.secrets.partner.secret),
        (&two.secrets.sync_token, &two.secrets.partner.secret)
    );
    made.site.store.write(NOW, |tx| Ok(tx.run("UPDATE partner_secrets SET ends_at = 1", [])?)).unwrap();
    let three = publish();
    assert_eq!(
        (&three.secrets.sync_token, &three.secrets.partner.client_id),
        (&one.secrets.sync_token, &one.secrets.partner.client_id)
    );
    assert_ne!(three.secrets.partner.secret, one.secrets.partner.secret);
    std::fs::remove_file(made.dir.path().join("demo.json")).unwrap();
    let four = publish();
    assert!(
        four.secrets.partner.secret != three.secrets.partner.secret
            && four.secrets.sync_token != one.secrets.sync_token
    );
    assert_eq!(
        (four.secrets.partner.client_id.as_str(), four.secrets.partner.secret.len()),
        (one.secrets.partner.client_id.as_str(), 64)
    );
}
