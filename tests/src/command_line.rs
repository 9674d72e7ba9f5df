//! The files that are made from the command line: the manual page and the shells' completions. `UPDATE_COMMAND_LINE=1`
//! writes them.

mod manual;

use clap::Command;
use clap_complete::Shell;
use deskbell_cli::exit::Exit;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The command line with its subcommands.
pub fn command() -> Command {
    let mut command = deskbell_cli::args::command();
    command.build();
    command
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut deskbell_cli::args::command(), "deskbell", &mut script);
    String::from_utf8(script).expect("a script is text")
}

/// The files that are made from the command line.
fn generated() -> Vec<(&'static str, String)> {
    vec![
        ("src-tauri/packaging/deskbell.1", manual::manual(&command())),
        ("src-tauri/packaging/completions/deskbell.bash", completions(Shell::Bash)),
        ("src-tauri/packaging/completions/_deskbell", completions(Shell::Zsh)),
        ("src-tauri/packaging/completions/deskbell.fish", completions(Shell::Fish)),
    ]
}

#[test]
fn the_manual_page_and_the_completions_are_up_to_date() {
    for (path, text) in generated() {
        if std::env::var_os("UPDATE_COMMAND_LINE").is_some() {
            std::fs::write(root().join(path), &text).unwrap();
        }
        assert!(read(path) == text, "{path} is out of date: UPDATE_COMMAND_LINE=1 writes it");
    }
}

#[test]
fn every_option_of_the_relay_has_a_row_in_its_document() {
    let document = read("docs/relay.md");
    let command = command();
    let relay = command.find_subcommand("relay").expect("there is a relay");
    let options = relay.get_opts().filter_map(|option| option.get_long());
    // `--json` belongs to `--list`, which the table describes.
    let missing: Vec<&str> = options
        .filter(|name| !["json", "help"].contains(name) && !document.contains(&format!("| `--{name}")))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_guide_lists_every_exit_code() {
    let guide = read("docs/guide/command-line.md");
    let rows =
        guide.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |")?.0.parse::<u8>().ok());
    assert_eq!(rows.collect::<Vec<_>>(), Exit::ALL.map(Exit::code));
}

/// The completions that bash offers for a line with its cursor at the end.
fn completed(line: &str) -> Vec<String> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if line.ends_with(' ') {
        words.push("");
    }
    let script = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); compopt() { :; }; \
                  _deskbell deskbell \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", script, "bash"])
        .arg(root().join("src-tauri/packaging/completions/deskbell.bash"))
        .args(words)
        .current_dir(root())
        .output()
        .expect("bash runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let mut offered: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.is_empty())
        .map(Into::into)
        .collect();
    offered.sort();
    offered
}

#[cfg(unix)]
#[test]
fn bash_offers_commands_options_and_known_values() {
    assert_eq!(completed("deskbell re"), ["recordings", "relay", "replay"]);
    assert!(completed("deskbell sessions ").contains(&"unarchive".to_owned()));
    assert_eq!(completed("deskbell relay --low"), ["--low-priority"]);
    assert_eq!(completed("deskbell relay --mode ac"), ["acceptEdits"]);
    assert_eq!(completed("deskbell trust --decide k"), ["keep"]);
    assert_eq!(completed("deskbell sessions export --format "), ["html", "json", "md"]);
    assert_eq!(completed("deskbell doctor --pro"), [""; 0]);
}

#[test]
fn the_other_shells_read_their_completions() {
    for (shell, file) in [("zsh", "_deskbell"), ("fish", "deskbell.fish"), ("bash", "deskbell.bash")] {
        let file = root().join("src-tauri/packaging/completions").join(file);
        match std::process::Command::new(shell).arg("-n").arg(&file).stdin(Stdio::null()).output() {
            Ok(output) => assert!(output.status.success(), "{shell}: {output:?}"),
            Err(error) => eprintln!("skipped: {shell} is not installed ({error}); the package part has it"),
        }
    }
}

#[test]
fn the_manual_page_names_variables_and_folders_that_the_sources_use() {
    let sources: String =
        crate::architecture::sources("src-tauri", &["rs"]).into_iter().map(|(_, text)| text).collect();
    assert!(manual::VARIABLES.len() >= 4);
    for (variable, _) in manual::VARIABLES {
        assert!(sources.contains(&format!("\"{variable}\"")), "{variable}");
    }
    assert!(sources.contains("dirs::data_dir()") && sources.contains("dirs::cache_dir()"));
}
