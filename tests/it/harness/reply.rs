//! An answer, and the two assertions of a test about it: the request succeeded, or was refused with this status.

use flate2::read::GzDecoder;
use http::HeaderMap;
use serde_json::Value;
use std::io::Read;

pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// Method and path of the request, for messages.
    pub asked: String,
}

impl Reply {
    /// The answer with its body decompressed.
    pub fn unpacked(&self) -> Reply {
        let mut body = self.body.clone();
        if self.header("content-encoding") == Some("gzip") && !body.is_empty() {
            body.clear();
            let read = GzDecoder::new(self.body.as_slice()).read_to_end(&mut body);
            read.unwrap_or_else(|e| panic!("not gzip ({e}): {self}"));
        }
        Reply { body, headers: self.headers.clone(), asked: self.asked.clone(), ..*self }
    }

    /// Whether the answer is that the site is busy, whichever way it is said.
    pub fn is_busy(&self) -> bool {
        let says = |text: &str| self.body.windows(text.len()).any(|part| part == text.as_bytes());
        self.status == 503 && (says(r#""code":"overloaded""#) || says("The site is busy."))
    }

    /// Panics unless the request succeeded.
    #[track_caller]
    pub fn ok(self) -> Reply {
        assert!((200..300).contains(&self.status), "{self}");
        self
    }

    /// Panics unless the request was refused with this status, in the error envelope.
    #[track_caller]
    pub fn refused(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{self}");
        self.check_envelope();
        self
    }

    /// Panics unless the body is `{"status": false, "code", "message", "request_id"}`, with `errors` only for 422.
    #[track_caller]
    pub fn check_envelope(&self) {
        let body = self.json();
        let is_text = |name: &str| body[name].as_str().is_some_and(|text| !text.is_empty());
        assert_eq!(body["status"], false, "{self}");
        assert!(["code", "message", "request_id"].iter().all(|name| is_text(name)), "{self}");
        assert_eq!(body["request_id"].as_str(), self.header("x-request-id"), "{self}");
        match body.get("errors") {
            None => assert_ne!(self.status, 422, "422 names its fields: {self}"),
            Some(errors) => {
                let errors = errors.as_array().unwrap_or_else(|| panic!("errors is a list: {self}"));
                let sound = |e: &Value| e["field"].is_string() && e["message"].as_str().is_some_and(|m| !m.is_empty());
                assert!(self.status == 422 && !errors.is_empty() && errors.iter().all(sound), "{self}");
            }
        }
        let known = ["status", "code", "message", "errors", "request_id"];
        let extra: Vec<_> = body.as_object().unwrap().keys().filter(|key| !known.contains(&key.as_str())).collect();
        assert!(extra.is_empty(), "{extra:?} in {self}");
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self}");
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("not JSON ({e}): {self}"))
    }

    /// The JSON of an answer to a successful request.
    #[track_caller]
    pub fn ok_json(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self}");
        self.json()
    }

    /// The rows of a list, which is a bare array.
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        match self.ok_json() {
            Value::Array(rows) => rows,
            _ => panic!("not a list: {self}"),
        }
    }

    /// The total number of rows of the list.
    #[track_caller]
    pub fn total(&self) -> i64 {
        let count = self.header("x-total-count").unwrap_or_else(|| panic!("no X-Total-Count: {self}"));
        count.parse().unwrap_or_else(|_| panic!("X-Total-Count is {count:?}: {self}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The fields that a 422 names.
    #[track_caller]
    pub fn bad_fields(&self) -> Vec<String> {
        let errors = self.json()["errors"].as_array().cloned().unwrap_or_default();
        errors.iter().map(|e| e["field"].as_str().unwrap_or("").to_owned()).collect()
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        write!(f, "{} answered {} {body:.600}", self.asked, self.status)
    }
}

/// The paths of the style sheets that a page loads.
#[track_caller]
pub fn sheets(html: &str) -> Vec<String> {
    let linked = html.split("<link rel=\"stylesheet\" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let found: Vec<String> = linked.map(str::to_owned).collect();
    assert!(!found.is_empty(), "no style in {html}");
    found
}
