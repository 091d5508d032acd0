//! The fonts of the machine, for letters that the built-in ones lack: Chinese, Japanese, Korean, Arabic, Hebrew, Thai and many
//! more. Only a document that needs such a letter looks for them. Of each file the list of its characters is read; what is kept
//! is which file has which characters. The files are anybody's: they are bounded, and what cannot be read is passed over.

use skrifa::{FontRef, MetadataProvider};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::ops::RangeInclusive;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Where Linux has fonts.
pub(crate) const SYSTEM_DIRS: [&str; 2] = ["/usr/share/fonts", "/usr/local/share/fonts"];
/// The site's own fonts, in the data directory. They come first.
pub(crate) const OWN_DIR: &str = "fonts";
const DEPTH_MAX: usize = 6;
const DIRS_MAX: usize = 500;
const FILES_MAX: usize = 2_000;
/// A font with every Chinese, Japanese and Korean character has 26 MB.
const FILE_BYTES_MAX: u64 = 40 * 1024 * 1024;
const CMAP_BYTES_MAX: u32 = 2 * 1024 * 1024;
const CHARS_MAX: usize = 200_000;
/// Runs of characters that are kept: twelve bytes each.
const RUNS_MAX: usize = 20_000;
/// Bytes of a font that are read in one step.
const STEP_BYTES: u64 = 1024 * 1024;
/// How long a document waits for one step of a read: a directory on a share whose server is gone never answers.
const STEP_TIME_MAX: Duration = Duration::from_secs(2);
/// Parts of the names of fonts that are set only where no other has the letter.
const ODD_STYLES: [&str; 21] = [
    "bold",
    "italic",
    "oblique",
    "thin",
    "light",
    "black",
    "medium",
    "condensed",
    "mono",
    "emoji",
    "display",
    "kufi",
    "nastaliq",
    "looped",
    "symbol",
    "math",
    "-vf",
    "[",
    "ui-",
    "rashi",
    "bitmap",
];

/// The letters of Chinese, Japanese and Korean.
const EAST_ASIAN: [RangeInclusive<char>; 8] = [
    '\u{1100}'..='\u{11FF}',
    '\u{2E80}'..='\u{9FFF}',
    '\u{A960}'..='\u{A97F}',
    '\u{AC00}'..='\u{D7FF}',
    '\u{F900}'..='\u{FAFF}',
    '\u{FF00}'..='\u{FFEF}',
    '\u{1B000}'..='\u{1B16F}',
    '\u{20000}'..='\u{3FFFF}',
];

/// The Debian package whose fonts have the letter.
pub(crate) fn package(letter: char) -> &'static str {
    if EAST_ASIAN.iter().any(|letters| letters.contains(&letter)) { "fonts-noto-cjk" } else { "fonts-noto-core" }
}

/// The fonts of a site's machine.
#[derive(Default)]
pub(crate) struct Fonts {
    index: Arc<Mutex<Option<Arc<Index>>>>,
    /// The steps of a read that its document gave up, while that read hangs.
    hung: Mutex<Weak<AtomicU64>>,
}

/// Which file has which characters, as it was when the directories had these stamps.
#[derive(Default)]
pub(super) struct Index {
    dirs: Vec<(PathBuf, Stamp)>,
    files: Vec<PathBuf>,
    /// The last character and the file of each run, by its first character.
    runs: BTreeMap<u32, (u32, u16)>,
}

impl Fonts {
    /// The list of characters, made anew where a directory of [`dirs`] has changed. Empty while the directories do not answer.
    pub(super) fn index(&self, dirs: &[PathBuf]) -> Arc<Index> {
        let (kept, dirs) = (self.index.clone(), dirs.to_vec());
        let index = self.read_within(STEP_TIME_MAX, move |steps| {
            let known = lock(&kept).clone();
            let index = known.filter(|index| index.is_of(&dirs)).unwrap_or_else(|| Arc::new(Index::read(&dirs, steps)));
            lock(&kept).insert(index).clone()
        });
        index.unwrap_or_default()
    }

    /// All of a font file. `None` where it cannot be read, is too large, or does not answer.
    pub(super) fn read_file(&self, path: &Path) -> Option<Vec<u8>> {
        let path = path.to_owned();
        self.read_within(STEP_TIME_MAX, move |steps| read_file(&path, steps)).flatten()
    }

    /// Reads on a thread of its own, which counts its steps. `None`: a step took longer than `step_max`, or an earlier read
    /// still hangs.
    fn read_within<T: Send + 'static>(
        &self,
        step_max: Duration,
        read: impl FnOnce(&AtomicU64) -> T + Send + 'static,
    ) -> Option<T> {
        if lock(&self.hung).strong_count() > 0 {
            return None;
        }
        let (steps, (done, result)) = (Arc::new(AtomicU64::new(0)), mpsc::channel());
        let counted = steps.clone();
        let begun = std::thread::Builder::new().name("fonts".to_owned()).spawn(move || done.send(read(&counted)));
        begun.inspect_err(|e| tracing::warn!(cause = %e, "the fonts of the machine cannot be read")).ok()?;
        let mut seen = 0;
        loop {
            match result.recv_timeout(step_max) {
                Ok(read) => return Some(read),
                Err(RecvTimeoutError::Timeout) if steps.load(Ordering::Relaxed) != seen => {
                    seen = steps.load(Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {
                    tracing::warn!("the fonts of the machine do not answer: documents have the built-in letters alone");
                    *lock(&self.hung) = Arc::downgrade(&steps);
                    return None;
                }
                // A panic, which is in the log.
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directories with fonts for the site with this data directory.
pub(crate) fn dirs(data: &Path) -> Vec<PathBuf> {
    std::iter::once(data.join(OWN_DIR)).chain(SYSTEM_DIRS.map(PathBuf::from)).collect()
}

fn read_file(path: &Path, steps: &AtomicU64) -> Option<Vec<u8>> {
    let length = fs::metadata(path).ok().filter(|file| file.len() <= FILE_BYTES_MAX)?.len();
    let (mut file, mut bytes) = (File::open(path).ok()?, Vec::with_capacity(length as usize));
    while file.by_ref().take(STEP_BYTES).read_to_end(&mut bytes).ok()? > 0 && bytes.len() as u64 <= FILE_BYTES_MAX {
        steps.fetch_add(1, Ordering::Relaxed);
    }
    Some(bytes)
}

impl Index {
    fn is_of(&self, dirs: &[PathBuf]) -> bool {
        self.dirs.iter().zip(dirs).all(|((known, _), dir)| known == dir)
            && self.dirs.iter().all(|(dir, stamp)| stamp_of(dir) == *stamp)
    }

    fn read(dirs: &[PathBuf], steps: &AtomicU64) -> Index {
        let mut index = Index::default();
        index.dirs.extend(dirs.iter().map(|dir| (dir.clone(), stamp_of(dir))));
        let mut left = FILES_MAX;
        for dir in dirs {
            let mut files = Vec::new();
            index.list(dir, DEPTH_MAX, &mut files, steps);
            files.sort_by_cached_key(|path| (oddity(path), path.clone()));
            files.truncate(left);
            left -= files.len();
            for path in files {
                index.add(path);
                steps.fetch_add(1, Ordering::Relaxed);
            }
        }
        index
    }

    /// Lists the font files of a directory and of those in it.
    fn list(&mut self, dir: &Path, depth: usize, files: &mut Vec<PathBuf>, steps: &AtomicU64) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).take(FILES_MAX) {
            steps.fetch_add(1, Ordering::Relaxed);
            if path.is_dir() {
                if depth > 0 && self.dirs.len() < DIRS_MAX {
                    self.dirs.push((path.clone(), stamp_of(&path)));
                    self.list(&path, depth - 1, files, steps);
                }
            } else if files.len() < FILES_MAX && is_font(&path) && path.is_file() {
                files.push(path);
            }
        }
    }

    /// Adds the characters of a font that no font before it has.
    fn add(&mut self, path: PathBuf) {
        let Some(cmap) = File::open(&path).ok().and_then(|file| characters(&file)) else { return };
        let Ok(font) = FontRef::new(&cmap) else { return };
        let file = self.files.len() as u16;
        let known = self.runs.len();
        let mut run: Option<(u32, u32)> = None;
        for (c, _) in font.charmap().mappings().take(CHARS_MAX) {
            match &mut run {
                Some((_, last)) if *last + 1 == c && !self.has(c) => *last = c,
                _ if self.has(c) => {}
                _ => {
                    self.keep(run.replace((c, c)), file);
                }
            }
        }
        self.keep(run, file);
        if self.runs.len() > known {
            self.files.push(path);
        }
    }

    fn keep(&mut self, run: Option<(u32, u32)>, file: u16) {
        if let Some((first, last)) = run.filter(|_| self.runs.len() < RUNS_MAX) {
            self.runs.insert(first, (last, file));
        }
    }

    fn has(&self, c: u32) -> bool {
        self.runs.range(..=c).next_back().is_some_and(|(_, (last, _))| c <= *last)
    }

    /// The file of the first font that has the character.
    pub(super) fn find(&self, c: char) -> Option<&Path> {
        let (_, (last, file)) = self.runs.range(..=u32::from(c)).next_back()?;
        (u32::from(c) <= *last).then(|| self.files[usize::from(*file)].as_path())
    }
}

/// The last change of a directory in seconds and nanoseconds, and how many entries it has: within one tick of its clock a file
/// system can change twice.
type Stamp = Option<(i64, i64, usize)>;

fn stamp_of(dir: &Path) -> Stamp {
    let about = fs::metadata(dir).ok()?;
    Some((about.mtime(), about.mtime_nsec(), fs::read_dir(dir).ok()?.take(FILES_MAX).count()))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn is_font(path: &Path) -> bool {
    let name = name_of(path);
    [".ttf", ".otf", ".ttc", ".otc"].iter().any(|end| name.ends_with(end))
}

/// Regular letters with serifs go first, as the built-in ones are, then those without, then all other styles.
fn oddity(path: &Path) -> u8 {
    let name = name_of(path);
    if ODD_STYLES.iter().any(|style| name.contains(style)) { 2 } else { u8::from(name.contains("sans")) }
}

/// A font with nothing but the list of characters of this one; of a collection, of its first. `None` where the file is no
/// font with outlines.
fn characters(file: &File) -> Option<Vec<u8>> {
    let read = |at: u64, length: usize| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    };
    let number = |bytes: &[u8], at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let head = read(0, 16)?;
    let start = if head.starts_with(b"ttcf") { u64::from(number(&head, 12)?) } else { 0 };
    let tables = usize::from(u16::from_be_bytes(read(start + 4, 2)?.try_into().ok()?));
    let records = read(start + 12, tables * 16)?;
    let find = |tag: &[u8]| records.chunks_exact(16).find(|record| record.starts_with(tag));
    find(b"glyf").or_else(|| find(b"CFF "))?;
    let record = find(b"cmap")?;
    let (at, length) = (number(record, 8)?, number(record, 12)?);
    if length > CMAP_BYTES_MAX {
        return None;
    }
    // The directory of a font with one table: version, number of tables, three fields for a binary search, and the table.
    let mut font = [&[0, 1, 0, 0, 0, 1, 0, 16, 0, 0, 0, 0], &b"cmap"[..], &[0; 4], &28_u32.to_be_bytes()].concat();
    font.extend(length.to_be_bytes());
    font.extend(read(u64::from(at), length as usize)?);
    Some(font)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEF: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_directory_that_does_not_answer_is_given_up_and_read_again_once_it_does() {
        let fonts = Fonts::default();
        let (answer, hangs) = mpsc::channel::<()>();
        assert_eq!(fonts.read_within(BRIEF, move |_| hangs.recv().is_ok()), None);
        // Later documents do not wait for it.
        assert_eq!(fonts.read_within(LONG, |_| unreachable!()), None::<()>);
        answer.send(()).unwrap();
        while lock(&fonts.hung).strong_count() > 0 {
            std::thread::yield_now();
        }
        assert_eq!(fonts.read_within(LONG, |_| 7), Some(7));
    }

    #[test]
    fn fonts_have_limits() {
        let dir = tempfile::tempdir().unwrap();
        let steps = AtomicU64::new(0);
        let huge = dir.path().join("huge.ttf");
        let file = File::create(&huge).unwrap();
        file.set_len(FILE_BYTES_MAX).unwrap();
        assert!(read_file(&huge, &steps).is_some());
        file.set_len(FILE_BYTES_MAX + 1).unwrap();
        assert!(read_file(&huge, &steps).is_none());
        // A named pipe is no font.
        rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe.ttf"), rustix::fs::Mode::RUSR).unwrap();
        let list = |dir: &Path| {
            let (mut index, mut files) = (Index::default(), Vec::new());
            index.list(dir, DEPTH_MAX, &mut files, &steps);
            (index.dirs.len(), files.len())
        };
        let link = |name: &str| std::os::unix::fs::symlink(dir.path(), dir.path().join(name)).unwrap();
        link("loop");
        assert_eq!(list(dir.path()), (DEPTH_MAX, DEPTH_MAX + 1));
        ["second", "third"].into_iter().for_each(link);
        assert_eq!(list(dir.path()).0, DIRS_MAX);
        let many = dir.path().join("many");
        fs::create_dir(&many).unwrap();
        (0..=FILES_MAX).for_each(|n| _ = File::create(many.join(format!("{n}.otf"))).unwrap());
        assert_eq!(list(&many).1, FILES_MAX);
        let mut index = Index::default();
        (0..=RUNS_MAX as u32).for_each(|n| index.keep(Some((n * 2, n * 2)), 0));
        assert_eq!(index.runs.len(), RUNS_MAX);
    }

    #[test]
    fn a_list_of_characters_that_is_too_long_is_not_read() {
        // A font with two tables, of which one is the list of characters.
        let font = |bytes: u32| {
            let head = [&[0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0], &b"cmap"[..], &[0; 4], &64_u32.to_be_bytes()].concat();
            [head, bytes.to_be_bytes().to_vec(), b"glyf".to_vec(), vec![0; 12 + CMAP_BYTES_MAX as usize + 64]].concat()
        };
        let file = tempfile::tempfile().unwrap();
        for (bytes, is_read) in [(CMAP_BYTES_MAX, true), (CMAP_BYTES_MAX + 1, false)] {
            file.write_all_at(&font(bytes), 0).unwrap();
            assert_eq!(characters(&file).is_some(), is_read, "{bytes}");
        }
    }

    #[test]
    fn a_slow_directory_is_waited_for_as_long_as_it_goes_on() {
        let fonts = Fonts::default();
        let slow = |steps: &AtomicU64| {
            for _ in 0..60 {
                steps.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(BRIEF);
            }
        };
        // The whole takes three seconds, and a step a fraction of the two that it may.
        assert_eq!(fonts.read_within(40 * BRIEF, slow), Some(()));
        assert_eq!(fonts.read_within(LONG, |_| -> () { panic!("a faulty font") }), None);
        assert_eq!(fonts.read_within(LONG, |_| 7), Some(7));
    }
}
