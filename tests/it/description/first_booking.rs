//! The page's first booking, typed line for line, and the samples that sign.

use crate::harness::Site;
use http::Method;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TOKEN: &str = "309042b1fdb688e9d4935db0c14de10cb4b051b91ef9dba5626460cc076d5f9d";

/// The text of one `<pre>` on the page.
fn sample(site: &Site, name: &str) -> String {
    let reply = site.stranger().ask_at_root(Method::GET, "/docs").send().ok();
    let page = String::from_utf8(reply.body).unwrap();
    let (_, rest) = page.split_once(&format!("id=\"{name}\">")).expect("the page has the sample");
    let text = rest.split_once("</pre>").unwrap().0.replace("&lt;", "<").replace("&amp;", "&");
    // The site's name leads nowhere on this machine.
    text.replace(&format!("http://{}:{}", Site::NAME, site.address().port()), &format!("http://{}", site.address()))
}

#[test]
fn the_first_booking_works_when_its_lines_are_typed() {
    let site = Site::open();
    // The shell's clock is the machine's.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    site.advance(now - Duration::from_secs(site.now() as u64));
    let partner = site.partner();
    let mut bash = Command::new("bash").arg("-e").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut typed, mut shown) = (bash.stdin.take().unwrap(), BufReader::new(bash.stdout.take().unwrap()));
    let lines = sample(&site, "first-booking-member");
    let filled = lines.replacen('…', partner.client_id(), 1).replacen('…', partner.secret(), 1);
    writeln!(typed, "{filled}\necho \"confirm $name\"").unwrap();
    typed.flush().unwrap();
    let name =
        shown.by_ref().lines().map(Result::unwrap).find_map(|line| Some(line.strip_prefix("confirm ")?.to_owned()));
    site.shell(&["member", "confirm", &name.expect("the member signed up")]);
    writeln!(typed, "{}", sample(&site, "first-booking-book")).unwrap();
    drop(typed);
    let mut rest = String::new();
    shown.read_to_string(&mut rest).unwrap();
    assert!(bash.wait().unwrap().success(), "{rest}");
    let ended = "SELECT ended_as FROM bookings";
    assert_eq!(site.change(|tx| Ok(tx.list::<Option<String>>(ended, [])?)), [Some("cancelled".to_owned())], "{rest}");
    assert!(rest.contains("\"status\":true") && rest.contains("\"ended\":\"cancelled\""), "{rest}");
}

/// A line that is not indented begins a command, and a line has one command.
#[test]
fn the_first_booking_takes_at_most_twelve_commands() {
    let site = Site::open();
    let typed = ["first-booking-member", "first-booking-book"].map(|name| sample(&site, name)).join("\n");
    let commands: Vec<&str> = typed.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!((8..=12).contains(&commands.len()), "{} commands: {commands:#?}", commands.len());
    for command in commands {
        assert!(command.contains("() {") || !command.contains("; "), "several commands: {command}");
    }
}

#[test]
fn the_sample_in_python_prints_the_token_of_the_page() {
    let site = Site::open();
    let output = Command::new("python3").arg("-c").arg(sample(&site, "sign-python")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), TOKEN);
}
