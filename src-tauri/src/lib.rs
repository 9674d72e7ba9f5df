//! The shell: opens a window for each project, asks for permission through native dialogs, and notifies the user when a
//! turn ends. Everything else is in the engine.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

mod agent;
mod apply_settings;
mod args;
mod ask;
#[cfg(unix)]
mod attach;
mod background;
mod board;
mod changes;
mod clipboard;
mod closing;
mod commands;
mod desktop;
mod doctor;
mod emit;
mod environment;
mod forward;
mod hidden;
mod lifecycle;
#[cfg(unix)]
mod link;
mod links;
mod logs;
mod marks;
mod native_dialogs;
mod notify;
mod opening;
mod orphans;
mod places;
mod project;
mod projects;
mod prompt_snapshots;
mod registry;
mod relay;
mod replay;
mod search;
#[cfg(unix)]
mod serve;
mod sessions;
mod settings;
mod shell;
mod showing;
mod start;
mod terminal;
mod tray;
mod trust;
mod watch;
#[cfg(target_os = "linux")]
mod webkit;
mod windows;

use args::server::ServerMode;
use args::{Args, Mode};
use deskbell_engine::log_files::LogSource;
use deskbell_engine::process::guard;
use deskbell_engine::settings::SettingsFile;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the action that the command line selects.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    // The installed app has one binary, which also serves as the demo agent, in a separate process.
    if args.first().is_some_and(|first| first == agent::DEMO_AGENT) {
        return deskbell_demo_agent::main(args.into_iter().skip(1));
    }
    if let [first, run] = args.as_slice()
        && first == guard::GUARD
    {
        guard::keep(&run.to_string_lossy());
        return ExitCode::SUCCESS;
    }
    let cwd = std::env::current_dir().unwrap_or_default();
    let mode = match args::parse(&args, &cwd) {
        Ok(mode) => mode,
        Err(problem) => {
            eprintln!("deskbell: {problem}");
            if args::is_launcher(&args) {
                native_dialogs::say_failure(&problem.to_string());
            }
            return ExitCode::from(2);
        }
    };
    logs::begin(log_source(&mode), &registry::data_folder());
    let code = run(mode);
    logs::end();
    code
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

fn run(mode: Mode) -> ExitCode {
    match mode {
        Mode::Help => {
            print!("{}", args::HELP);
            ExitCode::SUCCESS
        }
        Mode::Version => {
            println!("deskbell {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Mode::Relay(options) => relay::main(options),
        Mode::Server(mode) => server(mode),
        Mode::Doctor { agent, form } => doctor::main(agent, form, registry::data_folder()),
        Mode::Settings(action) => {
            settings::subcommand::main(action, SettingsFile::new(&settings::config_folder()))
        }
        Mode::Replay(options) => replay::main(&options),
        Mode::Projects(change) => projects::main(change, &registry::data_folder()),
        Mode::Sessions(mode) => sessions::main(mode),
        Mode::Changes(options) => changes::main(&options),
        Mode::Window(args) => window(args),
    }
}

#[cfg(unix)]
fn server(mode: ServerMode) -> ExitCode {
    match mode {
        ServerMode::Serve(options) => serve::main(options),
        mode => attach::main(mode),
    }
}

/// A named pipe can be opened by other users unless its security descriptor says otherwise, and none was tested yet.
#[cfg(not(unix))]
fn server(_mode: ServerMode) -> ExitCode {
    eprintln!("deskbell: the server is not available on Windows yet; `deskbell relay --project=DIR` is");
    ExitCode::from(2)
}

fn window(args: Args) -> ExitCode {
    let says_failures = args.says_failures();
    match shell::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            if says_failures {
                native_dialogs::say_failure(&format!("{error:#}"));
            }
            ExitCode::FAILURE
        }
    }
}
