//! `tunneldesk describe …`: manual pages and completions for a package, made from the same texts as `--help`.

use super::{Cli, CommandResult, failed, nothing, text};
use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Describe {
    /// Completions for a shell, on standard output
    Completions { shell: Shell },
    /// Manual pages, one a command, in an existing directory
    Manual { dir: PathBuf },
}

impl Describe {
    pub(super) fn run(self) -> CommandResult {
        match self {
            Describe::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "tunneldesk", &mut script);
                text(String::from_utf8(script).map_err(|e| failed(format!("the completions are no text: {e}")))?)
            }
            Describe::Manual { dir } => {
                // The version without the revision, which has no place in a page's footer.
                let command = Cli::command().version(env!("CARGO_PKG_VERSION"));
                clap_mangen::generate_to(command, &dir)
                    .map_err(|e| failed(format!("cannot write to {}: {e}", dir.display())))?;
                nothing()
            }
        }
    }
}
