//! The shell: it gives each project a window, asks permission through native dialogs, and rings when a turn ends.
//! Everything else is the engine's.

mod agent;
mod args;
mod ask;
mod commands;
mod desk;
mod doctor;
mod forward;
mod links;
mod notify;
mod preferences;
mod project;
mod relay;
mod replay;
mod shell;
mod survivors;
mod tell;
mod trust;
#[cfg(target_os = "linux")]
mod webkit;
mod windows;

use args::{Args, Mode};
use deskbell_engine::process::guard;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs what the command line asks for.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    // The installed app has one binary: it is its own demo agent, in a process of its own all the same.
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
            return ExitCode::from(2);
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("DESKBELL_LOG").unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
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
        Mode::Doctor { agent } => doctor::main(agent, desk::data_folder()),
        Mode::Replay(options) => replay::main(&options),
        Mode::Window(args) => window(args),
    }
}

fn window(args: Args) -> ExitCode {
    match shell::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}
