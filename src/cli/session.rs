//! `tunneldesk session …`: issues session tokens for jobs.

use super::shell::Shell;
use super::{CommandResult, done, refused, shown_moment};
use crate::app::credentials;
use crate::domain::role::Role;
use clap::Subcommand;
use serde_json::json;

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
        let credentials::SyncToken { token, member_id, ends_at } = site.change(credentials::issue_sync_token)?;
        done(
            format!("token: {token}   (shown this once; good until {})", shown_moment(ends_at)),
            json!({ "token": token, "member_id": member_id, "ends_at": ends_at }),
        )
    }
}
