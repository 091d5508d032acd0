//! Panics of operations, and writes that share a flush.

use super::group_commit::{GroupCommitWorker, PENDING_ANSWERS_MAX};
use super::*;
use crate::config::Config;
use crate::http::Answer;
use crate::http::row::Row;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::ops::tests::new_site;
use crate::server::queue::Worker;
use crate::store::data_dir::DataDir;
use http::{Method, StatusCode};

fn panics(_: &Site, _: &Call) -> Answer {
    panic!("an operation with a fault")
}

fn works(_: &Site, _: &Call) -> Answer {
    Ok(reply::text(StatusCode::OK, "fine"))
}

static PANICS: Access = Access::Open(panics);
static WORKS: Access = Access::Open(works);
static ROW: Row = Row::new(CallerKind::Open, Method::GET, "/");

fn call() -> Call {
    Call {
        row: &ROW,
        method: Method::GET,
        path: "/".to_owned(),
        headers: Default::default(),
        query: String::new(),
        german: Language::German,
        peer: [127, 0, 0, 1].into(),
        secure: false,
        request_id: "request-1".to_owned(),
        body: Default::default(),
        params: Vec::new(),
        principal: Default::default(),
        delayed: Default::default(),
        outcome: Default::default(),
        from_home: false,
        changes_before: 0,
        idempotency: Default::default(),
    }
}

fn site(dir: &tempfile::TempDir, config: Config) -> (DataDir, Site) {
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let site = new_site(&data_dir, config);
    (data_dir, site)
}

fn enters(site: &Site, _: &Call) -> Answer {
    site.store.write(site.now(), |tx| {
        tx.run("UPDATE site SET clock_high_water = clock_high_water + 1", [])?;
        Ok(reply::text(StatusCode::CREATED, "entered"))
    })
}

#[test]
fn operations_that_end_with_a_write_share_a_flush_and_are_answered_after_it() {
    static ENTERS: Access = Access::Open(enters);
    let dir = tempfile::tempdir().unwrap();
    let (_data_dir, site) = site(&dir, Config::defaults());
    let mut entering = GroupCommitWorker::new(&site);
    let ask = |entering: &mut GroupCommitWorker, access| {
        let (done, answer) = oneshot::channel();
        entering.work(Job::Call(QueuedCall {
            access,
            call: call(),
            queued: Instant::now(),
            begun: OnceCell::new(),
            done,
        }));
        answer
    };
    let commits = || site.store.writer().commits.load(Ordering::Relaxed);
    let status =
        |mut answer: oneshot::Receiver<(FinishedCall, Call)>| answer.try_recv().map(|(done, _)| done.reply.status);
    let before = commits();
    let mut answers: Vec<_> = (0..3).map(|_| ask(&mut entering, &ENTERS)).collect();
    assert_eq!(status(ask(&mut entering, &WORKS)), Ok(StatusCode::OK), "it wrote nothing, so it waits for nothing");
    assert!(answers.iter_mut().all(|answer| answer.try_recv().is_err()) && commits() == before);
    entering.pause();
    assert!(answers.into_iter().all(|answer| status(answer) == Ok(StatusCode::CREATED)));
    assert_eq!(commits(), before + 1);

    let mut last = Vec::new();
    for count in 0..PENDING_ANSWERS_MAX {
        assert_eq!(commits(), before + 1, "after {count}");
        last.push(ask(&mut entering, &ENTERS));
    }
    assert_eq!((commits(), status(last.remove(0))), (before + 2, Ok(StatusCode::CREATED)));

    let lost = ask(&mut entering, &ENTERS);
    site.store.mark_damaged(&"test");
    _ = site.store.write(Moment(0), |_| Ok(()));
    entering.pause();
    assert!(status(lost).unwrap().is_server_error());
}

#[tokio::test]
async fn a_panic_is_a_500_with_the_request_id_and_every_thread_lives() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::defaults();
    config.limits.pool_threads = 1;
    let (_data_dir, site) = site(&dir, config);
    let pool = Pool::start(&site).unwrap();
    let site_name = &site.state();
    let fallback = Fallback { stats: &site.stats, site_name, language: Language::English, request_id: "request-1" };
    for _ in 0..3 {
        let finished = pool.run(&fallback, &PANICS, call()).await;
        assert_eq!(finished.reply.status, StatusCode::INTERNAL_SERVER_ERROR);
        let body = String::from_utf8(finished.reply.body.to_vec()).unwrap();
        assert!(body.contains("request-1") && !body.contains("fault"), "{body}");
        assert_eq!(pool.run(&fallback, &WORKS, call()).await.reply.status, StatusCode::OK);
    }
    assert_eq!(site.stats.panics.load(Ordering::Relaxed), 3);
    pool.stop(Duration::from_secs(60));
}

/// Where [`hangs`] waits for the test, as a read waits for a page of a disk that does not answer.
static BARRIER: std::sync::Barrier = std::sync::Barrier::new(2);

fn hangs(_: &Site, _: &Call) -> Answer {
    BARRIER.wait();
    Ok(reply::text(StatusCode::OK, "late"))
}

#[tokio::test(start_paused = true)]
async fn a_read_that_hangs_is_given_up_also_one_that_waits_behind_it() {
    static HANGS: Access = Access::Open(hangs);
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::defaults();
    config.limits.pool_threads = 1;
    let (_data_dir, site) = site(&dir, config);
    let pool = Pool::start(&site).unwrap();
    let site_name = &site.state();
    let fallback = Fallback { stats: &site.stats, site_name, language: Language::English, request_id: "request-1" };
    let both = async { tokio::join!(pool.run(&fallback, &HANGS, call()), pool.run(&fallback, &WORKS, call())) };
    let (hung, behind) = tokio::time::timeout(2 * READ_ANSWER_TIME_MAX, both).await.unwrap();
    for given_up in [hung, behind] {
        assert_eq!((given_up.reply.status, given_up.code), (StatusCode::SERVICE_UNAVAILABLE, Some("disk_hangs")));
    }
    BARRIER.wait();
    pool.stop(Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_waits_too_long_behind_others_is_given_up_and_told_that_it_may_be_made() {
    static ENTERS: Access = Access::Open(enters);
    let dir = tempfile::tempdir().unwrap();
    let (_data_dir, site) = site(&dir, Config::defaults());
    let pool = Pool::start(&site).unwrap();
    let site_name = &site.state();
    let fallback = Fallback { stats: &site.stats, site_name, language: Language::English, request_id: "request-1" };
    let moment = || {
        site.store.writer().exclusive(|conn| {
            conn.query_row("SELECT clock_high_water FROM site", [], |row| row.get::<_, i64>(0)).unwrap()
        })
    };
    let before = moment();
    let (begin, begun) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let store = site.store.for_another_thread();
    let long = std::thread::spawn(move || {
        store.writer().exclusive(|_| {
            begin.send(()).unwrap();
            _ = ended.recv();
        });
    });
    begun.recv().unwrap();
    let write = Call { method: Method::POST, ..call() };
    let late = tokio::time::timeout(2 * WRITE_ANSWER_TIME_MAX, pool.run(&fallback, &ENTERS, write)).await.unwrap();
    assert_eq!((late.reply.status, late.code), (StatusCode::SERVICE_UNAVAILABLE, Some("outcome_unknown")));
    end.send(()).unwrap();
    long.join().unwrap();
    pool.stop(Duration::from_secs(60));
    assert!(moment() > before, "the write went on");
}
