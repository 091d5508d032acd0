//! Italian covers the pages of the kiosk and the public pages: every text that their sources name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PAGES: [&str; 8] = [
    "src/app/own_sign_in.rs",
    "src/web/kiosk",
    "src/web/member",
    "src/web/public",
    "assets/templates/kiosk",
    "assets/templates/member",
    "assets/templates/public",
    "assets/templates/desk/waiver_form.html",
];
/// The page of the site's own certificate authority is for technicians.
const NOT_FOR_MEMBERS: [&str; 1] = ["ca."];

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let inside = path.read_dir().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    inside.flat_map(|entry| files(&entry.unwrap().path())).collect()
}

fn keys(language: &str) -> BTreeSet<String> {
    let parts = files(&Path::new(ROOT).join("assets/translations").join(language)).into_iter();
    let texts = parts.map(|part| std::fs::read_to_string(part).unwrap());
    texts.flat_map(|text| serde_json::from_str::<serde_json::Map<_, _>>(&text).unwrap()).map(|(key, _)| key).collect()
}

#[test]
fn every_text_that_a_page_for_members_names_is_in_italian() {
    let (english, italian) = (keys("en"), keys("it"));
    let pages: Vec<PathBuf> = PAGES.iter().flat_map(|page| files(&Path::new(ROOT).join(page))).collect();
    let sources = pages.iter().map(|page| std::fs::read_to_string(page).unwrap());
    let named: BTreeSet<String> =
        sources.flat_map(|source| source.split('"').map(str::to_owned).collect::<Vec<_>>()).collect();
    let said = named.iter().filter(|key| english.contains(*key));
    let missing: Vec<&String> = said
        .filter(|key| !italian.contains(*key) && !NOT_FOR_MEMBERS.iter().any(|part| key.starts_with(part)))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn no_italian_article_stands_before_a_date_because_two_days_of_a_month_would_contract_it() {
    let parts = ["assets/translations/it", "assets/mail/it"].map(|part| files(&Path::new(ROOT).join(part)));
    for part in parts.into_iter().flatten() {
        let text = std::fs::read_to_string(&part).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| ["il", "al", "dal", "del", "nel"].contains(&pair[0])) {
            assert!(!pair[1].starts_with('{'), "{}: {} {}", part.display(), pair[0], pair[1]);
        }
    }
}
