//! What is said of a new member, judged alike wherever it comes from: a form, or a list of the site that was before.

use crate::domain::{email, phone, username};
use crate::fields::{self, Fields, Judged, Unjudged};
use crate::language::Text;

/// Nobody flies at this age, so the year was mistyped.
const AGE_SECONDS_MAX: i64 = 120 * 366 * 86_400;

#[derive(Debug)]
pub struct Person {
    pub username: String,
    /// Empty where there is none.
    pub email: String,
    pub real_name: String,
    pub screen_name: Option<String>,
    /// As it was typed, until [`Person::settle_phone`].
    pub phone: Option<String>,
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
    /// `moment`: how a moment is written there. An address that is needed for an account to be made is not there in one
    /// that came by a social network.
    pub fn read(
        body: &mut Fields,
        now: i64,
        needs_email: bool,
        moment: impl Fn(&serde_json::Value) -> Result<i64, Text>,
    ) -> Given {
        let username = body.required("username", fields::as_line(username::parse));
        if needs_email && !body.has("email") {
            body.refuse("email", Text::new("field.missing"));
        }
        Given {
            username,
            email: body.optional("email", fields::as_line(email::parse)),
            real_name: body.required("real_name", fields::line(100)),
            screen_name: body.optional("screen_name", fields::line(60)),
            phone: body.optional("phone", fields::line(32)),
            country: body.optional("country", fields::line(60)),
            country_code: body.optional("country_code", fields::line(8)),
            tunnel_id: body.optional("tunnel", fields::id),
            dob: body.optional("dob", |value| moment(value).and_then(|dob| birth(dob, now))),
        }
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

impl Person {
    /// The number as it is kept. One without a calling code is one of the person's country, or of the site's own (`home`).
    pub fn settle_phone(&mut self, home: &str, problems: &mut Fields) {
        let Some(typed) = &self.phone else { return };
        match phone::parse(self.country_code.as_deref().unwrap_or(home), typed) {
            Ok(number) => self.phone = Some(number),
            Err(text) => problems.refuse("phone", text),
        }
    }
}

fn birth(dob: i64, now: i64) -> Result<i64, Text> {
    if dob <= now && dob > now - AGE_SECONDS_MAX { Ok(dob) } else { Err(Text::new("field.dob")) }
}
