//! Authenticator apps, and members who have one.

use super::{Caller, PASSWORD, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use totp_rs::{Builder, Secret, Totp};

const STEP_SECONDS: i64 = 30;

#[derive(Clone)]
pub struct Authenticator {
    totp: Totp,
}

impl Authenticator {
    /// An app with the secret that `totp/setup` shows.
    pub fn scan(setup: &Value) -> Authenticator {
        let secret = Secret::try_from_base32(setup["secret"].as_str().expect("a secret is text")).unwrap();
        Authenticator { totp: Builder::new().with_secret(secret).build().unwrap() }
    }

    /// The app's code at this time.
    pub fn code(&self, moment: i64) -> String {
        self.totp.generate(moment as u64).to_string()
    }

    /// The code that is `steps` time steps away from this time.
    pub fn code_away(&self, moment: i64, steps: i64) -> String {
        self.code(moment + steps * STEP_SECONDS)
    }
}

/// A member with an active authenticator, and the results of its setup.
pub struct Protected {
    pub member: Caller,
    pub authenticator: Authenticator,
    pub recovery_codes: Vec<String>,
}

impl Site {
    /// A code that begins with a zero, as one in ten does. Advances the clock until one comes.
    pub fn code_from_zero(&self, authenticator: &Authenticator) -> String {
        loop {
            self.advance(Duration::from_secs(30));
            let code = authenticator.code(self.now());
            if code.starts_with('0') {
                return code;
            }
        }
    }

    /// Sets up an authenticator for a member without one. The setup uses up the code of the previous time step.
    pub fn protect(&self, member: &Caller) -> Protected {
        let mut body = json!({ "username": member.name, "password": PASSWORD, "member_id": member.id });
        let authenticator = Authenticator::scan(&member.post("/auth/login/totp/setup", &body).ok().json());
        body["code"] = authenticator.code_away(self.now(), -1).into();
        // The request carries the member's session, so that the session survives.
        let done = member.ask(Method::POST, "/auth/login/totp/verify-setup").json(&body).send().ok().json();
        assert_eq!(done["status"], true, "{done}");
        let codes = done["recovery_codes"].as_array().expect("recovery codes come in a list");
        let recovery_codes = codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
        Protected { member: member.clone(), authenticator, recovery_codes }
    }
}
