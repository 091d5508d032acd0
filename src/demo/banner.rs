//! The text that `serve --demo` prints: the addresses, the accounts, and one line to paste.

use super::facts::Facts;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

/// Whom the terminal names; the others are in the file.
const NAMED: [&str; 4] = ["current flyer", "instructor 4", "desk", "admin"];

pub(super) fn banner(facts: &Facts, url: &str, addresses: &[SocketAddr], path: &Path) -> String {
    let mut text = format!("\n{}: a demo site, full of invented people\n\n", facts.tunnel_name);
    let listening: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let mut line = |label: &str, value: &str| _ = writeln!(text, "  {label:<10}{value}");
    line("address", &format!("{url}   (listening on {})", listening.join(", ")));
    let named: Vec<_> = NAMED.iter().filter_map(|state| facts.find(state)).collect();
    let width = named.iter().map(|member| member.username.chars().count()).max().unwrap_or(0);
    for (n, member) in named.iter().enumerate() {
        line(if n == 0 { "sign in" } else { "" }, &format!("{:width$}   {}", member.username, member.state));
    }
    line("password", &format!("{}   (everybody's)", super::PASSWORD));
    line("partner", &format!("client-id {}", facts.partner.client_id));
    line("", &format!("secret    {}", facts.partner.secret));
    line("in full", &format!("{}   ({} sign-ins in all states)", path.display(), facts.members.len()));
    _ = write!(
        text,
        "\nThe latest bookings:\n\n  curl {}/admin/reports/external/partner-metrics/bookings -H 'token: {}' \
         -H 'content-type: application/json' -d '{{\"limit\":3}}'\n\nCtrl-C stops it; what is changed is kept.\n",
        facts.base_url, facts.sync_token
    );
    text
}
