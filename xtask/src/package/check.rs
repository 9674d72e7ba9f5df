//! Installs the built .deb on this machine, starts it as a launcher would, and removes it without a trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::desktop_entry::DesktopEntry;
use super::lint;
use crate::command::{command, find, read, run};
use crate::packages::Need;
use crate::project::APP;
use crate::{Outcome, demo, project, system};

/// The result of the check, unless it failed.
pub enum Checked {
    Works,
    /// The reason why it could not run here.
    Skipped(String),
}

/// Checks the package built last.
pub fn check() -> Outcome<Checked> {
    if !system::has_apt() {
        return Ok(Checked::Skipped("a .deb can only be installed on Debian and its relatives".to_owned()));
    }
    if !system::can_be_privileged() {
        return Ok(Checked::Skipped("installing a package needs root or `sudo`".to_owned()));
    }
    if is_installed() {
        return Ok(Checked::Skipped(format!("{APP} is installed here already, and is not ours to remove")));
    }
    system::ensure(&[Need::Display, Need::Package])?;
    let packages = super::built()?;
    let built = |extension: &str| {
        let package = packages.iter().find(|path| path.extension().is_some_and(|found| found == extension));
        package.ok_or_else(|| format!("no .{extension} was built"))
    };
    let (deb, rpm) = (built("deb")?, built("rpm")?);
    lint::deb(deb)?;
    lint::reproducible([deb, rpm])?;
    check_deb(deb)?;
    check_rpm(rpm)?;
    Ok(Checked::Works)
}

fn check_deb(deb: &Path) -> Outcome {
    run(system::apt_get()?.args(system::APT_INSTALL).arg(deb))?;
    let worked = files().and_then(|files| {
        let works = check_installed(&files);
        works.map(|()| files)
    });
    // Removed in any case, before a failure is reported.
    let removed = run(privileged_dpkg()?.args(["--purge", APP]));
    let files = worked?;
    removed?;
    let left: Vec<_> = files.iter().filter(|path| path.symlink_metadata().is_ok()).collect();
    if !left.is_empty() || is_installed() {
        return Err(format!("removing the package left files: {left:?}"));
    }
    println!("Removed, and all of its {} files are gone", files.len());
    Ok(())
}

fn check_installed(files: &[PathBuf]) -> Outcome {
    let entry_file = files.iter().find(|path| path.extension().is_some_and(|found| found == "desktop"));
    let entry_file = entry_file.ok_or("the package has no desktop entry")?;
    run(command("desktop-file-validate").arg(entry_file))?;
    let metainfo = files.iter().find(|path| path.to_string_lossy().ends_with(".metainfo.xml"));
    run(command("appstreamcli")
        .args(["validate", "--no-net"])
        .arg(metainfo.ok_or("the package has no metainfo")?))?;

    let page = files
        .iter()
        .find(|path| path.ends_with("man1/deskbell.1.gz"))
        .ok_or("the package has no manual page")?;
    let shown = read(command("man").args(["--warnings", "--local-file"]).arg(page).env("MANPAGER", "cat"))?;
    if !shown.contains("OPTIONS OF RELAY") {
        return Err(format!("{} does not show its options", page.display()));
    }

    let entry = DesktopEntry::read(entry_file)?;
    let icon = entry.get("Icon").ok_or("the desktop entry has no icon")?;
    let n_icons = files
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| *name == *format!("{icon}.png")))
        .count();
    if n_icons == 0 {
        return Err(format!("the package has no icon named {icon}"));
    }

    // The file manager offers it for folders, and a launcher its start page.
    let types = entry.get("MimeType").ok_or("the desktop entry has no MimeType")?;
    if !types.split(';').any(|found| found == "inode/directory") {
        return Err(format!("the desktop entry is not for folders: {types}"));
    }
    let action = entry.action("new-window").ok_or("the desktop entry has no action for a new window")?;
    if action != format!("{APP} --open") {
        return Err(format!("the action for a new window runs {action}"));
    }

    let folder = demo::project_folder()?;
    let words = entry.exec(&demo::arguments(&folder))?;
    let (program, arguments) = words.split_first().ok_or("Exec is empty")?;
    let program = find(program).ok_or_else(|| format!("Exec names {program}, which is not on PATH"))?;
    if !files.contains(&program) {
        return Err(format!("Exec starts {}, which is not of the package", program.display()));
    }
    println!("Starting {}", words.join(" "));
    let screenshot = project::target().join("deskbell-package.png");
    // Not from the checkout: an installed app must not depend on it.
    let played = demo::play(Command::new(program).args(arguments).current_dir("/"), screenshot)?;
    println!("The installed app played the conversation. In {:.1} s:", played.took.as_secs_f32());
    for report in &played.reports {
        println!("  {report}");
    }
    println!("A picture of it lies at {}", played.screenshot.display());
    Ok(())
}

/// Debian's rpm can read a package, but not install it.
fn check_rpm(rpm: &Path) -> Outcome {
    let listed = read(command("rpm").args(["--query", "--list", "--package"]).arg(rpm))?;
    for wanted in [
        &format!("/usr/bin/{APP}"),
        ".desktop",
        ".metainfo.xml",
        "/128x128/apps/deskbell.png",
        "/man1/deskbell.1.gz",
        "/bash-completion/completions/deskbell",
        "/zsh/site-functions/_deskbell",
        "/vendor_completions.d/deskbell.fish",
        "/licenses/deskbell/copyright",
    ] {
        if !listed.lines().any(|file| file.ends_with(wanted)) {
            return Err(format!("{} has no file {wanted}", rpm.display()));
        }
    }
    let needed = read(command("rpm").args(["--query", "--requires", "--package"]).arg(rpm))?;
    for library in ["libc.so.6(", "libgtk-3.so.0(", "libwebkit2gtk-4.1.so.0("] {
        if !needed.contains(library) {
            return Err(format!("{} does not require {library}…)", rpm.display()));
        }
    }
    println!("{} has all that the .deb has", rpm.display());
    Ok(())
}

/// The files of the installed package, without the folders that it shares with others.
fn files() -> Outcome<Vec<PathBuf>> {
    let listed = read(command("dpkg-query").args(["--listfiles", APP]))?;
    let paths = listed.lines().map(PathBuf::from);
    Ok(paths.filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_dir())).collect())
}

fn is_installed() -> bool {
    let status = read(command("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", APP]));
    status.is_ok_and(|status| status != "not-installed")
}

fn privileged_dpkg() -> Outcome<Command> {
    system::privileged("dpkg")
}
