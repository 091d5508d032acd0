//! The books: what they tell a reader to type is taken by the executable, and what they name is there.

use crate::harness::BINARY;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const BOOKS: [&str; 4] = ["README.md", "packaging/README.md", "src/README.md", "tests/README.md"];
const FRONT_PAGE_LINES_MAX: usize = 150;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The words in backticks, outside fenced blocks.
fn spans(book: &str) -> Vec<String> {
    let prose: Vec<&str> = book.split("\n```").step_by(2).collect();
    let spans = prose.iter().flat_map(|prose| prose.split('`').skip(1).step_by(2));
    spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The lines of fenced blocks, without comments.
fn typed_lines(book: &str) -> Vec<String> {
    let blocks = book.split("\n```").skip(1).step_by(2);
    blocks.flat_map(str::lines).map(|line| line.split("  #").next().unwrap_or("").trim().to_owned()).collect()
}

/// What stands behind `tunneldesk` in a line: `member confirm jane`.
fn behind_the_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("tunneldesk ")?;
    // A command at the beginning of the line, or within `$(…)`.
    (before.is_empty() || before.ends_with("$(")).then(|| rest.split([')', '|', ';']).next().unwrap_or(rest))
}

/// The commands that the books name: their words as far as they are names of commands, and their flags.
fn commands() -> Vec<(Vec<String>, Vec<String>)> {
    let mut found = Vec::new();
    for book in BOOKS {
        let text = read(book);
        let lines: Vec<String> = spans(&text).into_iter().chain(typed_lines(&text)).collect();
        found.extend(lines.iter().filter_map(|line| behind_the_name(line)).map(parts));
    }
    let book = read("packaging/README.md");
    let table = book.split("\n## Commands\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |")).map(|(command, _)| command);
    for row in rows {
        let row = row.replace("\\|", "|");
        let (before, choices) = row.split_once(' ').unwrap_or((&row, ""));
        let (firsts, seconds) = (before.split('|'), choices.split_whitespace().next().unwrap_or(""));
        for first in firsts {
            let flags: Vec<String> = parts(&row).1;
            let second =
                |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
            let seconds: Vec<&str> =
                seconds.trim_matches(['[', ']']).split('|').filter(|word| !word.is_empty()).filter(second).collect();
            found.extend(seconds.iter().map(|second| (vec![first.to_owned(), (*second).to_owned()], Vec::new())));
            if seconds.is_empty() {
                found.push((vec![first.to_owned()], flags));
            }
        }
    }
    found
}

fn parts(command: &str) -> (Vec<String>, Vec<String>) {
    let plain = command.replace(['[', ']', '|', '\\'], " ");
    let words = plain.split_whitespace();
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    let names = words.clone().take_while(is_name).map(str::to_owned).collect();
    (names, words.filter(|word| word.starts_with("--")).map(str::to_owned).collect())
}

/// What `--help` says of these words; `None` where the executable does not take them.
fn help(words: &[String]) -> Option<String> {
    let asked = Command::new(BINARY).args(words).arg("--help").env_clear().output().unwrap();
    asked.status.success().then(|| String::from_utf8(asked.stdout).unwrap())
}

#[test]
fn the_executable_takes_every_command_in_the_books() {
    let mut known: BTreeMap<Vec<String>, Option<String>> = BTreeMap::new();
    let commands = commands();
    let wrong: Vec<String> = commands
        .iter()
        .filter(|(words, flags)| {
            let help = known.entry(words.clone()).or_insert_with(|| help(words));
            !help.as_ref().is_some_and(|help| flags.iter().all(|flag| help.contains(flag.as_str())))
        })
        .map(|(words, flags)| format!("tunneldesk {} {}", words.join(" "), flags.join(" ")))
        .collect();
    assert_eq!(wrong, Vec::<String>::new(), "not taken by the executable");
    assert!(known.len() > 60, "{} commands: where are the others?", known.len());
}

#[test]
fn every_path_and_link_in_the_books_leads_somewhere() {
    let mut wrong = Vec::new();
    for book in BOOKS {
        let text = read(book);
        let there = |path: &str| Path::new(ROOT).join(path).exists();
        let is_path = |span: &&String| {
            ["tests/", "packaging/", "src/", "sql/", "assets/"].iter().any(|root| span.starts_with(root))
                && span.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-V".contains(c))
                // `x` stands for a name to be chosen.
                && !span.contains("/x.")
        };
        wrong.extend(
            spans(&text).iter().filter(is_path).filter(|path| !there(path)).map(|path| format!("{book}: {path}")),
        );
        let beside = Path::new(book).parent().unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let pictures = text.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.chain(pictures).filter(|link| !link.contains("://")) {
            let good = match link.strip_prefix('#') {
                Some(heading) => text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading),
                None => there(&beside.join(link).to_string_lossy()),
            };
            if !good {
                wrong.push(format!("{book}: {link}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "nothing there");
}

/// The name by which a link leads to a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || " -".contains(*c)).collect::<String>().replace(' ', "-")
}

#[test]
fn every_setting_in_the_books_is_one() {
    let settings = read("packaging/tunneldesk.toml");
    let mut keys = Vec::new();
    let mut section = "";
    for line in settings.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            section = name;
        } else if let Some((key, _)) = line.trim_start_matches('#').split_once(" = ") {
            keys.push(if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") });
        }
    }
    let sections: Vec<&str> = keys.iter().filter_map(|key| key.split_once('.')).map(|(section, _)| section).collect();
    let mut wrong = Vec::new();
    for book in BOOKS {
        let named = spans(&read(book)).into_iter().map(|span| span.split(" = ").next().unwrap_or("").to_owned());
        wrong.extend(named.filter(|span| {
            let section = span.split('.').next().unwrap_or("");
            span.contains('.')
                && sections.contains(&section)
                && span.chars().all(|c| c.is_ascii_lowercase() || "._".contains(c))
                && !keys.contains(span)
        }));
    }
    assert_eq!(wrong, Vec::<String>::new(), "no such settings");
}

#[test]
fn the_front_page_is_short_and_leads_to_the_other_books() {
    let page = read("README.md");
    assert!(page.lines().count() <= FRONT_PAGE_LINES_MAX, "{} lines", page.lines().count());
    for book in &BOOKS[1..] {
        assert!(page.contains(&format!("]({book})")), "no link to {book}");
    }
}
