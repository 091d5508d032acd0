//! Values into texts: places filled in one pass, so that no value is read as a template, and escaped for where they go.

use std::fmt::Write;

/// Replaces each `{name}`; braces around anything but a lower-case word stay. The error names a place without a value.
pub fn fill(pattern: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::with_capacity(pattern.len() * 2);
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, tail)) => {
                filled.push_str(&value(name).ok_or_else(|| format!("the template wants a value for {name}"))?);
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// For HTML, also inside a quoted attribute.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Without line breaks and other control characters: a value never begins a header or a paragraph.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// For a URL's query, and for a form.
pub fn code(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => safe.push(byte.into()),
            byte => _ = write!(safe, "%{byte:02X}"),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_read_as_a_template() {
        let values = |name: &str| (name == "a").then(|| "{b}{a}".to_owned());
        assert_eq!(fill("{a}-{ color: red }-{A}-{", values).unwrap(), "{b}{a}-{ color: red }-{A}-{");
        assert!(fill("{b}", values).unwrap_err().ends_with(" b"));
    }
}
