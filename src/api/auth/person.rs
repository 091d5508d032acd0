//! What is said of a new member, judged alike wherever it comes from: a form, or a list of the site that was before.

use crate::domain::password::Owner;
use crate::domain::{country, email, phone, username};
use crate::http::fields::{self, Fields, Judged, Unjudged};
use crate::i18n::language::Text;

/// Nobody flies at this age, so the year was mistyped.
const AGE_SECONDS_MAX: i64 = 120 * 366 * 86_400;

#[derive(Debug)]
pub struct Person {
    pub username: String,
    /// Empty where there is none.
    pub email: String,
    pub real_name: String,
    pub screen_name: Option<String>,
    pub phone: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    pub country_code: Option<String>,
    pub tunnel_id: Option<i64>,
    pub dob: Option<i64>,
}

/// The fields, each as it was given.
pub struct Given {
    username: Unjudged<String>,
    email: Unjudged<Option<String>>,
    real_name: Unjudged<String>,
    screen_name: Unjudged<Option<String>>,
    phone: Unjudged<Option<String>>,
    country: Unjudged<Option<String>>,
    country_code: Unjudged<Option<String>>,
    tunnel_id: Unjudged<Option<i64>>,
    dob: Unjudged<Option<i64>>,
}

impl Given {
    /// `moment`: how a moment is written there. A telephone number without a calling code is one of `country_code`, else
    /// of `country`, else of the site's own country (`home`). An address that is needed for an account to be made is not there in one
    /// that came by a social network.
    pub fn read(
        body: &mut Fields,
        now: i64,
        needs_email: bool,
        home: &str,
        moment: impl Fn(&serde_json::Value) -> Result<i64, Text>,
    ) -> Given {
        let username = body.required("username", fields::as_line(username::parse));
        if needs_email && !body.has("email") {
            body.refuse("email", Text::new("field.missing"));
        }
        let country_code = body.optional("country_code", fields::line(8));
        let country = body.optional("country", fields::as_line(country));
        let phone = body.optional("phone", |value| {
            let typed = fields::line(32)(value)?;
            match (country_code.peek(), country.peek()) {
                (Some(code), Some(country)) => {
                    phone::parse(code.as_deref().or(country.as_deref()).unwrap_or(home), &typed)
                }
                _ => Ok(typed),
            }
        });
        Given {
            username,
            email: body.optional("email", fields::as_line(email::parse)),
            real_name: body.required("real_name", fields::line(100)),
            screen_name: body.optional("screen_name", fields::line(60)),
            phone,
            country,
            country_code,
            tunnel_id: body.optional("tunnel", fields::id),
            dob: body.optional("dob", |value| moment(value).and_then(|dob| birth(dob, now))),
        }
    }

    /// Who would set a password here, at the tunnel of this name: what could be read of them.
    pub fn owner<'a>(&'a self, site: &'a str) -> Owner<'a> {
        let text = |field: &'a Unjudged<Option<String>>| field.peek().and_then(Option::as_deref).unwrap_or("");
        Owner {
            username: self.username.peek().map_or("", String::as_str),
            email: text(&self.email),
            real_name: self.real_name.peek().map_or("", String::as_str),
            screen_name: text(&self.screen_name),
            site,
        }
    }

    /// The home tunnel, where one could be read.
    pub fn tunnel_id(&self) -> Option<i64> {
        self.tunnel_id.peek().copied().flatten()
    }

    pub fn get(self, ok: &Judged) -> Person {
        Person {
            username: self.username.get(ok),
            email: self.email.get(ok).unwrap_or_default(),
            real_name: self.real_name.get(ok),
            screen_name: self.screen_name.get(ok),
            phone: self.phone.get(ok),
            country: self.country.get(ok),
            country_code: self.country_code.get(ok),
            tunnel_id: self.tunnel_id.get(ok),
            dob: self.dob.get(ok),
        }
    }
}

/// The two letters of a country.
fn country(text: &str) -> Result<String, Text> {
    country::parse(text).map(str::to_owned).ok_or_else(|| Text::new("field.country"))
}

fn birth(dob: i64, now: i64) -> Result<i64, Text> {
    if dob <= now && dob > now - AGE_SECONDS_MAX { Ok(dob) } else { Err(Text::new("field.dob")) }
}
