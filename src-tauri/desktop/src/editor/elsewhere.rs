//! Opening a file of another machine: in an editor of this computer that connects there itself by ssh. No file of this
//! computer is opened for it.

use super::known::{CODE, ConnectsBy, KNOWN, KnownEditor, ZED};
use super::{failed, filled, start_in};
use crate::user_command::{find, shown};
use deskbell_engine::api::{CommandError, ErrorCode, RemoteFolder, RemoteMachine, UserCommand};
use deskbell_engine::disk;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The longest path, in bytes.
const MAX_PATH: usize = 4 << 10;

/// Opens a file in a folder of another machine, at a line counted from 1 where the editor can. `path` is relative to
/// the folder, or absolute and inside of it.
pub async fn open(
    chosen: Option<UserCommand>,
    machine: &RemoteMachine,
    folder: &RemoteFolder,
    path: &str,
    line: Option<u32>,
) -> Result<(), CommandError> {
    let file = inside(folder.as_str(), path)?;
    let Some(host) = machine.ssh_name() else {
        return Err(failed(
            "Your editor cannot open files of this machine.",
            Some("Editors connect by ssh, and Deskbell reaches this machine in another way.".to_owned()),
        ));
    };
    let host = host.to_owned();
    let search = std::env::var_os("PATH");
    let home = dirs::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let command = move || command_line(chosen.as_ref(), search.as_deref(), &host, &file, line);
    let command = disk::run(&home, disk::DEADLINE, command).await??;
    start_in(&home, &command).await
}

/// The absolute path of a file in a folder there. It is not looked for: the editor does that.
fn inside(folder: &str, path: &str) -> Result<String, CommandError> {
    let refused = |message: &str| CommandError {
        code: ErrorCode::BadCommand,
        message: message.to_owned(),
        detail: None,
    };
    let folder = folder.trim_end_matches('/');
    let below = match path.strip_prefix('/') {
        None => path,
        Some(_) => {
            let rest = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            rest.ok_or_else(|| refused("That file is outside the project."))?
        }
    };
    let parts: Vec<&str> = below.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() || parts.contains(&"..") {
        return Err(refused("That file is outside the project."));
    }
    if path.len() > MAX_PATH || path.contains(char::is_control) {
        return Err(refused("A file with this name cannot be opened in an editor."));
    }
    Ok(format!("{folder}/{}", parts.join("/")))
}

fn command_line(
    chosen: Option<&UserCommand>,
    search: Option<&OsStr>,
    host: &str,
    file: &str,
    line: Option<u32>,
) -> Result<Vec<OsString>, CommandError> {
    let (program, connects) = match chosen {
        Some(UserCommand { program, .. }) => {
            let name = Path::new(program).file_stem().unwrap_or_default();
            let known = KNOWN.iter().find(|known| OsStr::new(known.program) == name);
            let connects = known.and_then(|known| known.connects).ok_or_else(|| {
                let message = format!(
                    "The editor {} of the settings cannot open files of another machine.",
                    named(program)
                );
                failed(&message, Some(those_that_can()))
            })?;
            let found = find(program, search).ok_or_else(|| {
                failed(&format!("The editor {} of the settings was not found.", named(program)), None)
            })?;
            (found, connects)
        }
        None => {
            let of = |known: &KnownEditor| Some((find(known.program, search)?, known.connects?));
            KNOWN.iter().find_map(of).ok_or_else(|| {
                failed("No editor was found that can open files of another machine.", Some(those_that_can()))
            })?
        }
    };
    let mut command = vec![program.into_os_string()];
    command.extend(arguments(connects, host, file, line));
    Ok(command)
}

fn named(program: &str) -> String {
    shown(OsStr::new(program))
}

fn those_that_can() -> String {
    "Visual Studio Code, VSCodium, Cursor and Windsurf can, with their extension for remote work over ssh, and so can Zed."
        .to_owned()
}

fn arguments(connects: ConnectsBy, host: &str, file: &str, line: Option<u32>) -> Vec<OsString> {
    let at = line.unwrap_or(1).to_string();
    let uri = utf8_percent_encode(file, &ENCODED).to_string();
    let authority = utf8_percent_encode(host, &ENCODED).to_string();
    let values = [
        ("{host}", OsStr::new(host)),
        ("{file}", OsStr::new(file)),
        ("{line}", OsStr::new(&at)),
        ("{authority}", OsStr::new(&authority)),
        ("{path}", OsStr::new(&uri)),
    ];
    // “a:3:9” would be the file “a” for Visual Studio Code. As an address it is the file itself.
    let template = match connects {
        ConnectsBy::Remote if line.is_some() && !file.contains(':') => CODE.at_line,
        ConnectsBy::Remote => CODE.file,
        ConnectsBy::Address => ZED,
    };
    template.iter().map(|argument| filled(argument, &values)).collect()
}

/// What is written as `%XX` in a part of an address: everything but letters, digits and a few marks.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with these programs.
    fn programs(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn line_for(names: &[&str], host: &str, file: &str, line: Option<u32>) -> Vec<String> {
        let folder = programs(names);
        let command = command_line(None, Some(folder.path().as_os_str()), host, file, line).unwrap();
        command.into_iter().skip(1).map(|part| part.into_string().unwrap()).collect()
    }

    #[test]
    fn an_editor_gets_the_machine_and_the_file() {
        for name in ["code", "codium", "code-insiders", "cursor", "windsurf"] {
            assert_eq!(
                line_for(&[name], "me@box", "/home/me/a b.rs", Some(7)),
                ["--remote", "ssh-remote+me@box", "--goto", "/home/me/a b.rs:7"],
                "{name}"
            );
            assert_eq!(
                line_for(&[name], "me@box", "/home/me/a b.rs", None),
                ["--file-uri", "vscode-remote://ssh-remote+me%40box/home/me/a%20b.rs"],
                "{name}"
            );
        }
        for name in ["zed", "zeditor"] {
            assert_eq!(line_for(&[name], "me@box", "/a%2e#?.rs", Some(7)), ["ssh://me@box/a%252e%23%3F.rs"]);
        }
        assert_eq!(
            line_for(&["code"], "box", "/a:3", Some(9)),
            ["--file-uri", "vscode-remote://ssh-remote+box/a%3A3"]
        );
        // An editor that cannot connect is passed over, and no program of the desktop is asked.
        assert_eq!(line_for(&["subl", "gedit", "zed"], "box", "/a", None), ["ssh://box/a"]);
        let folder = programs(&["subl", "gedit"]);
        let none = command_line(None, Some(folder.path().as_os_str()), "box", "/a", None).unwrap_err();
        assert_eq!(none.message, "No editor was found that can open files of another machine.");
    }

    #[test]
    fn the_editor_of_the_settings_counts_if_it_can_connect() {
        let folder = programs(&["code", "cursor", "vim"]);
        let search = Some(folder.path().as_os_str());
        let of = |program: &str| {
            let chosen = UserCommand { program: program.to_owned(), args: vec!["{file}".to_owned()] };
            command_line(Some(&chosen), search, "box", "/a", Some(2))
        };
        let cursor = folder.path().join("cursor");
        for program in ["cursor", &cursor.display().to_string()] {
            let command = of(program).unwrap();
            assert_eq!(command[0], cursor);
            assert_eq!(command[1..], ["--remote", "ssh-remote+box", "--goto", "/a:2"]);
        }
        assert!(of("vim").unwrap_err().message.contains("“vim” of the settings cannot open files"));
        assert!(of("/no/such/zed").unwrap_err().message.contains("was not found"));
    }

    #[test]
    fn a_file_is_one_of_the_folder() {
        let file = |path: &str| inside("/home/me/app/", path).ok();
        for path in ["src/lib.rs", "./src//lib.rs", "/home/me/app/src/lib.rs"] {
            assert_eq!(file(path).as_deref(), Some("/home/me/app/src/lib.rs"), "{path}");
        }
        for path in
            ["", ".", "..", "../x", "src/../../x", "/etc/passwd", "/home/me/app", "/home/me/apple", "a\nb"]
        {
            assert_eq!(file(path), None, "{path:?}");
        }
        assert_eq!(file("-x --y").as_deref(), Some("/home/me/app/-x --y"));
        assert_eq!(inside("/", "a").unwrap(), "/a");
    }
}
