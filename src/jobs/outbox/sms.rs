//! Short messages, posted to an HTTP gateway.

use super::delivery::{Delivery, Trouble, error_line};
use super::placeholders::{code, fill};
use crate::config::Sms;
use crate::ops::agent::agent;
use http::StatusCode;
use std::time::Duration;
use ureq::{Agent, Timeout};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);

pub(super) struct Gateway {
    settings: Sms,
    agent: Agent,
}

impl Gateway {
    pub(super) fn new(settings: &Sms) -> Result<Gateway, String> {
        let agent = agent(settings.authority.as_deref(), "sms.ca_file", ANSWER_TIME_MAX)?;
        Ok(Gateway { settings: settings.clone(), agent })
    }

    pub(super) fn send(&mut self, delivery: &Delivery) -> Result<(), Trouble> {
        let too_long = || Trouble::Refused("this message is too long for a short message".to_owned());
        let text = delivery.message.sms.as_deref().ok_or_else(too_long)?;
        let (content_type, body) = self.body(delivery.recipient, text).map_err(Trouble::Refused)?;
        let mut request = self.agent.post(&self.settings.url).header("content-type", content_type);
        request = request.header("idempotency-key", delivery.id);
        if let Some(token) = self.settings.token.as_ref().filter(|_| !self.settings.body.contains("{token}")) {
            request = request.header("authorization", format!("Bearer {}", token.reveal()));
        }
        match request.send(body) {
            Ok(answer) => judged(answer.status()),
            Err(error) => Err(Trouble::Unreachable { offered: was_offered(&error), error: error_line(error) }),
        }
    }

    /// The body from the settings' template, with each value escaped for JSON or for a form.
    fn body(&self, to: &str, text: &str) -> Result<(&'static str, String), String> {
        let template = &self.settings.body;
        let json = template.starts_with('{');
        let safe = |value: &str| if json { in_json(value) } else { code(value) };
        let body = fill(template, |name| match name {
            "to" => Some(safe(to)),
            "text" => Some(safe(text)),
            "token" => Some(safe(self.settings.token.as_ref().map_or("", |token| token.reveal()))),
            _ => None,
        })?;
        Ok((if json { "application/json" } else { "application/x-www-form-urlencoded" }, body))
    }
}

/// Whether the gateway may have received the message, which must then not be repeated every minute.
fn was_offered(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_) => false,
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => false,
        ureq::Error::Timeout(phase) => !matches!(phase, Timeout::Resolve | Timeout::Connect),
        ureq::Error::Io(error) => !matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable),
        _ => true,
    }
}

fn judged(status: StatusCode) -> Result<(), Trouble> {
    let error = format!("the gateway answered {status}");
    match status {
        status if status.is_success() => Ok(()),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Err(Trouble::Later(error)),
        status if status.is_server_error() => Err(Trouble::Later(error)),
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Err(Trouble::Refused(error)),
        // The gateway rejects the credentials, or is down.
        _ => Err(Trouble::Unreachable { error, offered: false }),
    }
}

/// Escapes a text for a JSON string; the template has the quotes.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(template: &str, text: &str) -> String {
        let settings = Sms { url: String::new(), body: template.to_owned(), token: None, authority: None };
        Gateway::new(&settings).unwrap().body("+41791234567", text).unwrap().1
    }

    #[test]
    fn values_are_escaped_for_the_template() {
        let text = "a\"}\n{to}&to=1";
        let sent: serde_json::Value = serde_json::from_str(&body(r#"{"to": "{to}", "text": "{text}"}"#, text)).unwrap();
        assert_eq!((sent["text"].as_str(), sent["to"].as_str()), (Some(text), Some("+41791234567")));
        assert_eq!(body("to={to}&text={text}", text), "to=%2B41791234567&text=a%22%7D%0A%7Bto%7D%26to%3D1");
    }

    #[test]
    fn the_status_tells_whether_the_message_or_the_gateway_is_at_fault() {
        let kind = |status: u16| judged(StatusCode::from_u16(status).unwrap());
        assert_eq!(kind(202), Ok(()));
        assert!(matches!(kind(503), Err(Trouble::Later(_))) && matches!(kind(429), Err(Trouble::Later(_))));
        assert!(matches!(kind(422), Err(Trouble::Refused(_))));
        assert!(
            matches!(kind(401), Err(Trouble::Unreachable { .. }))
                && matches!(kind(302), Err(Trouble::Unreachable { .. }))
        );
    }
}
