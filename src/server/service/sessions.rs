//! Event streams end with the sessions of those who opened them.

use super::HttpService;
use crate::auth::listening;
use std::sync::Arc;
use std::time::Duration;

/// A stream ends within this time after its session.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Ends the streams of ended sessions, for as long as the server runs.
pub(in crate::server) async fn end_streams_with_sessions(service: Arc<HttpService>) {
    let mut beat = tokio::time::interval(SESSION_CHECK_INTERVAL);
    loop {
        beat.tick().await;
        let holders = service.streams.holders();
        if holders.is_empty() {
            continue;
        }
        match service.pool.asker().ask(move |site| listening::ended(site, holders)).await {
            Some(Ok(ended)) => service.streams.end_those_of(&ended),
            Some(Err(failure)) => {
                tracing::warn!(cause = failure.cause(), "the sessions of open streams were not checked")
            }
            None => {}
        }
    }
}
