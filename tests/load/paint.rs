//! The time until a real Chromium first paints a page.

use crate::bars::median;
use crate::browser::Browser;
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;

pub const PAINT_TIME_MAX: Duration = Duration::from_millis(200);
const VISITS: usize = 5;

/// The name and the value.
pub type Cookie = (String, String);

/// A browser with these cookies only.
pub struct Painter {
    browser: Browser,
    origin: String,
    cookies: Vec<Cookie>,
}

impl Painter {
    pub fn open(address: SocketAddr, cookies: Vec<Cookie>) -> Painter {
        let (browser, origin) = (Browser::open(), format!("http://localhost:{}", address.port()));
        browser.go(&format!("{origin}/desk/sign-in"));
        for (name, value) in &cookies {
            browser.order("/cookie", json!({ "cookie": { "name": name, "value": value, "httpOnly": true } }));
        }
        Painter { browser, origin, cookies }
    }

    pub fn has(&self, cookies: &[Cookie]) -> bool {
        self.cookies == cookies
    }

    /// The median time from the start of the navigation to the first contentful paint.
    pub fn first_paint(&self, path: &str) -> Result<Duration, String> {
        let mut painted = Vec::new();
        for _ in 0..VISITS {
            self.browser.go(&format!("{}{path}", self.origin));
            let entry =
                self.browser.wait("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
            painted.push(entry.as_f64().ok_or_else(|| format!("{path} is not painted: {entry}"))?);
        }
        match self.browser.path() {
            there if Some(there.as_str()) == path.split('?').next() => {
                Ok(Duration::from_secs_f64(median(painted.into_iter()) / 1e3))
            }
            elsewhere => Err(format!("{path} led to {elsewhere}")),
        }
    }
}
