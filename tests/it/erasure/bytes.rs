//! The search for the person in bytes: as they are, in base64, escaped, compressed and sealed.

use super::deeds::MARKS;
use crate::harness::Site;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use flate2::read::{GzDecoder, ZlibDecoder};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tunneldesk::store::personal_columns;

const INFLATED_BYTES_MAX: u64 = 4 << 20;

/// Every form of every mark.
static FORMS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut forms = Vec::new();
    for mark in MARKS {
        for text in [(*mark).to_owned(), mark.to_lowercase(), mark.to_uppercase()] {
            let escaped: String = text
                .chars()
                .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
                .collect();
            let in_form: String = text
                .bytes()
                .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
                .collect();
            forms.extend(based(text.as_bytes()));
            forms.extend([escaped.into_bytes(), in_form.into_bytes(), text.into_bytes()]);
        }
    }
    forms.sort();
    forms.dedup();
    forms
});

/// The text in base64, at each of the three places in a group, without the letters that depend on its neighbours.
fn based(text: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for skipped in 0..3 {
        let whole = [&[0; 2][..skipped], text].concat();
        let (from, end) = ((skipped * 8).div_ceil(6), whole.len() / 3 * 4);
        for letters in [STANDARD_NO_PAD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
            all.push(letters.as_bytes()[from..end.max(from)].to_vec());
        }
    }
    all.retain(|letters| letters.len() >= 6);
    all
}

/// The first mark in these bytes, or in what is compressed in them.
pub fn names(bytes: &[u8]) -> Option<String> {
    named(bytes).or_else(|| {
        let starts = bytes
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| matches!(pair, [0x1f, 0x8b] | [0x78, 0x01 | 0x5e | 0x9c | 0xda]));
        starts.map(|(at, _)| at).find_map(|at| named(&inflated(&bytes[at..]))).map(|form| format!("compressed {form}"))
    })
}

fn named(bytes: &[u8]) -> Option<String> {
    // Few bytes begin a form, so most places are passed over by one look.
    static FIRST: LazyLock<[bool; 256]> =
        LazyLock::new(|| std::array::from_fn(|b| FORMS.iter().any(|form| form[0] == b as u8)));
    let mut places = bytes.iter().enumerate().filter(|(_, b)| FIRST[**b as usize]);
    places
        .find_map(|(at, _)| FORMS.iter().find(|form| bytes[at..].starts_with(form)))
        .map(|form| String::from_utf8_lossy(form).into_owned())
}

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    // What is no compressed stream ends in an error, after which nothing is left to look at.
    _ = match bytes[0] {
        0x1f => GzDecoder::new(bytes).take(INFLATED_BYTES_MAX).read_to_end(&mut plain),
        _ => ZlibDecoder::new(bytes).take(INFLATED_BYTES_MAX).read_to_end(&mut plain),
    };
    plain
}

/// Where the person is found: in files, and in sealed values.
pub fn traces(site: &Site) -> Vec<String> {
    let mut found = Vec::new();
    let mut files = Vec::new();
    list(&site.inside().config.data, &mut files);
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        found.extend(names(&bytes).map(|form| format!("{form} in {}", path.display())));
    }
    for holding in personal_columns::sealed() {
        for text in super::opened(site, &holding, "1", 0) {
            found.extend(names(text.as_bytes()).map(|form| format!("{form} in {}.{}", holding.table, holding.column)));
        }
    }
    found
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            list(&entry.path(), files);
        } else if !kind.is_socket() {
            files.push(entry.path());
        }
    }
}

#[test]
fn every_form_is_seen() {
    let text = format!("xx{}yy", MARKS[0]);
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    let packed = [b"head".to_vec(), packed.finish().unwrap()].concat();
    for (name, bytes) in [
        ("plain", text.clone().into_bytes()),
        ("base64", STANDARD_NO_PAD.encode(&text).into_bytes()),
        ("base64 for addresses", URL_SAFE_NO_PAD.encode(format!("z{text}")).into_bytes()),
        ("JSON", serde_json::json!({ "a": text }).to_string().into_bytes()),
        ("compressed", packed),
    ] {
        assert!(names(&bytes).is_some(), "{name}");
    }
    assert_eq!(names(b"nobody"), None);
}
