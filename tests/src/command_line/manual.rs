//! The manual page, in the `man` macros.

use super::{Entry, Subcommand};
use std::fmt::Write as _;

/// The environment variables that users set.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "CLAUDE_CODE_COMMAND",
        "the agent's program, unless the settings name one; otherwise it is searched for on PATH.",
    ),
    ("CLAUDE_CONFIG_DIR", "the folder in which Claude Code keeps its conversations; ~/.claude by default."),
    ("DESKBELL_AGENT", "with the value demo, new sessions use the built-in demo agent."),
    (
        "DESKBELL_LOG",
        "what is logged on standard error: error, warn (default), info, debug or trace. The text of a \
                      conversation is never logged.",
    ),
];

const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "Success."),
    ("1", "The command failed; standard error has the reason."),
    (
        "2",
        "The command line was not understood, names a folder that cannot be opened, or is not available in this \
                      installation.",
    ),
    ("90", "There is nothing to attach to."),
    ("91", "A server of this version is already running."),
    ("255", "The link to the server broke."),
];

const FILES: &[(&str, &str)] = &[
    (
        "$XDG_DATA_HOME/deskbell",
        "Sessions, prompts that were accepted, trust decisions; ~/.local/share/deskbell by default.",
    ),
    ("$XDG_CACHE_HOME/deskbell", "Summaries of stored sessions; may be deleted at any time."),
];

/// The whole page.
pub fn manual(entries: &[Entry], commands: &[Subcommand]) -> String {
    let mut page = String::from(
        ".\\\" Generated from the help text of src-tauri/cli/src/args.rs and from docs/relay.md by tests/src/command_line.rs.\n\
         .TH DESKBELL 1 \"\" Deskbell \"User Commands\"\n\
         .SH NAME\ndeskbell \\- keep command\\-line coding agents on call\n.SH SYNOPSIS\n",
    );
    let usages: Vec<String> = entries.iter().map(|entry| usage(&entry.usage)).collect();
    let _ = writeln!(page, "{}", usages.join("\n.br\n"));
    page.push_str(
        ".SH DESCRIPTION\nDeskbell opens a window for each project. It runs a command\\-line coding agent as one persistent \
         process per session, shows what the agent does, asks for permission before the agent acts, and notifies the user \
         when it is their turn.\n.SH COMMANDS\n",
    );
    for entry in entries.iter().filter(|entry| !entry.about.is_empty()) {
        let _ = writeln!(page, ".TP\n{}\n{}", usage(&entry.usage), sentence(&entry.about));
        if !entry.options.is_empty() {
            page.push_str(".RS\n");
            for (option, about) in &entry.options {
                let _ = writeln!(page, ".TP\n{}\n{}", usage(option), sentence(about));
            }
            page.push_str(".RE\n");
        }
    }
    page.push_str(".SH OPTIONS OF RELAY\n");
    for option in
        commands.iter().filter(|command| command.path == "relay").flat_map(|command| &command.options)
    {
        let value = option.value.as_ref().map(|value| format!("={value}")).unwrap_or_default();
        let _ =
            writeln!(page, ".TP\n{}\n{}", usage(&format!("{}{value}", option.name)), sentence(&option.about));
    }
    for (title, rows) in [("EXIT STATUS", EXIT_STATUS), ("ENVIRONMENT", VARIABLES), ("FILES", FILES)] {
        let _ = writeln!(page, ".SH {title}");
        for (name, about) in rows {
            let _ = writeln!(page, ".TP\n{}\n{}", usage(name), sentence(about));
        }
    }
    page.push_str(
        ".SH EXAMPLES\nOpen the current folder with the built\\-in demo agent, without an account:\n.PP\n",
    );
    page.push_str(".nf\n.RS\ndeskbell \\-\\-demo .\n.RE\n.fi\n.SH SEE ALSO\n.BR claude (1)\n");
    page
}

/// A usage in bold, with hyphens that can be copied.
fn usage(text: &str) -> String {
    format!(".B \"{}\"", escaped(text).replace('-', "\\-"))
}

/// A description: a capital at the start, a full stop at the end, options with hyphens that can be copied.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let text = format!("{first}{}", characters.as_str());
    let text = escaped(text.trim_end_matches('.')).replace("--", "\\-\\-");
    let guard = if text.starts_with(['.', '\'']) { "\\&" } else { "" };
    format!("{guard}{text}.")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('"', "\\(dq")
        .replace('…', "...")
        .replace('“', "\\(lq")
        .replace('”', "\\(rq")
}
