//! Tests of the followers of the WAL: which commits each still needs, and when checkpoints and answers wait for them.

use super::*;
use crate::domain::standby::Wait;
use crate::moment::Moment;
use std::time::Duration;

fn to(salt: u8, frames: u32) -> Appended {
    Appended::To(Position { salt: [salt; 8], frames })
}

#[test]
fn a_checkpoint_may_run_when_every_frame_is_confirmed_and_not_before() {
    let capture = Capture::default();
    capture.note(to(1, 3), Moment(10));
    assert!(capture.allows_checkpoint(), "nobody wants the frames");
    let (number, begin) = capture.follow(FollowerKind::OffSite, 1_000_000);
    assert_eq!(begin, End { position: Position { salt: [1; 8], frames: 3 }, moment: Moment(10) });
    assert!(capture.allows_checkpoint(), "all of them are in the base");
    capture.note(to(1, 5), Moment(10));
    capture.note(to(1, 6), Moment(10));
    let first = capture.next_end(number).unwrap().unwrap();
    assert_eq!((first.position.frames, capture.lag(FollowerKind::OffSite).bytes), (6, 3 * FRAME_BYTES));
    // Commits that are on their way to the target are not merged with later ones.
    capture.note(to(1, 8), Moment(10));
    assert_eq!(capture.next_end(number).unwrap(), Some(first));
    capture.confirm(number);
    assert!(!capture.allows_checkpoint());
    assert_eq!(capture.next_end(number).unwrap().unwrap().position.frames, 8);
    capture.confirm(number);
    assert_eq!(
        (capture.allows_checkpoint(), capture.lag(FollowerKind::OffSite), capture.next_end(number)),
        (true, Lag::default(), Ok(None))
    );
    // The WAL restarts after a checkpoint.
    capture.note(to(2, 1), Moment(11));
    assert_eq!(capture.lag(FollowerKind::OffSite), Lag { bytes: FRAME_BYTES, since: Some(Moment(11)) });
}

#[test]
fn a_follower_is_given_up_at_its_limit_and_where_the_wal_was_truncated_too_early() {
    let capture = Capture::default();
    let (number, _) = capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES);
    capture.note(to(1, 10), Moment(10));
    assert!(!capture.allows_checkpoint());
    capture.note(to(1, 11), Moment(10));
    assert!(capture.allows_checkpoint() && capture.next_end(number).unwrap_err().contains("unconfirmed_mib"));
    let (number, _) = capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES);
    capture.note(to(1, 12), Moment(10));
    capture.note(to(2, 1), Moment(10));
    assert!(capture.next_end(number).unwrap_err().contains("emptied before"));
}

#[test]
fn only_a_follower_that_has_everything_survives_the_truncation_of_the_wal() {
    let capture = Capture::default();
    assert!(capture.wait_until_replicated(Duration::ZERO), "nobody wants the frames");
    let (sent, _) = capture.follow(FollowerKind::OffSite, 1_000_000);
    let (on_its_way, _) = capture.follow(FollowerKind::OffSite, 1_000_000);
    capture.note(to(1, 3), Moment(10));
    assert!(!capture.wait_until_replicated(Duration::from_millis(1)));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| capture.wait_until_replicated(Duration::from_secs(20)));
        capture.next_end(sent).unwrap().unwrap();
        capture.confirm(sent);
        assert!(waiting.join().unwrap());
    });
    capture.allow_checkpoints("a test");
    assert!(capture.allows_checkpoint() && capture.follows(sent) && !capture.follows(on_its_way));
    // A wait for replication ends although commits go on: it waits only for the commits made before it.
    capture.note(to(2, 1), Moment(11));
    assert_eq!(capture.next_end(sent).unwrap().unwrap().position.frames, 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| capture.wait_until_replicated(Duration::from_secs(20)));
        while !waiting.is_finished() {
            capture.note(to(2, 2), Moment(12));
            capture.next_end(sent).unwrap().unwrap();
            capture.confirm(sent);
        }
        assert!(waiting.join().unwrap());
    });
    capture.note(to(2, 3), Moment(13));
    capture.allow_checkpoints("a test");
    assert!(!capture.follows(sent) && capture.next_end(sent).unwrap_err() == "a test");
}

#[test]
fn an_answer_waits_for_a_standby_that_keeps_up_and_for_no_other() {
    let capture = Capture::default();
    capture.set_wait(Wait::InStep);
    let alone = capture.note(to(1, 3), Moment(10));
    assert!(capture.wait(alone).is_ok() && capture.refusal().is_none(), "there is no standby");
    let (number, _) = capture.follow(FollowerKind::Standby, 1_000_000);
    capture.attach(number);
    let commit = capture.note(to(1, 5), Moment(10));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| capture.wait(commit));
        capture.next_end(number).unwrap().unwrap();
        capture.confirm(number);
        assert!(waiting.join().unwrap().is_ok());
    });
    assert!(capture.is_in_step());
    // A standby that does not confirm in time delays no further answers.
    let late = capture.note(to(1, 6), Moment(10));
    assert!(capture.wait(late).is_ok());
    assert!(!capture.is_in_step());
    capture.set_wait(Wait::Refuse);
    assert_eq!(capture.refusal().unwrap().code(), "standby_away");
    assert_eq!(capture.wait(late).unwrap_err().code(), "standby_away");
    capture.next_end(number).unwrap().unwrap();
    capture.confirm(number);
    assert!(capture.refusal().is_none() && capture.wait(late).is_ok());
    // When the standby's chain is abandoned, the standby does not keep up any more; the off-site copy's chain goes on.
    let (chain, _) = capture.follow(FollowerKind::OffSite, 1_000_000);
    capture.lock().give_up_kind(FollowerKind::Standby, "test");
    assert_eq!((capture.follows(chain), capture.is_in_step(), capture.refusal().is_some()), (true, false, true));
}

#[test]
fn a_base_that_takes_too_long_is_given_up_alone() {
    let capture = Capture::default();
    let ((chain, _), (base, _)) = (
        capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES),
        capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES),
    );
    for frames in [5, 10, 15] {
        capture.note(to(1, frames), Moment(i64::from(frames)));
        capture.next_end(chain).unwrap().unwrap();
        capture.confirm(chain);
    }
    assert_eq!([capture.follows(chain), capture.follows(base), capture.allows_checkpoint()], [true, false, true]);
}

#[test]
fn writers_wait_only_once_for_a_standby_that_confirms_nothing() {
    for wait in [Wait::Never, Wait::InStep] {
        let capture = Capture::default();
        capture.set_wait(wait);
        let (number, _) = capture.follow(FollowerKind::Standby, 1_000_000);
        capture.attach(number);
        capture.note(to(1, 3), Moment(10));
        capture.wait_for_standby(Duration::from_millis(1));
        assert!(!capture.is_in_step(), "the next checkpoint would hold the writers again");
        let long = Duration::from_secs(3_600);
        capture.wait_for_standby(long);
        capture.next_end(number).unwrap().unwrap();
        capture.confirm(number);
        assert!(capture.is_in_step(), "a standby that confirms is waited for again");
        capture.wait_for_standby(long);
    }
}

#[test]
fn writers_wait_for_a_lagging_copy_as_long_as_it_confirms_ticks() {
    let (capture, long) = (Capture::default(), Duration::from_secs(60));
    let (number, _) = capture.follow(FollowerKind::OffSite, 8 * FRAME_BYTES);
    let send = || {
        capture.next_end(number).unwrap().unwrap();
        capture.confirm(number);
    };
    capture.note(to(1, 7), Moment(10));
    // A base that is still being sent confirms nothing, however long a writer waits.
    capture.wait_for_off_site_copy(long);
    send();
    capture.note(to(1, 13), Moment(11));
    capture.wait_for_off_site_copy(long);
    capture.note(to(1, 14), Moment(12));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| capture.wait_for_off_site_copy(long));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!writer.is_finished(), "7 of 8 frames wait");
        send();
        writer.join().unwrap();
    });
    send();
    // No commit is confirmed meanwhile: writers wait once in vain, and then not again.
    capture.note(to(1, 21), Moment(13));
    capture.wait_for_off_site_copy(Duration::from_millis(1));
    capture.wait_for_off_site_copy(long);
}

#[test]
fn what_a_copy_has_not_confirmed_is_counted_through_gaps_and_new_bases() {
    let capture = Capture::default();
    let behind = |frames: u64, since: Option<Moment>| {
        assert_eq!(capture.behind(FollowerKind::OffSite), Lag { bytes: frames * FRAME_BYTES, since });
    };
    capture.note(to(1, 3), Moment(10));
    behind(0, None);
    capture.begin_counting(FollowerKind::OffSite, Moment(20));
    behind(0, Some(Moment(20)));
    let (first, _) = capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES);
    capture.note(to(1, 5), Moment(21));
    behind(2, Some(Moment(20)));
    capture.attach(first);
    behind(2, Some(Moment(21)));
    capture.next_end(first).unwrap().unwrap();
    capture.confirm(first);
    behind(0, None);
    // The target freezes, and the chain is abandoned at its limit: what is on one disk does not become less.
    capture.note(to(1, 10), Moment(30));
    capture.note(to(1, 19), Moment(40));
    assert!(!capture.follows(first));
    behind(14, Some(Moment(30)));
    // Nor does it with the WAL that begins anew, and the next base.
    capture.note(to(2, 1), Moment(50));
    let (second, _) = capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES);
    capture.note(to(2, 2), Moment(60));
    behind(16, Some(Moment(30)));
    capture.attach(second);
    behind(1, Some(Moment(60)));
    capture.next_end(second).unwrap().unwrap();
    capture.confirm(second);
    behind(0, None);
    // A target that lost its newest tick has less than it confirmed.
    capture.note_loss(None);
    capture.leave(second);
    behind(0, Some(Moment(60)));
    let (third, _) = capture.follow(FollowerKind::OffSite, 10 * FRAME_BYTES);
    capture.attach(third);
    behind(0, None);
}

#[test]
fn what_is_followed_from_the_begin_of_the_wal_keeps_it_until_its_first_tick_is_confirmed() {
    let capture = Capture::default();
    let (number, end) = capture.follow_from_begin(FollowerKind::OffSite, 1 << 20);
    assert_eq!(end.position, Position::default());
    assert!(!capture.allows_checkpoint(), "what was left of the last process is not off site yet");
    let position = Position { salt: [7; 8], frames: 3 };
    capture.note(Appended::To(position), Moment(100));
    assert_eq!(capture.waiting(number), 2, "the first commit of a process empties no log");
    capture.confirm(number);
    assert_eq!(capture.next_end(number).unwrap().map(|end| end.position), Some(position));
    capture.confirm(number);
    assert!(capture.allows_checkpoint());
}
