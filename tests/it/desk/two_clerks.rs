//! Two clerks, or two tabs of one, with the same form open: the second save is refused and says what is there now, keeps what
//! was typed, and passes when it is sent again.

use super::till::field;
use super::{Clerk, book, demo};
use crate::harness::Site;
use std::sync::Barrier;
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::partners;

type Fields<'a> = &'a [(&'a str, &'a str)];

/// Both open `page`; the first saves `early`, the second `late`. The second is refused by a page that has `now` and `typed`,
/// and its next try passes.
#[track_caller]
fn cross(clerk: &Clerk, (page, path): (&str, &str), early: Fields, late: Fields, (now, typed): (&str, &str)) {
    let send = |page: &str, fields: Fields| {
        let seen = field(page, "seen");
        clerk.post(path, &[fields, &[("seen", &seen)]].concat())
    };
    let (one, other) = (clerk.get(page).page(), clerk.get(page).page());
    let saved = send(&one, early);
    assert_eq!(saved.status, 303, "{path}: {saved}");
    assert_eq!(send(&one, early).status, 303, "{path}: the same form again changes nothing");
    let refused = send(&other, late);
    assert!([409, 422].contains(&refused.status), "{path}: {refused}");
    let refused = refused.page();
    assert!(refused.contains("while the page was open"), "{path}: {refused}");
    assert!(refused.contains(now), "{path} does not say {now}: {refused}");
    assert!(refused.contains(typed), "{path} lost {typed}: {refused}");
    assert_eq!(send(&refused, late).status, 303, "{path}: whoever saw it may replace it");
}

#[test]
fn a_shift_note_of_a_colleague_is_neither_replaced_nor_removed_unseen() {
    let site = demo();
    let (ann, ben) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.desk()));
    let note = ("/desk", "/desk/shift-note");
    let words = ("<bdi>Fan 2 hums</bdi>", ">Suits are wet</textarea>");
    cross(&ann, note, &[("text", "Fan 2 hums")], &[("text", "Suits are wet")], words);
    let page = ann.get("/desk").page();
    assert!(page.contains(">Suits are wet</textarea>"), "the next note continues the one that is there: {page}");
    let seen = field(&page, "seen");
    assert_eq!(ben.post("/desk/shift-note", &[("text", "Keys are at the bar")]).status, 303);
    let refused = ann.post("/desk/shift-note/dismiss", &[("seen", &seen)]);
    assert!(refused.status == 422 && refused.page().contains("Keys are at the bar"), "{refused}");
    let seen = field(&refused.page(), "seen");
    assert_eq!(ann.post("/desk/shift-note/dismiss", &[("seen", &seen)]).status, 303);
    assert!(!ann.get("/desk").page().contains("Keys are at the bar"));
}

#[test]
fn a_booking_that_a_colleague_moved_is_not_moved_cancelled_or_missed_unseen() {
    let site = demo();
    let jane = site.flyer("jane");
    let booking = book(&site, &jane, 3_600);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/bookings/{booking}");
    let day = tunneldesk::domain::local_time::TimeZone::UTC.date(Moment(site.now() + 86_400));
    let fields = |minutes| [("day", day.as_str()), ("clock", "14:30"), ("minutes", minutes)];
    let stale = field(&clerk.get(&path).page(), "seen");
    let words = ("14:30, 20 min.", "value=\"25\"");
    cross(&clerk, (&path, &format!("{path}/move")), &fields("20"), &fields("25"), words);
    let refused = clerk.post(&format!("{path}/cancel"), &[("seen", &stale)]);
    assert!(refused.status == 409 && refused.page().contains("14:30, 25 min."), "{refused}");
    let seen = field(&refused.page(), "seen");
    assert_eq!(clerk.post(&format!("{path}/cancel"), &[("seen", &seen)]).status, 303);
    let refused = clerk.post(&format!("{path}/move"), &[&fields("30")[..], &[("seen", &seen)]].concat());
    assert!(refused.status == 409 && refused.page().contains("This booking was cancelled"), "{refused}");
    let due = book(&site, &jane, -60);
    let path = format!("/desk/bookings/{due}");
    let stale = field(&clerk.get(&path).page(), "seen");
    site.change(|tx| Ok(tx.run("UPDATE bookings SET minutes_booked = 44 WHERE booking_id = ?1", [due])?));
    let refused = clerk.post(&format!("{path}/no-show"), &[("seen", &stale)]);
    assert!(refused.status == 409 && refused.page().contains("44 min."), "{refused}");
}

#[test]
fn what_a_colleague_saved_on_a_members_card_is_not_replaced_unseen() {
    let site = demo();
    let jane = site.flyer("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    let note = format!("{card}/note");
    let words = ("now: lends her helmet.", ">is hard of hearing</textarea>");
    // The card has other forms; the first mark on it is the note's.
    cross(&clerk, (&card, &note), &[("text", "lends her helmet")], &[("text", "is hard of hearing")], words);

    assert_eq!(clerk.post(&format!("{card}/time"), &[("minutes", "10")]).status, 303);
    let entry: i64 = site.change(|tx| Ok(tx.get("SELECT max(entry_id) FROM entries", [])?));
    let time = format!("{card}/time/{entry}");
    let words = ("now: 12 min · ", ">solo</textarea>");
    let early = [("minutes", "12"), ("comment", "with coach")];
    cross(&clerk, (&time, &time), &early, &[("minutes", "9"), ("comment", "solo")], words);
}

#[test]
fn personal_data_that_two_clerks_change_is_joined_field_by_field_and_the_same_field_is_refused() {
    let site = demo();
    let jane = site.member("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/edit", jane.id);
    let send = |page: &str, changes: Fields| {
        let names = ["real_name", "screen_name", "email", "phone", "dob"];
        let seen = names.map(|name| (format!("seen_{name}"), field(page, &format!("seen_{name}"))));
        let value = |name: &str| changes.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned());
        let kept = |name: &str| field(page, &format!("seen_{name}"));
        let typed = names.map(|name| (name.to_owned(), value(name).unwrap_or_else(|| kept(name))));
        let all: Vec<(&str, &str)> = seen.iter().chain(&typed).map(|(name, value)| (&**name, &**value)).collect();
        clerk.post(&path, &[&all[..], &[("seen", "1")]].concat())
    };
    let named = |name: &str| send(&clerk.get(&path).page(), &[("real_name", name)]);
    assert_eq!(named("Jane Flyer").status, 303);
    let stale = clerk.get(&path).page();
    assert_eq!(named("Jane Miller").status, 303);
    assert_eq!(send(&stale, &[("dob", "1990-05-31")]).status, 303, "another field");
    let refused = send(&stale, &[("real_name", "Jane Fly")]);
    assert!(refused.status == 422 && refused.page().contains("Name: Jane Miller."), "{refused}");
    let page = refused.page();
    assert!(page.contains("name=\"real_name\" value=\"Jane Fly\""), "{page}");
    assert_eq!(send(&page, &[("real_name", "Jane Fly")]).status, 303);
}

#[test]
fn a_partners_terms_are_not_replaced_unseen() {
    let site = demo();
    let client_id = site.partner().client_id().to_owned();
    let id = site.change(|tx| Ok(partners::find(tx, &client_id)?.expect("it was made").partner_id));
    let admin = Clerk::at(&site, &site.admin());
    let card = format!("/desk/partners/{id}");
    let (early, late) =
        ([("networks", "10.0.0.0/8"), ("per_minute", "60")], [("networks", "10.0.0.9"), ("per_minute", "60")]);
    cross(&admin, (&card, &format!("{card}/terms")), &early, &late, ("now: 10.0.0.0/8 · 60", ">10.0.0.9</textarea>"));
}

#[test]
fn texts_and_emergency_contacts_of_a_colleague_are_not_replaced_published_or_discarded_unseen() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.waiver.required = true;
    });
    let admin = Clerk::at(&site, &site.admin());
    let edit = "/desk/texts/edit?kind=waiver&language=en";
    let text = |body| [("kind", "waiver"), ("language", "en"), ("title", "Waiver"), ("body", body), ("questions", "")];
    let (early, late) = (text("I fly with a helmet."), text("I fly with goggles."));
    let words = ("<p>I fly with a helmet.</p>", ">I fly with goggles.</textarea>");
    cross(&admin, (edit, "/desk/texts/edit"), &early, &late, words);
    let drafts = field(&admin.get("/desk/texts").page(), "drafts");
    assert_eq!(admin.post("/desk/texts/edit", &text("I fly.")).status, 303);
    for action in ["publish", "discard"] {
        let path = format!("/desk/texts/{action}");
        let refused = admin.post(&path, &[("kind", "waiver"), ("drafts", &drafts)]);
        assert!(refused.status == 422 && refused.page().contains("changed a draft"), "{action}: {refused}");
    }
    let drafts = field(&admin.get("/desk/texts").page(), "drafts");
    assert_eq!(admin.post("/desk/texts/publish", &[("kind", "waiver"), ("drafts", &drafts)]).status, 303);

    let jane = site.member("jane");
    let paper = format!("/desk/members/{}/waiver", jane.id);
    let whom = |name| [("emergency_name", name), ("emergency_phone", "112")];
    let words = ("now: Joan 112.", "value=\"Jim\"");
    cross(&admin, (&paper, &format!("/desk/members/{}/emergency", jane.id)), &whom("Joan"), &whom("Jim"), words);
}

#[test]
fn a_decision_on_a_waiver_is_not_turned_round_and_a_ban_not_reworded_unseen() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.waiver.required = true;
    });
    let jane = site.member("jane");
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Waiver', 'I fly.', 'Is a shoulder hurt?', zeroblob(32), 1, ?1, NULL)";
        tx.run(text, [tx.now()])?;
        let signed = "INSERT INTO waiver_signatures (member_id, version, language, text_hash, signed_at, place, flyer_name, born,
                           relation, signer_name, strokes, answers, kept)
                      VALUES (?1, 1, 'en', zeroblob(32), ?2, 'kiosk', 'Jane', 0, 'self', 'Jane', '', 'y', 0)";
        Ok(tx.run(signed, (jane.id, tx.now()))?)
    });
    let (ann, ben) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.desk()));
    let card = format!("/desk/members/{}", jane.id);
    let (paper, decide) = (format!("{card}/waiver"), format!("{card}/waiver/decide"));
    // The first mark on the page is the decision's; that of the emergency contact comes later.
    let seen = |page: &str| field(page.split("/waiver/decide").nth(1).expect("the form"), "seen");
    let stale = seen(&ben.get(&paper).page());
    let no = [("signature", "1"), ("may_fly", "no"), ("word", "must see a doctor"), ("seen", &*stale)];
    assert_eq!([ann.post(&decide, &no).status, ann.post(&decide, &no).status], [303, 303]);
    let yes = [("signature", "1"), ("may_fly", "yes"), ("word", "looks fit")];
    let refused = ben.post(&decide, &[&yes[..], &[("seen", &stale)]].concat());
    let page = refused.page();
    assert!(refused.status == 422 && page.contains("decided against the flight"), "{page}");
    assert!(page.contains(": must see a doctor.") && page.contains("value=\"looks fit\""), "{page}");
    assert_eq!(site.rows()["waiver_decisions"], 1, "the same decision sent twice is one");
    assert_eq!(ben.post(&decide, &[&yes[..], &[("seen", &seen(&page))]].concat()).status, 303);

    let ban = format!("{card}/ban");
    assert_eq!(ann.post(&ban, &[("reason", "pushed a child")]).status, 303);
    let refused = ben.post(&ban, &[("reason", "owes money")]);
    let page = refused.page();
    assert!(refused.status == 422 && page.contains("banned this member while the page was open"), "{page}");
    assert!(page.contains("<bdi>pushed a child</bdi>"), "{page}");
    assert_eq!(ann.post(&ban, &[("reason", "pushed a child")]).status, 303, "the same again changes nothing");
}

#[test]
fn of_eight_clerks_who_change_the_same_field_at_once_one_saves_and_the_others_are_told() {
    let site = demo();
    let jane = site.member("jane");
    let clerks: Vec<Clerk> = (0..8).map(|_| Clerk::at(&site, &site.desk())).collect();
    let path = format!("/desk/members/{}/edit", jane.id);
    let page = clerks[0].get(&path).page();
    let [name, screen_name, email] =
        ["real_name", "screen_name", "email"].map(|name| field(&page, &format!("seen_{name}")));
    let together = Barrier::new(clerks.len());
    let save = |number: usize, clerk: Clerk| {
        let typed = format!("Jane {number}");
        let seen =
            [("seen", "1"), ("seen_real_name", &name), ("seen_screen_name", &screen_name), ("seen_email", &email)];
        let fields = [("real_name", &*typed), ("screen_name", &screen_name), ("email", &email)];
        together.wait();
        clerk.post(&path, &[&seen[..], &fields].concat()).status
    };
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let save = &save;
        let begin = |(number, clerk)| scope.spawn(move || save(number, clerk));
        let saving: Vec<_> = clerks.into_iter().enumerate().map(begin).collect();
        saving.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = |status: u16| statuses.iter().filter(|one| **one == status).count();
    assert_eq!((count(303), count(422)), (1, 7), "{statuses:?}");
}
