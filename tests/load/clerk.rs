//! Browsers without a window at the desk and at a kiosk, signed in as people sign in: by form, cookie and code.

use crate::generator::ANSWER_BYTES_MAX;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use totp_rs::{Builder, Secret};
use tunneldesk::demo::PASSWORD;

/// The cookies of one browser.
#[derive(Clone)]
pub struct Clerk {
    address: SocketAddr,
    agent: ureq::Agent,
    pub cookies: BTreeMap<String, String>,
}

/// The answer to a form: where it redirects to, and the page.
pub struct Answer {
    pub location: String,
    pub page: String,
}

impl Clerk {
    pub fn outside(address: SocketAddr) -> Clerk {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
        Clerk { address, agent: config.build().new_agent(), cookies: BTreeMap::new() }
    }

    /// The same clerk at another server of the same site.
    pub fn at(&self, address: SocketAddr) -> Clerk {
        Clerk { address, ..self.clone() }
    }

    /// The header line with the cookies.
    pub fn head(&self) -> String {
        format!("cookie: {}\r\n", self.line())
    }

    fn line(&self) -> String {
        self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    pub fn get(&mut self, path: &str) -> Result<Answer, String> {
        let request = self.agent.get(format!("http://{}{path}", self.address)).header("cookie", self.line());
        let answer = request.header("accept-language", "en").call();
        self.keep(path, answer)
    }

    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<Answer, String> {
        let origin = format!("http://{}", self.address);
        let request =
            self.agent.post(format!("{origin}{path}")).header("cookie", self.line()).header("origin", &origin);
        let answer = request.send_form(fields.iter().copied());
        self.keep(path, answer)
    }

    fn keep(
        &mut self,
        path: &str,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Answer, String> {
        let mut answer = answer.map_err(|e| format!("{path}: {e}"))?;
        for line in answer.headers().get_all("set-cookie").iter().filter_map(|line| line.to_str().ok()) {
            let pair = line.split(';').next().and_then(|pair| pair.split_once('='));
            self.cookies.extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        let location = answer.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX as u64).read_to_vec();
        let page = String::from_utf8_lossy(&body.map_err(|e| format!("{path}: {e}"))?).into_owned();
        match answer.status().as_u16() {
            200 | 303 => Ok(Answer { location, page }),
            status => Err(format!("{path}: {status}: {page}")),
        }
    }

    /// Signs the demo's admin in at the desk, with an authenticator that is set up for it.
    pub fn sign_in(address: SocketAddr) -> Result<Clerk, String> {
        let mut clerk = Clerk::setting_up(address, "admin")?;
        let page = clerk.get("/desk/sign-in/setup")?.page;
        let secret = Secret::try_from_base32(between(&page, "class=\"secret\">", "<")?.replace(' ', ""));
        let totp = secret.ok().and_then(|secret| Builder::new().with_secret(secret).build().ok());
        let totp = totp.ok_or("the secret that is shown is none")?;
        let code = totp.generate(jiff::Timestamp::now().as_second() as u64).to_string();
        clerk.post("/desk/sign-in/setup", &[("code", &code)])?;
        Ok(clerk)
    }

    /// A clerk without an authenticator, at the page that sets one up.
    pub fn setting_up(address: SocketAddr, username: &str) -> Result<Clerk, String> {
        Clerk::with_password(address, username, "/desk/sign-in/setup")
    }

    /// The admin in another browser, at the page that asks for the code.
    pub fn coming(address: SocketAddr) -> Result<Clerk, String> {
        Clerk::with_password(address, "admin", "/desk/sign-in/code")
    }

    /// A member of the demo, signed in to the own pages.
    pub fn own_pages(address: SocketAddr, username: &str) -> Result<Clerk, String> {
        let mut clerk = Clerk::outside(address);
        let led = clerk.post("/me/sign-in", &[("username", username), ("password", PASSWORD)])?.location;
        if led == "/me" { Ok(clerk) } else { Err(format!("{username} was led to {led}, not to /me")) }
    }

    fn with_password(address: SocketAddr, username: &str, next: &str) -> Result<Clerk, String> {
        let mut clerk = Clerk::outside(address);
        let led = clerk.post("/desk/sign-in", &[("username", username), ("password", PASSWORD)])?.location;
        if led.starts_with(next) { Ok(clerk) } else { Err(format!("{username} was led to {led}, not to {next}")) }
    }

    /// Uploads a picture of a member.
    pub fn take_photo(&mut self, member_id: i64, picture: &[u8]) -> Result<(), String> {
        let head = "--edge\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n";
        let (origin, path) = (format!("http://{}", self.address), format!("/desk/members/{member_id}/photo"));
        let request =
            self.agent.post(format!("{origin}{path}")).header("cookie", self.line()).header("origin", &origin);
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        let answer = request.send([head.as_bytes(), picture, b"\r\n--edge--\r\n"].concat());
        self.keep(&path, answer).map(|_| ())
    }

    /// The transferred size of a file: compressed, as a browser receives it.
    pub fn weigh(&self, path: &str) -> Result<usize, String> {
        let request = self.agent.get(format!("http://{}{path}", self.address)).header("accept-encoding", "gzip");
        let answer = request.call().map_err(|e| format!("{path}: {e}"))?;
        let length = answer.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        length.ok_or_else(|| format!("{path} does not say how long it is"))
    }

    /// Takes the yearly fee in cash.
    pub fn take_fee(&mut self, member_id: i64) -> Result<(), String> {
        let path = format!("/desk/members/{member_id}/payment");
        let page = self.get(&path)?.page;
        let names = ["number", "seen", "price"];
        let mut fields =
            names.map(|name| Ok((name, hidden(&page, name)?))).into_iter().collect::<Result<Vec<_>, String>>()?;
        fields.push(("kind", "cash"));
        let led = self.post(&path, &fields)?.location;
        if led.contains("done=taken") { Ok(()) } else { Err(format!("the payment led to {led:?}")) }
    }

    /// Closes the till with exactly the expected cash.
    pub fn close_day(&mut self) -> Result<(), String> {
        let page = self.get("/desk/till")?.page;
        let names = ["number", "currency", "seen_closing", "seen_entry"];
        let mut fields =
            names.map(|name| Ok((name, hidden(&page, name)?))).into_iter().collect::<Result<Vec<_>, String>>()?;
        fields.extend([("counted", "49"), ("left", "0"), ("note", "")]);
        let led = self.post("/desk/till/close", &fields)?.location;
        if led.contains("done=closed") { Ok(()) } else { Err(format!("the closing led to {led:?}")) }
    }

    /// Sends a stranger's message for the desk.
    pub fn send_contact(&mut self) -> Result<(), String> {
        let message = json!({ "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?" });
        let request = self.agent.post(format!("http://{}/api/public/contact", self.address));
        let answer = request.content_type("application/json").send(message.to_string());
        self.keep("/api/public/contact", answer).map(|_| ())
    }

    /// Pairs a kiosk.
    pub fn pair_kiosk(&mut self) -> Result<Clerk, String> {
        let page = self.post("/desk/kiosks", &[("name", "Load")])?.page;
        let mut kiosk = Clerk::outside(self.address);
        kiosk.post("/kiosk/pair", &[("code", between(&page, "class=\"code\"><strong>", "<")?)])?;
        Ok(kiosk)
    }

    /// Sets a new PIN of the member and returns it.
    pub fn reset_pin(&mut self, member_id: i64) -> Result<String, String> {
        let page = self.post(&format!("/desk/members/{member_id}/pin"), &[])?.page;
        between(&page, "data-pin><code>", "<").map(str::to_owned)
    }

    /// Signs the member in at this kiosk. The session lasts as long as requests follow.
    pub fn enter(&mut self, member_id: i64, pin: &str) -> Result<(), String> {
        let led = self.post("/kiosk/number", &[("number", &member_id.to_string()), ("pin", pin)])?.location;
        if led == "/kiosk/home" { Ok(()) } else { Err(format!("the kiosk led to {led:?}")) }
    }
}

/// The value of a hidden field in a page's form.
fn hidden<'p>(page: &'p str, name: &str) -> Result<&'p str, String> {
    between(page, &format!("name=\"{name}\" value=\""), "\"")
}

/// The text between the first occurrences of two other texts.
pub fn between<'p>(page: &'p str, before: &str, after: &str) -> Result<&'p str, String> {
    let found = page.split(before).nth(1).and_then(|rest| rest.split(after).next());
    found.filter(|found| !found.is_empty()).ok_or_else(|| format!("there is no {before} in {}", json!(page)))
}
