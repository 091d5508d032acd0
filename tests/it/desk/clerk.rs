//! A browser client without a window: it sends forms and cookies, and follows no redirect by itself.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use http::Method;
use std::cell::RefCell;
use std::collections::BTreeMap;

pub struct Clerk {
    caller: Caller,
    pub origin: String,
    pub cookies: RefCell<BTreeMap<String, String>>,
}

impl Clerk {
    /// A client that is not signed in.
    pub fn outside(site: &Site) -> Clerk {
        let origin = format!("http://{}", site.address());
        Clerk { caller: site.stranger(), origin, cookies: RefCell::default() }
    }

    /// A client signed in by a password alone, which a demo site allows its staff.
    pub fn at(site: &Site, who: &Caller) -> Clerk {
        let clerk = Clerk::outside(site);
        let reply = clerk.post("/desk/sign-in", &[("username", &who.name), ("password", PASSWORD)]);
        assert_eq!((reply.status, reply.header("location")), (303, Some("/desk")), "{reply}");
        clerk
    }

    pub fn get(&self, path: &str) -> Reply {
        self.get_in(path, "en")
    }

    /// A page in a language, by its tag.
    pub fn get_in(&self, path: &str, language: &str) -> Reply {
        let asking = self.caller.ask_at_root(Method::GET, path).header("cookie", &self.line());
        self.keep(asking.header("accept-language", language).send())
    }

    /// A file as browsers receive it: compressed.
    pub fn packed(&self, path: &str) -> Reply {
        self.caller.ask_at_root(Method::GET, path).header("accept-encoding", "gzip").send()
    }

    pub fn head(&self, path: &str) -> Reply {
        self.caller.ask_at_root(Method::HEAD, path).header("cookie", &self.line()).send()
    }

    /// A page, once the task that it shows in progress has ended.
    pub fn settled(&self, path: &str) -> String {
        for _ in 0..100_000 {
            let page = self.get(path).page();
            if !page.contains("in progress since") {
                return page;
            }
            std::thread::yield_now();
        }
        panic!("it does not end");
    }

    /// Posts a form of one of our own pages.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.post_from(path, fields, &[("origin", &self.origin)])
    }

    /// Posts a form with other headers about its origin.
    pub fn post_from(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let asking = self.caller.ask_at_root(Method::POST, path).header("cookie", &self.line());
        let asking = asking.header("content-type", "application/x-www-form-urlencoded").body(body.join("&"));
        let asking = headers.iter().fold(asking, |asking, (name, value)| asking.header(name, value));
        self.keep(asking.send())
    }

    /// Posts a form with a file.
    pub fn upload(&self, path: &str, file: &[u8]) -> Reply {
        let head = "--edge\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n";
        let body = [head.as_bytes(), file, b"\r\n--edge--\r\n"].concat();
        let asking = self.caller.ask_at_root(Method::POST, path).header("cookie", &self.line());
        let asking = asking.header("origin", &self.origin).header("content-type", "multipart/form-data; boundary=edge");
        self.keep(asking.body(body).send())
    }

    /// The cookies as a request header.
    pub fn line(&self) -> String {
        let pairs = self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        if pairs.is_empty() { "none=1".to_owned() } else { pairs.join("; ") }
    }

    fn keep(&self, reply: Reply) -> Reply {
        for line in reply.headers.get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
        }
        reply
    }
}

pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}

impl Reply {
    /// The body of the page as text.
    pub fn page(&self) -> String {
        assert_eq!(self.header("content-type"), Some("text/html; charset=utf-8"), "{self}");
        String::from_utf8(self.body.clone()).unwrap()
    }
}
