//! The second place as it is looked at. It may be a share whose server is gone, and whoever touches such a one hangs with it:
//! so each look is that of a thread, which is waited for a while, and no other is begun before it is back.

use super::shelf::{Backup, Shelf};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// A disk that sleeps takes some seconds to wake.
const LOOK_TIME_MAX: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct Elsewhere(Arc<(Mutex<Look>, Condvar)>);

#[derive(Clone, Copy, Default, PartialEq)]
enum Look {
    #[default]
    None,
    UnderWay,
    /// It has taken too long: nobody waits for it any more.
    Late,
}

impl Elsewhere {
    /// The finished backups there, newest first. `None`: it does not answer.
    pub fn list(&self, dir: &Path) -> Option<Vec<Backup>> {
        let shelf = Shelf::new(dir.to_owned());
        self.ask(LOOK_TIME_MAX, move || shelf.list())
    }

    fn ask<T: Send + 'static>(&self, patience: Duration, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (state, ended) = &*self.0;
        let others = ended.wait_timeout_while(lock(state), patience, |look| *look == Look::UnderWay);
        let (mut state, _) = others.unwrap_or_else(PoisonError::into_inner);
        if *state != Look::None {
            *state = Look::Late;
            return None;
        }
        *state = Look::UnderWay;
        drop(state);
        let (tell, told) = mpsc::channel();
        let inside = self.0.clone();
        let begun = std::thread::Builder::new().name("elsewhere".to_owned()).spawn(move || {
            let seen = look();
            *lock(&inside.0) = Look::None;
            inside.1.notify_all();
            tell.send(seen)
        });
        let seen = begun.ok().and_then(|_| told.recv_timeout(patience).ok());
        if seen.is_none() {
            let mut state = lock(&self.0.0);
            if *state == Look::UnderWay {
                *state = Look::Late;
            }
        }
        seen
    }
}

fn lock(state: &Mutex<Look>) -> MutexGuard<'_, Look> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_place_that_does_not_answer_holds_one_thread_and_nobody_else_until_it_does() {
        let place = Elsewhere::default();
        let (let_go, held) = mpsc::channel::<()>();
        assert_eq!(place.ask(Duration::from_millis(20), move || held.recv().is_ok()), None);
        for _ in 0..3 {
            assert_eq!(place.ask(LONG, || "another look"), None);
        }
        let_go.send(()).unwrap();
        while *lock(&place.0.0) != Look::None {
            std::thread::yield_now();
        }
        assert_eq!(place.ask(LONG, || 7), Some(7));
        assert_eq!(place.ask(LONG, || 8), Some(8));
    }

    #[test]
    fn who_asks_while_another_looks_waits_for_a_look_of_the_own() {
        let place = Elsewhere::default();
        std::thread::scope(|scope| {
            let asked: Vec<_> = (0..8)
                .map(|n| {
                    scope.spawn({
                        let place = &place;
                        move || place.ask(LONG, move || n)
                    })
                })
                .collect();
            for (n, one) in asked.into_iter().enumerate() {
                assert_eq!(one.join().unwrap(), Some(n));
            }
        });
    }
}
