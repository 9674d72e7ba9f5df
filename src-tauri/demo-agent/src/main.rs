//! The demo agent as a separate program, for the tests; the installed app runs `deskbell demo-agent` instead.

use std::process::ExitCode;

fn main() -> ExitCode {
    deskbell_demo_agent::main(std::env::args_os().skip(1))
}
