//! `tunneldesk init`: a new site.

use super::owner::become_owner;
use super::shell::by_us;
use super::{Global, Trouble, as_json, broken, refused};
use crate::clock::Clock;
use crate::domain::audit::{Detail, Whom};
use crate::domain::local_time;
use crate::site::{Identity, Site};
use crate::store::place::{Place, Unheld};
use crate::store::{Write, audit, tunnels};
use clap::Args;

#[derive(Args)]
pub struct Init {
    /// What the tunnel is called
    #[arg(long)]
    name: String,
    /// The tunnel's number, as partners know it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    tunnel_id: i64,
    /// The city it is in
    #[arg(long, default_value = "")]
    city: String,
    /// The country it is in, by its two letters (ISO 3166)
    #[arg(long, value_parser = country)]
    country: String,
    /// The time zone in which its days begin, like Europe/Zurich; this machine's unless it is named
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
}

pub fn country(text: &str) -> Result<String, String> {
    let sound = text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic());
    if sound { Ok(text.to_ascii_uppercase()) } else { Err("is not two letters, like DE or US".to_owned()) }
}

/// What this machine is set to, where it says so.
fn machine_zone() -> Option<String> {
    let link = std::fs::read_link("/etc/localtime").ok()?;
    local_time::zone(link.to_str()?.split_once("/zoneinfo/")?.1).ok()
}

impl Init {
    pub fn run(self, global: &Global) -> Result<String, Trouble> {
        let zone = match &self.time_zone {
            Some(named) => {
                Some(local_time::zone(named).map_err(|what| refused(format!("--time-zone {named} {what}")))?)
            }
            None => machine_zone(),
        };
        let config = global.checked()?;
        let dir = config.data.clone();
        let by = by_us();
        become_owner(&dir)?;
        let place = Place::make(&dir).map_err(|unheld| match unheld {
            Unheld::InUse => refused(format!("a tunneldesk is using {} already", dir.display())),
            Unheld::Unfit(text) => broken(text),
        })?;
        let identity = Identity { tunnel_id: self.tunnel_id, name: self.name, city: self.city, country: self.country };
        let site = Site::create(&place, config, Clock::machine(0), &identity).map_err(refused)?;
        let record = |tx: &Write| {
            tunnels::set_time_zone(tx, identity.tunnel_id, zone.as_deref().unwrap_or_default())?;
            Ok(audit::insert(tx, &by.who, "site.made", &Whom::Site, &by.origin, &Detail::none())?)
        };
        site.store.write(site.now(), record).map_err(|e| broken(format!("the site takes no writes: {e}")))?;
        site.close();
        if global.json {
            return Ok(as_json(&serde_json::json!({
                "data": dir, "site_id": &*site.site_id, "tunnel_id": site.tunnel_id, "time_zone": zone
            })));
        }
        Ok(format!(
            "{} is ready in {}. Its days begin at midnight in {}.\n\nNext:\n  tunneldesk member add NAME --role admin --email ADDRESS   somebody who may do everything\n  \
             tunneldesk partner add NAME                                a booking partner, with its secret\n  \
             tunneldesk serve                                           the site itself",
            identity.name,
            dir.display(),
            zone.as_deref().unwrap_or("UTC")
        ))
    }
}
