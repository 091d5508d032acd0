//! Escaping of text for HTML and SVG.

/// Escaped for the content of an element and for an attribute in either quotes. Characters that XML forbids are left
/// out.
pub(crate) fn escape(text: &str) -> String {
    let is_allowed = |c: &char| !matches!(c, '\u{fffe}' | '\u{ffff}') && (!c.is_control() || c.is_whitespace());
    let text: String = text.chars().filter(is_allowed).collect();
    // HTML 4, which old mail programs speak, has no name for the apostrophe.
    quick_xml::escape::escape(&text).replace("&apos;", "&#39;")
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
