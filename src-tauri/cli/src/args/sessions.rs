//! The command line of `deskbell sessions`.

use super::on::OnOptions;
use super::server::Which;
use super::values::{by, conversation, format, format_of, session};
use super::{Problem, folder_named};
use clap::ValueHint;
use deskbell_engine::api::{ExportFormat, RemoteMachine, SessionId, SessionMark};
use deskbell_engine::usage::By;
use std::path::{Path, PathBuf};

/// What to do with sessions.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionsMode {
    Stored(StoredMode),
    /// Lists what the servers of this user have.
    Running {
        json: bool,
    },
    /// Shows one of these sessions in a terminal.
    Attach(SessionId),
    /// One of the three on another machine.
    On(OnOptions),
    /// Ends agents that run in these servers.
    Stop(Which),
}

/// What to do with stored sessions.
#[derive(Debug, PartialEq, Eq)]
pub enum StoredMode {
    List(ListOptions),
    Export(ExportOptions),
    Search(SearchOptions),
    /// Follows a session that another program works on.
    Watch {
        session: String,
    },
    /// Prints what sessions cost.
    Usage(UsageOptions),
    /// Sets the mark of a session in Deskbell's list, or removes it.
    Mark {
        session: String,
        mark: Option<SessionMark>,
    },
}

/// The stored sessions to list.
#[derive(Debug, PartialEq, Eq)]
pub struct ListOptions {
    pub project: PathBuf,
    /// Words that all of them contain.
    pub filter: String,
}

/// The session to export, of any project.
#[derive(Debug, PartialEq, Eq)]
pub struct ExportOptions {
    pub session: String,
    pub format: ExportFormat,
    /// The file; stdout without it.
    pub output: Option<PathBuf>,
    /// Replaces an existing file.
    pub force: bool,
}

/// What to search, and how to print it.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchOptions {
    pub query: String,
    /// `None` for all projects.
    pub project: Option<PathBuf>,
    /// One JSON object a line instead of text.
    pub json: bool,
}

/// The table of costs to print.
#[derive(Debug, PartialEq, Eq)]
pub struct UsageOptions {
    /// `None`: all projects.
    pub project: Option<PathBuf>,
    pub by: By,
    /// As CSV instead of JSON lines.
    pub csv: bool,
}

/// The command after `sessions`.
#[derive(Debug, clap::Subcommand)]
pub enum SessionsCommand {
    /// List the sessions of a project that Claude Code stored, one JSON object per line
    List {
        /// The project's folder, by default the current one
        #[arg(value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
        /// Only sessions that contain all of these words
        #[arg(
            long,
            value_name = "WORDS",
            default_value = "",
            hide_default_value = true,
            allow_hyphen_values = true
        )]
        filter: String,
        /// Print JSON, which is also what the command prints without it
        #[arg(long)]
        json: bool,
    },
    /// Write a stored session to stdout or to a new file
    Export {
        /// The session's id, as `deskbell sessions list` prints it
        #[arg(value_name = "ID", value_parser = conversation)]
        session: String,
        /// The format; by default that of the file's extension, or Markdown
        #[arg(long, value_parser = format())]
        format: Option<ExportFormat>,
        /// A new file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
        /// Replace the file if it exists
        #[arg(long)]
        force: bool,
    },
    /// Search the text of stored sessions
    ///
    /// Words, "phrases", tool:NAME, file:PATH, after:DATE and before:DATE.
    Search {
        /// Several words are one query
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// Search all projects
        #[arg(long)]
        all: bool,
        /// The project's folder, by default the current one
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        project: Option<PathBuf>,
        /// Print one JSON object per session
        #[arg(long)]
        json: bool,
    },
    /// Print a stored session, and follow it while another program works on it
    Watch {
        /// The session's id, as `deskbell sessions list` prints it
        #[arg(value_name = "ID", value_parser = conversation)]
        session: String,
    },
    /// Cost and tokens of Deskbell's sessions, of one project or of all
    Usage {
        /// The project's folder, by default all projects
        #[arg(value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
        /// What each row is about
        #[arg(long, default_value = "all", value_parser = by())]
        by: By,
        /// Print JSON, which is also what the command prints without it
        #[arg(long)]
        json: bool,
        /// Print CSV
        #[arg(long, conflicts_with = "json")]
        csv: bool,
    },
    /// Keep a session at the top of the list
    Pin {
        /// The session's id, as `deskbell sessions list` prints it
        #[arg(value_name = "ID", value_parser = conversation)]
        session: String,
    },
    /// No longer keep a session at the top of the list
    Unpin {
        /// The session's id, as `deskbell sessions list` prints it
        #[arg(value_name = "ID", value_parser = conversation)]
        session: String,
    },
    /// Move a session to the closed group of the list
    Archive {
        /// The session's id, as `deskbell sessions list` prints it
        #[arg(value_name = "ID", value_parser = conversation)]
        session: String,
    },
    /// Move a session back from the closed group
    Unarchive {
        /// The session's id, as `deskbell sessions list` prints it
        #[arg(value_name = "ID", value_parser = conversation)]
        session: String,
    },
    /// List the sessions that your servers have, of every version, with what their processes cost
    Running {
        /// Print one JSON object per session
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        on: Host,
    },
    /// Show a session of your servers in this terminal: a line is sent as a prompt, y and n answer requests
    Attach {
        /// The session's id, as `deskbell sessions running` prints it
        #[arg(value_name = "ID", value_parser = session)]
        session: SessionId,
        #[command(flatten)]
        on: Host,
    },
    /// End the agent of a session of your servers, or of all, with everything that it started
    Stop {
        /// The session\'s id, as `deskbell sessions running` prints it
        #[arg(value_name = "ID", value_parser = session, required_unless_present = "all", conflicts_with = "all")]
        session: Option<SessionId>,
        /// End the agents of all
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        on: Host,
    },
}

#[derive(Debug, clap::Args)]
pub struct Host {
    /// On this machine instead, named as for `deskbell on`
    #[arg(long, value_name = "MACHINE")]
    host: Option<RemoteMachine>,
}

impl Host {
    /// The mode here, or the command on the other machine.
    fn or_here(self, here: SessionsMode, command: &[&str]) -> SessionsMode {
        let Some(machine) = self.host else { return here };
        let command = ["sessions"].iter().chain(command).map(|&word| word.to_owned()).collect();
        SessionsMode::On(OnOptions { machine, program: None, command })
    }
}

impl SessionsCommand {
    pub fn checked(self, cwd: &Path) -> Result<SessionsMode, Problem> {
        let stored = match self {
            Self::Running { json, on } => {
                let command: &[&str] = if json { &["running", "--json"] } else { &["running"] };
                return Ok(on.or_here(SessionsMode::Running { json }, command));
            }
            Self::Attach { session, on } => {
                let id = session.clone();
                return Ok(on.or_here(SessionsMode::Attach(session), &["attach", id.as_str()]));
            }
            Self::Stop { session, on, .. } => {
                let name = session.as_ref().map_or("--all", |id| id.as_str()).to_owned();
                let which = session.map_or(Which::All, Which::One);
                return Ok(on.or_here(SessionsMode::Stop(which), &["stop", &name]));
            }
            Self::List { folder, filter, json: _ } => {
                let project = folder_named(cwd, folder.as_deref())?;
                StoredMode::List(ListOptions { project, filter })
            }
            Self::Export { session, format, output, force } => {
                let of_file = || Some(format_of(output.as_ref()?.extension()?.to_str()?));
                let format = format.or_else(of_file).unwrap_or(ExportFormat::Markdown);
                let output = output.map(|output| cwd.join(output));
                StoredMode::Export(ExportOptions { session, format, output, force })
            }
            Self::Search { query, all, project, json } => {
                let project = if all { None } else { Some(folder_named(cwd, project.as_deref())?) };
                StoredMode::Search(SearchOptions { query: query.join(" "), project, json })
            }
            Self::Usage { folder, by, csv, json: _ } => {
                let project = folder.map(|folder| folder_named(cwd, Some(&folder))).transpose()?;
                StoredMode::Usage(UsageOptions { project, by, csv })
            }
            Self::Watch { session } => StoredMode::Watch { session },
            Self::Pin { session } => StoredMode::Mark { session, mark: Some(SessionMark::Pinned) },
            Self::Archive { session } => StoredMode::Mark { session, mark: Some(SessionMark::Archived) },
            Self::Unpin { session } | Self::Unarchive { session } => StoredMode::Mark { session, mark: None },
        };
        Ok(SessionsMode::Stored(stored))
    }
}
