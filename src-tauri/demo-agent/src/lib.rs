//! A scripted agent that speaks Claude Code's stream-json over its standard streams.
//!
//! It has two uses. As the **demo** it plays a conversation about a rounding bug, so that the app can be tried without
//! an account: it runs no command and writes no file except its own transcript. As the tests' **double** it obeys a
//! script in the prompt (see [`script`]) and faults named by the environment (see [`environment`]), so that tests can
//! provoke every turn that a real agent could take.
//!
//! With `--acp` it is another agent, which speaks the Agent Client Protocol (module `acp`).
//!
//! It is always a real child process: the binary `deskbell-demo-agent`, or the app itself as `deskbell demo-agent`.
//!
//! Threads: `input` reads the standard input and answers the host's control requests at once, `output` owns the
//! standard output, and the calling thread runs one turn after another (`session`). They share `agent::Agent`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod acp;
mod agent;
mod call;
mod catalogue;
mod clock;
mod configuration;
mod control;
mod demo;
mod ending;
pub mod environment;
mod folder_name;
mod input;
mod message;
mod options;
mod output;
mod past;
mod permission;
mod reply;
pub mod script;
mod session;
mod steps;
mod store;
mod switches;
mod tools;
mod turn;
mod usage;
mod wire;

use std::ffi::OsString;
use std::process::ExitCode;

use environment::DemoEnvironment;
use options::Invocation;

/// Runs the agent with the arguments after the program's name, until its host closes the standard input.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let environment = DemoEnvironment::from_process();
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    if args.iter().any(|arg| arg == "--acp") {
        return acp::run();
    }
    match options::parse(args) {
        Invocation::Run(options) => session::run(*options, environment),
        Invocation::Version => {
            println!("{} (Deskbell demo agent)", environment.version());
            ExitCode::SUCCESS
        }
        Invocation::Refused(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
