//! The manual page: the sections that clap_mangen makes of each command, on one page, and what no option says.

use clap::Command;
use clap_mangen::Man;
use deskbell_cli::exit::Exit;
use std::fmt::Write as _;

/// The environment variables that users set.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "CLAUDE_CODE_COMMAND",
        "The agent's program, unless the settings name one; otherwise it is searched for on PATH.",
    ),
    ("CLAUDE_CONFIG_DIR", "The folder in which Claude Code keeps its conversations; ~/.claude by default."),
    ("DESKBELL_AGENT", "With the value demo, new sessions use the built-in demo agent."),
    (
        "DESKBELL_LOG",
        "What is logged on standard error: error, warn (default), info, debug or trace. The text of a \
         conversation is never logged.",
    ),
];

const FILES: &[(&str, &str)] = &[
    (
        "$XDG_DATA_HOME/deskbell",
        "Sessions, prompts that were accepted, trust decisions; ~/.local/share/deskbell by default.",
    ),
    ("$XDG_CACHE_HOME/deskbell", "Summaries of stored sessions; may be deleted at any time."),
];

/// The whole page.
pub fn manual(command: &Command) -> String {
    let man =
        Man::new(command.clone()).title("DESKBELL").manual("User Commands").source("Deskbell").date(" ");
    let mut page =
        String::from(".\\\" Generated from src-tauri/cli/src/args.rs by tests/src/command_line.rs.\n");
    page += &section(|out| man.render_title(out));
    page += ".SH NAME\n";
    page += &body(section(|out| man.render_name_section(out)));
    page += ".SH SYNOPSIS\n";
    page += &body(section(|out| man.render_synopsis_section(out)));
    page += ".SH DESCRIPTION\n";
    page += &body(section(|out| man.render_description_section(out)));
    page += ".SH OPTIONS\n";
    page += &body(section(|out| man.render_options_section(out)));
    page += ".SH COMMANDS\n";
    add_commands(&mut page, command);
    page += ".SH EXIT STATUS\n";
    for exit in Exit::ALL {
        let _ = writeln!(page, ".TP\n.B {}\n{}", exit.code(), escaped(exit.about()));
    }
    for (title, rows) in [("ENVIRONMENT", VARIABLES), ("FILES", FILES)] {
        let _ = writeln!(page, ".SH {title}");
        for (name, about) in rows {
            let _ = writeln!(page, ".TP\n.B {}\n{}", escaped(name), escaped(about));
        }
    }
    page + ".SH EXAMPLES\nOpen the current folder with the built\\-in demo agent, without an account:\n.PP\n\
            .nf\n.RS\ndeskbell \\-\\-demo .\n.RE\n.fi\n.SH SEE ALSO\n.BR claude (1)\n"
}

/// A subsection for each command that does something: its usage, what it does, and its options.
fn add_commands(page: &mut String, command: &Command) {
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        if command.has_subcommands() && command.is_subcommand_required_set() {
            add_commands(page, command);
            continue;
        }
        let man = Man::new(command.clone());
        let name = escaped(command.get_bin_name().unwrap_or_else(|| command.get_name()));
        let _ = writeln!(page, ".SS \"{name}\"");
        page.push_str(&body(section(|out| man.render_synopsis_section(out))));
        page.push_str(".PP\n");
        page.push_str(&body(section(|out| man.render_description_section(out))));
        page.push_str(&body(section(|out| man.render_options_section(out))));
        add_commands(page, command);
    }
}

fn section(render: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    render(&mut text).expect("a buffer takes it");
    String::from_utf8(text).expect("a page is text")
}

/// The section without its heading and without the definition of the apostrophe, which the page has once.
fn body(section: String) -> String {
    let lines =
        section.lines().filter(|line| ![".SH ", ".ie ", ".el "].iter().any(|start| line.starts_with(start)));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}
