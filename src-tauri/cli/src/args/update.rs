//! The command line of `deskbell update`.

/// Whether to install a newer version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct UpdateOptions {
    /// Only say whether there is a newer version
    #[arg(long)]
    pub check: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
