//! Text inside markup: what people wrote stays text, in HTML and in SVG.

/// Escaped for the content of an element and for an attribute in either quotes. What no XML may hold is left out.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() && !c.is_whitespace() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_markup_and_nothing_in_it_breaks_xml() {
        assert_eq!(escape("<a href='x'>&\"b\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;b&quot;");
        assert_eq!(escape("Zoë\u{0} 王\u{7}\u{ffff} {x}"), "Zoë 王 {x}");
    }
}
