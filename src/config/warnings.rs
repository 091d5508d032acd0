//! Settings that are valid and cannot work: `tunneldesk check` names them.

use super::Settings;
use std::net::{IpAddr, SocketAddr};
use toml::Value;

impl Settings {
    /// One line for each setting that has no effect or contradicts another, with what to do.
    pub(crate) fn warnings(&self) -> Vec<String> {
        [self.unanswered_public_url(), self.wait_without_token(), self.local_name_on_loopback()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// A `public_url` whose host is not in `names`.
    fn unanswered_public_url(&self) -> Option<String> {
        let url = self.typed["public_url"].value.as_str()?.trim().parse::<http::Uri>().ok()?;
        let host = url.host()?.to_ascii_lowercase();
        let names = self.typed["names"].value.as_array()?;
        let is_name = names.iter().any(|name| name.as_str().is_some_and(|name| name.eq_ignore_ascii_case(&host)));
        let is_address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        let advice = format!("{host} is not in names, and requests to it are refused with 421: add it to names");
        (!is_name && !is_address && host != "localhost").then(|| self.about("public_url", &advice))
    }

    /// A `replica.wait` without a token: no standby can connect, and no answer waits.
    fn wait_without_token(&self) -> Option<String> {
        let waits = self.typed["replica.wait"].value != Value::Boolean(false);
        let given = |key: &str| self.typed[key].value.as_str() != Some("");
        let advice = "there is no standby without a token, and no answer waits: set replica.token_file, or remove this";
        (waits && !given("replica.token") && !given("replica.token_file")).then(|| self.about("replica.wait", advice))
    }

    /// A `local_name` where no other machine reaches this one.
    fn local_name_on_loopback(&self) -> Option<String> {
        let named = self.typed["local_name"].value.as_str().is_some_and(|name| !name.trim().is_empty());
        let addresses = |key: &str| self.typed[key].value.as_array().cloned().unwrap_or_default();
        let reaches = |one: &Value| {
            one.as_str().is_some_and(|text| text.parse().is_ok_and(|at: SocketAddr| !at.ip().is_loopback()))
        };
        let advice =
            "no other machine reaches an address of loopback, so the name is not announced: add 0.0.0.0:8080 to listen";
        let is_reached = ["listen", "tls.listen"].iter().any(|key| addresses(key).iter().any(reaches));
        (named && !is_reached).then(|| self.about("local_name", advice))
    }

    fn about(&self, key: &str, advice: &str) -> String {
        let setting = &self.typed[key];
        format!("{} = {}: {advice}", setting.origin, setting.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(file: &str) -> Vec<String> {
        let mut settings = Settings::new();
        settings.add_file(file, "t.toml");
        settings.warnings()
    }

    #[test]
    fn a_public_url_that_the_site_does_not_answer_is_named() {
        let said = warnings("public_url = \"https://Tunnel.example.org:8443/\"\nnames = [\"other.example.org\"]");
        assert!(said.len() == 1 && said[0].contains("public_url") && said[0].contains("add it to names"), "{said:?}");
        for quiet in [
            "public_url = \"https://Tunnel.example.org:8443/\"\nnames = [\"TUNNEL.example.org\"]",
            "public_url = \"http://127.0.0.1:8080\"",
            "public_url = \"http://[::1]:8080\"",
            "public_url = \"http://localhost:8080\"",
            "names = [\"tunnel.example.org\"]",
            "",
        ] {
            assert_eq!(warnings(quiet), Vec::<String>::new(), "{quiet}");
        }
    }

    #[test]
    fn a_wait_for_a_standby_that_cannot_connect_is_named() {
        for wait in ["true", "\"refuse\""] {
            let said = warnings(&format!("[replica]\nwait = {wait}"));
            assert!(said.len() == 1 && said[0].contains("replica.token_file"), "{said:?}");
        }
        let token = "0123456789abcdef0123456789abcdef";
        assert!(warnings(&format!("[replica]\nwait = true\ntoken = \"{token}\"")).is_empty());
        assert!(warnings("[replica]\nwait = true\ntoken_file = \"/x\"").is_empty());
        assert!(warnings("[replica]\nwait = false").is_empty());
    }

    #[test]
    fn a_local_name_that_nobody_could_follow_is_named() {
        for file in ["", "listen = [\"127.0.0.1:8080\", \"[::1]:8080\"]\n"] {
            let said = warnings(&format!("{file}local_name = \"x.local\""));
            assert!(said.len() == 1 && said[0].contains("not announced"), "{said:?}");
        }
        assert!(warnings("listen = [\"0.0.0.0:8080\"]\nlocal_name = \"x.local\"").is_empty());
        assert!(warnings("local_name = \"x.local\"\n[tls]\nlisten = [\"0.0.0.0:8443\"]").is_empty());
    }
}
