//! The state of the model: the site, its WAL, the process that copies them, and the target; and the effect of each
//! event.

pub const PAGES: usize = 2;
/// The number of unconfirmed frames above which the chain is abandoned.
pub const CAP_FRAMES: u8 = 3;

/// The number of the write that each page holds; 0: none.
pub type Pages = [u8; PAGES];

/// The guard that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    Nothing,
    /// A checkpoint does not wait for confirmations.
    CheckpointGate,
    /// A tick counts as confirmed once it is written.
    Flush,
    /// The base has the position at which its copy began, rather than the one at which it ended.
    PositionAtTheEnd,
    /// The process does not check that the target still has what it confirmed.
    LookAtTheTarget,
}

/// A page in the WAL, and the write that put it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    pub page: usize,
    pub write: u8,
}

/// A place in the WAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    pub salt: u8,
    pub frames: u8,
}

/// A file at the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct File {
    pub lineage: u8,
    /// The number of the tick; for a base, that of the tick before it.
    pub number: u8,
    /// A base has all pages.
    pub is_base: bool,
    pub pages: [Option<u8>; PAGES],
    /// The number of writes that this file and the files before it contain.
    pub writes: u8,
    pub salt: u8,
}

/// A file on its way to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sent {
    pub file: File,
    pub to: Position,
    pub is_flushed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chain {
    pub lineage: u8,
    /// The number of the tick that was sent last.
    pub number: u8,
    pub read: Position,
    /// `None`: the first base is not confirmed yet.
    pub confirmed: Option<Position>,
    /// A base that waits to be sent; a tick ends at its position.
    pub base: Option<(File, Position)>,
    pub last: Option<File>,
}

/// A copy under way, of which the first page is copied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Copying {
    pub first_page: u8,
    pub begun_at: Position,
    /// The number of writes at the start of the copy.
    pub begun_writes: u8,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Process {
    pub chain: Option<Chain>,
    pub copying: Option<Copying>,
    pub sent: Option<Sent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The page that each acknowledged write changed.
    pub writes: Vec<usize>,
    pub file: Pages,
    pub wal: Vec<Frame>,
    pub salt: u8,
    /// Whether all of the WAL is in the database; the next write then restarts the WAL.
    pub is_moved: bool,
    pub process: Option<Process>,
    pub lineages: u8,
    /// The files on the target's disk.
    pub flushed: Vec<File>,
    /// The file in the target's memory.
    pub cached: Option<File>,
    /// The number of writes that the operator was told are off site.
    pub promised: u8,
    /// Whether the target lost confirmed files, and confirmed nothing since.
    pub is_put_back: bool,
    pub put_backs: u8,
}

pub fn apply(pages: Pages, wal: &[Frame]) -> Pages {
    wal.iter().fold(pages, |mut pages, frame| {
        pages[frame.page] = frame.write;
        pages
    })
}

impl State {
    pub fn end(&self) -> Position {
        Position { salt: self.salt, frames: self.wal.len() as u8 }
    }

    pub fn writes(&self) -> u8 {
        self.writes.len() as u8
    }

    /// The pages of the site after this many writes.
    pub fn oracle(&self, writes: u8) -> Pages {
        let mut pages = Pages::default();
        for (write, page) in self.writes.iter().enumerate().take(writes.into()) {
            pages[*page] = write as u8 + 1;
        }
        pages
    }

    /// Every state that can be restored from the target's disk, oldest first: the newest base, and the ticks behind it.
    pub fn restorable(&self) -> Vec<(Pages, u8)> {
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

    pub fn write(&mut self, page: usize) {
        if self.is_moved {
            (self.wal, self.salt, self.is_moved) = (Vec::new(), self.salt + 1, false);
        }
        self.writes.push(page);
        let write = self.writes();
        self.wal.push(Frame { page, write });
        let end = self.end();
        let Some(process) = &mut self.process else { return };
        // The copying connection is the writing one, so a page that changes after it was copied is copied again.
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

    /// Copies the last page; no write happens meanwhile.
    pub fn end_copy(&mut self, without: Without) {
        let now = apply(self.file, &self.wal);
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
        // A tick ends at the base's position: the last tick did, or the next one will.
        let number = if chain.read == position { chain.number } else { chain.number + 1 };
        let pages = [Some(copying.first_page), Some(now[1])];
        let base = File { lineage: chain.lineage, number, is_base: true, pages, writes, salt: position.salt };
        chain.base = Some((base, position));
    }

    /// Sends the next file: the tick up to the base's position, the base, or the tick up to the end of the WAL.
    pub fn send(&mut self) -> Option<()> {
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
                let frames = self.wal.get(begin.into()..to.frames.into())?;
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

    /// The target confirms that it has flushed the file that was sent last.
    pub fn confirm(&mut self, without: Without) -> Option<()> {
        let process = self.process.as_mut()?;
        let sent = process.sent.take()?;
        let chain = process.chain.as_mut()?;
        // Both files are checked, because a file that was flushed a moment ago may be lost again.
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

    /// Whether a checkpoint may run: every frame is confirmed, or there is no chain.
    pub fn gate_is_open(&self) -> bool {
        let chain = self.process.as_ref().and_then(|process| process.chain.as_ref());
        chain.is_none_or(|chain| chain.confirmed == Some(self.end()) && chain.base.is_none())
    }

    pub fn lose_disk_and_restore(&mut self) {
        let (pages, writes) = self.restorable().pop().unwrap_or_default();
        self.writes.truncate(writes.into());
        (self.file, self.wal, self.is_moved, self.process) = (pages, Vec::new(), false, None);
        (self.cached, self.promised) = (None, self.promised.min(writes));
    }
}

impl Process {
    /// Gives the chain up; a new base begins another.
    pub fn give_up(&mut self) {
        *self = Process::default();
    }
}
