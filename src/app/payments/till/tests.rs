//! The till adds up to the cent, whatever is taken, undone and closed, in any order and by any number of desks at the same time.

use super::*;
use crate::app::{RankedActor, change, payments as app_payments, try_change};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Actor, ActorId, Origin};
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::payment::Event;
use crate::domain::role::Role;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::ops::lifecycle::Identity;
use crate::store::data_dir::DataDir;
use crate::store::tables::till as store;
use proptest::prelude::*;
use std::sync::Barrier;
use tempfile::TempDir;

const START: i64 = 1_780_000_000;
const FEE_CENTS: i64 = 3_005;
const MEMBERS: i64 = 4;

struct Till {
    site: Site,
    admin: RankedActor,
    _dir: TempDir,
    _data_dir: DataDir,
}

impl Till {
    fn open() -> Till {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let mut config = Config::defaults();
        (config.yearly_fee_cents, config.data) = (FEE_CENTS, dir.path().to_owned());
        let identity =
            Identity { tunnel_id: TunnelId(1), name: "Here".into(), city: String::new(), country: "CH".into() };
        let site = Site::create(&data_dir, config, Clock::frozen(Moment(START)), &identity).unwrap();
        let add = |tx: &crate::store::Write, username: &str, role| {
            members::insert(tx, &members::NewMember { username, role, ..members::NewMember::default() })
        };
        let admin = site.store.write(Moment(START), |tx| {
            (1..=MEMBERS).try_for_each(|number| add(tx, &format!("m{number}"), "").map(drop))?;
            add(tx, "admin", "admin")
        });
        let admin = admin.unwrap();
        let actor = Actor { id: ActorId::Member(admin), origin: Origin::Site };
        Till { site, admin: RankedActor::account(admin, Role::Admin, &actor), _dir: dir, _data_dir: data_dir }
    }

    fn on_another_thread(&self) -> Site {
        self.site.for_another_thread()
    }

    fn paid_until(&self, member_id: MemberId) -> Option<Moment> {
        self.site.store.read(|tx| Ok(members::find_paid_until(tx, member_id)?.flatten())).unwrap()
    }

    fn day(&self) -> Day {
        self.site.store.read(|tx| read_day(&self.site, tx)).unwrap()
    }
}

#[test]
fn a_fee_of_a_closed_day_is_undone_at_the_till_and_becomes_no_other_s_by_any_path() {
    let till = Till::open();
    let (site, admin) = (&till.site, &till.admin);
    let entry_id = take(site, admin, MemberId(1), Kind::Cash, 7).unwrap();
    close(site, admin, &till.day(), 0, 8).unwrap();
    let kept = || {
        let line = site.store.read(|tx| Ok(store::find_line(tx, entry_id)?)).unwrap();
        site.store.release();
        (format!("{line:?}"), till.paid_until(MemberId(1)), till.paid_until(MemberId(2)))
    };
    let (before, intent_id) = (kept(), "desk-7");
    let payment_id = site.store.read(|tx| Ok(payments::find_number(tx, intent_id)?)).unwrap().unwrap();
    for (decision, member) in [(Decision::Counts, Some(MemberId(2))), (Decision::Counts, None), (Decision::Void, None)]
    {
        let decided = change(site, admin.clone(), Language::English, |cx| {
            app_payments::decide(cx, payment_id, decision, member).map(drop)
        });
        assert_eq!(decided.unwrap_err().status(), 409, "{decision:?} {member:?}");
    }
    for status in [Status::Canceled, Status::Refunded, Status::Succeeded] {
        let price = Some(Price { cents: 1, currency: "EUR".to_owned() });
        let event =
            Event { status, price, member_id: Some(MemberId(2)), at: Moment(START), key: format!("evt_{status:?}") };
        let report =
            change(site, admin.clone(), Language::English, |cx| app_payments::apply_event(cx, intent_id, &event));
        assert_eq!(report.unwrap(), "late", "{status:?}");
    }
    change(site, admin.clone(), Language::English, |cx| app_payments::refund_part(cx, intent_id, None)).unwrap();
    assert_eq!(kept(), before);
    assert_eq!(undo(site, admin, entry_id), Err(Denial::NotInDrawer), "half of it was taken to the bank");
    put_in(site, admin, FEE_CENTS, 9);
    assert_eq!(undo(site, admin, entry_id), Ok(entry_id + 2), "the till's own way");
    assert_eq!((till.paid_until(MemberId(1)), till.day().sums.of(Kind::Cash).cents), (None, -FEE_CENTS));
}

#[test]
fn each_currency_keeps_what_its_last_closing_left_in_the_drawer() {
    let till = Till::open();
    let (site, admin) = (&till.site, &till.admin);
    let pay_in = |currency: &str| {
        let mut config = Config::defaults();
        (config.yearly_fee_cents, config.fee_currency) = (FEE_CENTS, Some(currency.to_owned()));
        site.config.set(config);
        (till.day().float_cents, till.day().takes_float)
    };
    assert_eq!(pay_in("CHF"), (0, true));
    take(site, admin, MemberId(1), Kind::Cash, 1).unwrap();
    close(site, admin, &till.day(), 0, 2).unwrap();
    assert_eq!(pay_in("EUR"), (0, true), "no closing in this one");
    take(site, admin, MemberId(2), Kind::Cash, 3).unwrap();
    close(site, admin, &till.day(), 0, 4).unwrap();
    assert_eq!(pay_in("CHF"), (FEE_CENTS / 2, false), "francs lie there still");
}

fn take(site: &Site, actor: &RankedActor, member_id: MemberId, kind: Kind, form_number: i64) -> Result<i64, Denial> {
    denial_of(try_change(site, actor.clone(), Language::English, |cx| {
        let seen_until = members::find_paid_until(cx.tx, member_id)?.flatten();
        let reason = &form_number.to_string();
        let fee = site.fee(cx.tx)?;
        let seen_price = &Price { cents: fee.cents, currency: fee.currency.unwrap_or_default() }.to_string();
        let taken =
            take_fee(cx, &Fee { member_id, kind, reason, form_number, seen_until, seen_price, is_second: true })?;
        Ok(taken.entry_id)
    }))
}

fn put_in(site: &Site, actor: &RankedActor, cents: i64, form_number: i64) {
    let movement =
        drawer::Movement { kind: Kind::CashIn, cents, currency: "CHF", reason: "coins", is_sure: false, form_number };
    denial_of(try_change(site, actor.clone(), Language::English, |cx| drawer::move_cash(cx, &movement))).unwrap();
}

fn undo(site: &Site, actor: &RankedActor, entry_id: i64) -> Result<i64, Denial> {
    denial_of(try_change(site, actor.clone(), Language::English, |cx| undo_entry(cx, entry_id, "a mistake")))
}

fn denial_of<T, D>(done: Result<T, Stop<D>>) -> Result<T, D> {
    done.map_err(|stop| stop.denial().expect("nothing failed"))
}

/// Closes the day, and takes half of the cash to the bank.
fn close(site: &Site, actor: &RankedActor, day: &Day, over: i64, form_number: i64) -> Result<i64, ClosingDenial> {
    close_leaving(2, site, actor, day, over, form_number)
}

/// Closes the day, and leaves this part of the cash in the drawer: 2 is half of it.
fn close_leaving(
    part: i64,
    site: &Site,
    actor: &RankedActor,
    day: &Day,
    over: i64,
    form_number: i64,
) -> Result<i64, ClosingDenial> {
    let counted_cents = (day.expected_cents() + over).max(0);
    let count = CashCount {
        currency: day.currency.as_deref().unwrap_or_default(),
        counted_cents,
        left_cents: counted_cents / part,
        note: "a note",
        form_number,
        seen_closing: day.closing_id,
        seen_entry: day.to,
    };
    denial_of(try_change(site, actor.clone(), Language::English, |cx| close_day(cx, &count)))
}

/// Each entry belongs to exactly one closing or to the open day, and each sum equals that of its entries.
fn check(site: &Site) {
    site.store
        .read(|tx| {
            let mut closings = till::list_closings(tx, i64::MAX, i64::MAX, 0)?;
            closings.reverse();
            let (mut from, mut float, mut seen, mut until) = (0, 0, 0, Moment::FIRST);
            for (closing_id, _, closing) in &closings {
                assert_eq!(till::find_start(tx, *closing_id)?, from, "closings leave no gap");
                let lines = till::list(tx, from, closing.last_entry_id, i64::MAX)?;
                let of = |kind: Kind| -> i64 {
                    lines.iter().filter(|line| line.kind == kind).map(|line| line.amount_cents).sum()
                };
                assert_eq!(
                    (closing.cash_cents, closing.terminal_cents, closing.voucher_cents),
                    (of(Kind::Cash), of(Kind::Terminal), of(Kind::Voucher))
                );
                assert_eq!((of(Kind::Free), closing.float_cents), (0, float));
                assert_eq!(closing.expected_cents(), float + of(Kind::Cash));
                for line in &lines {
                    assert!(
                        (until..=closing.closed_at).contains(&line.taken_at),
                        "an entry is of the day that counts it"
                    );
                }
                seen += lines.len() as i64;
                (from, float, until) = (closing.last_entry_id, closing.left_cents, closing.closed_at);
            }
            let day = read_day(site, tx)?;
            let open = till::list(tx, from, i64::MAX, i64::MAX)?;
            assert_eq!((day.from, day.float_cents, day.to), (from, float, till::last(tx)?));
            assert_eq!(day.sums.total().cents, open.iter().map(|line| line.amount_cents).sum::<i64>());
            assert!(open.iter().all(|line| line.taken_at >= until), "nothing comes into a closed day");
            let all: i64 = tx.get("SELECT count(*) FROM till_entries", [])?;
            assert_eq!(seen + open.len() as i64, all);
            Ok(())
        })
        .unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    Take(MemberId, usize),
    Undo(usize),
    Close(i64),
    /// Moves the clock by these seconds, forward or back.
    Wait(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..=MEMBERS, 0..4_usize).prop_map(|(member, kind)| Step::Take(MemberId(member), kind)),
        2 => (0..20_usize).prop_map(Step::Undo),
        2 => (-500..500_i64).prop_map(Step::Close),
        1 => (-100..90_000_i64).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]
    #[test]
    fn random_days_of_fees_and_undos_add_up_to_the_cent(steps in steps()) {
        let till = Till::open();
        let (mut taken, mut undone): (Vec<(i64, MemberId)>, Vec<i64>) = (Vec::new(), Vec::new());
        let (mut now, mut latest) = (START, START);
        for (number, step) in (1..).zip(steps) {
            match step {
                Step::Take(member_id, kind) => {
                    let entry = take(&till.site, &till.admin, member_id, Kind::FEES[kind], number).unwrap();
                    taken.push((entry, member_id));
                }
                Step::Undo(index) if !taken.is_empty() => {
                    let (entry, _) = taken[index % taken.len()];
                    let (first, second) = (undo(&till.site, &till.admin, entry), undo(&till.site, &till.admin, entry));
                    prop_assert_eq!(first, second, "a fee is undone once");
                    prop_assert!(till.day().expected_cents() >= 0, "no drawer holds less than nothing");
                    if first.is_ok() && !undone.contains(&entry) {
                        undone.push(entry);
                    }
                }
                Step::Close(over) => {
                    let day = till.day();
                    let first = close(&till.site, &till.admin, &day, over, number);
                    prop_assert_eq!(first, close(&till.site, &till.admin, &day, over, number), "the same form");
                    prop_assert_eq!(close(&till.site, &till.admin, &day, over, -number), Err(ClosingDenial::ClosedBefore));
                }
                Step::Wait(seconds) => {
                    now += seconds;
                    latest = latest.max(now);
                    till.site.clock.set(Moment(now));
                }
                Step::Undo(_) => {}
            }
            check(&till.site);
        }
        for member_id in (1..=MEMBERS).map(MemberId) {
            let stand = taken.iter().filter(|(entry, whose)| *whose == member_id && !undone.contains(entry)).count();
            // Where every year was taken back, the membership does not end in the future.
            let ahead = till.paid_until(member_id).is_some_and(|until| until > Moment(latest));
            prop_assert!(stand > 0 || !ahead, "{stand} fees stand");
            prop_assert!(stand == 0 || till.paid_until(member_id).is_some(), "{stand} fees stand");
        }
    }
}

#[test]
fn two_desks_take_and_close_at_once_and_nothing_is_counted_twice_or_lost() {
    const DESKS: i64 = 3;
    const FEES: i64 = 25;
    let till = Till::open();
    let start = Barrier::new(DESKS as usize + 2);
    std::thread::scope(|threads| {
        for desk in 0..DESKS {
            let (site, actor, start) = (till.on_another_thread(), till.admin.clone(), &start);
            threads.spawn(move || {
                start.wait();
                for number in 1..=FEES {
                    let kind = Kind::FEES[(number % 4) as usize];
                    let entry =
                        take(&site, &actor, MemberId(1 + desk), kind, desk * 1_000 + number).expect("the fee is taken");
                    if number % 5 == 0 {
                        undo(&site, &actor, entry).expect("the fee is undone");
                    }
                }
            });
        }
        for closer in 0..2 {
            let (site, actor, start) = (till.on_another_thread(), till.admin.clone(), &start);
            threads.spawn(move || {
                start.wait();
                let mut closed = 0;
                for number in 0..60 {
                    let day = site.store.read(|tx| read_day(&site, tx)).expect("the day can be read");
                    // All stays in the drawer, so that each desk finds there what it undoes.
                    match close_leaving(1, &site, &actor, &day, 0, 100_000 + closer * 1_000 + number) {
                        Ok(_) => closed += 1,
                        Err(ClosingDenial::Changed | ClosingDenial::ClosedBefore) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                closed
            });
        }
    });
    let day = till.day();
    close(&till.site, &till.admin, &day, 0, 999_999).expect("the last closing");
    check(&till.site);
    let closed: i64 = till
        .site
        .store
        .read(|tx| {
            let all = till::list_closings(tx, i64::MAX, i64::MAX, 0)?;
            Ok(all.iter().map(|(_, _, one)| one.cash_cents + one.terminal_cents + one.voucher_cents).sum())
        })
        .unwrap();
    // Of a desk's 25 fees, every fifth is undone; 15 of the other 20 are not free of charge.
    let paid = (1..=FEES).filter(|number| number % 5 != 0 && Kind::FEES[(number % 4) as usize] != Kind::Free).count();
    assert_eq!(closed, DESKS * paid as i64 * FEE_CENTS);
}

#[test]
fn nobody_changes_or_removes_what_the_till_has() {
    let till = Till::open();
    take(&till.site, &till.admin, MemberId(1), Kind::Cash, 1).unwrap();
    close(&till.site, &till.admin, &till.day(), 0, 2).unwrap();
    for statement in [
        "UPDATE till_entries SET amount_cents = 1",
        "UPDATE till_entries SET taken_at = 0",
        "DELETE FROM till_entries",
        "UPDATE till_closings SET counted_cents = 1",
        "UPDATE till_closings SET closed_at = 0",
        "DELETE FROM till_closings",
    ] {
        let changed = till.site.store.write(Moment(START), |tx| Ok(tx.run(statement, [])?));
        assert!(changed.is_err(), "{statement}");
    }
}
