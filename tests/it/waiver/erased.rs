//! Erased members, and guardians who turn out to be minors.

use super::{YEAR, demand, on};
use crate::desk::kiosk::{enter, paired};
use crate::desk::{Clerk, book};
use crate::harness::{Caller, Site};

/// A child and the mother, who acts for the child.
fn family(site: &Site, admin: &Clerk) -> (Caller, Caller) {
    let (mother, child) = (site.flyer("mother"), site.flyer("child"));
    site.born(&mother, site.now() - 40 * YEAR);
    site.born(&child, site.now() - 10 * YEAR);
    let form = [("guardian", &*mother.id.to_string()), ("relation", "parent")];
    assert_eq!(admin.post(&format!("/desk/members/{}/guardians", child.id), &form).status, 303);
    (mother, child)
}

#[test]
fn nothing_is_done_for_an_erased_member_and_no_notice_is_queued() {
    let site = Site::open_with(on);
    let admin = demand(&site);
    let (mother, child) = family(&site, &admin);
    // The mother signed for the child, and staff has yet to decide.
    let sql =
        "INSERT INTO waiver_signatures (member_id, version, language, text_hash, signed_at, place, flyer_name, born,
                    relation, signer_name, signer_id, strokes, answers, kept)
               VALUES (?1, 2, 'en', zeroblob(32), 1, 'kiosk', 'x', 1, 'parent', 'x', ?2, '', 'y', 0)";
    let signed: i64 = site.change(|tx| Ok(tx.insert(sql, (child.id, mother.id))?));
    site.shell(&["member", "erase", "mother", "--yes"]);
    let sql = "SELECT json_array(real_name, email, phone, dob, role, paid_until, staff_note, pin_hash IS NULL, banned_at IS NULL)
               FROM members WHERE member_id = ?1";
    let account = || -> String { site.change(|tx| Ok(tx.get(sql, [mother.id])?)) };
    let before = (account(), site.rows());
    let [dob, answer] = [format!("dob_{}", mother.id), format!("answer_{}_1", mother.id)];
    let waiver = [("version", "2"), ("language", "en"), ("signer_name", "X"), (&*dob, "1985-03-01"), (&*answer, "n")];
    let edited = [("real_name", "Somebody"), ("email", "new@example.org"), ("dob", "1985-03-01"), ("language", "en")];
    for (path, form) in [
        ("/waiver", &waiver[..]),
        ("/waiver/phone", &[]),
        ("/waiver/override", &[("reason", "x")]),
        ("/emergency", &[("emergency_name", "Aunt"), ("emergency_phone", "+41791234567")]),
        ("/note", &[("text", "a note")]),
        ("/edit", &edited),
        ("/pin", &[]),
        ("/card", &[("card", "ABC123")]),
        ("/ban/lift", &[]),
        ("/time", &[("minutes", "12")]),
    ] {
        let reply = admin.post(&format!("/desk/members/{}{path}", mother.id), form);
        // The waiver form is shown again, with its error.
        assert_eq!(reply.status, if path == "/waiver" { 422 } else { 404 }, "{path}: {reply}");
    }
    let role = admin.post("/desk/site/users", &[("member", &mother.id.to_string()), ("role", "admin")]);
    assert_eq!(role.status, 404, "{role}");
    let form = [("guardian", &*mother.id.to_string()), ("relation", "parent")];
    assert_eq!(admin.post(&format!("/desk/members/{}/guardians", child.id), &form).status, 422);
    assert_eq!((account(), site.rows()), before, "something was written");

    let word = [("signature", &*signed.to_string()), ("may_fly", "yes"), ("word", "a doctor's note")];
    assert_eq!(admin.post(&format!("/desk/members/{}/waiver/decide", child.id), &word).status, 303);
    let told = |who: &Caller| -> i64 {
        site.change(|tx| Ok(tx.get("SELECT count(*) FROM notices WHERE member_id = ?1", [who.id])?))
    };
    assert!(told(&child) > 0 && told(&mother) == 0, "nobody reads what an erased member is told");
}

#[test]
fn a_guardian_who_turns_out_to_be_a_minor_loses_the_guardianship() {
    let site = Site::open_with(on);
    let (admin, kiosk) = (demand(&site), paired(&site));
    let (mother, child) = family(&site, &admin);
    let booking = book(&site, &child, 60);
    enter(&site, &kiosk, &mother);
    assert_eq!(kiosk.get("/kiosk/family").status, 200);
    site.born(&mother, site.now() - 14 * YEAR);
    assert_eq!(kiosk.get("/kiosk/family").status, 404);
    let [flies, answer] = [format!("flies_{}", child.id), format!("answer_{}_1", child.id)];
    let form = [("version", "2"), ("language", "en"), ("signer_name", "Mother"), (&*flies, "on"), (&*answer, "n")];
    let signed = kiosk.post("/kiosk/waiver", &form);
    assert!(signed.header("location") != Some("/kiosk/home?done=signed"), "{signed}");
    assert_eq!(site.rows()["waiver_signatures"], 0);
    assert_eq!(kiosk.post(&format!("/kiosk/bookings/{booking}/check-in"), &[]).status, 422);
}
