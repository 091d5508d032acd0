//! Placeholders of a template, filled in one pass, so that a value is never parsed as a template.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Replaces each `{name}`; braces around anything but a lower-case word stay. The error names a placeholder without a value.
pub(super) fn fill(pattern: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
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

/// The text without line breaks and other control characters, so that a value cannot start a header or a paragraph.
pub(super) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The characters that stay unencoded in a URL's query and in a form: the unreserved characters of RFC 3986.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes for a URL's query or a form.
pub(super) fn code(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
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
