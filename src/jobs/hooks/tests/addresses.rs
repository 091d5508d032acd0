//! Where a webhook may lead, and who answers there.

use super::*;
use crate::ops::tls::authority;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use ureq::config::Config as HttpConfig;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

#[test]
fn no_address_of_the_hall_is_called_but_the_one_that_was_named() {
    let scene = scene();
    let receiver = scene.receiver(|_| OK);
    let port = receiver.address.port();
    for url in [receiver.url.clone(), format!("http://localhost:{port}"), format!("http://[::ffff:127.0.0.1]:{port}")] {
        let refused = scene.register(&url, "").unwrap_err();
        assert!(refused.contains("leads to no address"), "{url}: {refused}");
        assert!(scene.register(&url, "10.0.0.1").is_err(), "another address was named");
    }
    assert!(receiver.all().is_empty(), "it was called");
    let strict = Sender::new(scene.site.for_another_thread());
    assert!(scene.register_by(strict, &receiver.url, HERE).unwrap_err().contains("https"));
    assert!(Target::read(&receiver.url, "", HERE).is_err());
    for odd in [
        "https://a.example:99999/",
        "https://a.example:0/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://127.1/",
    ] {
        assert!(Target::read(odd, "", "").is_err(), "{odd}");
    }
    assert!(Target::read("https://a.example:8443/in", "", "").is_ok());
    scene.register(&receiver.url, HERE).unwrap();
    assert_eq!(receiver.all().len(), 1);
}

/// Answers with one address and then with the other, by turns, as the server of a name that is to lead past the check.
#[derive(Debug)]
struct Rebinding {
    addresses: [SocketAddr; 2],
    asked: Arc<AtomicUsize>,
}

impl Resolver for Rebinding {
    fn resolve(&self, _: &Uri, _: &HttpConfig, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut answer = self.empty();
        answer.push(self.addresses[self.asked.fetch_add(1, Ordering::SeqCst) % 2]);
        Ok(answer)
    }
}

#[test]
fn a_name_that_leads_elsewhere_after_the_check_is_not_followed_there() {
    let scene = scene();
    let receiver = scene.receiver(|_| OK);
    let trap = Receiver::open(&format!("127.0.0.2:{}", receiver.address.port()), scene.site.clock.clone(), |_| OK);
    let asked = Arc::<AtomicUsize>::default();
    let addresses = [receiver.address, trap.address];
    let resolver = Arc::new(Rebinding { addresses, asked: asked.clone() });
    let calls = Calls { resolver, ..scene.calls() };
    let by = || Sender { calls: calls.clone(), ..scene.sender() };
    let url = format!("http://rebinding.example:{}/", receiver.address.port());
    scene.register_by(by(), &url, HERE).unwrap();
    let mut sender = by();
    scene.happen(8);
    for _ in 0..6 {
        sender.round();
        scene.pass(400);
    }
    assert_eq!(trap.all().len(), 0, "it was led past the check");
    let requests = receiver.all().len();
    assert!(requests > 1 && asked.load(Ordering::SeqCst) >= 2 * requests - 1, "each connection asks once: {requests}");
}

#[test]
fn a_certificate_of_the_sites_own_authority_is_taken_where_the_settings_name_it_and_no_strangers() {
    let scene = scene();
    // TLS judges certificates by the machine's clock.
    let (receiver, now) = (scene.receiver(|_| OK), Moment(jiff::Timestamp::now().as_second()));
    let names = [HERE.to_owned()];
    let [own, other] = ["Hall", "Stranger"].map(|name| authority::make(name, &names, now).unwrap());
    let signed = authority::sign("Hall", &own.key, &names, now).unwrap();
    let url = receiver::behind_tls(&receiver, &signed);
    let by = |pem: Option<&str>| Sender {
        calls: Calls { in_clear: false, authority: pem.map(|pem| pem.as_bytes().to_vec()), ..scene.calls() },
        ..scene.sender()
    };
    for refused in [None, Some(other.certificate.as_str())] {
        let said = scene.register_by(by(refused), &url, HERE).unwrap_err();
        assert!(said.contains("certificate of the address is not valid"), "{said}");
    }
    scene.register_by(by(Some(&own.certificate)), &url, HERE).unwrap();
    assert_eq!(receiver.taken().len(), 1);
}
