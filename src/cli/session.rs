//! `tunneldesk session …`: issues session tokens for jobs.

use super::shell::Shell;
use super::{CommandResult, done, refused, shown_moment};
use crate::auth::new_token;
use crate::domain::audit::{Detail, Subject};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::keys::{hex, random};
use crate::store::Write;
use crate::store::tables::{members, sessions};
use clap::Subcommand;
use serde_json::json;

/// The account that jobs use when none was made for them. The account has no password, so no one can sign in to it.
const SYNC_USERNAME: &str = "sync";
/// The random suffix where the username is taken.
const SUFFIX_BYTES: usize = 3;

#[derive(Subcommand)]
pub(super) enum Session {
    /// Issue a token for a job that reads the partner reports
    Issue {
        /// The role; only `sync` has sessions without a sign-in
        #[arg(long)]
        role: String,
    },
}

impl Session {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        let Session::Issue { role } = self;
        if Role::parse(role) != Some(Role::Sync) {
            return Err(refused("only --role sync has sessions without a sign-in; people sign in"));
        }
        let (token, member_id, ends_at) = site.store.write(site.now(), |tx| {
            let member_id = sync_account(tx)?;
            let (token, hash) = new_token();
            sessions::insert(tx, &hash, member_id, Role::Sync, "issued in the shell")?;
            let detail = Detail::none().word("role", Role::Sync.name());
            site.record(tx, "session.issued", &Subject::Member(member_id), &detail)?;
            Ok((token, member_id, tx.now() + Role::Sync.session_lifetime().1.as_secs() as i64))
        })?;
        done(
            format!("token: {token}   (shown this once; good until {})", shown_moment(ends_at)),
            json!({ "token": token, "member_id": member_id, "ends_at": ends_at }),
        )
    }
}

fn sync_account(tx: &Write) -> Result<i64, Failure> {
    if let Some(account) = members::list(tx, Some(Role::Sync), 1, 0)?.first() {
        return Ok(account.member_id);
    }
    let mut username = SYNC_USERNAME.to_owned();
    // Anybody may have signed up under the name.
    while !members::username_is_free(tx, &username)? {
        username = format!("{SYNC_USERNAME}-{}", hex(&random::<SUFFIX_BYTES>()));
    }
    let new = members::NewMember {
        username: &username,
        screen_name: SYNC_USERNAME,
        real_name: "Sync job",
        email: "sync@localhost.invalid",
        role: Role::Sync.name(),
        ..Default::default()
    };
    members::insert(tx, &new)
}
