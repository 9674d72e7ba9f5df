//! Installing, updating and logging in to Claude Code: its commands, and what its answers say.

use crate::api::SetupCommand;
use serde::Deserialize;

/// The oldest version that Deskbell's tests run on.
pub const OLDEST: Version = Version([2, 1, 197]);

/// The arguments that make the program print its version: `2.1.329 (Claude Code)`.
pub const VERSION_ARGS: &[&str] = &["--version"];

/// The arguments that make the program print, as JSON, whether it can log in. It runs no key helper and sends no
/// request (2.1.197 and 2.1.329).
pub const LOGIN_STATUS_ARGS: &[&str] = &["auth", "status"];

/// The arguments that log in, in a terminal.
pub const LOGIN_ARGS: &[&str] = &["auth", "login"];

/// The slash command with which users log in inside the agent's own terminal interface.
pub const LOGIN_COMMAND: &str = "/login";

/// Names that follow the version. The demo agent is ours and answers in the same format.
const NAMES: [&str; 2] = [" (Claude Code)", " (Deskbell demo agent)"];

/// Major, minor and patch number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// Parses `2.1.329`; a suffix such as `-beta.1` is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next().unwrap_or_default();
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let version = Self([parts.next()??, parts.next()??, parts.next()??]);
        parts.next().is_none().then_some(version)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The version in the output of [`VERSION_ARGS`], as printed; `None` if this is not Claude Code's output. Launchers may
/// print lines of their own before it.
pub fn version_of(output: &str) -> Option<&str> {
    let version = |line| NAMES.iter().find_map(|name| str::strip_suffix(line, name));
    output.lines().map(str::trim).filter_map(version).find(|version| Version::parse(version).is_some())
}

/// Whether the program can log in, from the output of [`LOGIN_STATUS_ARGS`]; `None` if it does not say that.
pub fn is_logged_in(output: &str) -> Option<bool> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        logged_in: bool,
    }
    // Warnings may come before the object.
    let object = &output[output.find('{')?..];
    let mut objects = serde_json::Deserializer::from_str(object).into_iter::<Status>();
    objects.next()?.ok().map(|status| status.logged_in)
}

/// Ways to install Claude Code on a system, as `std::env::consts::OS` names it; the recommended one first.
pub fn install_commands(os: &str) -> Vec<SetupCommand> {
    let npm = ("npm", "npm install -g @anthropic-ai/claude-code");
    let commands = match os {
        "windows" => vec![
            ("PowerShell", "irm https://claude.ai/install.ps1 | iex"),
            ("WinGet", "winget install Anthropic.ClaudeCode"),
            npm,
        ],
        "macos" => vec![
            ("Terminal", "curl -fsSL https://claude.ai/install.sh | bash"),
            ("Homebrew", "brew install --cask claude-code"),
            npm,
        ],
        _ => vec![
            ("Terminal", "curl -fsSL https://claude.ai/install.sh | bash"),
            npm,
            // The npm of Debian writes into a folder of root.
            ("npm, no root", "npm install -g --prefix ~/.local @anthropic-ai/claude-code"),
        ],
    };
    commands.into_iter().map(|(label, command)| setup(label, command)).collect()
}

/// The command that updates Claude Code, however it was installed.
pub fn update_command() -> SetupCommand {
    setup("Update", "claude update")
}

/// The command that logs in.
pub fn login_command() -> SetupCommand {
    setup("Log in", "claude auth login")
}

fn setup(label: &str, command: &str) -> SetupCommand {
    SetupCommand { label: label.to_owned(), command: command.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_the_output() {
        assert_eq!(version_of("2.1.329 (Claude Code)\n"), Some("2.1.329"));
        assert_eq!(version_of("loading…\r\n2.2.0-beta.1 (Claude Code)\r\n"), Some("2.2.0-beta.1"));
        assert_eq!(version_of("2.1.329 (Deskbell demo agent)\n"), Some("2.1.329"));
        for other in ["", "true (GNU coreutils) 9.7", "v24.1.0", "two (Claude Code)", "2.1 (Claude Code)"] {
            assert_eq!(version_of(other), None, "{other}");
        }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let old = ["0.2.9", "1.0.128", "2.0.999", "2.1.99", "2.1.196"];
        assert!(old.iter().all(|old| Version::parse(old).unwrap() < OLDEST));
        let new = ["2.1.197", "2.1.329", "2.2.0-beta.1", "10.0.0"];
        assert!(new.iter().all(|new| Version::parse(new).unwrap() >= OLDEST));
        let wrong = ["", "2", "2.1", "2.1.3.4", "2.1.x", "-1.0.0", "99999999999.0.0"];
        assert!(wrong.iter().all(|wrong| Version::parse(wrong).is_none()));
    }

    #[test]
    fn a_login_is_known_only_if_the_program_says_so() {
        assert_eq!(is_logged_in("{\n  \"loggedIn\": false,\n  \"authMethod\": \"none\"\n}\n"), Some(false));
        assert_eq!(is_logged_in("a warning\n{\"loggedIn\": true} "), Some(true));
        for other in ["", "{", "{}", "error: unknown command 'auth'", "{\"loggedIn\": \"no\"}", "}{"] {
            assert_eq!(is_logged_in(other), None, "{other}");
        }
    }

    #[test]
    fn every_system_has_a_way_to_install_it() {
        for os in ["linux", "macos", "windows", "freebsd"] {
            assert!(install_commands(os).iter().any(|way| way.command.contains("@anthropic-ai/claude-code")));
        }
    }
}
