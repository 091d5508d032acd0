//! Documents on paper: their drawing, and the names whose letters no font of this machine has.

use crate::documents::fonts::{self, Fonts, package};
use crate::documents::typesetting::{Letters, draw_with};
use crate::domain::certificate::name_on_paper;
use crate::domain::health::{Fact, State};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Members that are read at a time, and that the fact names.
const PAGE_ROWS: i64 = 5_000;
const NAMED_MAX: usize = 5;
/// Letters that the hint to a writer names.
const LETTERS_SHOWN_MAX: usize = 8;

/// Draws a document with the letters of this machine.
pub(crate) fn draw(
    site: &Site,
    draw: impl Fn(&Letters) -> Result<Vec<u8>, String> + Send + 'static,
) -> Result<Vec<u8>, Failure> {
    let (fonts, dirs) = (site.state::<Fonts>(), fonts::dirs(&site.config.data));
    site.draw_document(move || draw_with(&fonts, &dirs, draw))?.map_err(|e| Failure::broken().because(e))
}

/// The members in whose names a letter cannot be printed, and which fonts to install.
pub(crate) fn unprintable_names(site: &Site) -> Fact {
    find_unprintable(site, &fonts::dirs(&site.config.data)).unwrap_or_else(|cause| {
        let text = Text::new("health.unreadable").with("cause", cause);
        Fact::judged("names", State::Alarm, text, Text::new("health.unreadable.next"))
    })
}

fn find_unprintable(site: &Site, dirs: &[PathBuf]) -> Result<Fact, Failure> {
    let fonts = site.state::<Fonts>();
    let letters = Letters::of(&fonts, dirs);
    let (mut count, mut who, mut packages) = (0, Vec::new(), BTreeSet::new());
    for page in 0.. {
        let profiles = site.store.read(|tx| Ok(members::list(tx, None, PAGE_ROWS, page * PAGE_ROWS)?))?;
        // Each page has the time limit of one read, and no snapshot stays open between two.
        site.store.release();
        for profile in &profiles {
            let name = name_on_paper(&profile.real_name, &profile.screen_name, &profile.username);
            if let Some(letter) = letters.missing(name) {
                count += 1;
                packages.insert(package(letter));
                if who.len() < NAMED_MAX {
                    who.push(format!("{name} ({})", profile.member_id));
                }
            }
        }
        if (profiles.len() as i64) < PAGE_ROWS {
            break;
        }
    }
    if count == 0 {
        return Ok(Fact::ok("names", Text::new("health.names")));
    }
    if count > who.len() {
        who.push("…".to_owned());
    }
    let text = Text::new("health.names.missing").with("count", count).with("who", who.join(", "));
    let next = what_to_install(site, &packages);
    Ok(Fact::judged("names", State::Warning, text, next))
}

/// How the machine gets fonts.
fn what_to_install(site: &Site, packages: &BTreeSet<&'static str>) -> Text {
    let packages: Vec<&str> = packages.iter().copied().collect();
    Text::new("health.names.next")
        .with("packages", packages.join(" "))
        .with("dir", site.config.data.join(fonts::OWN_DIR).display())
}

/// For the person who writes a text that stands on papers: the letters of it that no font of this machine has, and what to
/// install. `None` where all can be printed.
pub(crate) fn unprintable(site: &Site, text: &str) -> Option<[Text; 2]> {
    find_missing(site, &fonts::dirs(&site.config.data), text)
}

fn find_missing(site: &Site, dirs: &[PathBuf], text: &str) -> Option<[Text; 2]> {
    let fonts = site.state::<Fonts>();
    let letters = Letters::of(&fonts, dirs);
    let mut missing: Vec<char> = text.chars().filter(|c| c.is_alphanumeric() && !letters.can_print(*c)).collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return None;
    }
    let packages = missing.iter().map(|c| package(*c)).collect();
    let mut shown: Vec<String> = missing.iter().take(LETTERS_SHOWN_MAX).map(char::to_string).collect();
    if missing.len() > LETTERS_SHOWN_MAX {
        shown.push("…".to_owned());
    }
    Some([Text::new("papers.unprintable").with("letters", shown.join(" ")), what_to_install(site, &packages)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ops::tests::new_site;
    use crate::store::data_dir::DataDir;

    #[test]
    fn the_technician_learns_which_names_lack_letters_and_which_fonts_have_them() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir, Config { data: dir.path().to_owned(), ..Config::defaults() });
        let none = [dir.path().join(fonts::OWN_DIR)];
        let fact = || find_unprintable(&site, &none).unwrap();
        let add = |username: &str, real_name: &str| {
            let sql = "INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at) \
                       VALUES (?1, ?1, ?2, '', 0, 0)";
            site.store.write(site.now(), |tx| Ok(tx.run(sql, (username, real_name))?)).unwrap();
        };
        add("jane", "Jürgen Щёголева 🪂");
        assert_eq!((fact().state, fact().next), (State::Ok, None));
        add("wang", "王小明");
        let found = fact();
        assert_eq!(found.state, State::Warning);
        assert!(found.text.in_english().contains("王小明 ("), "{}", found.text.in_english());
        let next = found.next.unwrap().in_english();
        assert!(next.contains("apt install fonts-noto-cjk)") && next.contains("/fonts"), "{next}");
        (0..NAMED_MAX).for_each(|n| add(&format!("dev{n}"), "अर्जुन"));
        assert!(fact().text.in_english().contains(", …."), "{}", fact().text.in_english());
        assert!(fact().next.unwrap().in_english().contains("apt install fonts-noto-cjk fonts-noto-core"));

        let hint = |text: &str| {
            let texts = find_missing(&site, &none, text)?;
            Some(texts.map(|text| text.in_english()).join(" "))
        };
        assert_eq!(hint("I fly at my own risk. 🪂 Ich fliege auf eigenes Risiko, à mes risques."), None);
        let said = hint("小明 flies with 王 and 王").unwrap();
        assert!(said.contains(" 小 明 王") && said.contains("apt install fonts-noto-cjk)"), "{said}");
    }
}
