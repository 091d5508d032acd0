//! The continuous off-site copy as a checked model: every order of writes, checkpoints, copies, ticks, flushes, confirmations,
//! crashes, losses of the disk and restores, up to a depth. The model has no checksums: in the product they are the net under
//! what is shown here.
//!
//! Each guard of the design can be left out, and then the checker must find the order of events that loses something.

#![allow(unreachable_pub, reason = "nothing imports from here")]

use stateright::{Checker, HasDiscoveries, Model, Property};

const PAGES: usize = 2;
const WRITES_MAX: usize = 4;
/// Frames without confirmation, beyond which the chain is given up.
const CAP_FRAMES: u8 = 3;
const DEPTH_MAX: usize = 16;

/// The number of the write that each page holds; 0: none.
type Pages = [u8; PAGES];

/// Which guard is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// A checkpoint waits for nobody.
    CheckpointGate,
    /// A tick counts as confirmed once it is written.
    Flush,
    /// The base bears the position at which its copy began.
    PositionAtTheEnd,
    /// Nobody looks whether the target still has what it confirmed.
    LookAtTheTarget,
}

struct OffSiteCopy(Without);

/// A page in the log, and the write that put it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Frame {
    page: usize,
    write: u8,
}

/// A place in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    salt: u8,
    frames: u8,
}

/// A file at the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct File {
    lineage: u8,
    /// Of the tick; of a base, the tick that it stands behind.
    number: u8,
    /// A base has all pages.
    is_base: bool,
    pages: [Option<u8>; PAGES],
    /// How many writes are in it and what lies before it.
    writes: u8,
    salt: u8,
}

/// What is on its way to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Sent {
    file: File,
    to: Position,
    is_flushed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Chain {
    lineage: u8,
    /// Of the tick that was sent last.
    number: u8,
    read: Position,
    /// `None`: the first base is not confirmed yet.
    confirmed: Option<Position>,
    /// A base that waits to be sent; its position is one where a tick ends.
    base: Option<(File, Position)>,
    last: Option<File>,
}

/// A copy under way: the first page is copied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Copying {
    first_page: u8,
    begun_at: Position,
    /// Writes at its begin.
    begun_writes: u8,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Process {
    chain: Option<Chain>,
    copying: Option<Copying>,
    sent: Option<Sent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// The page that each acknowledged write changed.
    writes: Vec<usize>,
    file: Pages,
    log: Vec<Frame>,
    salt: u8,
    /// Whether all of the log is in the file: the next write begins it anew.
    is_moved: bool,
    process: Option<Process>,
    lineages: u8,
    /// At the target, on its disk.
    flushed: Vec<File>,
    /// At the target, in its memory.
    cached: Option<File>,
    /// Writes that the operator was told are off the site.
    promised: u8,
    /// The target lost what it had confirmed, and nothing was confirmed since.
    is_put_back: bool,
    put_backs: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Write(usize),
    Checkpoint,
    BeginCopy,
    EndCopy,
    Send,
    Flush,
    Confirm,
    Look,
    Crash,
    Start,
    LoseDiskAndRestore,
    TargetLosesItsMemory,
    TargetIsPutBack,
}

fn apply(pages: Pages, log: &[Frame]) -> Pages {
    log.iter().fold(pages, |mut pages, frame| {
        pages[frame.page] = frame.write;
        pages
    })
}

impl State {
    fn end(&self) -> Position {
        Position { salt: self.salt, frames: self.log.len() as u8 }
    }

    fn writes(&self) -> u8 {
        self.writes.len() as u8
    }

    /// What the site held after so many writes.
    fn oracle(&self, writes: u8) -> Pages {
        let mut pages = Pages::default();
        for (write, page) in self.writes.iter().enumerate().take(writes.into()) {
            pages[*page] = write as u8 + 1;
        }
        pages
    }

    /// Every state that the target's disk can bring back, oldest first: the newest base, and the ticks behind it.
    fn restorable(&self) -> Vec<(Pages, u8)> {
        let Some(base) = self.flushed.iter().rfind(|file| file.is_base) else { return Vec::new() };
        let mut pages = base.pages.map(Option::unwrap_or_default);
        let mut all = vec![(pages, base.writes)];
        let is_next = |file: &&File, number: u8| !file.is_base && file.lineage == base.lineage && file.number == number;
        let mut number = base.number + 1;
        while let Some(tick) = self.flushed.iter().find(|file| is_next(file, number)) {
            tick.pages.iter().zip(&mut pages).for_each(|(new, page)| *page = new.unwrap_or(*page));
            all.push((pages, tick.writes));
            number += 1;
        }
        all
    }

    fn write(&mut self, page: usize) {
        if self.is_moved {
            (self.log, self.salt, self.is_moved) = (Vec::new(), self.salt + 1, false);
        }
        self.writes.push(page);
        let write = self.writes();
        self.log.push(Frame { page, write });
        let end = self.end();
        let Some(process) = &mut self.process else { return };
        // The connection that copies is the one that writes: a page that was copied before is copied again.
        if let (Some(copying), 0) = (&mut process.copying, page) {
            copying.first_page = write;
        }
        let Some(chain) = &mut process.chain else { return };
        let known = chain.confirmed.unwrap_or(chain.read);
        let behind = if known.salt == end.salt { end.frames - known.frames } else { end.frames };
        if behind > CAP_FRAMES {
            process.give_up();
        }
    }

    /// The copy's last page is copied while nobody writes.
    fn end_copy(&mut self, without: Without) {
        let now = apply(self.file, &self.log);
        let (end, writes) = (self.end(), self.writes());
        let Some(process) = &mut self.process else { return };
        let Some(copying) = process.copying.take() else { return };
        let at_its_begin = without == Without::PositionAtTheEnd;
        let position = if at_its_begin { copying.begun_at } else { end };
        let writes = if at_its_begin { copying.begun_writes } else { writes };
        let chain = process.chain.get_or_insert_with(|| {
            self.lineages += 1;
            Chain { lineage: self.lineages, number: 0, read: position, confirmed: None, base: None, last: None }
        });
        // A tick ends at the base's position: either the last one did, or the next one will.
        let number = if chain.read == position { chain.number } else { chain.number + 1 };
        let pages = [Some(copying.first_page), Some(now[1])];
        let base = File { lineage: chain.lineage, number, is_base: true, pages, writes, salt: position.salt };
        chain.base = Some((base, position));
    }

    /// The next file on its way: the tick up to the base's position, the base, or the tick up to the end of the log.
    fn send(&mut self) -> Option<()> {
        let end = self.end();
        let chain = self.process.as_mut()?.chain.as_mut()?;
        let (file, to) = match chain.base {
            Some((base, position)) if chain.read == position => {
                chain.base = None;
                (base, position)
            }
            base => {
                let to = base.map_or(end, |(_, position)| position);
                let begin = if chain.read.salt == self.salt { chain.read.frames } else { 0 };
                let frames = self.log.get(begin.into()..to.frames.into())?;
                let last = frames.last()?;
                let mut pages = [None; PAGES];
                frames.iter().for_each(|frame| pages[frame.page] = Some(frame.write));
                chain.number += 1;
                let (lineage, number, salt) = (chain.lineage, chain.number, self.salt);
                (File { lineage, number, is_base: false, pages, writes: last.write, salt }, to)
            }
        };
        chain.read = to;
        self.process.as_mut()?.sent = Some(Sent { file, to, is_flushed: false });
        self.cached = Some(file);
        Some(())
    }

    /// The target has flushed what was sent last.
    fn confirm(&mut self, without: Without) -> Option<()> {
        let process = self.process.as_mut()?;
        let sent = process.sent.take()?;
        let chain = process.chain.as_mut()?;
        // Both: what was flushed a moment ago may be gone again, too.
        let has_both = chain.last.iter().chain([&sent.file]).all(|file| self.flushed.contains(file));
        let looks = ![Without::LookAtTheTarget, Without::Flush].contains(&without);
        if looks && !has_both {
            process.give_up();
            (self.promised, self.is_put_back) = (0, false);
            return Some(());
        }
        chain.last = Some(sent.file);
        chain.confirmed = Some(sent.to);
        self.is_put_back = false;
        self.promised = self.promised.max(sent.file.writes);
        Some(())
    }

    /// Whether a checkpoint may run: every frame is confirmed, or nobody wants them.
    fn gate_is_open(&self) -> bool {
        let chain = self.process.as_ref().and_then(|process| process.chain.as_ref());
        chain.is_none_or(|chain| chain.confirmed == Some(self.end()) && chain.base.is_none())
    }

    fn lose_disk_and_restore(&mut self) {
        let (pages, writes) = self.restorable().pop().unwrap_or_default();
        self.writes.truncate(writes.into());
        (self.file, self.log, self.is_moved, self.process) = (pages, Vec::new(), false, None);
        (self.cached, self.promised) = (None, self.promised.min(writes));
    }
}

impl Process {
    /// The chain is broken: a new base begins another.
    fn give_up(&mut self) {
        *self = Process::default();
    }
}

impl Model for OffSiteCopy {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            writes: Vec::new(),
            file: Pages::default(),
            log: Vec::new(),
            salt: 0,
            is_moved: false,
            process: Some(Process::default()),
            lineages: 0,
            flushed: Vec::new(),
            cached: None,
            promised: 0,
            is_put_back: false,
            put_backs: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut may = |action, is_possible: bool| actions.extend(is_possible.then_some(action));
        may(Action::TargetLosesItsMemory, state.cached.is_some());
        may(Action::TargetIsPutBack, state.put_backs == 0 && state.promised > 0);
        may(Action::LoseDiskAndRestore, state.promised > 0);
        let Some(process) = &state.process else {
            may(Action::Start, true);
            return;
        };
        for page in 0..PAGES {
            may(Action::Write(page), state.writes.len() < WRITES_MAX);
        }
        let waits = !state.log.is_empty() && !state.is_moved;
        may(Action::Checkpoint, waits && (self.0 == Without::CheckpointGate || state.gate_is_open()));
        let has_base_under_way = process.chain.as_ref().is_some_and(|chain| chain.base.is_some());
        may(Action::BeginCopy, process.copying.is_none() && !has_base_under_way);
        may(Action::EndCopy, process.copying.is_some());
        may(Action::Send, process.chain.is_some() && process.sent.is_none());
        may(Action::Flush, state.cached.is_some() && process.sent.is_some());
        let early = self.0 == Without::Flush;
        may(Action::Confirm, process.sent.is_some_and(|sent| sent.is_flushed || early));
        may(Action::Look, process.sent.is_none() && state.is_put_back);
        may(Action::Crash, true);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let process = state.process.as_mut();
        match action {
            Action::Write(page) => state.write(page),
            Action::Checkpoint => (state.file, state.is_moved) = (apply(state.file, &state.log), true),
            Action::BeginCopy => {
                let (first_page, begun_at) = (apply(last.file, &last.log)[0], last.end());
                process?.copying = Some(Copying { first_page, begun_at, begun_writes: last.writes() });
            }
            Action::EndCopy => state.end_copy(self.0),
            Action::Send => state.send()?,
            Action::Flush => {
                process?.sent.as_mut()?.is_flushed = true;
                state.flushed.extend(state.cached.take());
            }
            Action::Confirm => state.confirm(self.0)?,
            Action::Look => {
                let chain = process?.chain.as_ref()?;
                let has_last = chain.last.is_none_or(|last| state.flushed.contains(&last));
                if !has_last && self.0 != Without::LookAtTheTarget {
                    state.process.as_mut()?.give_up();
                    (state.promised, state.is_put_back) = (0, false);
                }
            }
            Action::Crash => (state.process, state.cached) = (None, None),
            Action::Start => {
                // All that is in the log goes into the file, and the chain of the last process is not gone on with.
                state.file = apply(state.file, &state.log);
                (state.log, state.is_moved, state.salt) = (Vec::new(), false, state.salt + 1);
                state.process = Some(Process::default());
            }
            Action::LoseDiskAndRestore => state.lose_disk_and_restore(),
            Action::TargetLosesItsMemory => {
                state.cached = None;
                // The write fails, and is tried again: what it holds is still in the log.
                if let Some(sent) = process.and_then(|process| process.sent) {
                    state.cached = (!sent.is_flushed).then_some(sent.file).filter(|_| self.0 != Without::Flush);
                }
            }
            Action::TargetIsPutBack => {
                state.flushed.pop();
                (state.is_put_back, state.put_backs) = (true, 1);
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(WHOLE, |_, state: &State| {
                state.restorable().into_iter().all(|(pages, writes)| pages == state.oracle(writes))
            }),
            Property::always(KEPT, |_, state: &State| {
                state.is_put_back || state.restorable().last().map_or(0, |(_, writes)| *writes) >= state.promised
            }),
            // Without these the two above could hold because nothing happens.
            Property::sometimes("a chain goes on over a log that began anew", |_, state: &State| {
                state.flushed.iter().any(|tick| {
                    let is_before = |base: &File| base.is_base && base.lineage == tick.lineage && base.salt < tick.salt;
                    !tick.is_base && state.flushed.iter().any(is_before)
                })
            }),
            Property::sometimes("a second base stands in the middle of a chain", |_, state: &State| {
                state.flushed.iter().any(|file| file.is_base && file.number > 0)
            }),
            Property::sometimes("the next lineage has a base", |_, state: &State| {
                state.flushed.iter().any(|file| file.is_base && file.lineage > 1)
            }),
        ]
    }
}

const WHOLE: &str = "whatever is restored is what the site held after some write";
const KEPT: &str = "whatever was confirmed is restored";

/// The properties that do not hold, with the order of events that shows it.
fn broken(without: Without) -> Vec<(&'static str, String)> {
    let enough = if without == Without::Nothing { HasDiscoveries::All } else { HasDiscoveries::AnyFailures };
    let checker = OffSiteCopy(without).checker().target_max_depth(DEPTH_MAX).finish_when(enough).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{without:?}: {states} states, {depth} deep");
    let found = checker.discoveries();
    let never = ["a chain goes on", "a second base", "the next lineage"];
    for name in checker.model().properties().iter().map(|property| property.name) {
        let is_needed = without == Without::Nothing && never.iter().any(|begin| name.starts_with(begin));
        assert!(!is_needed || found.contains_key(name), "nowhere in {states} states: {name}");
    }
    let failures = found.into_iter().filter(|(name, _)| [WHOLE, KEPT].contains(name));
    failures.map(|(name, path)| (name, format!("{:?}", path.into_actions()))).collect()
}

#[test]
fn nothing_confirmed_is_lost_and_nothing_restored_is_torn() {
    assert_eq!(broken(Without::Nothing), []);
}

#[test]
fn without_the_checkpoint_gate_a_restore_is_torn() {
    let found = broken(Without::CheckpointGate);
    assert!(found.iter().any(|(name, _)| *name == WHOLE), "{found:?}");
}

#[test]
fn with_a_confirmation_before_the_flush_something_confirmed_is_lost() {
    let found = broken(Without::Flush);
    assert!(found.iter().any(|(name, _)| *name == KEPT), "{found:?}");
}

#[test]
fn with_the_position_of_its_begin_a_base_is_torn() {
    let found = broken(Without::PositionAtTheEnd);
    assert!(found.iter().any(|(name, _)| *name == WHOLE), "{found:?}");
}

#[test]
fn without_a_look_at_the_target_something_confirmed_is_lost() {
    let found = broken(Without::LookAtTheTarget);
    assert!(found.iter().any(|(name, _)| *name == KEPT), "{found:?}");
}
