//! The description's prose as HTML, from the subset of Markdown that it uses.

use super::escape;
use askama::filters::HtmlSafe;
use std::fmt::{self, Display};

/// HTML from our own document, which templates do not escape.
pub(super) struct Html(String);

impl HtmlSafe for Html {}

impl Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Html {
    pub(super) fn of(html: String) -> Html {
        Html(html)
    }

    /// A path with marked parameters and a possible line break at each segment.
    pub(super) fn path(path: &str) -> Html {
        Html(escape(path).replace('/', "/<wbr>").replace('{', "<var>{").replace('}', "}</var>"))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Paragraphs, `##` headings, lists, tables and fenced code.
pub(super) fn blocks(prose: &str) -> Html {
    let mut html = String::new();
    let mut rest = prose;
    while let Some((before, code, after)) = fence(rest) {
        before.split("\n\n").for_each(|block| html.push_str(&self::block(block.trim())));
        html.push_str(&format!("<pre tabindex=\"0\"><code>{}</code></pre>", escape(code.trim_matches('\n'))));
        rest = after;
    }
    rest.split("\n\n").for_each(|block| html.push_str(&self::block(block.trim())));
    Html(html)
}

/// The text before the first fenced code, the code, and the text after it.
fn fence(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("```")?;
    let (code, after) = rest.split_once("```")?;
    Some((before, code.split_once('\n').map_or(code, |(_, code)| code), after))
}

fn block(text: &str) -> String {
    match text {
        "" => String::new(),
        _ if text.starts_with("## ") => {
            let title = &text[3..];
            format!("<h2 id=\"{}\">{}</h2>", anchor(title), line(title))
        }
        _ if text.starts_with("- ") => {
            let items = text.split("\n- ").map(|item| format!("<li>{}</li>", line(item.trim_start_matches("- "))));
            format!("<ul>{}</ul>", items.collect::<String>())
        }
        _ if text.starts_with("| ") => table(text),
        _ => format!("<p>{}</p>", line(text)),
    }
}

/// A table: the first row is the head, the second the rule under it.
fn table(text: &str) -> String {
    let row = |tag: &str, row: &str| {
        let cells = row.trim_matches('|').split(" | ").map(|cell| format!("<{tag}>{}</{tag}>", line(cell.trim())));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let mut rows = text.lines();
    let head = row("th", rows.next().unwrap_or(""));
    let body: String = rows.skip(1).map(|one| row("td", one)).collect();
    format!("<div class=\"wide\" tabindex=\"0\"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>")
}

/// A heading's id on the page.
pub(super) fn anchor(title: &str) -> String {
    title
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// Text with `code`, **strong** text, and links (`*heading*`).
pub(super) fn line(text: &str) -> Html {
    let mut html = String::new();
    for (n, part) in text.split('`').enumerate() {
        if n % 2 == 1 {
            html.push_str(&format!("<code>{}</code>", escape(part)));
        } else {
            html.push_str(&pairs(
                &pairs(&escape(part), "**", |words| format!("<strong>{words}</strong>")),
                "*",
                |words| format!("<a href=\"#{}\">{words}</a>", anchor(words)),
            ));
        }
    }
    Html(html)
}

fn pairs(text: &str, mark: &str, dress: impl Fn(&str) -> String) -> String {
    let mut html = String::new();
    for (n, part) in text.split(mark).enumerate() {
        html.push_str(&if n % 2 == 1 { dress(part) } else { part.to_owned() });
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_becomes_html_and_is_escaped() {
        let prose = "A **bold** `<b>` & *Signing as a partner*.\n\n## Next one\n\n- a\n- b\n\n```sh\necho \"<x>\"\n\nok\n```\n\n| h | i |\n|---|---|\n| `a|b` | 2 |";
        let html = blocks(prose).to_string();
        assert_eq!(
            html,
            "<p>A <strong>bold</strong> <code>&lt;b&gt;</code> &amp; <a href=\"#signing-as-a-partner\">Signing as a partner</a>.</p>\
             <h2 id=\"next-one\">Next one</h2><ul><li>a</li><li>b</li></ul>\
             <pre tabindex=\"0\"><code>echo &quot;&lt;x&gt;&quot;\n\nok</code></pre>\
             <div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>h</th><th>i</th></tr></thead>\
             <tbody><tr><td><code>a|b</code></td><td>2</td></tr></tbody></table></div>"
        );
    }
}
