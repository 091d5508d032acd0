//! Relying parties: the names of the site that passkeys are made for, and the exact origins of its pages.
//!
//! A browser offers passkeys over https, or over http at `localhost`, and ties each to the page's host name. So a site has
//! one relying party for each name, and none for a bare address or over plain http.

use crate::config::Config;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::{ListeningPorts, Site};
use webauthn_rs::prelude::{Url, Webauthn, WebauthnBuilder};

const LOCALHOST: &str = "localhost";

/// A relying party.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RelyingParty {
    /// The name, without a port.
    pub id: String,
    /// Exactly as browsers write them.
    pub origins: Vec<String>,
}

/// Every relying party of a site that listens on these ports: `localhost`, each name on the https ports, the host of
/// `public_url` where that is https, and the other names on the port of `public_url`.
pub(super) fn parties(config: &Config, ports: &ListeningPorts) -> Vec<RelyingParty> {
    let mut parties = Vec::new();
    for port in &ports.http {
        add(&mut parties, &format!("http://{LOCALHOST}:{port}"));
    }
    for port in &ports.https {
        for name in &config.names {
            add(&mut parties, &format!("https://{name}:{port}"));
        }
    }
    let Some(public) = config.public_url.as_deref() else { return parties };
    add(&mut parties, public);
    if let Some(port) =
        Url::parse(public).ok().filter(|url| url.scheme() == "https").and_then(|url| url.port_or_known_default())
    {
        for name in &config.names {
            add(&mut parties, &format!("https://{name}:{port}"));
        }
    }
    parties
}

/// Adds an origin to the relying party of its name, unless browsers offer no passkeys there.
fn add(parties: &mut Vec<RelyingParty>, address: &str) {
    let Ok(url) = Url::parse(address) else { return };
    let Some(name) = url.domain() else { return };
    if url.scheme() != "https" && name != LOCALHOST {
        return;
    }
    let origin = url.origin().ascii_serialization();
    match parties.iter_mut().find(|party| party.id == name) {
        Some(party) if party.origins.contains(&origin) => {}
        Some(party) => party.origins.push(origin),
        None => parties.push(RelyingParty { id: name.to_owned(), origins: vec![origin] }),
    }
}

impl RelyingParty {
    /// The relying party of a call: by the `Origin` of a browser, or by the `Host` of an app, which sends no origin.
    pub(crate) fn of(site: &Site, call: &Call) -> Result<RelyingParty, Failure> {
        let parties = parties(&site.config, site.ports());
        let found = match call.header("origin") {
            Some(origin) => parties.into_iter().find(|party| party.origins.iter().any(|one| one == origin)),
            None => call.host().and_then(|host| parties.into_iter().find(|party| party.id == host)),
        };
        found.ok_or_else(Failure::passkeys_need_https)
    }

    /// The relying party of a challenge, if the site still has that name.
    pub(crate) fn find(site: &Site, id: &str) -> Option<RelyingParty> {
        parties(&site.config, site.ports()).into_iter().find(|party| party.id == id)
    }

    /// The WebAuthn checks of this relying party; `name` is the display name in the browser.
    pub(crate) fn webauthn(&self, name: &str) -> Result<Webauthn, Failure> {
        let broken = |what: &str| Failure::broken().because(format_args!("relying party {}: {what}", self.id));
        let mut urls = self.origins.iter().filter_map(|origin| Url::parse(origin).ok());
        let first = urls.next().ok_or_else(|| broken("no origin"))?;
        let builder = WebauthnBuilder::new(&self.id, &first).map_err(|e| broken(&e.to_string()))?;
        let builder = urls.fold(builder, |builder, url| builder.append_allowed_origin(&url));
        builder.rp_name(name).build().map_err(|e| broken(&e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(public_url: Option<&str>, names: &[&str], plain: &[u16]) -> Vec<(String, Vec<String>)> {
        let mut config = Config::defaults();
        config.public_url = public_url.map(str::to_owned);
        config.names = names.iter().map(|name| (*name).to_owned()).collect();
        parties(&config, &ListeningPorts { http: plain.to_vec(), https: Vec::new() })
            .into_iter()
            .map(|party| (party.id, party.origins))
            .collect()
    }

    fn party(id: &str, origins: &[&str]) -> (String, Vec<String>) {
        (id.to_owned(), origins.iter().map(|origin| (*origin).to_owned()).collect())
    }

    #[test]
    fn a_site_without_https_has_passkeys_at_localhost_only() {
        let here = [party("localhost", &["http://localhost:8080", "http://localhost"])];
        for public_url in [None, Some("http://tunnel.example.org"), Some("https://10.0.0.7")] {
            assert_eq!(of(public_url, &["tunnel.example.org"], &[8080, 80])[..1], here, "{public_url:?}");
        }
        assert_eq!(of(None, &["tunnel.example.org"], &[8080, 80]).len(), 1);
    }

    #[test]
    fn every_name_is_a_party_of_its_own_on_the_port_of_the_public_address() {
        let found = of(Some("https://Tunnel.Example.org:443"), &["tunnel.example.org", "kiosk.example.org"], &[]);
        let expected = [
            party("tunnel.example.org", &["https://tunnel.example.org"]),
            party("kiosk.example.org", &["https://kiosk.example.org"]),
        ];
        assert_eq!(found, expected);
        let elsewhere = of(Some("https://tunnel.example.org:8443"), &["kiosk.example.org"], &[]);
        assert_eq!(elsewhere[1], party("kiosk.example.org", &["https://kiosk.example.org:8443"]));
    }

    #[test]
    fn every_name_is_a_party_on_our_own_ports_for_https() {
        let mut config = Config::defaults();
        config.names = vec!["tunnel.example.org".to_owned()];
        let found = parties(&config, &ListeningPorts { http: vec![8080], https: vec![8443] });
        assert_eq!(found[1].id, "tunnel.example.org");
        assert_eq!(found[1].origins, ["https://tunnel.example.org:8443"]);
        assert_eq!(found.len(), 2);
    }
}
