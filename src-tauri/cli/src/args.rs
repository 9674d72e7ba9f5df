//! The command line.

pub mod app_link;
pub mod changes;
pub mod commit;
pub mod edit;
pub mod on;
mod projects;
mod recordings;
pub mod relay;
pub mod rules;
pub mod server;
pub mod sessions;
pub mod trust;
pub mod update;
mod values;
pub mod window;
pub mod worktrees;

use crate::recordings::RecordingsMode;
use crate::settings::SettingsAction;
use app_link::BadLink;
use clap::error::ContextKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use deskbell_engine::api::{BadFolder, BadMachine};
use deskbell_engine::projects::{Change, FolderProblem, ProjectStore};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use window::WindowArgs;

pub use relay::RelayOptions;
pub use window::{Args, BACKGROUND, is_launcher};

/// Keep command-line coding agents on call.
///
/// Without a command it opens a window for the project in FOLDER. A folder with the name of a command is opened as
/// ./NAME.
#[derive(Debug, Parser)]
#[command(name = "deskbell", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
struct CommandLine {
    #[command(flatten)]
    window: WindowArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the projects that were opened earlier, one JSON object per line, or change that list
    ///
    /// Pinned projects come first and are not cleared.
    Projects(projects::ProjectsArgs),
    /// Run the engine without a window: commands on stdin, events on stdout, one JSON object per line
    ///
    /// With --serve, --attach, --list, --stop or --remove it is the server of your sessions, or a client of it.
    Relay(Box<relay::RelayArgs>),
    /// Show the conversation in a recording
    Replay(ReplayArgs),
    /// List the recordings that were made in the window, with their sizes, or remove them
    Recordings(recordings::RecordingsArgs),
    /// List, search, export, follow and end sessions
    #[command(subcommand)]
    Sessions(sessions::SessionsCommand),
    /// List the files that differ from the last commit, print them as a patch, or revert one
    ///
    /// Reads git's files and runs nothing that the repository configures.
    Changes(changes::ChangesArgs),
    /// Commit files or hunks with your own git, or undo the last commit
    ///
    /// Hooks run in a trusted folder, and in others only if you say so.
    Commit(commit::CommitArgs),
    /// List the worktrees of a repository, with their branches and numbers of changed files, add or remove one
    Worktrees(worktrees::WorktreesArgs),
    /// Show whether a folder is trusted, and what its settings would run, load or allow, or decide it
    Trust(trust::TrustArgs),
    /// List the permission rules in Claude Code's settings files, or remove one
    ///
    /// A command for a folder of this name is ./remove.
    #[command(args_conflicts_with_subcommands = true)]
    Rules(rules::RulesArgs),
    /// List the agents that a new session can have, and the profiles of the settings, without the values of their
    /// variables
    Agents {
        /// List the models and effort levels that each agent offered in its last run instead
        #[arg(long)]
        models: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// List the folders in a folder, to choose one from, as one JSON object
    Folders {
        /// The folder, by default the current one
        #[arg(value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
        /// Print JSON, which is also what the command prints without it
        #[arg(long)]
        json: bool,
    },
    /// Run a command of Deskbell on another machine
    ///
    /// Deskbell's program is copied there over the connection if it is not there yet.
    On(on::OnArgs),
    /// Open a file in your editor: that of the settings, a well-known one that is installed, or the desktop's editor for
    /// text
    ///
    /// Never runs the file.
    Edit(edit::EditOptions),
    /// Show or change the settings, or check their file
    #[command(args_conflicts_with_subcommands = true)]
    Settings {
        /// Print all of them as one JSON object
        #[arg(long)]
        json: bool,
        #[command(subcommand)]
        action: Option<SettingsCommand>,
    },
    /// Show which agent is used and why, whether it can work, and the desktop; test whether it asks before acting
    ///
    /// For a bug report, without keys and names.
    Doctor {
        /// Test this program
        #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
        agent: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Add the last lines of the log
        #[arg(long, conflicts_with = "json")]
        log: bool,
    },
    /// Replace the AppImage that runs this command with a newer one, if its signature is right and nothing works or waits
    ///
    /// The system's curl downloads it.
    Update(update::UpdateOptions),
}

#[derive(Debug, clap::Args)]
struct ReplayArgs {
    /// The recording
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Show its lines in both directions instead, with their times
    #[arg(long)]
    lines: bool,
    /// Print its events instead, as one JSON object per line
    #[arg(long, conflicts_with = "lines")]
    events: bool,
}

#[derive(Debug, Subcommand)]
enum SettingsCommand {
    /// Print one value as JSON, or every setting with its value
    Get {
        /// Its name; without it, all of them
        #[arg(allow_hyphen_values = true)]
        key: Option<String>,
        /// Print all of them as one JSON object
        #[arg(long, conflicts_with = "key")]
        json: bool,
    },
    /// Change a setting
    Set {
        /// Its name
        key: String,
        /// JSON; a text needs no quotes
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Print where the file is
    Path,
    /// Print the JSON schema of the file
    Schema,
    /// Check the file
    Check {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// The action that the command line selects.
#[derive(Debug, PartialEq, Eq)]
pub enum Mode {
    Window(Args),
    Relay(relay::RelayOptions),
    /// The server of this user, and its clients.
    Server(server::ServerMode),
    Replay(ReplayOptions),
    /// Lists the projects that were opened earlier, or changes the list.
    Projects(Option<Change>),
    Recordings(RecordingsMode),
    /// Lists, searches or exports stored sessions.
    Sessions(sessions::SessionsMode),
    /// Lists the changes of a working tree, prints them as a patch, or reverts one.
    Changes(changes::ChangesOptions),
    /// Makes a commit, plans one, or undoes the last one.
    Commit(commit::CommitOptions),
    /// Lists, adds, reviews or removes worktrees.
    Worktrees(worktrees::WorktreesOptions),
    /// Replaces the AppImage that runs, or says whether there is a newer one.
    Update(update::UpdateOptions),
    /// Shows whether a folder is trusted, or decides it.
    Trust(trust::TrustOptions),
    /// Lists permission rules by file, or removes one.
    Rules(rules::RulesOptions),
    /// Lists the agents of this machine, or the models that they offered last.
    Agents {
        models: bool,
        json: bool,
    },
    /// Lists the folders in this one.
    Folders(PathBuf),
    /// Runs a command of Deskbell on another machine.
    On(on::OnOptions),
    /// Opens a file in the user's editor.
    Edit(edit::EditOptions),
    Settings(SettingsAction),
    /// Tests the agent that is found, or this one.
    Doctor {
        agent: Option<PathBuf>,
        form: ReportForm,
    },
}

/// What `deskbell doctor` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    Text,
    /// The report and the last lines of the log.
    WithLog,
    Json,
}

/// The recording to replay, and the view of it.
#[derive(Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    pub file: PathBuf,
    pub view: ReplayView,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayView {
    Conversation,
    Lines,
    Events,
}

/// An error in the command line.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The arguments do not fit the command line, or ask for its help or version.
    #[error(transparent)]
    Clap(#[from] clap::Error),
    #[error("--hunk needs the @@ line of the patch: --hunk='@@ -12,4 +12,5 @@'")]
    BadHunk,
    #[error("--hunk needs exactly one FILE")]
    HunksOfFiles,
    #[error("`deskbell agents` lists the names, and “{0}” is not one")]
    NoSuchAgent(String),
    #[error("--fingerprint belongs to --decide=trust and --decide=keep, which need it")]
    Fingerprint,
    #[error("--load goes with --decide=trust")]
    Load,
    #[error("only one folder can be opened at a time; {0} is a second one")]
    SecondFolder(String),
    #[error(transparent)]
    Folder(#[from] FolderProblem),
    #[error("the link opens nothing: {0}")]
    Link(#[from] BadLink),
    #[error("a deskbell:// link must be the only argument")]
    LinkWithOthers,
    #[error("--prompt needs a FOLDER here, because this is not a project's folder")]
    PromptWithoutFolder,
    #[error("{0}")]
    BadModel(&'static str),
    #[error("“{0}” is not a conversation id; use the agentSessionId of an earlier run")]
    BadConversation(String),
    #[error("{0} is for Claude Code, and this agent does not have it")]
    OnlyClaude(&'static str),
    #[error("“{0}” is not a number of seconds")]
    BadIdle(String),
    #[error(transparent)]
    BadMachine(#[from] BadMachine),
    /// With --machine.
    #[error(transparent)]
    BadFolder(#[from] BadFolder),
    #[error("an argument of the command has a line feed or is too long")]
    BadArgument,
    #[error("the id of a session is missing")]
    NoSession,
}

/// The whole command line, for its help, the manual page and the shells' completions.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Parses the arguments, without the program's name. Checks the folder here, before any window opens.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<Mode, Problem> {
    if let Some(args) = window::of_desktop(args, cwd) {
        return args.map(Mode::Window);
    }
    let mut command = command();
    if let Some(error) = args.first().and_then(|first| mistyped(&command, first, cwd)) {
        return Err(error.into());
    }
    let program = OsString::from("deskbell");
    let mut matches = match command.try_get_matches_from_mut(std::iter::once(&program).chain(args)) {
        Ok(matches) => matches,
        Err(_) if window::has_link(&command, args) => return Err(Problem::LinkWithOthers),
        Err(error) => {
            let is_of_command = args.first().is_some_and(|first| command.find_subcommand(first).is_some());
            let second = window::second_folder(&error).filter(|_| !is_of_command);
            return Err(second.unwrap_or(Problem::Clap(error)));
        }
    };
    let line = CommandLine::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
    line.checked(cwd)
}

/// The error for a word that names no folder, and almost a command.
fn mistyped(command: &clap::Command, word: &OsStr, cwd: &Path) -> Option<clap::Error> {
    let text = word.to_str()?;
    let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_word || text.starts_with('-') || command.find_subcommand(word).is_some() || cwd.join(word).exists()
    {
        return None;
    }
    // A command line without a folder, so that the word can only be a command.
    let commands = clap::Command::new("deskbell")
        .subcommand_required(true)
        .subcommands(command.get_subcommands().cloned());
    let error = commands.try_get_matches_from([OsStr::new("deskbell"), word]).err()?;
    error.get(ContextKind::SuggestedSubcommand).is_some().then_some(error)
}

impl CommandLine {
    fn checked(self, cwd: &Path) -> Result<Mode, Problem> {
        let Some(command) = self.command else { return self.window.checked(cwd).map(Mode::Window) };
        Ok(match command {
            Command::Projects(args) => Mode::Projects(args.checked(cwd)?),
            Command::Relay(args) => args.checked(cwd)?,
            Command::Replay(args) => Mode::Replay(args.within(cwd)),
            Command::Recordings(args) => Mode::Recordings(args.mode()),
            Command::Sessions(args) => Mode::Sessions(args.checked(cwd)?),
            Command::Changes(args) => Mode::Changes(args.checked(cwd)?),
            Command::Commit(args) => Mode::Commit(args.checked(cwd)?),
            Command::Worktrees(args) => Mode::Worktrees(args.checked(cwd)?),
            Command::Rules(args) => Mode::Rules(args.checked(cwd)?),
            Command::Trust(args) => Mode::Trust(args.checked(cwd)?),
            Command::Agents { models, json } => Mode::Agents { models, json },
            Command::Folders { folder, json: _ } => Mode::Folders(folder_named(cwd, folder.as_deref())?),
            Command::On(args) => Mode::On(args.checked(cwd)?),
            Command::Edit(options) => Mode::Edit(options.within(cwd)),
            Command::Settings { json, action } => Mode::Settings(settings(json, action)),
            Command::Doctor { agent, json, log } => Mode::Doctor { agent, form: ReportForm::of(json, log) },
            Command::Update(options) => Mode::Update(options),
        })
    }
}

impl ReportForm {
    fn of(json: bool, log: bool) -> Self {
        match (json, log) {
            (true, _) => Self::Json,
            (_, true) => Self::WithLog,
            _ => Self::Text,
        }
    }
}

impl ReplayArgs {
    fn within(self, cwd: &Path) -> ReplayOptions {
        let view = match (self.lines, self.events) {
            (true, _) => ReplayView::Lines,
            (_, true) => ReplayView::Events,
            _ => ReplayView::Conversation,
        };
        ReplayOptions { file: cwd.join(self.file), view }
    }
}

fn settings(json: bool, action: Option<SettingsCommand>) -> SettingsAction {
    match action {
        None if json => SettingsAction::Json,
        None => SettingsAction::Get(None),
        Some(SettingsCommand::Get { json: true, .. }) => SettingsAction::Json,
        Some(SettingsCommand::Get { key, .. }) => SettingsAction::Get(key),
        Some(SettingsCommand::Set { key, value }) => SettingsAction::Set { key, value },
        Some(SettingsCommand::Path) => SettingsAction::Path,
        Some(SettingsCommand::Schema) => SettingsAction::Schema,
        Some(SettingsCommand::Check { json }) => SettingsAction::Check { json },
    }
}

/// The folder's real path, or the current folder's. `~` is the home folder, because no shell on another machine reads the
/// argument.
fn folder_named(cwd: &Path, named: Option<&Path>) -> Result<PathBuf, Problem> {
    let Some(named) = named else { return Ok(ProjectStore::check_folder(cwd)?) };
    let text = named.to_string_lossy();
    let in_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = match (in_home, dirs::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(named),
    };
    Ok(ProjectStore::check_folder(&path)?)
}

#[cfg(test)]
mod tests;
