//! People and partners, made through the store, so that no test waits for password hashes that it is not about.

use super::Site;
use super::caller::{Caller, Credential};
use http::Method;
use serde_json::json;
use std::sync::LazyLock;
use std::time::Duration;
use tunneldesk::auth::new_token;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::domain::password::{self, Cost};
use tunneldesk::domain::role::Role;
use tunneldesk::keys::{hex, random};
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::entries::NewTime;
use tunneldesk::store::tables::{bans, entries, members, partners, sessions};

/// The password of every member.
pub const PASSWORD: &str = "wet hair, dry socks";
static PASSWORD_HASH: LazyLock<String> = LazyLock::new(|| password::hash(PASSWORD, Cost::FULL));
const DAY: i64 = 86_400;

impl Site {
    /// A new member with a confirmed address, signed in.
    pub fn member(&self, name: &str) -> Caller {
        self.account(name, Role::Member)
    }

    /// A member who may fly: holds Flyer 1, and flew ten days ago.
    pub fn flyer(&self, name: &str) -> Caller {
        let flyer = self.member(name);
        self.change(|tx| {
            let sql =
                "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, 'Flyer', '1', '', ?2)";
            tx.run(sql, (flyer.id, tx.now() - 20 * DAY))?;
            let time = NewTime {
                entry_date: tx.now() - 10 * DAY,
                minutes: 10,
                tunnel_id: Site::TUNNEL_ID,
                comment: String::new(),
            };
            Ok(entries::insert_time(tx, MemberId(flyer.id), MemberId(flyer.id), None, &time)?)
        });
        flyer
    }

    pub fn desk(&self) -> Caller {
        self.account(&unused("desk"), Role::Desk)
    }

    pub fn admin(&self) -> Caller {
        self.account(&unused("admin"), Role::Admin)
    }

    /// The session of the sync, which reads the reports.
    pub fn sync(&self) -> Caller {
        self.account(&unused("sync"), Role::Sync)
    }

    /// A caller without credentials.
    pub fn stranger(&self) -> Caller {
        Caller::new(self.endpoint().clone(), 0, "stranger", Credential::None)
    }

    fn account(&self, name: &str, role: Role) -> Caller {
        let email = format!("{name}@example.com");
        let password_hash = match self.inside().hash_cost() {
            Cost::FULL => PASSWORD_HASH.clone(),
            small => password::hash(PASSWORD, small),
        };
        let new = members::NewMember {
            username: name,
            screen_name: name,
            real_name: name,
            email: &email,
            tunnel_id: Some(Site::TUNNEL_ID),
            role: role.name(),
            password_hash: Some(&password_hash),
            ..Default::default()
        };
        let id = self.change(|tx| {
            let id = members::insert(tx, &new)?;
            members::confirm_email(tx, id)?;
            Ok(id)
        });
        self.sign_in(id.0, name, role, Duration::ZERO)
    }

    /// Another session of a member, opened `ago` before now.
    pub fn sign_in(&self, id: i64, name: &str, role: Role, ago: Duration) -> Caller {
        let (token, hash) = new_token();
        let then = self.now() - ago.as_secs() as i64;
        let opened =
            self.inside().store.write(Moment(then), |tx| Ok(sessions::insert(tx, &hash, MemberId(id), role, "it")?));
        opened.expect("a session can be opened");
        let credential = Credential::Token { header: "authorization", prefix: "Bearer ", token };
        Caller::new(self.endpoint().clone(), id, name, credential)
    }

    /// Bans an account and leaves its sessions: authentication must check the ban itself.
    pub fn ban(&self, member: &Caller) {
        self.change(|tx| Ok(bans::set(tx, MemberId(member.id), Some(tx.now()))?));
    }

    /// A new partner.
    pub fn partner(&self) -> Caller {
        self.partner_with(false, &[], None)
    }

    /// A new partner that also signs the time, and uses each signature once.
    pub fn strict_partner(&self) -> Caller {
        self.partner_with(true, &[], None)
    }

    pub fn partner_with(&self, strict: bool, networks: &[&str], per_minute: Option<i64>) -> Caller {
        let (client_id, secret) = (hex(&random::<8>()), hex(&random::<32>()));
        self.change(|tx| {
            let partner_id = partners::insert(tx, &client_id, &format!("Partner {client_id}"), strict, per_minute)?;
            for network in networks {
                partners::insert_network(tx, partner_id, network)?;
            }
            Ok(partners::insert_secret(tx, &self.inside().keys, partner_id, secret.as_bytes())?)
        });
        Caller::new(self.endpoint().clone(), 0, "partner", Credential::Partner { client_id, secret, strict })
    }

    pub fn revoke(&self, partner: &Caller) {
        self.change(|tx| {
            let found = partners::find(tx, partner.client_id())?.expect("the partner is there");
            Ok(partners::revoke(tx, found.partner_id)?)
        });
    }

    /// A new PIN of the member.
    pub fn pin(&self, member: &Caller) -> String {
        let reply = member.ask(Method::POST, "/account/profile/booking-pin").send().ok();
        reply.json()["pin"].as_str().expect("a PIN is text").to_owned()
    }

    /// The token that a partner receives for a member's booking of thirty minutes, today.
    pub fn booking_token(&self, partner: &Caller, member: &Caller) -> Caller {
        let body = json!({
            "member_id": member.id, "member_pin": self.pin(member), "registration_id": self.next_number(),
            "flight_date": self.now(), "minutes_booked": 30, "tunnel_id": Site::TUNNEL_ID,
        });
        let token = partner.post("/external/partner-metrics/op/generate-token", body).ok().json()["token"].clone();
        let token = token.as_str().filter(|token| !token.is_empty()).expect("the booking was taken").to_owned();
        member.with(Credential::Token { header: "authorization", prefix: "Bearer ", token })
    }
}

/// A name that is not used yet.
fn unused(role: &str) -> String {
    format!("{role}-{}", hex(&random::<4>()))
}
