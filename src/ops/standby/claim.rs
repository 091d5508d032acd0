//! Which of two machines with one site is the main one, and what the one tells the other. Each knows its own claim and the
//! greatest one that it has heard of; the machine with the lesser claim refuses writes.

use super::epoch::{self, Claim, FormerMachine};
use crate::site::Site;

/// The greatest claim that this machine knows, and the address of the machine that has it.
pub(crate) fn known(site: &Site) -> (Claim, Option<String>) {
    match epoch::fenced(&site.config.data) {
        Some(fenced) => (fenced.claim, fenced.url),
        None => (epoch::own(&site.config.data).claim(), Some(site.public_url())),
    }
}

/// Takes the greatest claim that another machine knows, and refuses writes where it is greater than this machine's own. Returns
/// whether it is. `url`: the address of the machine that has it.
pub(crate) fn hear(site: &Site, claim: &Claim, by: &str, url: Option<&str>) -> bool {
    let is_greater = *claim > epoch::own(&site.config.data).claim();
    if is_greater {
        epoch::fence(site, claim, by, url);
    }
    is_greater
}

/// Takes the question of a machine that followed this one and was promoted.
pub(super) fn hear_follower(site: &Site, claim: &Claim, url: Option<&str>) {
    let own = epoch::own(&site.config.data);
    if own.epoch == 0 || epoch::fenced(&site.config.data).is_some() {
        return;
    }
    if *claim == own.claim() {
        // It knows this machine's claim: it was replaced.
        let url = own.other.map(|other| other.url).unwrap_or_default();
        note_other(site, &FormerMachine { url, knows: true });
    } else if let Some(url) = url {
        note_other(site, &FormerMachine { url: url.to_owned(), knows: false });
    }
}

/// Takes the answer of the machine that this one followed.
pub(crate) fn hear_main(site: &Site, claim: &Claim, is_replaced: bool, url: &str) {
    if !hear(site, claim, url, Some(url).filter(|_| !is_replaced)) && is_replaced {
        note_other(site, &FormerMachine { url: url.to_owned(), knows: true });
    }
}

/// Notes whether the machine whose place this one has taken knows of it.
fn note_other(site: &Site, other: &FormerMachine) {
    if epoch::own(&site.config.data).other.as_ref() == Some(other) {
        return;
    }
    match other.knows {
        true => tracing::warn!(other = other.url, "the replaced machine knows of the promotion, and writes nothing"),
        false => {
            tracing::warn!(other = other.url, "another machine serves this site, and is told that it was replaced")
        }
    }
    let noted = epoch::change_own(&site.config.data, |own| own.other = Some(other.clone()));
    _ = noted.inspect_err(|e| tracing::warn!(cause = %e, "cannot note whether the replaced machine knows"));
    site.forget_health();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ops::standby::epoch::{OwnEpoch, set_own};
    use crate::ops::tests::new_site;
    use crate::store::Condition;
    use crate::store::engine::data_dir::DataDir;

    #[test]
    fn a_higher_epoch_is_greater_and_of_equal_ones_that_which_is_written_off_site() {
        let of = Claim::of_promotion;
        let never = of(0, true, "");
        let rising = [
            never.clone(),
            of(1, false, "aa"),
            of(1, false, "ab"),
            of(1, true, ""),
            of(1, true, "aa"),
            of(2, false, ""),
        ];
        assert!(rising.is_sorted() && never == Claim::default());
        assert!(of(1, false, "ff") < Claim::off_site(1) && Claim::off_site(1) < of(2, false, "aa"));
    }

    #[test]
    fn of_two_machines_with_one_epoch_the_one_with_the_lesser_claim_stops_and_the_other_notes_it() {
        let dir = tempfile::tempdir().unwrap();
        let site =
            new_site(&DataDir::lock(dir.path()).unwrap(), Config { data: dir.path().to_owned(), ..Config::defaults() });
        let claim = |content: &str| Claim::of_promotion(2, false, content);
        let promoted = |content: &str| {
            let content = content.to_owned();
            set_own(
                dir.path(),
                &OwnEpoch { epoch: 2, unwritten: Some(content.clone()), content, ..OwnEpoch::default() },
            )
            .unwrap();
        };
        promoted("bb");
        hear_follower(&site, &claim("aa"), Some("http://b"));
        let other = || epoch::own(dir.path()).other.unwrap();
        assert_eq!((&*other().url, other().knows), ("http://b", false));
        hear_follower(&site, &claim("bb"), Some("http://here"));
        assert_eq!((&*other().url, other().knows), ("http://b", true));
        assert!(!hear(&site, &claim("bb"), "a test", None) && epoch::fenced(dir.path()).is_none());
        assert_eq!(known(&site).0, claim("bb"));
        hear_main(&site, &claim("cc"), false, "http://a");
        assert_eq!(site.store.writer().condition(), Condition::Replaced);
        let fenced = epoch::fenced(dir.path()).unwrap();
        assert_eq!((fenced.claim, fenced.url.as_deref()), (claim("cc"), Some("http://a")));
        assert_eq!(known(&site), (claim("cc"), Some("http://a".to_owned())));
    }
}
