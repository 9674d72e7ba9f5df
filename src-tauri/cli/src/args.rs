//! The command line.

mod agent;
pub mod app_link;
pub mod changes;
pub mod edit;
pub mod on;
mod projects;
mod recordings;
pub mod search;
pub mod server;
pub mod sessions;
pub mod trust;
pub mod update;
pub mod usage;
pub mod worktrees;

use crate::recordings::RecordingsMode;
use crate::settings::SettingsAction;
use app_link::{AppLink, BadLink, is_link};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{PermissionMode, Priority};
use deskbell_engine::launch::Launch;
use deskbell_engine::projects::{Change, FolderProblem, ProjectStore};
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

pub const HELP: &str = "\
Deskbell keeps command-line coding agents on call.

  deskbell [FOLDER]          open a window for the project in FOLDER (default: the current folder; the start page if
                             that is your home folder)
      --demo                 new sessions there use the built-in demo agent: no account, no network
      --prompt=TEXT          start a session with this prompt; a draft if Deskbell is already running
  deskbell --open [FOLDER]   the same from a launcher: the start page without FOLDER, and errors in a window
  deskbell deskbell://open?folder=DIR[&session=ID]
                             open the project of a link, or a session of it; a link can do nothing else
  deskbell --background      start without a window, as at login: only the tray icon is shown
  deskbell projects          list the projects that were opened earlier, one JSON object per line
      [--machine=MACHINE] --pin=DIR|--unpin=DIR|--remove=DIR, or --clear
                             change that list: pinned projects come first and are not cleared; DIR on MACHINE as listed
      --keep-running=DIR|--no-keep-running=DIR|--default-keep-running=DIR
                             whether new sessions of DIR keep running when Deskbell closes; by default the setting decides
  deskbell relay --project=DIR [--agent=PATH|NAME|demo] [--model=M] [--mode=M] [--options=FILE] [--record=FILE] [--trust]
                             run the engine without a window: commands on stdin, events on stdout, one JSON object
                             per line; without --trust, a folder that is not trusted is opened restricted
      --options=FILE         what to start the agent with, as JSON: system prompt, limits, tools and more
      --low-priority         while the processors are busy, the agent gets less of them than other programs
      --agent=NAME           another agent, over the Agent Client Protocol: copilot, codex, gemini, opencode, qwen and
                             others; docs/design/acp.md lists them
      --agent-command=PROGRAM [--agent-argument=ARGUMENT…]
                             any other agent that speaks this protocol; it starts only in a trusted folder
      --profile=NAME         an agent with its program, configuration and choices, from the setting agent.profiles
      --resume=ID            continue a stored session
      --fork=ID [--before=PROMPT]
                             begin with a copy of a stored session, or of its part before a prompt
  deskbell relay --serve [--idle=SECONDS] [--detached]
                             sessions that outlive their clients: a server for you alone, which leaves when idle
  deskbell relay --attach[=SESSION] [--no-start] [--idle=SECONDS]
                             connect to the server, or start one; with a session, a relay of it
  deskbell relay --list [--json] | --stop=SESSION|all | --remove=SESSION
                             list the sessions of your servers, stop their agents, remove one
  deskbell replay FILE       show the conversation in a recording
      --lines                show its lines in both directions instead, with their times
      --events               print its events instead, as one JSON object per line
  deskbell recordings [--remove=NAME | --clear]
                             list the recordings that were made in the window, with their sizes; remove one, or all
  deskbell sessions list [FOLDER] [--filter=WORDS]
                             list the sessions of a project that Claude Code stored, one JSON object per line
  deskbell sessions export ID [--format=md|json|html] [--output=FILE] [--force]
                             write a stored session to stdout or to a new file
  deskbell sessions search QUERY [--all] [--project=DIR] [--json]
                             search the text of these sessions, or of all projects: words, \"phrases\", tool:NAME,
                             file:PATH, after:DATE, before:DATE
  deskbell sessions watch ID
                             print a stored session, and follow it while another program works on it
  deskbell sessions usage [FOLDER] [--by=session|day|model|project|all] [--json] [--csv]
                             cost and tokens of Deskbell's sessions, of one project or of all
  deskbell sessions pin ID   keep a session at the top of the list
  deskbell sessions unpin ID
                             no longer keep it there
  deskbell sessions archive ID
                             move a session to the closed group of the list
  deskbell sessions unarchive ID
                             move it back
  deskbell sessions running [--json] [--host=MACHINE]
                             list the sessions that your servers have, of every version, with what their processes cost
  deskbell sessions attach ID [--host=MACHINE]
                             show one of them in this terminal: a line is sent as a prompt, y and n answer requests
  deskbell sessions stop ID | --all [--host=MACHINE]
                             end the agent of one of them, or of all, with everything that it started
  deskbell changes [FOLDER] [--json]
                             list the files that differ from the last commit, with added and removed lines; reads
                             git's files and runs nothing that the repository configures
  deskbell changes [FOLDER] --patch[=FILE]…
                             print the changes of these files, or of all, as a patch for git apply
  deskbell changes [FOLDER] --revert=FILE [--hunk=HEADER] | --undo-revert
                             make a file what it was, or one hunk, named by its @@ line in the patch; undo the last
                             revert
  deskbell worktrees [FOLDER] [--json]
                             list the worktrees of a repository, with their branches and numbers of changed files
  deskbell worktrees [FOLDER] --add=BRANCH
                             make a worktree of a branch, next to the repository, and print its folder; the branch
                             begins at the current commit if it is new
  deskbell worktrees [FOLDER] --remove=BRANCH|DIR [--with-ignored]
                             remove a worktree, unless something in it is nowhere else; the branch stays
  deskbell worktrees [FOLDER] --current | --plan=BRANCH | --review=BRANCH|DIR | --folder=BRANCH|DIR
                             print what is checked out in FOLDER; what --add would make; what --remove would lose, or why
                             it would not; or the folder in a worktree that corresponds to FOLDER; all of them as JSON too
  deskbell trust [FOLDER] [--json]
                             show whether a folder is trusted, and what its settings would run, load or allow
      --decide=trust|restrict|keep [--fingerprint=F]
                             decide it; trust and keep need the fingerprint that was shown, so that nothing unseen
                             is trusted
      [--agent=NAME|--profile=NAME]
                             the same for another agent: each has a decision of its own
  deskbell agents [--json]   list the agents that a new session can have, and the profiles of the settings, without the
                             values of their variables
  deskbell folders [FOLDER]  list the folders in a folder, to choose one from, as one JSON object
  deskbell on MACHINE COMMAND…
                             run a command of Deskbell on another machine, `relay --attach` for example: a host of your
                             ssh, docker:NAME, podman:NAME, devcontainer:FOLDER, kubectl:NAMESPACE/POD or wsl:NAME;
                             Deskbell's program is copied there over the connection if it is not there yet
      --program=FILE         copy this program there
  deskbell edit FILE [--line=N]
                             open a file in your editor: that of the settings, a well-known one that is installed, or
                             the desktop's editor for text; never runs the file
  deskbell settings [get [KEY] | set KEY VALUE | path | schema | check]
                             show or change the settings, or check their file; docs/settings.md describes them
  deskbell doctor [--agent=PATH] [--json | --log]
                             show which agent is used and why, whether it can work, and the desktop; test whether it
                             asks before acting; for a bug report, without keys and names; --log adds the last lines
                             of the log
  deskbell update [--json]
                             replace the AppImage that runs this command with a newer one, if its signature is right and
                             nothing works or waits; the system's curl downloads it
      --check                only say whether there is a newer version
  deskbell --version
  deskbell --help
";

/// The action that the command line selects.
#[derive(Debug, PartialEq, Eq)]
pub enum Mode {
    Help,
    Version,
    Window(Args),
    Relay(RelayOptions),
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
    /// Lists, adds, reviews or removes worktrees.
    Worktrees(worktrees::WorktreesOptions),
    /// Replaces the AppImage that runs, or says whether there is a newer one.
    Update(update::UpdateOptions),
    /// Shows whether a folder is trusted, or decides it.
    Trust(trust::TrustOptions),
    /// Lists the agents of this machine.
    Agents {
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

/// A window of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// The absolute path; `None` if no folder was given.
    pub folder: Option<PathBuf>,
    pub demo: bool,
    pub prompt: Option<String>,
    /// The id of a session to show, from a link.
    pub session: Option<String>,
    /// Started from the desktop: nothing depends on the current folder, and errors are shown in a window.
    pub launcher: bool,
    /// Started at login: no window opens.
    pub hidden: bool,
}

impl Args {
    /// Whether a failure of the start is shown in a window too, because the user may see no other output.
    pub fn says_failures(&self) -> bool {
        self.launcher || (*self == Self::default() && !std::io::stderr().is_terminal())
    }
}

/// The option of the desktop entry.
const LAUNCHER: &str = "--open";

/// The option of the entry that the desktop starts at login.
pub const BACKGROUND: &str = "--background";

/// Whether these are the arguments of a launcher.
pub fn is_launcher(args: &[OsString]) -> bool {
    args.first().is_some_and(|first| first == LAUNCHER || is_link(first))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayOptions {
    pub project: PathBuf,
    /// A program path, or `demo`.
    pub agent: Option<PathBuf>,
    /// An agent that speaks ACP, instead of `agent`.
    pub acp: Option<ChosenAgent>,
    /// A profile of the settings, instead of both.
    pub profile: Option<String>,
    pub resume: Option<String>,
    /// Begins as a copy of this conversation.
    pub fork: Option<String>,
    /// The prompt before which that copy ends.
    pub before: Option<String>,
    pub model: Option<String>,
    pub mode: Option<PermissionMode>,
    /// A JSON file with the options that the agent is started with.
    pub options: Option<PathBuf>,
    /// A new file for the recording.
    pub record: Option<PathBuf>,
    /// Loads the folder's own settings in this run, whatever the user decided earlier.
    pub trust: bool,
    /// The priority of the agent, and of all that it starts.
    pub priority: Priority,
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
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("unknown option {0}; see deskbell --help")]
    UnknownOption(String),
    #[error("--hunk needs the @@ line of the patch: --hunk='@@ -12,4 +12,5 @@'")]
    BadHunk,
    #[error("--json, --patch, --revert and --undo-revert exclude each other; --hunk belongs to --revert")]
    ChangesActions,
    #[error(
        "--current, --plan, --add, --folder, --review and --remove exclude each other; --with-ignored belongs to --remove"
    )]
    WorktreesActions,
    #[error("--decide: “{0}” is not one of trust, restrict and keep")]
    BadDecision(String),
    #[error("--agent={0}: `deskbell agents` lists the names")]
    NoSuchAgent(String),
    #[error("--fingerprint belongs to --decide=trust and --decide=keep, which need it")]
    Fingerprint,
    #[error("edit needs a FILE")]
    NoFile,
    #[error("only one file can be opened at a time; {} is a second one", .0.display())]
    SecondFile(PathBuf),
    #[error("--line needs a number from 1: --line=12")]
    BadLine,
    #[error("{0} needs a value: {0}=…")]
    NoValue(String),
    #[error("only one folder can be opened at a time; {0} is a second one")]
    SecondFolder(PathBuf),
    #[error(transparent)]
    Folder(#[from] FolderProblem),
    #[error("the link opens nothing: {0}")]
    Link(#[from] BadLink),
    #[error("a deskbell:// link must be the only argument")]
    LinkWithOthers,
    #[error("--background must be the only argument")]
    BackgroundWithOthers,
    #[error("--prompt needs a FOLDER here, because this is not a project's folder")]
    PromptWithoutFolder,
    #[error("relay needs --project=DIR")]
    NoProject,
    #[error("--mode: {0}")]
    BadMode(String),
    #[error("--model: {0}")]
    BadModel(&'static str),
    #[error("“{0}” is not a conversation id; use the agentSessionId of an earlier run")]
    BadConversation(String),
    #[error("--agent and --agent-command exclude each other")]
    AgentAndCommand,
    #[error("--profile names the agent: it excludes --agent and --agent-command")]
    ProfileAndAgent,
    #[error("--agent-argument needs --agent-command=PROGRAM")]
    ArgumentWithoutCommand,
    #[error("{0} is for Claude Code, and this agent does not have it")]
    OnlyClaude(&'static str),
    #[error("--log and --json exclude each other")]
    LogAndJson,
    #[error("--fork and --resume exclude each other")]
    ForkAndResume,
    #[error("--before needs --fork=ID")]
    BeforeWithoutFork,
    #[error("--idle: “{0}” is not a number of seconds")]
    BadIdle(String),
    #[error("replay needs the path of a recording")]
    NoRecording,
    #[error("settings needs what to do: get [KEY], set KEY VALUE, path, schema or check")]
    NoSettingsAction,
    #[error(
        "on needs a MACHINE: the name of a host for ssh, or docker:NAME, podman:NAME, devcontainer:FOLDER, \
         kubectl:POD, wsl:NAME"
    )]
    NoMachine,
    #[error(transparent)]
    BadMachine(#[from] crate::far::BadMachine),
    #[error("on needs a COMMAND after the machine, `relay --list` for example")]
    NoCommand,
    #[error("an argument of the command has a line feed, is not UTF-8, or is too long")]
    BadArgument,
    #[error("--by=“{0}” is none of session, day, model, project and all")]
    BadColumn(String),
    #[error("sessions search needs a QUERY")]
    NoQuery,
    #[error(
        "sessions needs what to do with them: list, search, export, watch, usage, pin, unpin, archive, unarchive, \
         running, attach or stop"
    )]
    NoAction,
    #[error("the id of a session is missing")]
    NoSession,
    #[error("only one session at a time; {0} is a second one")]
    SecondSession(String),
    #[error("--format: “{0}” is not one of md, json and html")]
    BadFormat(String),
}

/// Parses the arguments, without the program's name. Checks the folder here, before any window opens.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<Mode, Problem> {
    if args.first().is_some_and(|first| first == "relay") {
        if let Some(mode) = server::parse(&args[1..]) {
            return mode.map(Mode::Server);
        }
        return relay(&args[1..], cwd).map(Mode::Relay);
    }
    if let [first, rest @ ..] = args
        && first == "doctor"
    {
        return doctor(rest);
    }
    if args.first().is_some_and(|first| first == "replay") {
        return replay(&args[1..], cwd).map(Mode::Replay);
    }
    if args.first().is_some_and(|first| first == "projects") {
        return projects::parse(&args[1..], cwd).map(Mode::Projects);
    }
    if args.first().is_some_and(|first| first == "recordings") {
        return recordings::parse(&args[1..]).map(Mode::Recordings);
    }
    if args.first().is_some_and(|first| first == "sessions") {
        return sessions::parse(&args[1..], cwd).map(Mode::Sessions);
    }
    if args.first().is_some_and(|first| first == "changes") {
        return changes::parse(&args[1..], cwd).map(Mode::Changes);
    }
    if args.first().is_some_and(|first| first == "worktrees") {
        return worktrees::parse(&args[1..], cwd).map(Mode::Worktrees);
    }
    if args.first().is_some_and(|first| first == "update") {
        return update::parse(&args[1..]).map(Mode::Update);
    }
    if args.first().is_some_and(|first| first == "trust") {
        return trust::parse(&args[1..], cwd).map(Mode::Trust);
    }
    if args.first().is_some_and(|first| first == "agents") {
        return trust::agents(&args[1..]);
    }
    if args.first().is_some_and(|first| first == "folders") {
        return trust::folder(&args[1..], cwd).map(Mode::Folders);
    }
    if args.first().is_some_and(|first| first == "on") {
        return on::parse(&args[1..], cwd).map(Mode::On);
    }
    if args.first().is_some_and(|first| first == "edit") {
        return edit::parse(&args[1..], cwd).map(Mode::Edit);
    }
    if args.first().is_some_and(|first| first == "settings") {
        return settings(&args[1..]).map(Mode::Settings);
    }
    window(args, cwd)
}

/// Parses the arguments of a start with a window.
fn window(args: &[OsString], cwd: &Path) -> Result<Mode, Problem> {
    let mut parsed = Args { launcher: is_launcher(args), ..Args::default() };
    let rest = if args.first().is_some_and(|first| first == LAUNCHER) { &args[1..] } else { args };
    if let [link] = rest
        && is_link(link)
    {
        let AppLink { folder, session } = AppLink::parse(link)?;
        parsed = Args { folder: Some(ProjectStore::check_folder(&folder)?), session, ..parsed };
        return Ok(Mode::Window(parsed));
    }
    if let [path] = rest
        && rest.len() < args.len()
        // A file name is never an option, whatever its first character is.
        && (!path.to_string_lossy().starts_with("--") || cwd.join(path).exists())
    {
        let path = app_link::file_of(path).unwrap_or_else(|| cwd.join(path));
        parsed.folder = Some(ProjectStore::check_folder(&path)?);
        return Ok(Mode::Window(parsed));
    }
    let mut rest = rest.iter();
    while let Some(arg) = rest.next() {
        let (name, value) = split(arg);
        match name.as_str() {
            "--help" | "-h" => return Ok(Mode::Help),
            "--version" | "-V" => return Ok(Mode::Version),
            "--demo" => parsed.demo = true,
            "--prompt" => {
                let value = value.or_else(|| rest.next().cloned()).ok_or(Problem::NoValue(name))?;
                parsed.prompt = Some(value.to_string_lossy().into_owned());
            }
            BACKGROUND if args.len() == 1 => parsed.hidden = true,
            BACKGROUND => return Err(Problem::BackgroundWithOthers),
            _ if is_link(arg) => return Err(Problem::LinkWithOthers),
            _ if name.starts_with('-') => return Err(Problem::UnknownOption(name)),
            _ if arg.is_empty() => return Err(FolderProblem::Missing(PathBuf::new()).into()),
            _ if parsed.folder.is_some() => return Err(Problem::SecondFolder(arg.into())),
            _ => parsed.folder = Some(ProjectStore::check_folder(&cwd.join(arg))?),
        }
    }
    Ok(Mode::Window(parsed))
}

fn doctor(args: &[OsString]) -> Result<Mode, Problem> {
    let (mut agent, mut form) = (None, ReportForm::Text);
    for arg in args {
        match split(arg) {
            (name, None) if name == "--json" && form != ReportForm::WithLog => form = ReportForm::Json,
            (name, None) if name == "--log" && form != ReportForm::Json => form = ReportForm::WithLog,
            (name, None) if name == "--json" || name == "--log" => return Err(Problem::LogAndJson),
            (name, Some(value)) if name == "--agent" => agent = Some(value.into()),
            (name, _) if name == "--agent" => return Err(Problem::NoValue(name)),
            (name, _) => return Err(Problem::UnknownOption(name)),
        }
    }
    Ok(Mode::Doctor { agent, form })
}

fn replay(args: &[OsString], cwd: &Path) -> Result<ReplayOptions, Problem> {
    let mut file = None;
    let mut view = ReplayView::Conversation;
    for arg in args {
        match arg.to_str() {
            Some("--lines") => view = ReplayView::Lines,
            Some("--events") => view = ReplayView::Events,
            Some(option) if option.starts_with('-') => return Err(Problem::UnknownOption(option.to_owned())),
            _ => file = Some(cwd.join(arg)),
        }
    }
    Ok(ReplayOptions { file: file.ok_or(Problem::NoRecording)?, view })
}

fn settings(args: &[OsString]) -> Result<SettingsAction, Problem> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] | ["get"] => Ok(SettingsAction::Get(None)),
        ["get", key] => Ok(SettingsAction::Get(Some(key.to_owned()))),
        ["set", key, value] => Ok(SettingsAction::Set { key: key.to_owned(), value: value.to_owned() }),
        ["path"] => Ok(SettingsAction::Path),
        ["schema"] => Ok(SettingsAction::Schema),
        ["check"] => Ok(SettingsAction::Check),
        _ => Err(Problem::NoSettingsAction),
    }
}
fn relay(args: &[OsString], cwd: &Path) -> Result<RelayOptions, Problem> {
    let mut options = RelayOptions::default();
    let mut named = agent::Named::default();
    let mut project = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (name, value) = split(arg);
        let mut value = || {
            value
                .clone()
                .or_else(|| rest.next().cloned())
                .filter(|value| !value.is_empty())
                .ok_or(Problem::NoValue(name.clone()))
        };
        let text = |value: OsString| value.to_string_lossy().into_owned();
        match name.as_str() {
            "--project" => project = Some(ProjectStore::check_folder(&cwd.join(value()?))?),
            "--agent" => named.agent = Some(value()?),
            "--profile" => options.profile = Some(text(value()?)),
            "--agent-command" => named.command = Some(value()?),
            "--agent-argument" => named.arguments.push(value()?),
            "--resume" => options.resume = Some(text(value()?)),
            "--fork" => options.fork = Some(conversation(&text(value()?))?),
            "--before" => options.before = Some(conversation(&text(value()?))?),
            "--model" => {
                let model = text(value()?);
                if let Some(problem) = Launch::bad_model(&model) {
                    return Err(Problem::BadModel(problem));
                }
                options.model = Some(model);
            }
            "--options" => options.options = Some(cwd.join(value()?)),
            "--record" => options.record = Some(cwd.join(value()?)),
            "--trust" => options.trust = true,
            "--low-priority" => options.priority = Priority::Low,
            "--mode" => {
                let mode = text(value()?).parse::<PermissionMode>();
                options.mode = Some(mode.map_err(|problem| Problem::BadMode(problem.to_string()))?);
            }
            _ => return Err(Problem::UnknownOption(name)),
        }
    }
    if options.fork.is_some() && options.resume.is_some() {
        return Err(Problem::ForkAndResume);
    }
    if options.before.is_some() && options.fork.is_none() {
        return Err(Problem::BeforeWithoutFork);
    }
    options.project = project.ok_or(Problem::NoProject)?;
    if options.profile.is_some() && named.is_given() {
        return Err(Problem::ProfileAndAgent);
    }
    named.apply(&mut options, cwd)?;
    options.resume = match options.resume.take() {
        // Other agents have ids of other forms.
        Some(id) if options.acp.is_some() && Launch::is_conversation_id(&id) => Some(id),
        Some(id) if options.profile.is_some() && Launch::is_conversation_id(&id) => Some(id),
        Some(id) => Some(conversation(&id)?),
        None => None,
    };
    Ok(options)
}

/// Parses the id of a conversation. Claude Code uses UUIDs, which are also valid file names.
fn conversation(id: &str) -> Result<String, Problem> {
    let uuid = uuid::Uuid::try_parse(id).ok().filter(|_| id.len() == 36);
    let bad = || Problem::BadConversation(id.escape_debug().take(60).collect());
    uuid.map(|uuid| uuid.to_string()).ok_or_else(bad)
}

/// The folder's real path. `~` is the home folder, because no shell on another machine reads the argument.
fn folder_named(cwd: &Path, named: &OsString) -> Result<PathBuf, Problem> {
    let text = named.to_string_lossy();
    let in_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = match (in_home, dirs::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(named),
    };
    Ok(ProjectStore::check_folder(&path)?)
}

/// Splits `--name=value` into its two parts.
fn split(arg: &OsStr) -> (String, Option<OsString>) {
    let text = arg.to_string_lossy();
    match text.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.into())),
        _ => (text.into_owned(), None),
    }
}

#[cfg(test)]
mod tests;
