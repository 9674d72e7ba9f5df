//! Deskbell's command line: `deskbell relay` with the server and its clients, and every subcommand that needs no desktop.
//! The app adds its windows ([`Desktop`]); the program `deskbell-relay` is this crate alone, for a machine without a
//! display.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

mod agents_command;
pub mod args;
pub mod attach;
mod browse;
mod changes;
mod commit;
mod doctor;
pub mod exit;
mod link;
pub mod logs;
mod on;
mod output;
mod projects;
pub mod recordings;
mod relay;
mod replay;
mod rules_command;
mod search;
pub mod serve;
pub mod sessions;
mod settings;
pub mod signals;
mod threads;
mod trust_command;
mod update;
mod worktrees;

use args::edit::EditOptions;
use args::server::ServerMode;
use args::sessions::SessionsMode;
use args::{Args, Mode, Problem};
use deskbell_engine::log_files::LogSource;
use deskbell_engine::process::guard::Guard;
use deskbell_engine::settings::SettingsFile;
use deskbell_sessions::{agent, far, folders};
use exit::Exit;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

/// What the desktop app adds to the command line.
pub struct Desktop {
    /// Opens the window of a project, or the start page.
    pub window: fn(Args) -> ExitCode,
    /// Opens a file in the user's editor.
    pub edit: fn(EditOptions) -> ExitCode,
    /// Shows the error of a start from a launcher: what failed, and why.
    pub say_failure: fn(&str, &str),
    /// Whether windows are drawn with a GPU; `None` if the system decides.
    pub gpu: fn() -> Option<bool>,
}

/// Runs the action that the command line selects. Without a desktop, what needs one is refused.
pub fn main(args: impl Iterator<Item = OsString>, desktop: Option<&Desktop>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    // The installed app has one binary, which also serves as the demo agent, in a separate process.
    if args.first().is_some_and(|first| first == agent::DEMO_AGENT) {
        return deskbell_demo_agent::main(args.into_iter().skip(1));
    }
    if let [first, run] = args.as_slice()
        && first == Guard::ARGUMENT
    {
        Guard::keep(&run.to_string_lossy());
        return ExitCode::SUCCESS;
    }
    #[cfg(unix)]
    if far::askpass::is_asked(&args) {
        return far::askpass::main(&args);
    }
    let cwd = std::env::current_dir().unwrap_or_default();
    let mode = match args::parse(&args, &cwd) {
        Ok(mode) => mode,
        Err(problem) => {
            let code = refuse(&problem);
            if let Some(desktop) = desktop.filter(|_| args::is_launcher(&args)) {
                let is_link = matches!(problem, Problem::Link(_) | Problem::LinkWithOthers);
                let what =
                    if is_link { "Deskbell could not open a link" } else { "Deskbell could not start" };
                (desktop.say_failure)(what, &problem.to_string());
            }
            return code;
        }
    };
    let runs_sessions = matches!(mode, Mode::Relay(_) | Mode::Server(ServerMode::Serve(_)));
    if runs_sessions && let Err(error) = threads::check() {
        eprintln!("deskbell: {error}");
        return Exit::Failed.into();
    }
    logs::begin(log_source(&mode), &folders::data());
    let code = run(mode, desktop);
    logs::end();
    code
}

/// Prints why the command line selects nothing, or the help or version that it asks for.
fn refuse(problem: &Problem) -> ExitCode {
    let Problem::Clap(error) = problem else {
        eprintln!("deskbell: {problem}");
        return Exit::Usage.into();
    };
    let text = error.to_string();
    if error.use_stderr() && text.lines().any(|line| output::plain(line) != line) {
        // It repeats an argument.
        text.lines().for_each(|line| eprintln!("{}", output::plain(line)));
    } else if let Err(error) = error.print()
        && error.kind() != ErrorKind::BrokenPipe
    {
        tracing::debug!(%error, "the help or an error was not printed");
    }
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Success.into() }
}

/// The log files that the process writes. A short command writes none.
fn log_source(mode: &Mode) -> Option<LogSource> {
    match mode {
        Mode::Window(_) => Some(LogSource::App),
        Mode::Relay(_) => Some(LogSource::Relay),
        Mode::Server(ServerMode::Serve(_)) => Some(LogSource::Server),
        _ => None,
    }
}

fn run(mode: Mode, desktop: Option<&Desktop>) -> ExitCode {
    match mode {
        Mode::Relay(options) => relay::main(options),
        Mode::Server(mode) => server(mode),
        Mode::Doctor { agent, form } => {
            doctor::main(agent, form, folders::data(), desktop.and_then(|desktop| (desktop.gpu)()))
        }
        Mode::Settings(action) => settings::main(action, SettingsFile::new(&folders::config())),
        Mode::Replay(options) => replay::main(&options),
        Mode::Projects(change) => projects::main(change, &folders::data()),
        Mode::Recordings(mode) => recordings::main(mode, &folders::data().join(folders::RECORDINGS)),
        Mode::Sessions(SessionsMode::Running { json }) => server(ServerMode::List { json }),
        Mode::Sessions(SessionsMode::Stop(which)) => server(ServerMode::Stop(which)),
        Mode::Sessions(SessionsMode::On(options)) => on::main(options),
        Mode::Sessions(SessionsMode::Attach(id)) => server(ServerMode::Terminal(id)),
        Mode::Sessions(SessionsMode::Stored(mode)) => sessions::main(mode),
        Mode::Changes(options) => changes::main(&options),
        Mode::Commit(options) => commit::main(&options),
        Mode::Worktrees(options) => worktrees::main(&options),
        Mode::Update(options) => update::main(options),
        Mode::Rules(options) => rules_command::main(options),
        Mode::Trust(options) => trust_command::main(options),
        Mode::Agents { models, json } => agents_command::main(models, json),
        Mode::Folders(folder) => browse::main(&folder),
        Mode::On(options) => on::main(options),
        Mode::Edit(options) => desktop.map_or_else(no_desktop, |desktop| (desktop.edit)(options)),
        Mode::Window(args) => desktop.map_or_else(no_desktop, |desktop| (desktop.window)(args)),
    }
}

/// `deskbell-relay` was asked for a window.
fn no_desktop() -> ExitCode {
    eprintln!("deskbell-relay: this program has no windows; `deskbell-relay --help` lists what it does");
    Exit::Usage.into()
}

fn server(mode: ServerMode) -> ExitCode {
    match mode {
        ServerMode::Serve(options) => serve::main(options),
        mode => attach::main(mode),
    }
}
