//! Opening a terminal with a command: that of the settings, or the first that works. The command is a list of arguments:
//! no shell reads it.

use crate::detached;
use crate::user_command::{filled, find, shown};
use deskbell_engine::api::{
    CommandError, ErrorCode, RemoteFolder, RemoteMachine, RemoteProject, UserCommand,
};
use deskbell_engine::disk;
use deskbell_sessions::far::MachineCommand;
use deskbell_sessions::profiles::CLAUDE_CONFIG_DIR;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The argument of the setting that stands for the command.
const COMMAND: &str = "{command}";

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

/// Resumes a conversation in a terminal. `chosen` is that of the settings; `config` the agent's folder of configuration,
/// if it is another one than usual.
pub async fn resume(
    chosen: Option<UserCommand>,
    project: &Path,
    agent: &Path,
    config: Option<&Path>,
    agent_session_id: &str,
) -> Result<(), CommandError> {
    let otherwise = "“Copy resume command” copies the command for one.";
    if config.is_some() && cfg!(windows) {
        let reason = "On Windows it cannot be given the profile's folder of configuration.".to_owned();
        return Err(failed(format!("No terminal was opened. {otherwise}"), Some(reason)));
    }
    let variable = config.map(|config| {
        let mut variable = OsString::from(format!("{CLAUDE_CONFIG_DIR}="));
        variable.push(config);
        variable
    });
    let env = variable.iter().flat_map(|variable| [OsStr::new("env"), variable]);
    let resume = format!("--resume={agent_session_id}");
    let command: Vec<&OsStr> = env.chain([agent.as_os_str(), OsStr::new(&resume)]).collect();
    open(chosen, project, &command, otherwise).await
}

/// Opens a terminal with the login of an agent: this command line. It runs in the home folder: a login belongs to no
/// project.
pub async fn open_login(chosen: Option<UserCommand>, line: &[OsString]) -> Result<(), CommandError> {
    let command: Vec<&OsStr> = line.iter().map(OsString::as_os_str).collect();
    if cfg!(windows) && command.first().is_some_and(|first| *first == "env") {
        let reason = "On Windows its variables cannot be given to it.".to_owned();
        return Err(failed("No terminal was opened. Run the command in one.".to_owned(), Some(reason)));
    }
    open_in_home(chosen, &command).await
}

/// Opens a terminal with the login of an agent on another machine. It runs in the home folder there, where no settings of
/// a project count.
pub async fn log_in_there(
    chosen: Option<UserCommand>,
    machine: &RemoteMachine,
    words: &[String],
) -> Result<(), CommandError> {
    open_there(chosen, machine, None, words).await
}

/// Resumes a conversation of Claude Code on another machine, as its user would type it there.
pub async fn resume_there(
    chosen: Option<UserCommand>,
    project: &RemoteProject,
    agent_session_id: &str,
) -> Result<(), CommandError> {
    let words = ["claude".to_owned(), format!("--resume={agent_session_id}")];
    open_there(chosen, &project.machine, Some(&project.folder), &words).await
}

async fn open_there(
    chosen: Option<UserCommand>,
    machine: &RemoteMachine,
    folder: Option<&RemoteFolder>,
    words: &[String],
) -> Result<(), CommandError> {
    let line = machine.in_terminal(folder, words);
    let command: Vec<&OsStr> = line.iter().map(OsString::as_os_str).collect();
    let home = dirs::home_dir().unwrap_or_default();
    let otherwise = format!("Run “{}” in a terminal on {}.", words.join(" "), machine);
    open(chosen, &home, &command, &otherwise).await
}

async fn open_in_home(chosen: Option<UserCommand>, command: &[&OsStr]) -> Result<(), CommandError> {
    let home = dirs::home_dir().unwrap_or_default();
    open(chosen, &home, command, "Copy the command and run it in one.").await
}

/// Opens a terminal with this command. The user's choice is never replaced by another terminal: where it fails, the
/// error names it.
async fn open(
    chosen: Option<UserCommand>,
    folder: &Path,
    command: &[&OsStr],
    otherwise: &str,
) -> Result<(), CommandError> {
    let Some(chosen) = chosen else {
        return open_usual(folder, command)
            .await
            .map_err(|tried| failed(format!("No terminal could be opened. {otherwise}"), Some(tried)));
    };
    let name = shown(OsStr::new(&chosen.program));
    let line = chosen_line(chosen, folder, command).await?;
    detached::start(folder, &line).await.map_err(|problem| {
        let message = format!("The terminal {name} of the settings could not be started. {otherwise}");
        failed(message, Some(problem))
    })
}

/// The command line of the terminal of the settings.
async fn chosen_line(
    chosen: UserCommand,
    folder: &Path,
    command: &[&OsStr],
) -> Result<Vec<OsString>, CommandError> {
    let UserCommand { program, args } = chosen;
    let name = shown(OsStr::new(&program));
    let path = std::env::var_os("PATH");
    let found = disk::run(folder, disk::DEADLINE, move || find(&program, path.as_deref())).await?;
    let found = found.ok_or_else(|| {
        let reason = "It needs an absolute path, or a name that is in PATH.".to_owned();
        failed(format!("The terminal {name} of the settings was not found."), Some(reason))
    })?;
    Ok([found.into_os_string()].into_iter().chain(arguments(&args, folder, command)).collect())
}

/// The arguments of the terminal of the settings: the command is in place of `{command}`, or comes last.
fn arguments(args: &[String], folder: &Path, command: &[&OsStr]) -> Vec<OsString> {
    let command = || command.iter().map(|part| (*part).to_owned());
    let mut line = Vec::new();
    for argument in args {
        if argument == COMMAND {
            line.extend(command());
        } else {
            line.push(filled(argument, &[("{folder}", folder.as_os_str())]));
        }
    }
    if !args.iter().any(|argument| argument == COMMAND) {
        line.extend(command());
    }
    line
}

fn failed(message: String, detail: Option<String>) -> CommandError {
    CommandError { code: ErrorCode::Internal, message, detail }
}

/// Opens the first terminal that works, with this command. The error lists every terminal that was tried.
async fn open_usual(folder: &Path, command: &[&OsStr]) -> Result<(), String> {
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
    fn of_settings(args: &[&str], folder: &str, part: &str) -> Vec<String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let command = [OsStr::new("/opt/claude"), OsStr::new(part)];
        let line = arguments(&args, Path::new(folder), &command);
        line.into_iter().map(|part| part.into_string().unwrap()).collect()
    }

    #[test]
    fn the_terminal_of_the_settings_gets_the_command_where_it_belongs() {
        let odd = "--resume={folder}{command} $(touch x)";
        assert_eq!(of_settings(&[], "/p", odd), ["/opt/claude", odd]);
        assert_eq!(of_settings(&["-e"], "/p", odd), ["-e", "/opt/claude", odd]);
        assert_eq!(
            of_settings(&["--cwd={folder}", "{command}", "--hold"], "/p {command}", odd),
            ["--cwd=/p {command}", "/opt/claude", odd, "--hold"]
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_terminal_of_the_settings_that_fails_is_named_and_no_other_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let chosen = |program: &str| Some(UserCommand { program: program.to_owned(), args: Vec::new() });
        for program in ["/no/such/terminal", "./terminal", "no-such-terminal", "/etc/passwd"] {
            let error = open_login(chosen(program), &["/opt/claude".into()]).await.unwrap_err();
            let expected = format!("The terminal “{program}” of the settings was not found.");
            assert_eq!(error.message, expected);
        }
        let error =
            resume(chosen("/bin/false"), folder.path(), Path::new("/x"), None, "id").await.unwrap_err();
        assert!(error.message.starts_with("The terminal “/bin/false” of the settings could not be started."));
        assert!(error.detail.is_some_and(|detail| detail.contains("exit status: 1")));
        let writes = Some(UserCommand { program: "/usr/bin/touch".to_owned(), args: vec!["--".to_owned()] });
        resume(writes, folder.path(), Path::new("a b"), None, "$(touch c)").await.unwrap();
        assert!(folder.path().join("a b").exists() && folder.path().join("--resume=$(touch c)").exists());
    }
}
