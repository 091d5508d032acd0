//! What *To do* says of a site that is not ready: no text of a required waiver, no signer, no name in the network.

use super::Clerk;
use crate::harness::Site;

#[test]
fn today_says_what_a_new_site_lacks_until_it_is_there() {
    const LACKS: [&str; 3] = ["no text is published", "Nobody is appointed to sign", "no name in the network"];
    let new = Site::open_with(|config| config.waiver.required = true);
    let ready = Site::open_with(|config| config.names = vec!["tunnel.example.org".to_owned()]);
    ready.signer("ines", &[("Instructor", "4")]);
    for (site, lacks) in [(&new, true), (&ready, false)] {
        let page = Clerk::at(site, &site.admin()).get("/desk").page();
        for one in LACKS {
            assert_eq!(page.contains(one), lacks, "{one}: {page}");
        }
    }
}
