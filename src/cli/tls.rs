//! `tunneldesk tls …`: the certificate for https on the site's own network.

use super::shell::Shell;
use super::{CommandError, CommandResult, done, refused, shown_moment, text};
use crate::config::host_name;
use crate::ops::tls;
use crate::site::Site;
use crate::store::tables::tls::{Certificate, Kind};
use crate::store::tables::tunnels;
use clap::{Args, Subcommand};
use serde_json::json;
use std::net::IpAddr;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused; 2 failed.")]
pub(super) enum Tls {
    /// Make the site's own authority, and with it a certificate that renews itself
    Init(Init),
    /// Show what the site's own authority is good for, and until when its certificate is
    Status,
    /// Make a new certificate now, from the same authority
    Renew,
    /// Print the authority's certificate (PEM), for devices that others look after
    Authority,
}

#[derive(Args)]
pub(super) struct Init {
    /// A host name under which people reach the site, tunnel.example.org; may be given several times
    #[arg(long = "name", value_name = "NAME", required = true)]
    names: Vec<String>,
    /// A bare address under which they do, 10.0.0.5; may be given several times
    #[arg(long = "address", value_name = "ADDRESS")]
    addresses: Vec<IpAddr>,
    /// Replace the authority that there is: every device must be told to trust the new one
    #[arg(long)]
    replace: bool,
}

impl Tls {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Tls::Init(init) => init.run(site),
            Tls::Status => status(site),
            Tls::Renew => {
                authority(site)?;
                let made = tls::renew(site, site.actor(), site.now())?;
                let words = format!("The site shows a new certificate, good until {}.", shown_moment(made.ends_at));
                done(words, facts(&made))
            }
            Tls::Authority => text(authority(site)?.certificate),
        }
    }
}

impl Init {
    fn run(&self, site: &Shell) -> CommandResult {
        if !self.replace && tls::find(site, Kind::Authority)?.is_some() {
            return Err(refused(
                "the site has an authority already, which devices trust: `tunneldesk tls renew` makes a new certificate, --replace a new authority",
            ));
        }
        let sound = |name: &String| host_name(name).map_err(|what| refused(format!("--name {name} {what}")));
        let mut names = self.names.iter().map(sound).collect::<Result<Vec<_>, _>>()?;
        names.extend(self.addresses.iter().map(ToString::to_string));
        let home = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?;
        let subject = format!("{} tunneldesk authority", home.map_or_else(String::new, |tunnel| tunnel.name));
        let made = tls::init(site, &subject, &names, site.actor())?;
        let first = &names[0];
        let missing: Vec<_> = self
            .names
            .iter()
            .filter(|name| !site.config.names.contains(name))
            .map(|name| format!("\"{name}\""))
            .collect();
        let mut next = String::new();
        if site.config.tls.listen.is_empty() {
            next += "\n  [tls] listen = [\"0.0.0.0:8443\"]   in tunneldesk.toml, and start the site again";
        }
        if !missing.is_empty() {
            next += &format!(
                "\n  names = [{}]   in tunneldesk.toml, or requests for that name are refused",
                missing.join(", ")
            );
        }
        let port = site.config.listen.first().map_or(8080, std::net::SocketAddr::port);
        next += &format!("\n  http://{first}:{port}/ca   once on each device: it says how to trust the site");
        let words = format!(
            "The site has an authority of its own for {}, and a certificate until {}, which renews itself.\n\nNext:{next}",
            names.join(", "),
            shown_moment(made.ends_at)
        );
        done(words, facts(&authority(site)?))
    }
}

fn authority(site: &Site) -> Result<Certificate, CommandError> {
    let none = || {
        refused("the site has no authority of its own: make one with `tunneldesk tls init --name tunnel.example.org`")
    };
    tls::find(site, Kind::Authority)?.ok_or_else(none)
}

fn status(site: &Site) -> CommandResult {
    let authority = authority(site)?;
    let server =
        tls::find(site, Kind::Server)?.ok_or_else(|| refused("there is no certificate: `tunneldesk tls renew`"))?;
    let used = match &site.config.tls {
        config if config.files.is_some() => "not used: the site shows the certificate of tls.certificate_file",
        config if config.listen.is_empty() => "not used yet: tls.listen is empty",
        _ => "in use",
    };
    let words = format!(
        "Authority    {}, until {}\nFingerprint  {}\nCertificate  {}, until {}; {used}",
        authority.subject,
        shown_moment(authority.ends_at),
        tls::fingerprint(&authority.certificate),
        authority.names.join(", "),
        shown_moment(server.ends_at)
    );
    done(words, json!({ "authority": facts(&authority), "certificate": facts(&server) }))
}

fn facts(row: &Certificate) -> serde_json::Value {
    json!({ "names": row.names, "subject": row.subject,
            "fingerprint": tls::fingerprint(&row.certificate), "created_at": row.created_at, "ends_at": row.ends_at,
            "certificate": row.certificate })
}
