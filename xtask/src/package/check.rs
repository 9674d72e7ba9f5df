//! Installs the built .debs on this machine, starts the app as a launcher would, and removes both without a trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::desktop_entry::DesktopEntry;
use super::kind::Kind;
use super::profile::Profile;
use super::target::Target;
use super::{appimage, arch, built_package, flatpak, installed_relay, lint};
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

/// Checks the packages of these kinds that were built last in this profile.
pub fn check(profile: Profile, kinds: &[Kind]) -> Outcome<Checked> {
    if !system::has_apt() {
        return Ok(Checked::Skipped("a .deb can only be installed on Debian and its relatives".to_owned()));
    }
    if !system::can_be_privileged() {
        return Ok(Checked::Skipped("installing a package needs root or `sudo`".to_owned()));
    }
    if is_installed(&Kind::ALL) {
        return Ok(Checked::Skipped(format!("{APP} is installed here already, and is not ours to remove")));
    }
    system::ensure(&[Need::Display, Need::Package])?;
    for kind in kinds {
        lint::deb(profile, *kind)?;
        lint::reproducible(profile, *kind)?;
        check_rpm(profile, *kind)?;
    }
    arch::check()?;
    flatpak::check()?;
    if kinds.contains(&Kind::App) {
        lint::page()?;
        if appimage::can_build() {
            appimage::check(profile)?;
        }
    }
    check_debs(profile, kinds)?;
    Ok(Checked::Works)
}

fn check_debs(profile: Profile, kinds: &[Kind]) -> Outcome {
    let debs: Vec<PathBuf> =
        kinds.iter().map(|kind| built_package(profile, *kind, "deb")).collect::<Outcome<_>>()?;
    run(system::apt_get()?.args(system::APT_INSTALL).args(&debs))?;
    let worked = files(kinds).and_then(|files| {
        kinds.iter().try_for_each(|kind| match kind {
            Kind::App => check_installed(&files),
            Kind::Relay => installed_relay::check(Path::new("/usr/bin"), APP),
        })?;
        Ok(files)
    });
    // Removed in any case, before a failure is reported.
    let removed = run(system::privileged("dpkg")?.arg("--purge").args(names(kinds)));
    let files = worked?;
    removed?;
    let left: Vec<_> = files.iter().filter(|path| path.symlink_metadata().is_ok()).collect();
    if !left.is_empty() || is_installed(kinds) {
        return Err(format!("removing the packages left files: {left:?}"));
    }
    println!("Removed, and all of the {} files are gone", files.len());
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
    if !shown.contains("deskbell relay") {
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

/// The files and the libraries that the packages must name. Debian's rpm can read a package, but not install it.
fn check_rpm(profile: Profile, kind: Kind) -> Outcome {
    let rpm = built_package(profile, kind, "rpm")?;
    match kind {
        Kind::App => check_app_rpm(&rpm)?,
        Kind::Relay => check_relay_rpm(&rpm)?,
    }
    println!("{} has all that the .deb has", rpm.display());
    Ok(())
}

fn check_app_rpm(rpm: &Path) -> Outcome {
    has(
        rpm,
        "--list",
        |file, end| file.ends_with(end),
        &[
            "/usr/bin/deskbell",
            ".desktop",
            ".metainfo.xml",
            "/128x128/apps/deskbell.png",
            "/man1/deskbell.1.gz",
            "/bash-completion/completions/deskbell",
            "/zsh/site-functions/_deskbell",
            "/vendor_completions.d/deskbell.fish",
            "/licenses/deskbell/copyright",
        ],
    )?;
    has(
        rpm,
        "--requires",
        |line, start| line.starts_with(start),
        &["libc.so.6(", "libgtk-3.so.0(", "libwebkit2gtk-4.1.so.0("],
    )
}

fn check_relay_rpm(rpm: &Path) -> Outcome {
    let place = format!("/{}", Target::own().far_program());
    let files = ["/usr/bin/deskbell-relay", &place, "/licenses/deskbell-relay/copyright"];
    has(rpm, "--list", |file, end| file.ends_with(end), &files)?;
    let needed = query(rpm, "--requires")?;
    let library = needed.lines().find(|line| !line.starts_with("rpmlib("));
    library.map_or(Ok(()), |library| Err(format!("{} must not require {library}", rpm.display())))
}

/// Fails unless rpm's description of the package has a line with each of these texts.
fn has(rpm: &Path, what: &str, is_in: impl Fn(&str, &str) -> bool, wanted: &[&str]) -> Outcome {
    let said = query(rpm, what)?;
    let missing = wanted.iter().find(|wanted| !said.lines().any(|line| is_in(line, wanted)));
    missing.map_or(Ok(()), |missing| Err(format!("{} lacks {missing} in {what}", rpm.display())))
}

fn query(rpm: &Path, what: &str) -> Outcome<String> {
    read(command("rpm").args(["--query", what, "--package"]).arg(rpm))
}

/// The files of the installed packages, without the folders that they share with others.
fn files(kinds: &[Kind]) -> Outcome<Vec<PathBuf>> {
    let listed = read(command("dpkg-query").arg("--listfiles").args(names(kinds)))?;
    let paths = listed.lines().filter(|line| line.starts_with('/')).map(PathBuf::from);
    Ok(paths.filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_dir())).collect())
}

/// Whether one of the packages is installed.
fn is_installed(kinds: &[Kind]) -> bool {
    kinds.iter().any(|kind| {
        let status =
            read(command("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", kind.name()]));
        status.is_ok_and(|status| status != "not-installed")
    })
}

fn names(kinds: &[Kind]) -> impl Iterator<Item = &'static str> {
    kinds.iter().map(|kind| kind.name())
}
