//! Rendering of messages: a template in the recipient's language is filled with values, as plain text, as HTML and as
//! an SMS. All three come from one text, so they cannot differ.
//!
//! A template (`assets/mail/<language>/<name>.txt`) begins with `Subject:` and optionally `Sms:`, followed by
//! paragraphs. A paragraph that is only a placeholder for a code is set large; `[words]({link})` becomes a button; text
//! by another person is quoted with its line breaks. Two further header lines are optional: `Reply-To:` sets the
//! address for replies, and `Closing:` names another closing text.

use super::placeholders::{code, fill, one_line};
use crate::app::notice;
use crate::documents::markup::escape;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::i18n::language::{Language, Text, with_french_spaces};
use crate::moment::Moment;
use crate::store::tables::outbox::Channel;
use serde_json::Value;

const LAYOUT: &str = include_str!("../../../assets/mail/letter.html");
const CODES: [&str; 2] = ["{passcode}", "{token}"];
const QUOTATION: &str = "{message}";

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        /// Every template, in the order of [`Language`].
        const TEMPLATES: &[(&str, [&str; 5])] = &[$(($name, [
            include_str!(concat!("../../../assets/mail/en/", $name, ".txt")),
            include_str!(concat!("../../../assets/mail/de/", $name, ".txt")),
            include_str!(concat!("../../../assets/mail/fr/", $name, ".txt")),
            include_str!(concat!("../../../assets/mail/es/", $name, ".txt")),
            include_str!(concat!("../../../assets/mail/it/", $name, ".txt")),
        ])),*];
    };
}

templates!(
    "passcode_sign_in",
    "passcode_recover_password",
    "passcode_recover_username",
    "passcode_verify_email",
    "passcode_verify_phone",
    "confirm_email",
    "email_taken",
    "security_event",
    "security_event_undo",
    "contact",
    "notice",
    "receipt",
    "receipt_free",
    "welcome",
    "invitation",
    "test",
);

/// A rendered message.
#[derive(Debug)]
pub struct RenderedMessage {
    /// The subject, in one line.
    pub subject: String,
    /// The plain text, for mail programs without HTML.
    pub text: String,
    /// A complete HTML document.
    pub html: String,
    /// `None`: the message is too long for an SMS.
    pub sms: Option<String>,
    /// The address for replies, where it is not the site's address.
    pub reply_to: Option<String>,
}

impl RenderedMessage {
    /// The text for a channel.
    pub fn text_for(&self, channel: Channel) -> &str {
        match &self.sms {
            Some(sms) if channel == Channel::Sms => sms,
            _ => &self.text,
        }
    }
}

/// The names of all templates.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(name, _)| *name)
}

/// The values that every template may use.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The tunnel's name.
    pub site: &'a str,
    /// The base of links, without a trailing slash.
    pub url: &'a str,
    /// The time zone of dates.
    pub zone: &'a TimeZone,
    /// German as the site spells it; the templates have no ß.
    pub german: Language,
}

/// Renders a message. The error names what is missing, and contains none of the values.
pub fn render(
    template: &str,
    language: &str,
    context: &Context,
    values: &Value,
    written_at: Moment,
) -> Result<RenderedMessage, String> {
    let language = Language::find(language).unwrap_or_default();
    let template_of = language as usize;
    let language = language.spelt_as(context.german);
    let found = TEMPLATES.iter().find(|(name, _)| *name == template);
    let (_, texts) = found.ok_or_else(|| format!("there is no template {template}"))?;
    let (head, body) = texts[template_of].split_once("\n\n").ok_or("the template has no body")?;
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let placeholders = Placeholders { context, values, language, written_at };
    // Not in a short message, which a letter beyond its alphabet makes two.
    let spaced = |text: &str| match language {
        Language::French => with_french_spaces(text),
        _ => text.to_owned(),
    };
    let body = spaced(body);
    let plain = |pattern: &str| fill(pattern, |name| placeholders.find(name).map(|value| one_line(&value)));
    let subject = plain(&spaced(header("Subject:").ok_or("the template has no subject")?))?;
    let closing =
        language.say(&Text::new(header("Closing:").unwrap_or("mail.closing")).with("site", one_line(context.site)));
    let paragraphs: Vec<&str> = body.trim().split("\n\n").collect();
    let in_text = |p: &&str| if *p == QUOTATION { placeholders.quotation() } else { plain(&as_text(p)) };
    let text = paragraphs.iter().map(in_text).collect::<Result<Vec<_>, _>>()?.join("\n\n");
    let html = paragraphs.iter().map(|p| as_html(p, &placeholders)).collect::<Result<String, _>>()?;
    Ok(RenderedMessage {
        html: in_layout(language, &subject, context, &html, &closing),
        text: format!("{text}\n\n-- \n{closing}\n"),
        sms: header("Sms:").map(plain).transpose()?,
        reply_to: header("Reply-To:").map(plain).transpose()?,
        subject,
    })
}

/// The values of all placeholders.
struct Placeholders<'a> {
    context: &'a Context<'a>,
    values: &'a Value,
    language: Language,
    written_at: Moment,
}

impl Placeholders<'_> {
    fn find(&self, name: &str) -> Option<String> {
        match name {
            "site" => Some(self.context.site.to_owned()),
            "link" => Some(format!("{}/confirm?token={}", self.context.url, code(&self.value("token")?))),
            "claim" => Some(format!("{}/claim?code={}", self.context.url, code(&self.value("token")?))),
            "undo" => Some(format!("{}/undo?token={}", self.context.url, code(&self.value("token")?))),
            "recover" => Some(format!("{}/recover", self.context.url)),
            "event" => Some(self.event()),
            "what_happened" => Some(capitalised(&self.event())),
            "time" => Some(when::moment(self.language, self.context.zone, self.written_at)),
            "notice" => Some(notice::text(
                self.language,
                self.context.zone,
                &self.value("subject")?,
                self.values.get("detail")?,
            )),
            "headline" => Some(notice::headline(
                self.language,
                self.context.zone,
                &self.value("subject")?,
                self.values.get("detail")?,
            )),
            _ => self.value(name),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        match self.values.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The text of another person, quoted with `>` as in mails.
    fn quotation(&self) -> Result<String, String> {
        Ok(self.lines()?.iter().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n"))
    }

    fn quotation_in_html(&self) -> Result<String, String> {
        let lines: Vec<String> = self.lines()?.iter().map(|line| escape(line)).collect();
        Ok(format!(
            "<p class=\"text quote\" style=\"margin:0 0 20px 0;padding:2px 0 2px 14px;border-left:3px solid #0b5c92;font-size:16px;\
             line-height:24px;color:#1c2733;overflow-wrap:anywhere\">{}</p>\n",
            lines.join("<br>")
        ))
    }

    fn lines(&self) -> Result<Vec<String>, String> {
        let written = self.value("message").ok_or("the template wants a value for message")?;
        Ok(written.lines().map(one_line).collect())
    }

    /// The text of a security event; a general text for an unknown event.
    fn event(&self) -> String {
        let texts = self.language.texts();
        let words = |event: &str| texts.get(&format!("mail.event.{event}")).cloned();
        words(&self.value("event").unwrap_or_default()).or_else(|| words("other")).unwrap_or_default()
    }
}

/// The text with a capital first letter.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The words and the target of `[words](target)`.
fn button(paragraph: &str) -> Option<(&str, &str)> {
    paragraph.strip_prefix('[')?.strip_suffix(')')?.split_once("](")
}

fn as_text(paragraph: &str) -> String {
    match button(paragraph) {
        Some((words, target)) => format!("{words}:\n{target}"),
        None if CODES.contains(&paragraph) => format!("    {paragraph}"),
        None => paragraph.replace('\n', " "),
    }
}

fn as_html(paragraph: &str, placeholders: &Placeholders) -> Result<String, String> {
    let filled = |pattern: &str| fill(pattern, |name| placeholders.find(name).map(|value| escape(&one_line(&value))));
    Ok(match button(paragraph) {
        None if paragraph == QUOTATION => placeholders.quotation_in_html()?,
        Some((words, target)) => format!(
            "<p style=\"margin:0 0 20px 0\"><a href=\"{}\" style=\"display:inline-block;background:#0b5c92;color:#ffffff;\
             text-decoration:none;font-size:16px;line-height:20px;font-weight:600;padding:13px 22px;border-radius:8px\">{}</a></p>\n",
            filled(target)?,
            escape(words)
        ),
        None if CODES.contains(&paragraph) => code_in_html(&filled(paragraph)?),
        None => format!(
            "<p class=\"text\" style=\"margin:0 0 20px 0;font-size:16px;line-height:24px;color:#1c2733\">{}</p>\n",
            filled(paragraph)?
        ),
    })
}

/// A code in HTML: large where it is short (six digits), small where it is a long token.
fn code_in_html(code: &str) -> String {
    let short = code.chars().count() <= 12;
    let size =
        if short { "font-size:32px;line-height:40px;letter-spacing:6px" } else { "font-size:14px;line-height:20px" };
    format!(
        "<p class=\"code\" style=\"margin:0 0 20px 0;padding:14px 18px;background:#f3f6f9;border:1px solid #d9e0e6;\
         border-radius:8px;color:#10202e;font-family:ui-monospace,Menlo,Consolas,monospace;{size};font-weight:600;\
         text-align:center;word-break:break-all\">{code}</p>\n"
    )
}

fn in_layout(language: Language, subject: &str, context: &Context, body: &str, closing: &str) -> String {
    let part = |name: &str| match name {
        "language" => Some(language.tag().to_owned()),
        "subject" => Some(escape(subject)),
        "site" => Some(escape(&one_line(context.site))),
        "body" => Some(body.to_owned()),
        "closing" => Some(escape(closing)),
        _ => None,
    };
    fill(LAYOUT, part).expect("the layout has these placeholders only")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::passcode::Use;
    use serde_json::json;

    const CONTEXT: Context = Context {
        site: "Windwerk & <Söhne>",
        url: "https://tunnel.example.org",
        zone: &TimeZone::UTC,
        german: Language::German,
    };

    fn rendered(template: &str, language: &str, values: &Value) -> RenderedMessage {
        render(template, language, &CONTEXT, values, Moment(1_780_000_000)).unwrap()
    }

    #[test]
    fn every_template_renders_in_every_language() {
        let values = json!({
            "passcode": "012345", "token": "a-token", "event": "password_changed", "name": "Ann", "email": "ann@example.com",
            "message": "Hello", "country": "CH", "enquiry": "A party", "member": "7", "subject": "notice.currency_training",
            "detail": { "programme": "Coach", "renewal_date": 1_800_000_000 },
            "number": 12, "amount": "30.00 CHF", "kind": "Cash", "until": "3 May 2027", "day": "3 May 2026, 14:05", "days": 7,
        });
        for (name, texts) in TEMPLATES {
            for language in Language::ALL {
                let message = rendered(name, language.tag(), &values);
                assert!(message.subject.contains(CONTEXT.site), "{name} {language:?}");
                assert!(!message.text.contains('{') && !message.text.contains("mail."), "{name}: {}", message.text);
                let codes = |text: &str| {
                    [
                        "{passcode}",
                        "{token}",
                        "{link}",
                        "{recover}",
                        "{undo}",
                        "{claim}",
                        "{event}",
                        "{what_happened}",
                        "{message}",
                        "{email}",
                        "{notice}",
                    ]
                    .map(|c| text.matches(c).count())
                };
                assert_eq!(codes(texts[language as usize]), codes(texts[0]), "{name} {language:?}");
                assert!(message.sms.is_none_or(|sms| sms.chars().count() <= 160 || *name == "confirm_email"), "{name}");
            }
        }
    }

    #[test]
    fn every_use_of_a_passcode_has_a_template() {
        for usage in [Use::SignIn, Use::RecoverPassword, Use::RecoverUsername, Use::VerifyEmail, Use::VerifyPhone] {
            let message = rendered(usage.name(), "de", &json!({"passcode": "012345"}));
            assert!(message.text.contains("\n    012345\n") && message.html.contains(">012345</p>"), "{message:?}");
            assert!(message.sms.unwrap().contains("012345"));
        }
    }

    #[test]
    fn values_are_escaped_and_cannot_add_lines_places_or_markup() {
        let token = "x\r\nBcc: a@b.example\n\n<script>{site}\"&";
        let message = rendered("confirm_email", "fr", &json!({ "token": token }));
        assert!(
            message.html.contains("Windwerk &amp; &lt;Söhne&gt;") && !message.html.contains("<script"),
            "{}",
            message.html
        );
        assert!(!message.text.contains("\nBcc") && message.text.contains("<script>{site}"), "{}", message.text);
        assert!(message.text.contains("https://tunnel.example.org/confirm?token=x%0D%0ABcc"), "{}", message.text);
        let subject = render("email_taken", "en", &Context { site: "A\r\nBcc: x", ..CONTEXT }, &json!({}), Moment(0))
            .unwrap()
            .subject;
        assert!(!subject.contains(['\r', '\n']), "{subject:?}");
    }

    #[test]
    fn text_of_another_person_is_quoted_line_by_line_and_has_its_reply_address() {
        let values = json!({
            "name": "Ann\r\nBcc: a@b.example", "email": "ann@example.com", "country": "–", "enquiry": "<b>", "member": "–",
            "message": "Dear desk,\n\n<script>alert(1)</script>\n{name} & .\n.\r\nBcc: a@b.example",
        });
        for language in Language::ALL {
            let message = rendered("contact", language.tag(), &values);
            assert_eq!(message.reply_to.as_deref(), Some("ann@example.com"));
            assert!(!message.subject.contains(['\r', '\n']) && message.subject.contains("Ann"), "{}", message.subject);
            let quoted = "\n\n> Dear desk,\n>\n> <script>alert(1)</script>\n> {name} & .\n> .\n> Bcc: a@b.example\n\n";
            assert!(message.text.contains(quoted), "{}", message.text);
            assert!(message.html.contains("Dear desk,<br><br>&lt;script&gt;") && !message.html.contains("<script"));
            assert!(message.html.contains("&lt;b&gt;"), "{}", message.html);
            let own = language.say(&Text::new("mail.closing").with("site", CONTEXT.site));
            assert!(!message.text.contains(&own), "nobody has an account because of it: {}", message.text);
        }
        assert_eq!(rendered("email_taken", "en", &json!({})).reply_to, None);
    }

    #[test]
    fn missing_values_are_named_and_an_unknown_language_is_english() {
        let missing = render("passcode_sign_in", "de", &CONTEXT, &json!({}), Moment(0)).unwrap_err();
        assert!(missing.contains("passcode"), "{missing}");
        assert!(render("party", "de", &CONTEXT, &json!({}), Moment(0)).is_err());
        assert!(rendered("email_taken", "xx", &json!({})).text.contains("Somebody just tried"));
        let other = rendered("security_event", "en", &json!({"event": "a new kind"}));
        assert!(other.subject.ends_with("your sign-in settings were changed"), "{}", other.subject);
    }

    #[test]
    fn french_marks_have_a_narrow_space_and_german_mails_no_sharp_s() {
        let mail = render("passcode_sign_in", "fr", &CONTEXT, &json!({ "passcode": "012345" }), Moment(0)).unwrap();
        assert!(mail.text.contains("\u{202f}:") && !mail.text.contains(" :"), "{}", mail.text);
        assert!(mail.html.contains("\u{202f}:"), "{}", mail.html);
        assert!(mail.sms.is_some_and(|sms| !sms.contains('\u{202f}')));
        for (name, texts) in TEMPLATES {
            assert!(!texts[Language::German as usize].contains('ß'), "{name}: one text is for all countries");
        }
    }
}
