//! The sheet as bytes: always the same, small, sound, and with every letter in it.

use super::*;
use crate::documents::tests as legibility;
use crate::documents::typesetting::Letters;
use std::process::Command;

fn sheet(holder: &str, language: Language) -> Certificate {
    Certificate {
        site_name: "Windwerk Demo".to_owned(),
        site_city: "Winterthur".to_owned(),
        holder: PersonName::new(holder, "the.username"),
        cat_group: "Flyer".to_owned(),
        track: "Static".to_owned(),
        level_name: "Static Level 3".to_owned(),
        emblem: "3".to_owned(),
        day: "21 November 2026".to_owned(),
        signer: PersonName::new("Marta Kowalczyk", "marta"),
        number: "7K3M-9QXD-00ZV-MB4T-2HJW-PY6N".to_owned(),
        verify_url: "https://tunnel.example.org/verify/7k3m9qxd00zvmb4t2hjwpy6n".to_owned(),
        language,
    }
}

const NAMES: [&str; 6] = [
    "Jane Fairweather",
    "Nguyễn Thị Ánh Tuyết",
    "Ελευθερία Παπαδοπούλου",
    "Александра Щёголева",
    "Łukasz Żółć",
    "Maria Wilhelmina Konstantinowna Freifrau von und zu Hohenlohe",
];

#[test]
fn the_same_certificate_is_the_same_bytes_and_another_is_not() {
    let one = draw(&sheet("Jane", Language::English), &Letters::default()).unwrap();
    assert_eq!(one, draw(&sheet("Jane", Language::English), &Letters::default()).unwrap());
    assert_ne!(one, draw(&sheet("Mark", Language::English), &Letters::default()).unwrap());
    assert_ne!(one, draw(&sheet("Jane", Language::German), &Letters::default()).unwrap());
}

#[test]
fn it_stays_small_whoever_it_is_for() {
    for language in Language::ALL {
        for name in NAMES.into_iter().chain([&*"Ῥ ж ế".repeat(12), "", "王小明"]) {
            let pdf = draw(&sheet(name, language), &Letters::default()).unwrap();
            assert!(pdf.starts_with(b"%PDF-") && pdf.len() < 100_000, "{name}: {} bytes", pdf.len());
        }
    }
}

/// Where the checker is installed (`tests/install-pdf`), the file is sound by its word, too.
#[test]
fn a_checker_finds_it_sound_and_reads_the_name() {
    let dir = tempfile::tempdir().unwrap();
    for (place, name) in NAMES.into_iter().enumerate() {
        let path = dir.path().join(format!("{place}.pdf"));
        std::fs::write(&path, draw(&sheet(name, Language::English), &Letters::default()).unwrap()).unwrap();
        let run = |tool: &str, args: &[&str]| Command::new(tool).args(args).arg(&path).output();
        if let Ok(checked) = run("qpdf", &["--check"]) {
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
        if let Ok(read) = Command::new("pdftotext").arg(&path).arg("-").output() {
            let text = String::from_utf8_lossy(&read.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(name), "{name} is not in {text}");
            assert!(text.contains("21 November 2026") && text.contains("Static Level 3"), "{text}");
        }
        if let Ok(fonts) = run("pdffonts", &[]) {
            let fonts = String::from_utf8_lossy(&fonts.stdout).into_owned();
            assert!(fonts.lines().skip(2).all(|line| line.contains("yes yes yes")), "embedded and cut down: {fonts}");
        }
    }
}

#[test]
fn the_longest_names_of_holder_and_signer_are_legible() {
    let name = legibility::long_name();
    let pdf = draw(
        &Certificate { signer: PersonName::new(&*name, "jane"), ..sheet(&name, Language::English) },
        &Letters::default(),
    )
    .unwrap();
    let lowest = legibility::lowest(&pdf, "Wolfeschl");
    assert!(lowest.is_none_or(|height| height > 8.0), "{lowest:?} points");
}

/// Every sheet fits its paper; with `SHEETS=<directory>` they are written there, to be looked at.
#[test]
fn names_that_are_long_or_lack_letters_still_make_a_sheet() {
    let dir = std::env::var_os("SHEETS").map(std::path::PathBuf::from);
    for (place, name) in NAMES.into_iter().chain(["W".repeat(60).as_str(), "Jane 王小明 🪂"]).enumerate() {
        let pdf = draw(&sheet(name, Language::ALL[place % 5]), &Letters::default()).unwrap();
        assert!(pdf.starts_with(b"%PDF-") && pdf.len() < 100 * 1024, "{name}: {} bytes", pdf.len());
        if let Some(dir) = &dir {
            std::fs::write(dir.join(format!("{place}.pdf")), pdf).unwrap();
        }
    }
}

/// The page as a grey picture of this width in pixels, from `pdftoppm`; `None` where it is not installed.
fn picture(pdf: &[u8], letters: &str) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("sheet.pdf"), pdf).unwrap();
    let name = dir.path().join("sheet");
    let mut run = Command::new("pdftoppm");
    run.args(["-r", "72", "-gray", "-singlefile"]).arg(name.with_extension("pdf")).arg(&name);
    let done = run.output().ok()?;
    assert!(done.status.success(), "{letters}: {}", String::from_utf8_lossy(&done.stderr));
    Some(std::fs::read(name.with_extension("pgm")).unwrap())
}

/// With the fonts of `tests/install-fonts`.
#[test]
fn a_name_in_another_script_is_printed_with_the_machine_s_fonts() {
    let dirs = [std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fonts")];
    if !dirs[0].is_dir() {
        return;
    }
    let fonts = crate::documents::fonts::Fonts::default();
    let look = std::env::var_os("SHEETS").map(std::path::PathBuf::from);
    let mut pictures: Vec<Vec<u8>> = Vec::new();
    // Two of each script, as long as each other: boxes would look alike.
    for name in [
        "王小明",
        "李大龍",
        "김민준",
        "박서연",
        "田中さくら",
        "鈴木あおい",
        "יוסי כהן",
        "דניאל לוי",
        "محمد علي",
        "فاطمة حسن",
        "अर्जुन शर्मा",
        "प्रिया पटेल",
        "สมชาย ใจดี",
        "อรทัย แก้วมา",
    ] {
        let pdf = draw(&sheet(name, Language::English), &Letters::of(&fonts, &dirs)).unwrap();
        assert!(pdf.len() < 100_000, "{name}: {} bytes", pdf.len());
        if let Some(dir) = &look {
            std::fs::write(dir.join(format!("foreign-{}.pdf", pictures.len())), &pdf).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &pdf).unwrap();
        if let Ok(read) = Command::new("pdftotext").arg(file.path()).arg("-").output() {
            let text = String::from_utf8_lossy(&read.stdout);
            assert!(text.contains(name) && !text.contains('□') && !text.contains("the.username"), "{name}: {text}");
        }
        let Some(picture) = picture(&pdf, name) else { return };
        assert!(!pictures.contains(&picture), "{name} looks like another name");
        pictures.push(picture);
    }
}

#[test]
fn without_such_a_font_the_sheet_carries_the_username_and_no_boxes() {
    let pdf = draw(&sheet("王小明", Language::English), &Letters::default()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &pdf).unwrap();
    if let Ok(read) = Command::new("pdftotext").arg(file.path()).arg("-").output() {
        let text = String::from_utf8_lossy(&read.stdout);
        assert!(text.contains("the.username") && !text.contains('□'), "{text}");
    }
}
