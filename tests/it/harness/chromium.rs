//! Processes of Chromium, each with the driver that speaks WebDriver to it. A start takes seconds, so the tests of a run use
//! them one after the other, each in a context of its own.

use super::browser::ANSWER_TIME_MAX;
use super::devtools::Devtools;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Switches that keep the browser from calling other machines.
const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--accept-lang=en",
];

/// The size of a new window.
const WINDOW: (u32, u32) = (800, 600);

/// Runs the driver, whose temporary files and those of its browser are in `$TMPDIR`, until standard input ends, as it does with the
/// process of the tests. Then all that the driver has started ends too.
const KEEPER: &str = "setsid chromedriver --port=0 & driver=$!
    read -r _; kill -KILL -$driver; wait; rm -rf -- \"$TMPDIR\"";

/// The processes that no test uses at the moment.
static IDLE: Mutex<Vec<Chromium>> = Mutex::new(Vec::new());

pub fn idle() -> MutexGuard<'static, Vec<Chromium>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct Chromium {
    /// Whether other tests may use it afterwards.
    pub is_shared: bool,
    base: String,
    agent: ureq::Agent,
    session: String,
    devtools: Devtools,
    /// The window that stays open between the tests, because a browser without a window ends.
    home: String,
    _keeper: Keeper,
}

impl Chromium {
    /// A new process with these additional switches, which only one test wants, or without any.
    pub fn start(switches: &[String]) -> Chromium {
        let (keeper, port) = Keeper::start();
        let flags = FLAGS.map(str::to_owned).into_iter().chain(switches.iter().cloned());
        let flags: Vec<String> =
            flags.chain([format!("--user-data-dir={}", keeper.scratch.join("profile").display())]).collect();
        let base = format!("http://127.0.0.1:{port}");
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(ANSWER_TIME_MAX));
        let agent = config.build().new_agent();
        let options = json!({
            "browserName": "chrome", "goog:chromeOptions": { "args": flags }, "goog:loggingPrefs": { "browser": "ALL" },
        });
        let opened = ask(&agent, &format!("{base}/session"), &json!({ "capabilities": { "alwaysMatch": options } }));
        let session = format!("/session/{}", opened["sessionId"].as_str().expect("a session"));
        let address = opened["capabilities"]["goog:chromeOptions"]["debuggerAddress"].as_str().expect("an address");
        let windows = agent.get(format!("{base}{session}/window")).call().expect("a window");
        let home: Value = windows.into_body().read_json().expect("its name");
        let home = home["value"].as_str().expect("its name").to_owned();
        let devtools = Devtools::connect(&agent, address);
        let chromium =
            Chromium { is_shared: switches.is_empty(), base, agent, session, devtools, home, _keeper: keeper };
        chromium.order("/timeouts", json!({ "script": ANSWER_TIME_MAX.as_millis() as u64 }));
        chromium
    }

    /// Sends a WebDriver command to the session.
    pub fn order(&self, path: &str, body: Value) -> Value {
        ask(&self.agent, &format!("{}{}{path}", self.base, self.session), &body)
    }

    /// Opens a window in a new context, to which all commands go from now on. Returns the context's name.
    pub fn new_context(&mut self) -> String {
        let made = self.devtools.tell("Target.createBrowserContext", json!({ "disposeOnDetach": true }));
        let context = made["browserContextId"].as_str().expect("its name").to_owned();
        let (width, height) = WINDOW;
        let window = json!({ "url": "about:blank", "browserContextId": context, "width": width, "height": height });
        let window = self.devtools.tell("Target.createTarget", window);
        self.order("/window", json!({ "handle": window["targetId"] }));
        // What earlier tests left in the console.
        self.order("/se/log", json!({ "type": "browser" }));
        context
    }

    /// Closes a context with all that its pages have stored.
    pub fn end_context(&mut self, context: &str) {
        self.order("/window", json!({ "handle": self.home }));
        self.devtools.tell("Target.disposeBrowserContext", json!({ "browserContextId": context }));
    }
}

fn ask(agent: &ureq::Agent, url: &str, body: &Value) -> Value {
    let mut answer = agent.post(url).send_json(body).unwrap_or_else(|e| panic!("{url}: {e}"));
    let said: Value = answer.body_mut().read_json().unwrap_or_else(|e| panic!("{url}: {e}"));
    assert_eq!(answer.status(), 200, "{url}: {said}");
    said["value"].clone()
}

/// The most attempts to start a driver that ends at once.
const STARTS_MAX: usize = 5;

/// The shell that runs [`KEEPER`].
struct Keeper {
    shell: Child,
    /// The directory that the shell removes at the end.
    scratch: PathBuf,
    /// Its end is the end of the driver and its browser.
    input: Option<ChildStdin>,
}

impl Keeper {
    /// Starts chromedriver on a port that it chooses: a free port of IPv4, and the same of IPv6. The driver ends if another
    /// test has the latter; the next attempt chooses anew.
    fn start() -> (Keeper, u16) {
        (0..STARTS_MAX).find_map(|_| Keeper::try_to_start()).expect("chromedriver says its port")
    }

    /// Starts chromedriver once; `None` if it ended before it named its port.
    fn try_to_start() -> Option<(Keeper, u16)> {
        let scratch = tempfile::tempdir().unwrap().keep();
        let mut command = Command::new("sh");
        // A group of its own, which an interruption at the keyboard does not reach before it has ended the browser.
        command.args(["-c", KEEPER]).env("TMPDIR", &scratch).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = command.spawn().expect("there is a shell");
        let mut keeper = Keeper { input: shell.stdin.take(), shell, scratch };
        let mut lines = BufReader::new(keeper.shell.stdout.take().expect("its output is ours")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("ChromeDriver was started successfully on port ")?.trim_end_matches('.').parse().ok()
        });
        // The output is read to the end, so that the driver does not block when it writes more.
        std::thread::spawn(move || lines.for_each(drop));
        Some((keeper, port?))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.input.take());
        _ = self.shell.wait();
    }
}
