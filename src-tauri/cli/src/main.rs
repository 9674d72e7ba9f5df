//! Deskbell without a desktop, for a machine that only runs agents.

fn main() -> std::process::ExitCode {
    deskbell_cli::main(std::env::args_os().skip(1), None)
}
