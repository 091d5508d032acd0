//! Answers with events: those that wait for the next one, and the beginning of streams.

use super::log_line::LogLine;
use super::{FinishedCall, HttpService};
use crate::auth::listening::Tickets;
use crate::http::reply::{self, Hears, Listener, TicketHash};
use crate::server::departure;
use crate::server::events;
use crate::server::limiter::Progress;
use crate::server::live::ResponseBody;
use http::Method;
use std::sync::Arc;

impl HttpService {
    /// Awaits the events that an answer is to have.
    pub(super) async fn await_events(
        &self,
        mut finished: FinishedCall,
        line: &LogLine<'_>,
        progress: &Arc<Progress>,
    ) -> FinishedCall {
        match finished.reply.listener.take() {
            Some(Listener { holder, ticket, hears: Hears::Next { audience, choice, after, limit, within } })
                if line.method == Method::GET =>
            {
                let Some((_place, ended)) = self.streams.enter(holder, false) else {
                    return self.too_many(finished, line, ticket);
                };
                finished.reply = tokio::select! {
                    reply = self.hub.next(audience, &choice, after, limit, within) => reply,
                    _ = ended => finished.reply,
                    () = departure::left(progress.clone()) => finished.reply,
                };
            }
            other => finished.reply.listener = other,
        }
        finished
    }

    /// Begins the stream that an answer is to have; a refusal where there is no place for it.
    pub(super) fn begin_stream(
        &self,
        mut finished: FinishedCall,
        line: &LogLine<'_>,
        client: Option<&Arc<Progress>>,
    ) -> (Option<ResponseBody>, FinishedCall) {
        let Some(listener) = finished.reply.listener.take().filter(|_| line.method == Method::GET) else {
            return (None, finished);
        };
        let ticket = listener.ticket;
        match self.streams.begin(&self.hub, listener, client.cloned()) {
            Some(live) => (Some(live), finished),
            None => (None, self.too_many(finished, line, ticket)),
        }
    }

    /// The refusal of one more stream. The ticket that it came with may be used again.
    fn too_many(&self, finished: FinishedCall, line: &LogLine<'_>, ticket: Option<TicketHash>) -> FinishedCall {
        ticket.inspect(|ticket| self.with_site(|site| site.state::<Tickets>().give_back(ticket)));
        let failure = events::too_many();
        let reply = reply::refusal(&failure, line.language, &line.request_id);
        FinishedCall { reply, code: Some(failure.code()), ..finished }
    }
}
