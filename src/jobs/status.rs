//! Tells when a part of the site changes its state: what `doctor` would say now and did not say a minute ago.

use crate::app::events;
use crate::app::{self, RankedActor};
use crate::domain::audit::Actor;
use crate::domain::health::State;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::ops::health;
use crate::site::Site;
use crate::store::tables::events::{About, Event};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);

/// The state of each part, as it was told last.
pub(crate) type States = BTreeMap<&'static str, State>;

/// Runs until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    let mut known = States::new();
    while site.rest(stop, INTERVAL) {
        if let Err(failure) = tell_changes(site, &mut known) {
            tracing::warn!(cause = %failure, "a change of the site's state was not told; the next minute tries again");
        }
    }
}

/// Tells the staff of each part whose state is another than before; a part that is seen for the first time has none.
pub(crate) fn tell_changes(site: &Site, known: &mut States) -> Result<(), Failure> {
    let found: States = health::quick(site).iter().map(|fact| (fact.name, fact.state)).collect();
    site.store.release();
    let is_new = |(name, state): &(&&'static str, &State)| known.get(**name).is_some_and(|before| before != *state);
    let changed: Vec<(&str, State)> = found.iter().filter(is_new).map(|(name, state)| (*name, *state)).collect();
    if !changed.is_empty() {
        app::change(site, RankedActor::owner(&Actor::job("status")), Language::default(), |cx| {
            for (part, state) in &changed {
                let data = json!({ "part": part, "state": state.name() }).to_string();
                events::tell(cx.tx, Event::SiteStatus, &About { data: Some(&data), ..About::default() })?;
            }
            Ok(())
        })?;
    }
    *known = found;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ops::tests::new_site;
    use crate::store::data_dir::DataDir;

    #[test]
    fn each_change_of_a_part_is_told_once_to_the_staff() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir, Config { data: dir.path().to_owned(), ..Config::defaults() });
        let told = || -> Vec<String> {
            let sql = "SELECT data ->> 'part' || ' ' || (data ->> 'state') FROM events WHERE type = 'site.status' ORDER BY seq";
            site.store.read(|tx| Ok(tx.list(sql, [])?)).unwrap()
        };
        let mut known = States::new();
        tell_changes(&site, &mut known).unwrap();
        assert_eq!(told(), Vec::<String>::new(), "nothing changed yet");
        let hooks = "INSERT INTO partners (client_id, name, created_at) VALUES ('a', 'A', 1)";
        let hook = "INSERT INTO hooks (partner_id, url, types, address, cursor, created_at, failing_since) SELECT max(partner_id), 'x', '', '', 0, 1, 1 FROM partners";
        for sql in [hooks, hook] {
            site.store.write(site.now(), |tx| Ok(tx.run(sql, [])?)).unwrap();
        }
        for _ in 0..2 {
            site.forget_health();
            tell_changes(&site, &mut known).unwrap();
        }
        assert_eq!(told(), ["hooks warning"]);
        site.store.write(site.now(), |tx| Ok(tx.run("UPDATE hooks SET failing_since = NULL", [])?)).unwrap();
        site.forget_health();
        tell_changes(&site, &mut known).unwrap();
        assert_eq!(told(), ["hooks warning", "hooks ok"]);
    }
}
