//! How small the letters of a document are, as `pdftotext` measures them.

use std::process::Command;

/// A name of a hundred letters.
pub(super) fn long_name() -> String {
    "Wolfeschlegelsteinhausenbergerdorff ".repeat(3).trim_end().chars().take(100).collect()
}

/// The height of the lowest box around a word with these letters, in points; `None` where `pdftotext` is not installed.
pub(super) fn lowest(pdf: &[u8], letters: &str) -> Option<f32> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pdf).unwrap();
    let read = Command::new("pdftotext").arg("-bbox").arg(file.path()).arg("-").output().ok()?;
    let boxes = String::from_utf8_lossy(&read.stdout).into_owned();
    let edge = |line: &str, name: &str| -> f32 {
        line.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split('"').next()?.parse().ok()).unwrap()
    };
    let words = boxes.lines().filter(|line| line.contains("<word") && line.contains(letters));
    let lowest = words.map(|line| edge(line, "yMax") - edge(line, "yMin")).fold(f32::INFINITY, f32::min);
    assert!(lowest.is_finite(), "{letters} is on the page");
    Some(lowest)
}
