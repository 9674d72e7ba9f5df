//! Starting at login, as the settings say: a file that the desktop reads when the user logs in.
//!
//! The file is written here and not by a plugin: it is ten lines, and whatever is at its place must neither hold up the
//! app nor be lost.

use deskbell_cli::args::BACKGROUND;
use deskbell_engine::disk::{self, ReadError, read_text, write_atomically};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of the file in bytes. Deskbell's has about 300.
const MOST_BYTES: u64 = 64 * 1024;

/// A line of every file that Deskbell wrote. A file without it is the user's own.
const MARK: &str = "Written by Deskbell for its setting “autostart”.";

/// When the setting is put into effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the start of the app. Where the user has switched the file off in the desktop, it stays off.
    AtStart,
    /// The setting has just been changed.
    Changed,
}

/// Puts the setting into effect.
pub async fn apply(is_wanted: bool, when: When) -> io::Result<()> {
    let Some(place) = place() else {
        let problem = "this is not possible on this system yet";
        return if is_wanted { Err(io::Error::new(io::ErrorKind::Unsupported, problem)) } else { Ok(()) };
    };
    let folder = place.parent().unwrap_or(&place).to_owned();
    let write = move || {
        let content = if is_wanted { Some(content(&program()?)?) } else { None };
        write(&place, content.as_deref(), when)
    };
    disk::run(&folder, disk::DEADLINE, write).await?
}

/// The file that the system reads at login; `None` where there is none yet.
fn place() -> Option<PathBuf> {
    if cfg!(windows) {
        None
    } else if cfg!(target_os = "macos") {
        Some(dirs::home_dir()?.join("Library/LaunchAgents/dev.deskbell.Deskbell.plist"))
    } else {
        Some(dirs::config_dir()?.join("autostart/deskbell.desktop"))
    }
}

/// The program to start. An AppImage has its files in a folder that is gone after its end.
fn program() -> io::Result<PathBuf> {
    if let Some(image) = std::env::var_os("APPIMAGE").map(PathBuf::from).filter(|path| path.is_absolute()) {
        return Ok(image);
    }
    let program = std::env::current_exe()?;
    // Linux adds this when an upgrade has replaced the program, which is at the same place again.
    let name = program.to_string_lossy();
    let replaced = name.strip_suffix(" (deleted)").map(PathBuf::from).filter(|path| path.is_file());
    Ok(replaced.unwrap_or(program))
}

fn content(program: &Path) -> io::Result<String> {
    let program = program.to_str().filter(|program| !program.contains(char::is_control));
    let program = program.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the path of the program is not plain text")
    })?;
    Ok(if cfg!(target_os = "macos") { launch_agent(program) } else { desktop_entry(program) })
}

fn desktop_entry(program: &str) -> String {
    format!(
        "[Desktop Entry]\n# {MARK}\nType=Application\nName=Deskbell\nComment=Keep coding agents on call\n\
         Exec={} {BACKGROUND}\nIcon=deskbell\nTerminal=false\nStartupNotify=false\n",
        quoted(program)
    )
}

/// An argument of `Exec`: in quotes, with the characters escaped that are special in quotes, then as a string of the
/// file, where each backslash is doubled. A `%` would begin a field code.
fn quoted(argument: &str) -> String {
    let mut quoted = String::new();
    for char in argument.chars() {
        match char {
            '"' | '`' | '$' => quoted.extend(["\\\\", char.encode_utf8(&mut [0; 4])]),
            '\\' => quoted.push_str("\\\\\\\\"),
            '%' => quoted.push_str("%%"),
            _ => quoted.push(char),
        }
    }
    format!("\"{quoted}\"")
}

fn launch_agent(program: &str) -> String {
    let program = program.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {MARK} -->\n\
         <plist version=\"1.0\">\n<dict>\n\
         <key>Label</key><string>dev.deskbell.Deskbell</string>\n\
         <key>ProgramArguments</key><array><string>{program}</string><string>{BACKGROUND}</string></array>\n\
         <key>RunAtLoad</key><true/>\n<key>LimitLoadToSessionType</key><string>Aqua</string>\n\
         </dict>\n</plist>\n"
    )
}

/// Writes the file, or removes it. A file that Deskbell did not write is never changed.
fn write(place: &Path, content: Option<&str>, when: When) -> io::Result<()> {
    let before = match read_text(place, MOST_BYTES) {
        Ok(text) => Some(text),
        Err(ReadError::Missing) => None,
        Err(error) => return Err(error.into()),
    };
    let is_ours = before.as_ref().is_none_or(|text| text.contains(MARK));
    match (content, &before) {
        (None, Some(_)) if is_ours => std::fs::remove_file(place),
        (None, _) => Ok(()),
        (Some(_), Some(_)) if !is_ours => {
            let problem = format!("{} is not a file of Deskbell’s, so it stays as it is", place.display());
            Err(io::Error::new(io::ErrorKind::AlreadyExists, problem))
        }
        (Some(content), Some(before)) if content == before => Ok(()),
        (Some(_), Some(before)) if when == When::AtStart && is_off(before) => Ok(()),
        (Some(content), _) => {
            std::fs::create_dir_all(place.parent().unwrap_or(place))?;
            write_atomically(place, content.as_bytes())
        }
    }
}

/// Whether the user has switched the file off in a tool of the desktop.
fn is_off(entry: &str) -> bool {
    let off = ["Hidden=true", "X-GNOME-Autostart-enabled=false"];
    entry.lines().any(|line| off.contains(&line.trim()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_entry_starts_this_program_in_the_background_and_nothing_else() {
        let entry = desktop_entry("/usr/bin/deskbell");
        assert!(entry.contains("\nExec=\"/usr/bin/deskbell\" --background\n"), "{entry}");
        assert_eq!(entry.lines().filter(|line| line.starts_with("Exec=")).count(), 1);
        // The examples of the Desktop Entry Specification: quoted first, then escaped as a string.
        assert_eq!(quoted("/a b/%f/$x`y\"\\"), r#""/a b/%%f/\\$x\\`y\\"\\\\""#);
        let agent = launch_agent("/Applications/a & b <c>/deskbell");
        assert!(agent.contains("<string>/Applications/a &amp; b &lt;c&gt;/deskbell</string>"), "{agent}");
        assert!(content(Path::new("/a\nExec=sh")).is_err());
    }

    #[test]
    fn the_file_follows_the_setting_and_a_file_of_the_user_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("autostart/deskbell.desktop");
        let entry = desktop_entry("/usr/bin/deskbell");
        write(&place, None, When::Changed).unwrap();
        assert!(!place.parent().unwrap().exists(), "nothing is made for a setting that is off");
        for when in [When::Changed, When::AtStart] {
            write(&place, Some(&entry), when).unwrap();
            assert_eq!(fs::read_to_string(&place).unwrap(), entry);
            write(&place, None, when).unwrap();
            assert!(!place.exists());
        }
        fs::write(&place, "[Desktop Entry]\nExec=deskbell --demo\n").unwrap();
        write(&place, None, When::Changed).unwrap();
        let error = write(&place, Some(&entry), When::Changed).unwrap_err();
        assert!(error.to_string().contains("stays as it is"), "{error}");
        assert!(fs::read_to_string(&place).unwrap().contains("--demo"));
    }

    #[test]
    fn an_entry_that_the_desktop_switched_off_stays_off_until_the_setting_changes() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deskbell.desktop");
        let entry = desktop_entry("/usr/bin/deskbell");
        for off in ["Hidden=true", "X-GNOME-Autostart-enabled=false"] {
            let switched_off = format!("{entry}{off}\n");
            fs::write(&place, &switched_off).unwrap();
            write(&place, Some(&entry), When::AtStart).unwrap();
            assert_eq!(fs::read_to_string(&place).unwrap(), switched_off);
            write(&place, Some(&entry), When::Changed).unwrap();
            assert_eq!(fs::read_to_string(&place).unwrap(), entry);
        }
        // Another program, after the app was moved.
        let moved = desktop_entry("/opt/deskbell");
        write(&place, Some(&moved), When::AtStart).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), moved);
    }

    #[test]
    fn a_pipe_in_place_of_the_file_holds_nothing_up() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deskbell.desktop");
        assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
        assert!(write(&place, None, When::Changed).is_err());
        assert!(write(&place, Some("x"), When::Changed).is_err());
    }
}
