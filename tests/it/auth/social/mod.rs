//! Sign-in by a social network.

mod issuer;
mod linking;
mod step;
mod tokens;

use crate::harness::{Reply, Site};
use serde_json::{Value, json};

/// Sends the sign-in request of the app.
fn send(site: &Site, network: &str, params: &Value) -> Reply {
    let body = json!({ "params": params.to_string(), "socialType": network, "user": "" });
    site.stranger().post("/auth/social", body).ok()
}

fn by_google(site: &Site, token: &str) -> Value {
    send(site, "google", &json!({ "id_token": token })).json()
}

/// The number of the member whom the answer signs in.
#[track_caller]
fn member(answer: &Value) -> i64 {
    assert_eq!(answer["status"], true, "{answer}");
    assert!(answer["token"].as_str().is_some_and(|token| token.len() > 20), "{answer}");
    answer["member_id"].as_i64().unwrap()
}

#[track_caller]
fn is_refused(answer: &Value) -> String {
    let said = (answer["status"].as_bool(), answer["token"].as_str(), answer["member_id"].as_i64());
    assert_eq!(said, (Some(false), Some(""), Some(0)), "{answer}");
    answer["message"].as_str().unwrap().to_owned()
}
