//! `tunneldesk member …`: accounts, from the machine's shell.

mod leaving;

use super::output::said_of;
use super::shell::Shell;
use super::streams::Streams;
use super::{CommandError, CommandResult, Row, RowRange, Table, done, refused, shown_moment};
use crate::app::credentials::KeptCredentials;
use crate::app::{Change, accounts, credentials};
use crate::auth::limits::proofs::ClearedLimits;
use crate::domain::ids::MemberId;
use crate::domain::password::Owner;
use crate::domain::role::Role;
use crate::domain::{email, minutes, password, username};
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::keys::random;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::entries;
use crate::store::tables::joins;
use crate::store::tables::members::{self, Account, Profile};
use crate::store::tables::second_factors::{self, Kind};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Member {
    /// Add an account; prints its password unless one is given
    Add(Add),
    /// List accounts, newest first
    List {
        /// Only one role: member, desk, admin or sync
        #[arg(long, value_parser = role)]
        role: Option<Role>,
        #[command(flatten)]
        part: RowRange,
    },
    /// Show one account
    Show { name: String },
    /// Give an account another role: member, desk, admin or sync
    SetRole {
        name: String,
        #[arg(value_parser = role)]
        role: Role,
    },
    /// Confirm the e-mail address of an account
    Confirm { name: String },
    /// Close an account and end its sessions; --lift opens it again
    Ban {
        name: String,
        #[arg(long)]
        lift: bool,
    },
    /// Turn off the second factor of an account and end every session: for the day when the phone is gone
    ResetSecondFactor { name: String },
    /// Lift every delay on an account, and let its PIN and its passcodes go on
    Unlock { name: String },
    /// Write all that the site holds on one person, as JSON
    Export(leaving::Export),
    /// Take a person out of the site for good: name, address and number, out of every row, text and byte
    Erase(leaving::Erase),
    /// Set a new password, end every session, and remove passkeys and social links; prints it unless one is given
    ResetPassword {
        name: String,
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
    },
}

#[derive(Args)]
pub(super) struct Add {
    username: String,
    #[arg(long)]
    email: String,
    /// The person's name [default: the username]
    #[arg(long)]
    name: Option<String>,
    /// member, desk, admin or sync
    #[arg(long, default_value = "member", value_parser = role)]
    role: Role,
    /// Count the e-mail address as confirmed
    #[arg(long)]
    confirmed: bool,
    /// Read the password from standard input
    #[arg(long)]
    password_stdin: bool,
}

fn role(name: &str) -> Result<Role, String> {
    Role::parse(name).ok_or_else(|| "is not one of member, desk, admin, sync".to_owned())
}

impl Member {
    pub(super) fn wants_secret(&self) -> bool {
        matches!(
            self,
            Member::Add(Add { password_stdin: true, .. }) | Member::ResetPassword { password_stdin: true, .. }
        )
    }

    /// The confirmation that was typed.
    pub(super) fn confirmation(&self) -> Result<Option<String>, CommandError> {
        if let Member::Erase(erase) = self { erase.confirmation() } else { Ok(None) }
    }

    /// The file that the result goes to.
    pub(super) fn output_path(&self) -> Option<PathBuf> {
        if let Member::Export(export) = self { export.output_path() } else { None }
    }

    pub(super) fn run(&self, site: &Shell, secret: Option<&str>, streams: &mut Streams) -> CommandResult {
        match self {
            Member::Add(add) => add.run(site, secret),
            Member::Export(export) => export.run(site, streams),
            Member::Erase(erase) => erase.run(site, secret, streams),
            Member::List { role, part } => list(site, *role, part),
            Member::Show { name } => show(site, name),
            Member::SetRole { name, role } => {
                if role.is_above_member() {
                    find_certain(site, name)?;
                }
                let what = format!("now has the role {}", role.name());
                change(site, name, &what, |cx, member_id| accounts::set_role(cx, member_id, *role))
            }
            Member::Confirm { name } => {
                if find(site, name)?.email.is_empty() {
                    return Err(refused(format!("{name} has no e-mail address that could be confirmed")));
                }
                change(site, name, "has a confirmed e-mail address", accounts::confirm_email)
            }
            Member::Ban { name, lift: true } => change(site, name, "may sign in again", accounts::lift_ban),
            Member::Ban { name, lift: false } => {
                change(site, name, "is banned, and every session has ended", accounts::ban)
            }
            Member::ResetSecondFactor { name } => {
                let what = "has no second factor any more, and every session has ended";
                change(site, name, what, |cx, member_id| {
                    credentials::turn_off_second_factor(cx, &cx.served(member_id)?, None)
                })
            }
            Member::Unlock { name } => unlock(site, name),
            Member::ResetPassword { name, .. } => reset_password(site, name, secret),
        }
    }
}

/// The greatest length of a name, as for a sign-up.
const NAME_CHARS_MAX: usize = 100;

impl Add {
    fn run(&self, site: &Shell, secret: Option<&str>) -> CommandResult {
        let field = |name: &str, outcome: Result<String, Text>| outcome.map_err(|text| refused(said_of(name, &text)));
        let name = field("the username", username::parse(self.username.trim()))?;
        let email = field("the e-mail address", email::parse(self.email.trim()))?;
        let real_name =
            self.name.as_deref().map(|typed| fields::name("the name", typed, NAME_CHARS_MAX)).transpose()?;
        let real_name = real_name.as_ref().unwrap_or(&name);
        let owner = Owner { username: &name, email: &email, real_name, screen_name: &name, site: &site.name()? };
        let given = typed_or_generated(secret, &owner)?;
        let hash = site.hash(&given.text);
        let new = members::NewMember {
            username: &name,
            screen_name: &name,
            real_name,
            email: &email,
            tunnel_id: Some(site.tunnel_id),
            password_hash: Some(&hash),
            ..Default::default()
        };
        let member_id = site.change(|cx| accounts::add(cx, &new, self.role, self.confirmed))?;
        given.result(member_id, &name, format!("{name} is {} {member_id}", self.role.name()))
    }
}

/// A password: the typed one, or a generated one that must be shown once.
struct NewPassword {
    text: String,
    generated: bool,
}

fn typed_or_generated(secret: Option<&str>, owner: &Owner) -> Result<NewPassword, CommandError> {
    let Some(text) = secret else {
        return Ok(NewPassword { text: URL_SAFE_NO_PAD.encode(random::<12>()), generated: true });
    };
    password::check(text, owner).map_err(|why| refused(said_of("the password", &why)))?;
    Ok(NewPassword { text: text.to_owned(), generated: false })
}

impl NewPassword {
    fn result(&self, member_id: MemberId, username: &str, what: String) -> CommandResult {
        let shown = self.generated.then_some(&self.text);
        let password = shown.map_or_else(String::new, |text| format!("\npassword: {text}   (shown this once)"));
        done(what + &password, json!({ "member_id": member_id, "username": username, "password": shown }))
    }
}

pub(super) fn find(site: &Site, name: &str) -> Result<Account, CommandError> {
    let (by_id, by_name) = site.store.read(|tx| {
        let by_id = name.parse().ok().map(|number| members::find_account_by_id(tx, number)).transpose()?.flatten();
        Ok((by_id, members::find_account(tx, name)?))
    })?;
    if let (Some(one), Some(other)) = (&by_id, &by_name)
        && one.member_id != other.member_id
    {
        return Err(refused(format!(
            "{name} is the number of {} and the username of member {}: give an e-mail address, or the other of the two",
            one.username, other.member_id
        )));
    }
    let found = by_id.or(by_name).ok_or_else(|| {
        refused(format!("there is no account {name}: give a username, an e-mail address or a member number"))
    })?;
    // The name of an account that was joined into another names that one now. A command that gives something is refused, because
    // a stranger may have signed up in order to be joined.
    let survivor = site.store.read(|tx| Ok(members::find_account_by_id(tx, joins::survivor_of(tx, found.member_id)?)?));
    match survivor? {
        Some(survivor) if survivor.member_id != found.member_id => Err(refused(format!(
            "{} (member {}) was joined into {} (member {}) and is closed: give that one if you mean it",
            found.username, found.member_id, survivor.username, survivor.member_id
        ))),
        _ => Ok(found),
    }
}

/// As [`find`], for a change that gives an account more rights, or money: refuses an address that nobody confirmed, because a
/// stranger may have signed up with it.
pub(super) fn find_certain(site: &Site, name: &str) -> Result<Account, CommandError> {
    let account = find(site, name)?;
    if name.contains('@') && !account.email_confirmed {
        let Account { username, member_id, .. } = account;
        return Err(refused(format!(
            "nobody has confirmed {name}, so the account may be a stranger's: give its username, {username}, or its number, {member_id}"
        )));
    }
    Ok(account)
}

/// Runs an effect on the account of a name.
fn change<T>(
    site: &Shell,
    name: &str,
    what: &str,
    effect: impl FnOnce(&Change, MemberId) -> Result<T, Failure>,
) -> CommandResult {
    let Account { member_id, username, .. } = find(site, name)?;
    site.change(|cx| effect(cx, member_id))?;
    done(format!("{username} (member {member_id}) {what}"), json!({ "member_id": member_id, "username": username }))
}

fn reset_password(site: &Shell, name: &str, secret: Option<&str>) -> CommandResult {
    let account = find(site, name)?;
    let profile = site.store.read(|tx| members::find(tx, account.member_id)?.ok_or_else(Failure::not_found))?;
    let given = typed_or_generated(secret, &profile.owner(&site.name()?))?;
    let hash = site.hash(&given.text);
    site.change(|cx| {
        credentials::reset_password(cx, &cx.served(account.member_id)?, &hash, &KeptCredentials::default())
    })?;
    let what = format!(
        "{} (member {}) has a new password; every session has ended, and passkeys and social links are removed",
        account.username, account.member_id
    );
    given.result(account.member_id, &account.username, what)
}

fn unlock(site: &Shell, name: &str) -> CommandResult {
    let Account { member_id, username, .. } = find(site, name)?;
    let lifted = site.change(|cx| accounts::unlock(cx, member_id))?;
    let ClearedLimits { delays, pin_paused, passcodes_used_up } = lifted;
    tracing::info!(
        member_id = member_id.0,
        delays,
        pin_paused,
        passcodes_used_up,
        "an account was unlocked from the shell"
    );
    let values = json!({
        "member_id": member_id, "username": username, "delays": delays, "pin": pin_paused, "passcodes": passcodes_used_up,
    });
    let lifted = [
        (delays > 0).then(|| format!("{delays} {} lifted", if delays == 1 { "delay is" } else { "delays are" })),
        pin_paused.then(|| "the PIN works again".to_owned()),
        passcodes_used_up.then(|| "passcodes go out again".to_owned()),
    ];
    let lifted: Vec<_> = lifted.into_iter().flatten().collect();
    let what = if lifted.is_empty() {
        "was not delayed; its failed attempts are cleared".to_owned()
    } else {
        lifted.join(", ")
    };
    done(format!("{username} (member {member_id}): {what}"), values)
}

/// The profile with the minutes flown by `now`, without minutes that are only booked.
fn by_now(tx: &Read, mut profile: Profile, now: Moment) -> Result<Profile, Failure> {
    profile.flight_minutes -= entries::find_flown(tx, profile.member_id, now)?.minutes_ahead;
    Ok(profile)
}

/// Members that a table shows without `--limit`.
const LISTED_USUAL: i64 = 50;

/// Lists the accounts. A table is cut at the limit and says how many members are left; JSON has all of them unless a
/// limit is given.
fn list(site: &Shell, role: Option<Role>, part: &RowRange) -> CommandResult {
    let now = site.now();
    let (profiles, total) = site.store.read(|tx| {
        let listed = members::list(tx, role, part.limit(site, LISTED_USUAL), part.offset)?;
        let by_now = listed.into_iter().map(|profile| by_now(tx, profile, now)).collect::<Result<Vec<_>, _>>()?;
        Ok::<_, Failure>((by_now, members::count_with_role(tx, role)?))
    })?;
    Ok(Box::new(Table::new(profiles).page_of(total, part)))
}

impl Row for Profile {
    const HEADINGS: &'static [&'static str] = &["NUMBER", "USERNAME", "NAME", "E-MAIL", "ROLE", ""];

    fn cells(&self) -> Vec<String> {
        let state = match (self.banned_at, self.email_verified) {
            (Some(_), _) => "banned",
            (None, true) => "",
            (None, false) => "not confirmed",
        };
        vec![
            self.member_id.to_string(),
            self.username.clone(),
            self.real_name.clone(),
            self.email.clone(),
            self.role.name().to_owned(),
            state.to_owned(),
        ]
    }

    fn value(&self) -> Value {
        json!({
            "member_id": self.member_id, "username": self.username, "real_name": self.real_name, "screen_name": self.screen_name,
            "email": self.email, "email_verified": self.email_verified, "role": self.role.name(), "join_date": self.join_date,
            "paid_until": self.paid_until, "banned_at": self.banned_at, "flight_minutes": self.flight_minutes,
        })
    }
}

fn show(site: &Site, name: &str) -> CommandResult {
    let account = find(site, name)?;
    let (profile, factor) = site.store.read(|tx| {
        let (member_id, now) = (account.member_id, site.now());
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        Ok((by_now(tx, profile, now)?, second_factors::find(tx, member_id, now)?.kind))
    })?;
    let mut values = profile.value();
    values["second_factor"] = factor.map(Kind::name).into();
    let moment = |at: Option<Moment>, none: &str| at.map_or(none.to_owned(), shown_moment);
    let confirmed = if profile.email_verified { "confirmed" } else { "not confirmed" };
    let lines = [
        ("number", profile.member_id.to_string()),
        ("username", profile.username),
        ("name", profile.real_name),
        ("e-mail", format!("{} ({confirmed})", profile.email)),
        ("role", profile.role.name().to_owned()),
        ("2nd factor", shown_factor(factor).to_owned()),
        ("joined", shown_moment(profile.join_date)),
        ("paid until", moment(profile.paid_until, "never paid")),
        ("banned", moment(profile.banned_at, "no")),
        ("flight time", minutes::show(profile.flight_minutes)),
    ];
    done(lines.map(|(label, value)| format!("{label:12} {value}")).join("\n"), values)
}

fn shown_factor(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Totp) => "authenticator app",
        Some(Kind::Passcode) => "passcodes by e-mail or SMS",
        None => "none",
    }
}
