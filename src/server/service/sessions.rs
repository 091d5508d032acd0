//! Event streams end with the sessions of those who opened them.

use super::HttpService;
use crate::auth::clerk;
use std::sync::Arc;
use std::time::Duration;

/// A stream ends within this time after its session.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Ends the streams of ended sessions, for as long as the server runs.
pub(in crate::server) async fn end_streams_with_sessions(service: Arc<HttpService>) {
    let mut beat = tokio::time::interval(SESSION_CHECK_INTERVAL);
    loop {
        beat.tick().await;
        let sessions = service.streams.sessions();
        if sessions.is_empty() {
            continue;
        }
        match service.pool.ask(move |site| clerk::ended(site, sessions)).await {
            Some(Ok(ended)) => service.streams.end_those_of(&ended),
            Some(Err(failure)) => {
                tracing::warn!(cause = failure.cause(), "the sessions of open pages were not checked")
            }
            None => {}
        }
    }
}
