//! The letters of one document: the built-in fonts, and those of the machine that have what is missing. Machine fonts are read
//! when a letter needs them, and dropped with the document.

use super::ROMAN;
use crate::documents::PersonName;
use crate::documents::fonts::{Fonts, Index, package};
use harfrust::ShaperData;
use krilla::text::Font;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The most bytes of machine fonts that one document reads: two of the largest fonts.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// The most characters of one document that are searched for in the machine's fonts; no logbook has more different ones.
const CHARS_MAX: usize = 20_000;

/// A font of the machine.
pub(super) struct Face {
    bytes: Arc<Vec<u8>>,
    pub(super) font: Font,
    pub(super) shaping: ShaperData,
    pub(super) units_per_em: f32,
}

impl Face {
    fn read(fonts: &Fonts, path: &Path, bytes_max: usize) -> Option<Face> {
        let bytes = Arc::new(fonts.read_file(path).filter(|bytes| bytes.len() <= bytes_max)?);
        let font = Font::new(bytes.clone().into(), 0)?;
        let shapes = FontRef::from_index(&bytes, 0).ok()?;
        let units_per_em = f32::from(shapes.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
        let shaping = ShaperData::new(&shapes);
        (units_per_em > 0.0).then_some(Face { bytes, font, shaping, units_per_em })
    }

    pub(super) fn shapes(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(&self.bytes, 0).ok()
    }

    pub(super) fn has(&self, c: char) -> bool {
        self.shapes().is_some_and(|shapes| shapes.charmap().map(c).is_some())
    }
}

/// What one document has read.
#[derive(Default)]
pub(crate) struct Letters<'f> {
    fonts: Option<(&'f Fonts, &'f [PathBuf])>,
    index: OnceCell<Arc<Index>>,
    faces: RefCell<HashMap<PathBuf, Option<Rc<Face>>>>,
    by_char: RefCell<HashMap<char, Option<Rc<Face>>>>,
    /// The packages whose fonts have the letters for which the document shows an empty box.
    lacking: RefCell<BTreeSet<&'static str>>,
}

impl<'f> Letters<'f> {
    /// The built-in letters, and those in these directories.
    pub(crate) fn of(fonts: &'f Fonts, dirs: &'f [PathBuf]) -> Letters<'f> {
        Letters { fonts: Some((fonts, dirs)), ..Letters::default() }
    }

    /// A font of the machine that has the character.
    pub(super) fn face(&self, c: char) -> Option<Rc<Face>> {
        let (fonts, dirs) = self.fonts?;
        if let Some(known) = self.by_char.borrow().get(&c) {
            return known.clone();
        }
        if self.by_char.borrow().len() >= CHARS_MAX {
            return None;
        }
        let index = self.index.get_or_init(|| fonts.index(dirs));
        let face = index.find(c).and_then(|path| self.load(fonts, path)).filter(|face| face.has(c));
        self.by_char.borrow_mut().insert(c, face.clone());
        face
    }

    fn load(&self, fonts: &Fonts, path: &Path) -> Option<Rc<Face>> {
        let mut faces = self.faces.borrow_mut();
        let read: usize = faces.values().flatten().map(|face| face.bytes.len()).sum();
        let face = |path: &PathBuf| Face::read(fonts, path, BYTES_MAX - read).map(Rc::new);
        faces.entry(path.to_owned()).or_insert_with_key(face).clone()
    }

    fn have_faces(&self) -> bool {
        self.faces.borrow().values().any(Option::is_some)
    }

    /// A person's name as it can be printed: without pictures such as 🪂, and `otherwise` where a letter is missing.
    pub(crate) fn name(&self, PersonName { name, otherwise }: &PersonName) -> String {
        let has = |c: char| c.is_whitespace() || super::is_unseen(c) || self.can_print(c);
        let shown: String = name.chars().filter(|c| has(*c) || c.is_alphanumeric()).collect();
        let whole = !shown.trim().is_empty() && shown.chars().all(has);
        if whole { shown.trim().to_owned() } else { otherwise.clone() }
    }

    /// A letter of a name that cannot be printed.
    pub(crate) fn missing(&self, name: &str) -> Option<char> {
        name.chars().find(|c| c.is_alphanumeric() && !self.can_print(*c))
    }

    /// Notes that the document shows an empty box for a character. Pictures such as 🪂 are no letters.
    pub(super) fn note_box(&self, c: char) {
        if c.is_alphanumeric() {
            self.lacking.borrow_mut().insert(package(c));
        }
    }

    /// The packages whose fonts have the letters that the document lacks; empty where it has all.
    pub(crate) fn lacking(&self) -> String {
        self.lacking.borrow().iter().copied().collect::<Vec<_>>().join(" ")
    }

    /// Whether a font has the character.
    pub(crate) fn can_print(&self, c: char) -> bool {
        ROMAN.has(c) || self.face(c).is_some()
    }
}

/// Draws a document; once more with the built-in letters alone where a font of the machine turns out to be faulty.
///
/// # Errors
/// What the drawing of the PDF failed with.
pub(crate) fn draw_with(
    fonts: &Fonts,
    dirs: &[PathBuf],
    draw: impl Fn(&Letters) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let letters = Letters::of(fonts, dirs);
    match catch_unwind(AssertUnwindSafe(|| draw(&letters))) {
        Ok(Ok(pdf)) => Ok(pdf),
        _ if letters.have_faces() => draw(&Letters::default()),
        Ok(failed) => failed,
        Err(panic) => resume_unwind(panic),
    }
}
