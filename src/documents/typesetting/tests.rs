//! Letters of many scripts, their order and their measures.

use super::*;
use crate::documents::PersonName;
use crate::documents::fonts::Fonts;
use std::path::{Path, PathBuf};

#[test]
fn latin_greek_and_cyrillic_names_are_shown_letter_by_letter() {
    for name in [
        "Jürgen Groß",
        "Łukasz Żółć-Brzęczyszczykiewicz",
        "Nguyễn Thị Ánh Tuyết",
        "Şükrü Çağlayangil İğdır",
        "Ελευθερία Παπαδοπούλου",
        "Ἀριστοτέλης ᾠδή",
        "Александра Щёголева",
        "Їжакевич Ґалаґан",
        "Ђорђе Љубојевић",
        "Þórður Æðelstan",
        "Ən Ħal Ŋaro Șț",
        "O’Brien–D’Angelo",
    ] {
        assert_eq!(ROMAN.legible(&Letters::default(), name), name);
    }
}

#[test]
fn a_line_is_shaped_by_the_plan_of_its_own_script() {
    for text in ["Toffee, Ávila fi", "12:30 · 1/2", "Ελευθερία", "Щёголева", "□ 7", ""] {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        let planned_anew = ROMAN.shaping.shaper(&ROMAN.shapes).build().shape(buffer, ShapeOptions::new());
        let anew: Vec<u32> = planned_anew.glyph_infos().iter().map(|info| info.glyph_id).collect();
        let line = ROMAN.line(&Letters::default(), text, 0.0);
        assert_eq!(line.runs[0].glyphs.iter().map(|glyph| glyph.glyph_id.to_u32()).collect::<Vec<_>>(), anew, "{text}");
        let width: i32 = planned_anew.glyph_positions().iter().map(|position| position.x_advance).sum();
        assert!((line.width - width as f32 / ROMAN.units_per_em).abs() < 0.001, "{text}");
    }
}

#[test]
fn what_cannot_be_drawn_is_seen_to_be_missing() {
    assert_eq!(ROMAN.legible(&Letters::default(), "Jane 王小明 🪂!"), "Jane □□□ □!");
    assert_eq!(ROMAN.legible(&Letters::default(), "a\u{200d}b\u{202e}c\u{fe0f}\u{a0}d"), "abc d");
    let drawn = ROMAN.line(&Letters::default(), "□", 0.0);
    assert!(drawn.runs[0].glyphs[0].glyph_id.to_u32() != 0 && drawn.width > 0.2);
}

#[test]
fn no_line_is_longer_than_what_is_shaped_at_once() {
    for text in ["🪂".repeat(100_000), "i".repeat(100_000), "x\u{301}".repeat(50_000)] {
        assert!(ROMAN.line(&Letters::default(), &text, 0.0).glyphs() <= LINE_CHARS_MAX);
        assert!(ROMAN.legible(&Letters::default(), &text).ends_with(CUT));
    }
    let longest = "i".repeat(LINE_CHARS_MAX);
    assert_eq!(ROMAN.legible(&Letters::default(), &longest), longest);
}

#[test]
fn an_accent_typed_by_itself_takes_no_room() {
    assert!(
        (ROMAN.line(&Letters::default(), "Zoe\u{308}", 0.1).width - ROMAN.line(&Letters::default(), "Zoë", 0.1).width)
            .abs()
            < 0.001
    );
    // No letter of its own has this accent.
    assert!(
        (ROMAN.line(&Letters::default(), "x\u{301}", 0.1).width - ROMAN.line(&Letters::default(), "x", 0.1).width)
            .abs()
            < 0.001
    );
}

/// One name of each script of `tests/install-fonts`: Chinese, Japanese, Korean, Hebrew, Arabic, Hindi, Thai.
const FOREIGN: [&str; 7] = ["王小明", "田中 さくら", "김민준", "יוסי כהן", "محمد علي", "अर्जुन शर्मा", "สมชาย ใจดี"];

/// The directory of the tests' fonts; `None` where they are not installed.
fn fonts_dir() -> Option<[PathBuf; 1]> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fonts");
    dir.is_dir().then_some([dir])
}

fn glyphs(line: &Line) -> Vec<u32> {
    line.runs.iter().flat_map(|run| &run.glyphs).map(|glyph| glyph.glyph_id.to_u32()).collect()
}

#[test]
fn names_of_other_scripts_are_set_in_fonts_of_the_machine() {
    let Some(dirs) = fonts_dir() else { return };
    let fonts = Fonts::default();
    let letters = Letters::of(&fonts, &dirs);
    for name in FOREIGN {
        assert_eq!(letters.missing(name), None, "{name}");
        for typeface in [&*ROMAN, &*ITALIC] {
            let line = typeface.line(&letters, name, 0.0);
            assert!(!glyphs(&line).is_empty() && glyphs(&line).iter().all(|glyph| *glyph != 0), "{name}");
            let text: String = line.runs.iter().map(|run| run.text.as_str()).collect();
            assert!(!text.contains(BOX), "{text}");
        }
    }
    // The built-in letters stay as they are beside the others.
    let line = ROMAN.line(&letters, "Jane 王小明 (12)", 0.0);
    assert_eq!(line.runs.len(), 3);
    assert_eq!(line.runs[0].text, "Jane ");
}

#[test]
fn hebrew_and_arabic_run_from_right_to_left_and_their_letters_join() {
    let Some(dirs) = fonts_dir() else { return };
    let fonts = Fonts::default();
    let letters = Letters::of(&fonts, &dirs);
    let line = ROMAN.line(&letters, "Jane שלום 12", 0.0);
    let hebrew = line.runs.iter().find(|run| run.text.contains('ש')).unwrap();
    let starts: Vec<usize> = hebrew.glyphs.iter().map(|glyph| glyph.text_range.start).collect();
    assert!(starts.is_sorted_by(|one, next| one > next), "the first letter stands on the right: {starts:?}");
    let joined = glyphs(&ROMAN.line(&letters, "بب", 0.0));
    assert_ne!(joined[0], joined[1], "the first and the last form of a letter differ");
}

#[test]
fn greek_and_cyrillic_stand_upright_where_the_italic_lacks_them() {
    let line = ITALIC.line(&Letters::default(), "Полёт с Анной, first", 0.0);
    assert!(glyphs(&line).iter().all(|glyph| *glyph != 0));
    let text: String = line.runs.iter().map(|run| run.text.as_str()).collect();
    assert_eq!(text, "Полёт с Анной, first");
}

#[test]
fn a_name_without_its_letters_gives_way_to_the_username_and_one_with_a_picture_keeps_its_letters() {
    let letters = Letters::default();
    let name = |name: &str| letters.name(&PersonName::new(name, "wang"));
    assert_eq!(name("王小明"), "wang");
    assert_eq!(name("Jane 王"), "wang");
    assert_eq!(name("Jane 🪂"), "Jane");
    assert_eq!(name("🪂"), "wang");
    assert_eq!(name("Nguyễn Thị Ánh Tuyết"), "Nguyễn Thị Ánh Tuyết");
    assert_eq!(name("O’Brien-Ελένη"), "O’Brien-Ελένη");
}

#[test]
fn joiners_stay_between_letters_that_they_form() {
    let Some(dirs) = fonts_dir() else { return };
    let fonts = Fonts::default();
    let letters = Letters::of(&fonts, &dirs);
    assert_eq!(ROMAN.legible(&letters, "क्\u{200d}ष a\u{200d}b"), "क्\u{200d}ष ab");
}

/// A document is drawn also where the font directories have files that are no fonts.
#[test]
fn broken_font_files_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let good = include_bytes!("../../../assets/certificate/EBGaramond-Regular.ttf");
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("empty.ttf", b"");
    write("text.ttf", b"<html>404</html>");
    write("collection.ttc", b"ttcf\0\x01\0\0\0\0\0\x01\xff\xff\xff\xff");
    write("short.ttf", &good[..good.len() / 3]);
    (0..40).for_each(|n| {
        let mut bytes = good.to_vec();
        bytes.iter_mut().skip(n).step_by(41).for_each(|byte| *byte = byte.wrapping_add(1 + n as u8));
        write(&format!("flipped-{n}.ttf"), &bytes);
    });
    std::fs::File::create(dir.path().join("huge.ttf")).unwrap().set_len(1 << 40).unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).unwrap();
    // Nobody writes into it: opening it would wait for ever.
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe.ttf"), rustix::fs::Mode::RUSR).unwrap();
    let (fonts, dirs) = (Fonts::default(), [dir.path().to_owned(), dir.path().join("absent")]);
    let draw = |letters: &Letters| {
        Ok(glyphs(&ROMAN.line(letters, "王 ب Jane \u{10ffff}", 0.0)).iter().map(|_| b'x').collect())
    };
    assert!(!draw_with(&fonts, &dirs, draw).unwrap().is_empty());
}

#[test]
fn a_document_that_a_font_of_the_machine_spoils_is_drawn_without_it() {
    let Some(dirs) = fonts_dir() else { return };
    let draw = |letters: &Letters| {
        assert!(letters.missing("王").is_some(), "a fault of the font");
        Ok(vec![1])
    };
    assert_eq!(draw_with(&Fonts::default(), &dirs, draw), Ok(vec![1]));
}

#[test]
fn a_font_that_is_installed_later_is_found() {
    let Some([installed]) = fonts_dir() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (fonts, dirs) = (Fonts::default(), [dir.path().to_owned()]);
    assert_eq!(Letters::of(&fonts, &dirs).missing("अ"), Some('अ'));
    std::fs::copy(installed.join("lohit-devanagari/Lohit-Devanagari.ttf"), dir.path().join("own.ttf")).unwrap();
    assert_eq!(Letters::of(&fonts, &dirs).missing("अ"), None);
}
