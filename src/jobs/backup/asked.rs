//! A backup or a drill that somebody asked for at the desk: one at a time, on a thread of its own, because it takes as long
//! as the file is large. How it ended is kept until the next one.

use super::{drill, make};
use crate::domain::audit::By;
use crate::site::Site;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Backup,
    Drill,
}

/// The latest that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub work: Work,
    pub began_at: i64,
    /// `None` while it is under way; then its name, or one line on what went wrong.
    pub outcome: Option<Result<String, String>>,
}

#[derive(Default)]
pub struct Asking(Mutex<Option<Asked>>);

impl Asking {
    pub fn last(&self) -> Option<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it may begin: nothing else is under way.
    fn begin(&self, work: Work, now: i64) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|last| last.outcome.is_none()) {
            return false;
        }
        *last = Some(Asked { work, began_at: now, outcome: None });
        true
    }

    fn end(&self, outcome: Result<String, String>) {
        if let Some(last) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            last.outcome = Some(outcome);
        }
    }
}

/// Begins it; `false`: another is under way.
pub fn begin(site: &Site, work: Work, by: &By) -> bool {
    if !site.asking.begin(work, site.now()) {
        return false;
    }
    let (inside, by) = (site.for_another_thread(), by.clone());
    let begun = std::thread::Builder::new().name("asked".to_owned()).spawn(move || {
        let outcome = run(&inside, work, &by);
        inside.store.rest();
        inside.asking.end(outcome);
    });
    if let Err(e) = begun {
        site.asking.end(Err(format!("cannot start a thread: {e}")));
    }
    true
}

fn run(site: &Site, work: Work, by: &By) -> Result<String, String> {
    match work {
        Work::Backup => {
            let made = make(site, by, &mut |_, _, _| ())?;
            match made.second {
                Some(Err(cause)) => Err(format!("{} has no copy in the second place: {cause}", made.backup.name())),
                _ => Ok(made.backup.name()),
            }
        }
        Work::Drill => {
            let drill = drill::run(site, by, &mut |_, _, _| ())?;
            if drill.trouble.is_empty() { Ok(drill.backup) } else { Err(drill.trouble) }
        }
    }
}
