//! The XML responses of S3.

use quick_xml::Reader;
use quick_xml::events::Event;

/// The texts of all leaf elements, each with its path below the root: `Contents/Key`.
pub(super) struct Answer {
    pub root: String,
    texts: Vec<(String, String)>,
}

impl Answer {
    /// `None`: no XML, or truncated.
    pub(super) fn parse(text: &str) -> Option<Answer> {
        let (mut reader, mut path, mut texts) = (Reader::from_str(text), Vec::<String>::new(), Vec::new());
        let (mut root, mut said) = (None, String::new());
        loop {
            match reader.read_event().ok()? {
                Event::Start(start) => {
                    path.push(String::from_utf8_lossy(start.local_name().as_ref()).into_owned());
                    root = root.or_else(|| path.first().cloned());
                    said.clear();
                }
                Event::Text(part) => said.push_str(&part.decode().ok()?),
                Event::GeneralRef(part) => {
                    said.push_str(&quick_xml::escape::unescape(&format!("&{};", part.decode().ok()?)).ok()?)
                }
                Event::CData(part) => said.push_str(&String::from_utf8_lossy(&part)),
                Event::End(_) => {
                    if !said.trim().is_empty() {
                        texts.push((path.get(1..)?.join("/"), said.trim().to_owned()));
                    }
                    said.clear();
                    path.pop();
                }
                Event::Eof => break,
                _ => {}
            }
        }
        path.is_empty().then_some(Answer { root: root?, texts })
    }

    /// The first text with a path.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(path, _)| path == name).map(|(_, text)| text.as_str())
    }

    /// All texts with a path.
    pub(super) fn texts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.texts.iter().filter(move |(path, _)| path == name).map(|(_, text)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_by_paths_and_a_truncated_one_is_refused() {
        let text = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
                    <IsTruncated>true</IsTruncated><Contents><Key>a/b &amp; c&#45;</Key><Size>7</Size></Contents>\
                    <Contents><Key>a/d</Key></Contents><CommonPrefixes><Prefix>a/e/</Prefix></CommonPrefixes>\
                    <Prefix/></ListBucketResult>";
        let answer = Answer::parse(text).unwrap();
        assert_eq!(answer.root, "ListBucketResult");
        assert_eq!(answer.texts("Contents/Key").collect::<Vec<_>>(), ["a/b & c-", "a/d"]);
        assert_eq!(answer.text("CommonPrefixes/Prefix"), Some("a/e/"));
        assert_eq!((answer.text("IsTruncated"), answer.text("Prefix")), (Some("true"), None));
        assert!(Answer::parse(&text[..text.len() - 5]).is_none());
        assert!(Answer::parse("").is_none() && Answer::parse("no such host").is_none());
    }
}
