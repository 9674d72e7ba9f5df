//! The components of the Rust toolchain that a minimal installation leaves out.

use crate::Outcome;
use crate::command::{cargo, command, read, run};

/// Makes sure that `cargo fmt` and `cargo clippy` are installed.
pub fn ensure_components() -> Outcome {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if read(cargo().args([subcommand, "--version"])).is_ok() {
            continue;
        }
        run(command("rustup").args(["component", "add", component]))
            .map_err(|reason| format!("{component} is missing, and {reason}"))?;
    }
    Ok(())
}

/// Whether the faster test runner is installed.
pub fn has_nextest() -> bool {
    read(cargo().args(["nextest", "--version"])).is_ok()
}
