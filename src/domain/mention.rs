//! Where a text mentions a person by name, address or number: whole words, without regard to case.

/// Shorter words of a name are too common to search for.
const WORD_CHARS_MIN: usize = 3;
/// Least length of a full name that is searched for in the texts of others. A name of one word is not: many people are
/// called "Max".
const NAME_CHARS_MIN: usize = 5;

/// The names and addresses of a person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Person {
    pub username: String,
    pub screen_name: String,
    pub real_name: String,
    pub email: String,
    pub phone: String,
}

impl Person {
    /// The terms to search for in texts by or for the person: every name, and the words of names.
    pub(crate) fn closely(&self) -> Vec<&str> {
        let whole = [&self.email, &self.real_name, &self.screen_name, &self.username, &self.phone];
        let words = self.real_name.split_whitespace().chain(self.screen_name.split_whitespace());
        let long = |text: &&str| text.chars().count() >= WORD_CHARS_MIN;
        whole.into_iter().map(String::as_str).chain(words).filter(long).collect()
    }

    /// The terms to search for in the texts of every member: those that hardly mean another person.
    pub(crate) fn widely(&self) -> Vec<&str> {
        let name = self.real_name.trim();
        let full = name.contains(char::is_whitespace) && name.chars().count() >= NAME_CHARS_MIN;
        let name = if full { name } else { "" };
        [self.email.as_str(), name, &self.phone].into_iter().filter(|text| !text.is_empty()).collect()
    }
}

/// The text with `stand_in` in place of each of `names`; `None` where the text has none of them.
pub(crate) fn replaced(text: &str, names: &[&str], stand_in: &str) -> Option<String> {
    let mut said = String::with_capacity(text.len());
    let (mut rest, mut before, mut found) = (text, None::<char>, false);
    while let Some(first) = rest.chars().next() {
        let free = before.is_none_or(|c| !c.is_alphanumeric());
        let longest = names.iter().filter_map(|name| begins_with(rest, name)).max().filter(|_| free);
        let taken = longest.unwrap_or(first.len_utf8());
        match longest {
            Some(_) => {
                said.push_str(stand_in);
                found = true;
            }
            None => said.push(first),
        }
        before = rest[..taken].chars().next_back();
        rest = &rest[taken..];
    }
    found.then_some(said)
}

/// The length of the name in bytes where the text begins with the name as a whole word.
fn begins_with(text: &str, name: &str) -> Option<usize> {
    let mut rest = text.char_indices();
    for wanted in name.chars() {
        let (_, there) = rest.next()?;
        if !there.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let bytes = rest.offset();
    let ends = text[bytes..].chars().next().is_none_or(|c| !c.is_alphanumeric());
    (ends && bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_as_words_and_nothing_else_is() {
        let names = ["Jane Doe", "jane", "jane@example.com", "Jürg"];
        for (text, said) in [
            ("flew with Jane Doe today", Some("flew with X today")),
            ("JANE, well done", Some("X, well done")),
            ("write to Jane@Example.com.", Some("write to X.")),
            ("jürg!", Some("X!")),
            ("Janet was there", None),
            ("a trijane", None),
            ("", None),
            ("Jane", Some("X")),
        ] {
            assert_eq!(replaced(text, &names, "X").as_deref(), said, "{text}");
        }
    }

    #[test]
    fn a_common_name_is_looked_for_only_near_the_person() {
        let max = Person {
            username: "max".into(),
            real_name: "Max".into(),
            email: "m@example.com".into(),
            ..Person::default()
        };
        assert_eq!(max.widely(), ["m@example.com"]);
        assert!(max.closely().contains(&"Max"));
        let jo = Person { real_name: "Jo Li".into(), ..Person::default() };
        assert_eq!((jo.widely(), jo.closely()), (vec!["Jo Li"], vec!["Jo Li"]));
    }
}
