//! Health checks for service managers and load balancers.

use crate::auth::member_if_any;
use crate::domain::health::Fact;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::ops::health;
use crate::site::Site;
use crate::store::Condition;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

crate::operation! {
    /// Whether the process answers
    ///
    /// For the watchdog of the machine: it says nothing of the database, which `/readyz` does.
    ALIVE = "alive"
        .prints("text/plain", "alive\n", "It does.")
}

pub(crate) fn alive(_: &Site, _: &Call) -> Answer {
    Ok(reply::text(StatusCode::OK, "alive\n"))
}

crate::operation! {
    /// Whether the site can read and write
    ///
    /// Also whether its clock can be right.
    READY = "ready"
        .prints("text/plain", "ready\n", "It can.")
        .also(|| json!({
            "parameters": [
                {
                    "name": "verbose", "in": "query",
                    "description": "With it (`?verbose`) a line for each part of the site follows: `ok`, `warning` or `alarm`, and its name.",
                    "allowEmptyValue": true, "schema": { "type": "string" }, "example": "1",
                },
            ],
            "responses": {
                "503": {
                    "description": "It cannot. With `?verbose` why, and the lines, as text.",
                    "headers": {
                        "x-request-id": { "$ref": "#/components/headers/RequestId" },
                        "Retry-After": { "$ref": "#/components/headers/RetryAfter" },
                    },
                    "content": {
                        "application/json": {
                            "schema": { "$ref": "#/components/schemas/Refusal" },
                            "example": {
                                "status": false, "code": "overloaded",
                                "message": "The site is busy. Try again in a moment.",
                                "request_id": "5d41402abc4b2a76",
                            },
                        },
                        "text/plain": {
                            "schema": { "type": "string", "minLength": 1 },
                            "example": "store_damaged\nalarm store\n",
                        },
                    },
                },
                "507": {
                    "description": "The disk is full. With `?verbose` the lines too, as text.",
                    "headers": { "x-request-id": { "$ref": "#/components/headers/RequestId" } },
                    "content": {
                        "application/json": {
                            "schema": { "$ref": "#/components/schemas/Refusal" },
                            "example": {
                                "status": false, "code": "disk_full",
                                "message": "The site's disk is full. Reading goes on; tell the technician.",
                                "request_id": "5d41402abc4b2a76",
                            },
                        },
                        "text/plain": {
                            "schema": { "type": "string", "minLength": 1 },
                            "example": "disk_full\nalarm store\n",
                        },
                    },
                },
            },
        }))
}

pub(crate) fn ready(site: &Site, call: &Call) -> Answer {
    let readiness = readiness(site);
    if !call.query.split('&').any(|field| field.split('=').next() == Some("verbose")) {
        return readiness.map(|ready| reply::text(StatusCode::OK, ready));
    }
    // The details could help an attacker, so only the machine itself and staff get them.
    if !call.peer.is_loopback() && !member_if_any(site, call)?.is_some_and(|member| member.role().is_staff()) {
        return readiness.map(|ready| reply::text(StatusCode::OK, ready));
    }
    let line = |fact: &Fact| format!("{} {}\n", fact.state.name(), fact.name);
    let lines: String = health::quick(site).iter().map(line).collect();
    let reply = match readiness {
        Ok(ready) => reply::text(StatusCode::OK, format!("{ready}{lines}")),
        Err(failure) => {
            let reply = reply::text(failure.status(), format!("{}\n{lines}", failure.code()));
            let wait = failure.retry_after_seconds().map(HeaderValue::from);
            wait.into_iter().fold(reply, |reply, seconds| reply.with_header(header::RETRY_AFTER, seconds))
        }
    };
    Ok(reply.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

fn readiness(site: &Site) -> Result<&'static str, Failure> {
    match site.store.writer().condition() {
        Condition::Healthy => {}
        Condition::Full => return Err(Failure::disk_full().because("the disk is full")),
        Condition::Suspect => return Err(Failure::overloaded().because("the file is looked through")),
        Condition::Damaged => return Err(Failure::store_damaged().because("the file is damaged")),
        Condition::Replaced => return Err(Failure::replaced().because("another machine has taken this one's place")),
        Condition::Stopped => return Err(Failure::store_stopped().because("a flush of the disk failed")),
        Condition::ReadOnly => return Err(Failure::read_only().because("the file system takes no writes")),
    }
    if site.store.writer().hangs_for().is_some() {
        return Err(Failure::disk_hangs().because("a write waits for the disk"));
    }
    site.store.writer().capture.refusal().map_or(Ok(()), Err)?;
    site.store.read(|tx| Ok(crate::store::tables::tunnels::find_site(tx)?))?;
    Ok(match site.clock.is_suspect() {
        true => "ready; the clock is behind what this file has seen: set it\n",
        false => "ready\n",
    })
}
