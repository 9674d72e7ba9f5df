//! Opening a file in the user's editor: that of the settings, a well-known one that is installed, or the desktop's editor
//! for text. No shell reads the command line, and the file is never run.

pub mod elsewhere;
mod known;

use crate::detached;
use crate::user_command::{filled, find, shown};
use deskbell_cli::args::edit::EditOptions;
use deskbell_engine::api::{CommandError, ErrorCode, Settings, UserCommand};
use deskbell_engine::disk;
use deskbell_engine::launch::Launch;
use deskbell_engine::settings::SettingsFile;
use deskbell_sessions::folders;
use known::KNOWN;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Opens an absolute path, at a line counted from 1. A slow disk does not hold up the caller's thread.
pub async fn open(chosen: Option<UserCommand>, file: PathBuf, line: Option<u32>) -> Result<(), CommandError> {
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let path = std::env::var_os("PATH");
    let of = file.clone();
    let command = move || {
        check(&of)?;
        command_line(chosen.as_ref(), path.as_deref(), &of, line)
    };
    match disk::run(&folder, disk::DEADLINE, command).await?? {
        Some(command) => start_in(&folder, &command).await,
        None => disk::run(&folder, disk::DEADLINE, move || by_desktop(&file)).await?,
    }
}

async fn start_in(folder: &Path, command: &[OsString]) -> Result<(), CommandError> {
    detached::start(folder, command).await.map_err(|problem| {
        let program = command.first().map_or_else(String::new, |program| shown(program));
        failed(&format!("The editor {program} could not be started."), Some(problem))
    })
}

/// Runs `deskbell edit`.
pub fn main(options: EditOptions) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let opened = runtime.block_on(async {
        let settings = || SettingsFile::new(&folders::config()).read(&Settings::default());
        let read = disk::run(&folders::config(), disk::DEADLINE, settings).await?;
        let file = options.file.clone();
        let real = move || {
            file.canonicalize()
                .map_err(|error| failed("The file could not be read.", Some(error.to_string())))
        };
        let file = disk::run(&options.file, disk::DEADLINE, real).await??;
        open(read.settings.editor, file, options.line).await
    });
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    match opened {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError { message, detail, .. }) => {
            let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
            eprintln!("deskbell: {message}{detail}");
            ExitCode::FAILURE
        }
    }
}

/// An editor would wait for a pipe or a device.
fn check(file: &Path) -> Result<(), CommandError> {
    let about =
        file.metadata().map_err(|error| failed("The file could not be read.", Some(error.to_string())))?;
    if about.is_file() { Ok(()) } else { Err(failed("That is not a file, so no editor opens it.", None)) }
}

/// The command line for a file; `None` if the desktop chooses the editor. `path` is the variable `PATH`.
fn command_line(
    chosen: Option<&UserCommand>,
    path: Option<&OsStr>,
    file: &Path,
    line: Option<u32>,
) -> Result<Option<Vec<OsString>>, CommandError> {
    if let Some(UserCommand { program, args }) = chosen {
        let found = find(program, path).ok_or_else(|| {
            let message = format!("The editor {} of the settings was not found.", shown(OsStr::new(program)));
            failed(&message, Some("It needs an absolute path, or a name that is in PATH.".to_owned()))
        })?;
        let mut command = vec![found.into_os_string()];
        command.extend(args.iter().map(|argument| at_line(argument, file, line.unwrap_or(1))));
        if !args.iter().any(|argument| argument.contains("{file}")) {
            command.push(file.into());
        }
        return Ok(Some(command));
    }
    let found = KNOWN.iter().find_map(|known| Some((find(known.program, path)?, known.at_line)));
    let Some((program, arguments)) = found else { return Ok(None) };
    let mut command = vec![program.into_os_string()];
    match line.filter(|_| may_join(arguments, file)) {
        Some(line) => command.extend(arguments.iter().map(|argument| at_line(argument, file, line))),
        None => command.push(file.into()),
    }
    Ok(Some(command))
}

/// An editor that reads `path:line` would misread a path with a colon. A drive on Windows has one.
fn may_join(at_line: &[&str], file: &Path) -> bool {
    let is_joined = at_line.iter().any(|argument| argument.contains("{file}:"));
    !is_joined || !file.as_os_str().to_string_lossy().chars().skip(2).any(|char| char == ':')
}

/// Puts the file and the line into an argument.
fn at_line(argument: &str, file: &Path, line: u32) -> OsString {
    let line = line.to_string();
    filled(argument, &[("{file}", file.as_os_str()), ("{line}", OsStr::new(&line))])
}

/// Opens a file with the program that the desktop has for text, whatever kind of file it is: the program for its own
/// kind could run it.
#[cfg(target_os = "linux")]
fn by_desktop(file: &Path) -> Result<(), CommandError> {
    use gtk::gio::{self, prelude::*};
    let handler = gio::AppInfo::default_for_type("text/plain", false).ok_or_else(no_editor)?;
    let context = gio::AppLaunchContext::new();
    for (name, _) in std::env::vars_os() {
        if Launch::is_private(&name) {
            context.unsetenv(&name);
        }
    }
    handler.launch(&[gio::File::for_path(file)], Some(&context)).map_err(|error| {
        failed(
            &format!("The desktop's editor {} could not be started.", handler.name()),
            Some(error.to_string()),
        )
    })?;
    // An editor that is started over the bus gets the message before `deskbell edit` ends.
    if let Ok(bus) = gio::bus_get_sync(gio::BusType::Session, gio::Cancellable::NONE)
        && let Err(error) = bus.flush_sync(gio::Cancellable::NONE)
    {
        tracing::warn!(%error, "could not reach the session bus for the editor");
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn by_desktop(file: &Path) -> Result<(), CommandError> {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("/usr/bin/open", &["-t"]),
        "windows" => ("notepad.exe", &[]),
        _ => return Err(no_editor()),
    };
    let started = std::process::Command::new(program).args(arguments).arg(file).spawn();
    started
        .map(drop)
        .map_err(|error| failed("The system's editor could not be started.", Some(error.to_string())))
}

fn no_editor() -> CommandError {
    failed("No editor was found. Choose one in the settings, under “Editor”.", None)
}

fn failed(message: &str, detail: Option<String>) -> CommandError {
    CommandError { code: ErrorCode::BadCommand, message: message.to_owned(), detail }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// A folder with these programs, each of which writes its arguments to `said`, each with a NUL after it.
    fn programs(names: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            let said = folder.path().join("said");
            let script =
                format!("#!/bin/sh\nprintf '%s\\0' \"$@\" > '{0}.new'\nmv '{0}.new' '{0}'\n", said.display());
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn arguments(
        chosen: Option<&UserCommand>,
        path: &OsStr,
        file: &str,
        line: Option<u32>,
    ) -> Option<Vec<String>> {
        let command = command_line(chosen, Some(path), Path::new(file), line).unwrap()?;
        Some(command.into_iter().map(|part| part.into_string().unwrap()).collect())
    }

    fn command(program: &str, args: &[&str]) -> UserCommand {
        UserCommand { program: program.to_owned(), args: args.iter().map(|&arg| arg.to_owned()).collect() }
    }

    const HOSTILE: &[&str] = &[
        "/p/-rf",
        "/p/a b",
        "/p/a\nb",
        "/p/$(touch x)",
        "/p/'; x \"",
        "/p/{line}",
        "/p/{file}",
        "/p/\u{202e}txt",
    ];

    #[test]
    fn each_well_known_editor_gets_the_file_and_the_line() {
        let cases: &[(&str, &[&str])] = &[
            ("code", &["--goto", "/p/a.rs:7"]),
            ("zed", &["/p/a.rs:7"]),
            ("rustrover", &["--line", "7", "/p/a.rs"]),
            ("gedit", &["+7", "/p/a.rs"]),
        ];
        for (name, expected) in cases {
            let folder = programs(&[name]);
            let path = folder.path().as_os_str();
            let with_line = arguments(None, path, "/p/a.rs", Some(7)).unwrap();
            assert_eq!(with_line[1..], **expected, "{name}");
            assert_eq!(arguments(None, path, "/p/a.rs", None).unwrap()[1..], ["/p/a.rs"], "{name}");
        }
        for known in KNOWN {
            assert!(known.at_line.iter().any(|argument| argument.contains("{file}")), "{}", known.program);
            assert!(known.at_line.iter().any(|argument| argument.contains("{line}")), "{}", known.program);
        }
        let folder = programs(&["gedit", "codium"]);
        let first = arguments(None, folder.path().as_os_str(), "/p/a", None).unwrap();
        assert_eq!(first[0], folder.path().join("codium").display().to_string());
    }

    #[test]
    fn a_path_is_one_argument_whatever_it_contains() {
        let folder = programs(&["code", "mine"]);
        let path = folder.path().as_os_str();
        for file in HOSTILE {
            assert_eq!(arguments(None, path, file, None).unwrap()[1..], [*file]);
            assert_eq!(arguments(None, path, file, Some(3)).unwrap()[1..], ["--goto", &format!("{file}:3")]);
            let mine = command("mine", &["{x}", "-l{line}", "{file}"]);
            assert_eq!(arguments(Some(&mine), path, file, Some(3)).unwrap()[1..], ["{x}", "-l3", file]);
            let without = command("mine", &["--wait"]);
            assert_eq!(arguments(Some(&without), path, file, None).unwrap()[1..], ["--wait", file]);
        }
        // “a:3:9” would be the file “a” for Visual Studio Code.
        assert_eq!(arguments(None, path, "/p/a:3", Some(9)).unwrap()[1..], ["/p/a:3"]);
    }

    #[test]
    fn a_missing_editor_is_named() {
        let folder = programs(&["mine"]);
        fs::write(folder.path().join("text"), "").unwrap();
        for program in ["none", "./mine", "sub/mine", "..", "", "text", "/no/such/editor"] {
            let error = command_line(
                Some(&command(program, &[])),
                Some(folder.path().as_os_str()),
                Path::new("/p/a"),
                None,
            )
            .unwrap_err();
            assert!(
                error.message.contains(&format!("“{program}” of the settings was not found")),
                "{error:?}"
            );
        }
        assert_eq!(arguments(None, folder.path().as_os_str(), "/p/a", None), None, "the desktop chooses");
        assert_eq!(
            find("mine", Some(OsStr::new("relative:."))),
            None,
            "a folder of the project is not searched"
        );
    }

    #[tokio::test]
    async fn the_editor_gets_the_file_and_nothing_else_is_opened() {
        let folder = programs(&["mine"]);
        let mine = command(&folder.path().join("mine").display().to_string(), &["+{line}", "--", "{file}"]);
        for name in ["-x", "a b", "a\nb", "$(touch here)"] {
            let file = folder.path().join(name);
            fs::write(&file, "").unwrap();
            let said = folder.path().join("said");
            open(Some(mine.clone()), file.clone(), Some(4)).await.unwrap();
            assert_eq!(fs::read_to_string(&said).unwrap(), format!("+4\0--\0{}\0", file.display()));
            assert!(!folder.path().join("here").exists(), "a shell read the name");
        }
        let error = open(Some(mine.clone()), folder.path().to_owned(), None).await.unwrap_err();
        assert!(error.message.contains("not a file"), "{error:?}");
        let error = open(Some(mine), folder.path().join("gone"), None).await.unwrap_err();
        assert!(error.message.contains("could not be read"), "{error:?}");
        let fails = command("/bin/false", &[]);
        let error = open(Some(fails), folder.path().join("a b"), None).await.unwrap_err();
        assert_eq!(error.message, "The editor “/bin/false” could not be started.");
        assert!(error.detail.is_some_and(|detail| detail.contains("exit status: 1")));
    }
}
