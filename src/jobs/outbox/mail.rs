//! Mails over SMTP. One connection serves all waiting mails.

use super::delivery::{Delivery, Trouble, error_line};
use crate::bounded::{self, Exchange};
use crate::clock::system_time;
use crate::config::{Mail, Security};
use lettre::address::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart};
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{Certificate, CertificateStore, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, MailBodyParameter, MailParameter};
use lettre::transport::smtp::{Error, response::Response};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The greatest time for each reply of the server.
const REPLY_TIME_MAX: Duration = Duration::from_secs(20);
/// The greatest time for all of the conversation about one mail.
const CONVERSATION_TIME_MAX: Duration = Duration::from_secs(60);
/// The most that a server may say about one mail, with its certificates.
const CONVERSATION_BYTES_MAX: u64 = 256 * 1024;
/// The reply code of a server that shuts down.
const SHUTTING_DOWN: u16 = 421;

pub(super) struct Mailer {
    settings: Mail,
    from: Mailbox,
    hello: ClientId,
    tls: Option<TlsParameters>,
    connection: Option<SmtpConnection>,
    /// The limits of the conversation about the mail that is being sent.
    exchange: Exchange,
    tagged: bool,
}

impl Mailer {
    /// `name`: the sender's name, where the settings have only an address. `tagged`: mails carry their id in a header
    /// for the provider's events. The error is one line.
    pub(super) fn new(settings: &Mail, name: &str, tagged: bool) -> Result<Mailer, String> {
        let mut from = settings.from.clone();
        from.email = in_ascii(from.email);
        from.name.get_or_insert_with(|| super::placeholders::one_line(name));
        let tls = match settings.security {
            Security::None => None,
            _ => Some(tls(settings).map_err(|e| format!("mail.ca_file cannot be used: {e}"))?),
        };
        // The name of a domain goes over the wire in ASCII (RFC 5321 2.3.5), also to servers without SMTPUTF8.
        let hello = ClientId::Domain(from.email.domain().to_owned());
        let exchange = Exchange::begin(CONVERSATION_TIME_MAX, CONVERSATION_BYTES_MAX);
        Ok(Mailer { settings: settings.clone(), from, hello, tls, connection: None, exchange, tagged })
    }

    pub(super) fn send(&mut self, delivery: &Delivery) -> Result<(), Trouble> {
        let to = address(delivery.recipient)?;
        let message = self.compose(delivery, to.clone())?;
        self.exchange.begin_next(CONVERSATION_TIME_MAX, CONVERSATION_BYTES_MAX);
        let mut connection = match self.connection.take().and_then(alive) {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let offered = offer(&mut connection, &self.from.email, to, &message);
        // After a refusal and RSET the connection serves the next message; after any other failure its state is unknown.
        let reusable = match &offered {
            Ok(()) => true,
            Err(Trouble::Unreachable { .. }) => false,
            Err(_) => connection.command(Rset).is_ok(),
        };
        if reusable {
            self.connection = Some(connection);
        }
        offered
    }

    pub(super) fn disconnect(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            connection.abort();
        }
    }

    /// Connects by way of a relay, because the library reads a line of any length for as long as bytes come.
    fn connect(&mut self) -> Result<SmtpConnection, Trouble> {
        let lost = |e: std::io::Error| Trouble::Unreachable {
            error: error_line(format!("{}:{} is not reached: {e}", self.settings.host, self.settings.port)),
            offered: false,
        };
        let server = dial(&self.settings.host, self.settings.port).map_err(lost)?;
        // A relay has the exchange of its connection: one whose message waits no longer ends by itself.
        self.exchange = Exchange::begin(CONVERSATION_TIME_MAX, CONVERSATION_BYTES_MAX);
        let relay = bounded::relay(server, self.exchange.clone()).map_err(lost)?;
        self.greet(relay).map_err(|e| unreachable(e, false))
    }

    fn greet(&self, relay: SocketAddr) -> Result<SmtpConnection, Error> {
        let wrapped = self.tls.as_ref().filter(|_| self.settings.security == Security::Tls);
        let mut connection = SmtpConnection::connect(relay, Some(REPLY_TIME_MAX), &self.hello, wrapped, None)?;
        if let (Security::StartTls, Some(tls)) = (self.settings.security, &self.tls) {
            connection.starttls(tls, &self.hello)?;
        }
        if let Some((username, password)) = &self.settings.account {
            let credentials = Credentials::new(username.clone(), password.reveal().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials)?;
        }
        Ok(connection)
    }

    fn compose(&self, delivery: &Delivery, to: Address) -> Result<Vec<u8>, Trouble> {
        let rendered = delivery.message;
        let mut builder = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&rendered.subject)
            .date(system_time(delivery.written_at))
            .message_id(Some(format!("<{}>", message_id(&self.from, delivery.id))))
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ));
        let reply_to = rendered
            .reply_to
            .as_deref()
            .and_then(mailbox)
            .or_else(|| self.settings.reply_to.clone().map(|to| Mailbox::new(to.name, in_ascii(to.email))));
        if let Some(reply_to) = reply_to {
            builder = builder.reply_to(reply_to);
        }
        if self.tagged {
            // Mandrill removes this header, and returns its content with each event about the mail.
            let tag = format!("{{\"message_id\": \"{}\"}}", message_id(&self.from, delivery.id));
            builder = builder.raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("X-MC-Metadata"), tag));
        }
        let parts = MultiPart::alternative_plain_html(rendered.text.clone(), rendered.html.clone());
        let message = builder.multipart(parts).map_err(|e| Trouble::Refused(error_line(e)))?;
        Ok(message.formatted())
    }

    /// The id of a message in the provider's events.
    pub(super) fn provider_id(&self, id: &str) -> String {
        message_id(&self.from, id)
    }
}

fn dial(host: &str, port: u16) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, REPLY_TIME_MAX) {
            Ok(stream) => return Ok(stream),
            Err(e) => last = e,
        }
    }
    Err(last)
}

fn message_id(from: &Mailbox, id: &str) -> String {
    format!("{id}@{}", from.email.domain())
}

fn tls(settings: &Mail) -> Result<TlsParameters, Error> {
    let builder = TlsParameters::builder(settings.host.clone());
    let Some(pem) = &settings.authority else { return builder.build_rustls() };
    let trusted = builder.certificate_store(CertificateStore::None);
    trusted.add_root_certificate(Certificate::from_pem(pem)?).build_rustls()
}

/// Parses an address, and converts its domain to ASCII.
/// The address with its domain as A-labels (RFC 5890).
fn in_ascii(address: Address) -> Address {
    let domain = idna::domain_to_ascii(address.domain()).ok();
    domain.and_then(|domain| Address::new(address.user(), domain).ok()).unwrap_or(address)
}

fn address(text: &str) -> Result<Address, Trouble> {
    let refused = || Trouble::Refused("the address is not one that mail can go to".to_owned());
    let (user, domain) = text.rsplit_once('@').ok_or_else(refused)?;
    let domain = idna::domain_to_ascii(domain).map_err(|_| refused())?;
    Address::new(user, domain).map_err(|_| refused())
}

/// An address for a header. `None` where the part before the `@` is not ASCII, because old mail servers refuse the whole
/// message; the text has the address too.
fn mailbox(text: &str) -> Option<Mailbox> {
    let address = address(text).ok().filter(|address| address.user().is_ascii())?;
    Some(Mailbox::new(None, address))
}

fn alive(mut connection: SmtpConnection) -> Option<SmtpConnection> {
    connection.test_connected().then_some(connection)
}

/// Sends a message. A server may refuse the recipient or the message for good; a refused sender is an error of the
/// settings.
fn offer(connection: &mut SmtpConnection, from: &Address, to: Address, message: &[u8]) -> Result<(), Trouble> {
    let mut parameters = Vec::new();
    if !message.is_ascii() || !AsRef::<str>::as_ref(&to).is_ascii() {
        parameters.extend([MailParameter::SmtpUtfEight, MailParameter::Body(MailBodyParameter::EightBitMime)]);
    }
    let asks_much = !parameters.is_empty();
    let sender = connection.command(MailFrom::new(Some(from.clone()), parameters));
    sender.map_err(|e| if asks_much { about_message(e) } else { about_sender(e) })?;
    let said = |outcome: Result<Response, Error>| outcome.map(drop).map_err(about_message);
    said(connection.command(Rcpt::new(to, Vec::new())))?;
    said(connection.command(Data))?;
    said(connection.message(message))
}

fn about_sender(error: Error) -> Trouble {
    if error.is_transient() { about_message(error) } else { unreachable(error, false) }
}

fn about_message(error: Error) -> Trouble {
    match error.status() {
        Some(code) if u16::from(code) == SHUTTING_DOWN => unreachable(error, false),
        Some(_) if error.is_permanent() => Trouble::Refused(error_line(error)),
        Some(_) => Trouble::Later(error_line(error)),
        None => unreachable(error, true),
    }
}

fn unreachable(error: Error, offered: bool) -> Trouble {
    Trouble::Unreachable { error: error_line(error), offered }
}
