//! The booking PIN.

use crate::harness::Site;

#[test]
fn a_pin_is_six_digits_new_each_time_and_stored_as_a_hash() {
    let site = Site::open();
    let jane = site.member("jane");
    let pins: Vec<String> = (0..5).map(|_| site.pin(&jane)).collect();
    assert!(pins.iter().all(|pin| pin.len() == 6 && pin.bytes().all(|b| b.is_ascii_digit())), "{pins:?}");
    assert!(pins.iter().any(|pin| *pin != pins[0]), "{pins:?}");
    assert_eq!(site.holds_text(pins.last().unwrap()), Vec::<String>::new());
}
