//! Opening the user's terminal with a command. The command is a list of arguments: no shell reads it.

use crate::detached;
use deskbell_engine::api::{CommandError, ErrorCode};
use deskbell_engine::launch::Launch;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Programs that open a terminal, in the order in which they are tried, each with the arguments before a command. The
/// first two start the one that the user chose for the desktop.
const TERMINALS: &[(&str, &[&str])] = &[
    ("xdg-terminal-exec", &[]),
    ("x-terminal-emulator", &["-e"]),
    ("ptyxis", &["--"]),
    ("kgx", &["--"]),
    ("gnome-terminal", &["--"]),
    ("konsole", &["-e"]),
    ("xfce4-terminal", &["-x"]),
    ("mate-terminal", &["-x"]),
    ("ghostty", &["-e"]),
    ("kitty", &[]),
    ("foot", &[]),
    ("alacritty", &["-e"]),
    ("wezterm", &["start", "--"]),
    ("terminator", &["-x"]),
    ("urxvt", &["-e"]),
    ("st", &["-e"]),
    ("xterm", &["-e"]),
    // Windows.
    ("wt.exe", &["--"]),
];

/// Resumes a conversation in the user's terminal.
pub async fn resume(project: &Path, agent: &Path, agent_session_id: &str) -> Result<(), CommandError> {
    let resume = format!("--resume={agent_session_id}");
    let command = [agent.as_os_str(), OsStr::new(&resume)];
    open(project, &command).await.map_err(|tried| CommandError {
        code: ErrorCode::Internal,
        message: "No terminal could be opened. “Copy resume command” copies the command for one.".to_owned(),
        detail: Some(tried),
    })
}

/// Opens the user's terminal with the agent's login. It runs in the home folder: a login belongs to no project.
pub async fn log_in(agent: &Path) -> Result<(), CommandError> {
    let command: Vec<&OsStr> =
        [agent.as_os_str()].into_iter().chain(Launch::LOGIN_ARGS.iter().map(OsStr::new)).collect();
    open(&dirs::home_dir().unwrap_or_default(), &command).await.map_err(|tried| CommandError {
        code: ErrorCode::Internal,
        message: "No terminal could be opened. Copy the command and run it in one.".to_owned(),
        detail: Some(tried),
    })
}

/// Opens the first terminal that works, with this command. The error lists every terminal that was tried.
async fn open(folder: &Path, command: &[&OsStr]) -> Result<(), String> {
    let mut tried = Vec::new();
    for line in lines(std::env::var_os("TERMINAL").as_deref(), command) {
        match detached::start(folder, &line).await {
            Ok(()) => return Ok(()),
            Err(problem) => tried.push(format!("{}: {problem}", line[0].to_string_lossy())),
        }
    }
    Err(tried.join("\n"))
}

/// The command lines to try. `chosen` is the user's `TERMINAL`, a program without arguments.
fn lines(chosen: Option<&OsStr>, command: &[&OsStr]) -> Vec<Vec<OsString>> {
    let chosen = chosen.filter(|chosen| !chosen.is_empty()).map(|chosen| {
        let name = Path::new(chosen).file_name().unwrap_or(chosen);
        let known = TERMINALS.iter().find(|(terminal, _)| *terminal == name);
        (chosen, known.map_or(&["-e"][..], |known| known.1))
    });
    let usual = TERMINALS.iter().map(|(terminal, arguments)| (OsStr::new(*terminal), *arguments));
    let line = |(terminal, arguments): (&OsStr, &[&str])| {
        let mut line = vec![terminal.to_owned()];
        line.extend(arguments.iter().map(OsString::from));
        line.extend(command.iter().map(|part| (*part).to_owned()));
        line
    };
    chosen.into_iter().chain(usual).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(chosen: Option<&str>, part: &str) -> Vec<String> {
        let command = [OsStr::new("/opt/claude"), OsStr::new(part)];
        let line = lines(chosen.map(OsStr::new), &command).remove(0);
        line.into_iter().map(|part| part.into_string().unwrap()).collect()
    }

    #[test]
    fn the_chosen_terminal_gets_the_command_as_its_own_arguments() {
        let odd = "--resume=$(touch x); 'a b'";
        assert_eq!(first(Some("kitty"), odd), ["kitty", "/opt/claude", odd]);
        assert_eq!(
            first(Some("/usr/bin/wezterm"), odd),
            ["/usr/bin/wezterm", "start", "--", "/opt/claude", odd]
        );
        assert_eq!(first(Some("myterm"), odd), ["myterm", "-e", "/opt/claude", odd]);
        assert_eq!(first(Some(""), odd)[0], "xdg-terminal-exec");
        assert_eq!(first(None, odd), ["xdg-terminal-exec", "/opt/claude", odd]);
    }
}
