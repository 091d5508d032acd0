//! Events that the processor's own SDK built and signed.

use super::*;
use crate::harness::senders::PAYMENT_SECRET;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python interpreter with the SDK; `tests/install-stripe` is run if it is missing.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = Command::new(root.join("tests/install-stripe")).output().unwrap();
    assert!(installed.status.success(), "tests/install-stripe: {}", String::from_utf8_lossy(&installed.stderr));
    root.join("target/stripe/python/bin/python")
}

#[test]
fn what_the_processor_s_sdk_signs_is_taken_once_in_any_order_and_while_it_is_fresh() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    let address = format!("http://{}/api/payment-webhook", site.address());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/callbacks/processor.py");
    let args = [&address, PAYMENT_SECRET, &site.now().to_string(), &jane.id.to_string()];
    let ran = Command::new(python()).arg(script).args(args).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let told = String::from_utf8(ran.stdout).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answers: Vec<_> =
        told.iter().map(|one| (one["status"].as_i64().unwrap(), one["said"]["verdict"].clone())).collect();
    let wanted = [
        (200, json!("applied")),
        (200, json!("late")),
        (200, json!("repeated")),
        (200, json!("partial_refund")),
        (200, json!("ignored")),
        (401, Value::Null),
        (401, Value::Null),
        (200, json!("applied")),
    ];
    assert_eq!(answers, wanted, "{told:#?}");
    assert_eq!(payments(&jane), [("pi_3SdkExample".to_owned(), "refunded".to_owned())]);
    assert_eq!((paid_until(&jane), site.notices(&jane).len()), (None, 2));
}
