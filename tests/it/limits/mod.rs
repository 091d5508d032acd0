//! Limits of one person, one partner and one address, which honest use never reaches.

mod messages;
mod partners;
mod recovery;
mod rows;
mod strangers;

use crate::harness::{Reply, Site};
use serde_json::json;
use std::time::Duration;

const RECOVER: &str = "/auth/account-access/recover-password";
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

fn recover(site: &Site, name: &str) -> Reply {
    site.stranger().post(RECOVER, json!({"username": name, "option": "email"}))
}
