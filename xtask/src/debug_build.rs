//! The debug build that all tests share.

use std::path::PathBuf;
use std::process::Command;

use crate::command::{cargo, command, read, run};
use crate::{Outcome, project};
use serde_json::Value;

/// The debug build of all tests and of all programs but xtask, which runs. It is one command, for all parts: for each
/// selection of packages and kinds Cargo would choose other features of the dependencies, and compile these and the
/// engine again.
pub fn debug_build() -> Command {
    let mut build = cargo();
    build.args(["build", "--workspace", "--tests", "--examples"]);
    for program in [project::APP, "deskbell-demo-agent", "deskbell-relay"] {
        build.args(["--bin", program]);
    }
    build
}

/// The program of the tests with this name, which starts the built app. `cargo test --test` would compile the engine
/// again, see `debug_build`.
pub fn tests_of(name: &str) -> Outcome<Command> {
    run(&mut debug_build())?;
    let messages = read(debug_build().arg("--message-format=json-render-diagnostics"))?;
    let program = messages.lines().find_map(|line| program_in(line, name));
    let program = program.ok_or_else(|| format!("Cargo built no tests with the name {name}"))?;
    let mut tests = command(program);
    tests.current_dir(project::root().join("tests")).env("DESKBELL_TEST_APP", project::debug_app());
    Ok(tests)
}

/// The program that a message of Cargo names, if it is that of the tests with this name.
fn program_in(message: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let target = &message["target"];
    let is_test = target["kind"].as_array()?.iter().any(|kind| kind == "test");
    let program = message["executable"].as_str()?;
    (is_test && target["name"] == name).then(|| program.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_tests_is_found_in_the_messages_of_cargo() {
        let message = |kind: &str, program: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"real_cli"}},"executable":{program}}}"#
            )
        };
        let built = message("test", r#""/target/debug/deps/real_cli-1""#);
        assert_eq!(program_in(&built, "real_cli"), Some("/target/debug/deps/real_cli-1".into()));
        for other in [
            &message("bin", r#""/a""#),
            &message("test", "null"),
            r#"{"reason":"build-finished"}"#,
            "Warning",
        ] {
            assert_eq!(program_in(other, "real_cli"), None, "{other}");
        }
        assert_eq!(program_in(&built, "real_window"), None);
    }
}
