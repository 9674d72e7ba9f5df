//! The command line as `deskbell --help` shows it, and the files that are made from it: the manual page and the shells'
//! completions. `UPDATE_COMMAND_LINE=1` writes the files.

mod completions;
mod manual;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The column in which the help text describes a command.
const DESCRIPTIONS: usize = 29;

/// One command of the help text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `deskbell replay FILE`
    pub usage: String,
    pub about: String,
    /// The options that have lines of their own, with their descriptions.
    pub options: Vec<(String, String)>,
}

/// An option of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOption {
    /// `--agent`
    pub name: String,
    /// `PATH|demo`, as the help text calls its value; `None` if it has none.
    pub value: Option<String>,
    pub about: String,
}

/// A command with its options: `relay`, `sessions list`, or nothing for the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subcommand {
    pub path: String,
    pub about: String,
    pub options: Vec<CommandOption>,
    /// `FOLDER` or `FILE`, if it has an operand.
    pub operand: Option<String>,
}

/// The text that `deskbell --help` prints.
pub fn help() -> String {
    let source = read("src-tauri/cli/src/args.rs");
    let text = source.split_once("pub const HELP: &str = \"\\\n").expect("there is a help text").1;
    text.split_once("\";").expect("the help text ends").0.to_owned()
}

/// Reads a help text: commands are indented by 2, their options by 6, descriptions by 29.
fn entries(help: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in help.lines() {
        let indent = line.len() - line.trim_start().len();
        let (head, about) = match indent {
            DESCRIPTIONS => ("", line.trim()),
            _ => line.trim().split_once("  ").map_or((line.trim(), ""), |(head, about)| (head, about.trim())),
        };
        match indent {
            2 => entries.push(Entry { usage: head.into(), about: about.into(), options: Vec::new() }),
            6 => {
                let entry = entries.last_mut().expect("an option belongs to a command");
                entry.options.push((head.into(), about.into()));
            }
            DESCRIPTIONS => {
                let entry = entries.last_mut().expect("a description belongs to a command");
                let text = entry.options.last_mut().map_or(&mut entry.about, |(_, text)| text);
                *text = format!("{text} {about}").trim().to_owned();
            }
            _ => {}
        }
    }
    entries
}

/// The options in a usage, each with its value.
fn options(usage: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for (at, _) in usage.match_indices("--") {
        let rest = &usage[at..];
        let end = rest.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let value = rest.strip_prefix('=').or_else(|| rest.strip_prefix("[="));
        let value = value.map(|value| {
            let end = value.find(|c: char| c == ']' || c.is_whitespace()).unwrap_or(value.len());
            value[..end].to_owned()
        });
        found.push((name.to_owned(), value));
    }
    found
}

/// The words after `deskbell` that name a command.
fn path(usage: &str) -> String {
    let words = usage.split_whitespace().skip(1);
    let named = words.take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    named.collect::<Vec<_>>().join(" ")
}

/// The descriptions of options in the tables of `docs/relay.md`, by their names, as plain text.
fn documented_options() -> Vec<(String, String)> {
    let document = read("docs/relay.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `--")?.strip_suffix(" |"));
    rows.filter_map(|row| {
        let (option, about) = row.split_once("` | ")?;
        Some((options(&format!("--{option}")).pop()?.0, plain(about)))
    })
    .collect()
}

/// Markdown without its marks; a link is its text.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text.replace(['`', '['], "")
}

/// The commands with all of their options.
pub fn subcommands(help: &str) -> Vec<Subcommand> {
    let documented = documented_options();
    let mut found: Vec<Subcommand> = Vec::new();
    for entry in entries(help) {
        let path = path(&entry.usage);
        let index = found.iter().position(|command| command.path == path).unwrap_or_else(|| {
            let about = entry.about.clone();
            found.push(Subcommand { path: path.clone(), about, options: Vec::new(), operand: None });
            found.len() - 1
        });
        let command = &mut found[index];
        let operand = entry.usage.split_whitespace().find(|word| {
            let word = word.trim_matches(['[', ']']);
            !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase())
        });
        command.operand = command.operand.take().or(operand.map(|word| word.trim_matches(['[', ']']).into()));
        let own = entry.options.iter().map(|(usage, about)| (usage, about.as_str()));
        for (usage, about) in std::iter::once((&entry.usage, "")).chain(own) {
            for (name, value) in options(usage) {
                if command.options.iter().any(|option| option.name == name) {
                    continue;
                }
                let in_relay = documented.iter().find(|(option, _)| path == "relay" && *option == name);
                let about = in_relay.map_or(about, |(_, about)| about);
                let about = if about.is_empty() { entry.about.clone() } else { about.to_owned() };
                command.options.push(CommandOption { name, value, about });
            }
        }
    }
    found
}

/// The string literals in the parser's sources that are options, without its unit tests.
fn parsed_options() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let parts = std::fs::read_dir(root().join("src-tauri/cli/src/args")).unwrap();
    let parts = parts.map(|part| part.unwrap().path()).filter(|part| !part.ends_with("tests.rs"));
    for file in std::iter::once(root().join("src-tauri/cli/src/args.rs")).chain(parts) {
        let source = std::fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for literal in code.split('"').skip(1).step_by(2) {
            let name = literal.strip_prefix("--").unwrap_or_default();
            if !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
                found.insert(literal.to_owned());
            }
        }
    }
    found
}

/// The files that are made from the help text.
fn generated() -> Vec<(&'static str, String)> {
    let help = help();
    let commands = subcommands(&help);
    vec![
        ("src-tauri/packaging/deskbell.1", manual::manual(&entries(&help), &commands)),
        ("src-tauri/packaging/completions/deskbell.bash", completions::bash(&commands)),
        ("src-tauri/packaging/completions/_deskbell", completions::zsh(&commands)),
        ("src-tauri/packaging/completions/deskbell.fish", completions::fish(&commands)),
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
fn every_option_of_the_parser_is_in_the_help_text_and_no_other() {
    let parsed = parsed_options();
    assert!(parsed.len() >= 25, "{parsed:?}");
    let shown: BTreeSet<String> = subcommands(&help())
        .into_iter()
        .flat_map(|command| command.options)
        .map(|option| option.name)
        .collect();
    assert_eq!(shown, parsed);
}

#[test]
fn every_command_and_every_option_has_a_description() {
    for command in subcommands(&help()) {
        assert!(!command.about.is_empty(), "{}", command.path);
        for option in &command.options {
            let says_nothing = ["--version", "--help"].contains(&option.name.as_str());
            assert_eq!(option.about.is_empty(), says_nothing, "{} {}", command.path, option.name);
        }
    }
    let documented: BTreeSet<String> = documented_options().into_iter().map(|(name, _)| name).collect();
    let commands = subcommands(&help());
    let relay = commands.iter().find(|command| command.path == "relay").unwrap();
    let missing: Vec<_> = relay.options.iter().filter(|option| !documented.contains(&option.name)).collect();
    // `--json` belongs to `--list`, which the table describes.
    assert!(missing.iter().all(|option| option.name == "--json"), "docs/relay.md has no row for {missing:?}");
}

#[test]
fn a_help_text_is_read() {
    let help = "Title.\n\n  deskbell [FOLDER]          open it\n      --demo                 play\n\
                \x20 deskbell relay --project=DIR [--agent=PATH|demo] [--on[=ID]]\n\
                \x20                            run it:\n\
                \x20                            without a window\n";
    let commands = subcommands(help);
    let option = |name: &str, value: Option<&str>, about: &str| CommandOption {
        name: name.into(),
        value: value.map(Into::into),
        about: about.into(),
    };
    assert_eq!(commands[0].options, [option("--demo", None, "play")]);
    assert_eq!(commands[0].operand.as_deref(), Some("FOLDER"));
    assert_eq!(commands[1].path, "relay");
    assert_eq!(commands[1].about, "run it: without a window");
    assert_eq!(commands[1].options[1].value.as_deref(), Some("PATH|demo"));
    assert_eq!(commands[1].options[2], option("--on", Some("ID"), "run it: without a window"));
}

/// The completions that bash offers for a line with its cursor at the end.
fn completed(line: &str) -> Vec<String> {
    // As readline splits a line: `=` is a word of its own.
    let line = line.replace('=', " = ");
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if line.ends_with(' ') && words.last() != Some(&"=") {
        words.push("");
    }
    let script = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _deskbell; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
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
fn bash_offers_every_command_every_option_and_known_values() {
    for command in subcommands(&help()) {
        let prefix = format!("deskbell {} ", command.path).replace("  ", " ");
        for option in &command.options {
            let shown = option.value.as_ref().map_or(option.name.clone(), |_| format!("{}=", option.name));
            let offered = completed(&format!("{prefix}{}", option.name));
            assert!(offered.contains(&shown), "{prefix}{}: {offered:?}", option.name);
        }
    }
    assert_eq!(completed("deskbell re"), ["recordings", "relay", "replay"]);
    assert_eq!(
        completed("deskbell sessions "),
        [
            "archive",
            "attach",
            "export",
            "list",
            "pin",
            "running",
            "search",
            "stop",
            "unarchive",
            "unpin",
            "usage",
            "watch"
        ]
    );
    assert_eq!(completed("deskbell relay --mode=ac"), ["acceptEdits"]);
    assert_eq!(completed("deskbell relay --project=src-t"), ["src-tauri"]);
    assert_eq!(completed("deskbell relay --project src-t"), ["src-tauri"]);
    assert_eq!(completed("deskbell relay --agent=de"), ["demo"]);
    assert_eq!(completed("deskbell replay Cargo.to"), ["Cargo.toml"]);
    assert_eq!(completed("deskbell doctor --pro"), [""; 0]);
}

#[test]
fn the_other_shells_read_their_completions() {
    for (shell, file) in [("zsh", "_deskbell"), ("fish", "deskbell.fish"), ("bash", "deskbell.bash")] {
        let file = root().join("src-tauri/packaging/completions").join(file);
        match Command::new(shell).arg("-n").arg(&file).stdin(Stdio::null()).output() {
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
