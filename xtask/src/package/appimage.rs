//! The AppImage: a runtime, and after it the files of the package, which the runtime mounts to start the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::dates::dated;
use super::installed_relay::ends_a_turn;
use super::kind::Kind;
use super::profile::Profile;
use super::{Source, built_package, rpm, tree};
use crate::command::{cargo, command, find, read, run};
use crate::scratch::Scratch;
use crate::{Outcome, project};
use serde_json::Value;

/// The crate whose source has the runtime. Nothing of its code is used.
const CRATE: (&str, &str) = ("appimage", "0.4.0");

/// `runtime-x86_64` of AppImageKit 13: the checksum by which other projects pin that file of its release.
const RUNTIME: &str = "328e0d745c5c6817048c27bc3e8314871703f8f47ffa81a37cb06cd95a94b323";

/// Variables that the runtime sets: an agent, a terminal or an editor must not take itself for the AppImage.
const OF_RUNTIME: [&str; 4] = ["APPIMAGE", "APPDIR", "ARGV0", "OWD"];

/// Whether the tools are there, and the runtime for this processor.
pub fn can_build() -> bool {
    cfg!(target_arch = "x86_64") && ["mksquashfs", "sha256sum"].iter().all(|tool| find(tool).is_some())
}

/// Assembles the AppImage of the app in the folder, and returns its path. Equal sources and programs give equal bytes.
pub fn build(kind: Kind, source: &Source, program: &Path, into: &Path) -> Outcome<PathBuf> {
    let scratch = Scratch::new()?;
    let tree = rpm::tree(scratch.folder("tree")?, kind, source, program)?;
    let licence = tree::read(&project::root().join("src-tauri/packaging/licences/appimage-runtime"))?;
    tree.write(&format!("usr/share/licenses/{}/appimage-runtime", kind.name()), &licence)?;
    // What programs that show or install AppImages look for.
    tree.link("AppRun", &format!("usr/bin/{}", kind.name()))?;
    tree.link("Deskbell.desktop", "usr/share/applications/Deskbell.desktop")?;
    tree.link("deskbell.png", "usr/share/icons/hicolor/256x256/apps/deskbell.png")?;
    tree.link(".DirIcon", "deskbell.png")?;
    tree.settle(source.seconds)?;

    let files = scratch.path().join("files.squashfs");
    let mut pack = Command::new("mksquashfs");
    pack.arg(tree.path()).arg(&files).args([
        "-noappend",
        "-all-root",
        "-no-xattrs",
        "-quiet",
        "-no-progress",
    ]);
    pack.args(source.profile.squashfs());
    // Its date is that of the environment, and so are the dates of links.
    run(dated(&mut pack, source.seconds).arg("-reproducible"))?;

    let error = |error: std::io::Error| format!("could not write the AppImage: {error}");
    let mut bytes = fs::read(runtime()?).map_err(error)?;
    bytes.extend(fs::read(&files).map_err(error)?);
    let image = into.join(format!("{}-{}-{}.AppImage", kind.name(), source.version, std::env::consts::ARCH));
    fs::create_dir_all(into).and_then(|()| fs::write(&image, bytes)).map_err(error)?;
    run(Command::new("chmod").arg("755").arg(&image))?;
    Ok(image)
}

/// The runtime, from the source of the crate; checked each time.
fn runtime() -> Outcome<PathBuf> {
    let (name, version) = CRATE;
    let folder = project::tools().join(format!("{name}-{version}"));
    let runtime = folder.join("runtime-x86_64");
    if !runtime.is_file() {
        let source = folder.join("src");
        fs::create_dir_all(&source)
            .and_then(|()| fs::write(source.join("lib.rs"), ""))
            .and_then(|()| {
                let manifest = format!(
                    "[package]\nname = \"runtime\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                     [dependencies]\n{name} = \"={version}\"\n"
                );
                fs::write(folder.join("Cargo.toml"), manifest)
            })
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
        // Nothing is compiled.
        let vendored = folder.join("vendor");
        run(cargo()
            .args(["vendor", "--quiet", "--manifest-path"])
            .arg(folder.join("Cargo.toml"))
            .arg(&vendored))?;
        tree::copy(&vendored.join(name).join("assets/runtime-x86_64"), &runtime)?;
        fs::remove_dir_all(&vendored)
            .map_err(|error| format!("could not remove {}: {error}", vendored.display()))?;
    }
    let sum = read(Command::new("sha256sum").arg(&runtime))?;
    match sum.starts_with(RUNTIME) {
        true => Ok(runtime),
        false => Err(format!("{} is not the runtime of AppImageKit 13: {sum}", runtime.display())),
    }
}

/// Runs the AppImage that was built last: its version, and a turn whose agent finds no variable of the runtime. Its
/// window is not opened: an AppImage that unpacked itself does not pass on the signal that ends it, and what it started
/// would stay.
pub fn check(profile: Profile) -> Outcome {
    let image = built_package(profile, Kind::App, "AppImage")?;
    let scratch = Scratch::new()?;
    let (home, folder) = (scratch.folder("home")?, scratch.folder("project")?);
    check_start(Start::Unpacked, &image, &home, &folder)?;
    if !can_mount() {
        println!("The AppImage was not mounted: that takes libfuse 2 and /dev/fuse");
        return Ok(());
    }
    check_start(Start::Mounted, &image, &home, &folder)?;
    println!("The AppImage runs unpacked and mounted");
    Ok(())
}

/// How an AppImage starts.
#[derive(Clone, Copy)]
enum Start {
    /// It mounts itself.
    Mounted,
    /// As where there is no FUSE: it unpacks itself into a temporary folder.
    Unpacked,
}

/// Whether an AppImage can mount itself here.
fn can_mount() -> bool {
    let has_library = |listed: String| listed.contains("libfuse.so.2");
    Path::new("/dev/fuse").exists() && read(command("/sbin/ldconfig").arg("-p")).is_ok_and(has_library)
}

fn check_start(start: Start, image: &Path, home: &Path, folder: &Path) -> Outcome {
    let version = read(started(start, image, home).arg("--version"))?;
    if !version.contains(env!("CARGO_PKG_VERSION")) {
        return Err(format!("{} says that it is {version}", image.display()));
    }

    let prompt: Vec<String> = OF_RUNTIME.iter().map(|name| format!("ENV {name}")).collect();
    let prompt = format!(r#"{{"type":"prompt","text":"{}"}}"#, prompt.join(r"\n"));
    let mut relay = started(start, image, home);
    relay.args(["relay", "--agent=demo"]).arg(format!("--project={}", folder.display()));
    let events = read(&mut fed(&relay, &prompt))?;
    ends_a_turn(&events)?;
    if unset(&events)? < OF_RUNTIME.len() {
        return Err(format!("an agent in the AppImage has variables of its runtime: {events}"));
    }
    Ok(())
}

/// The number of items that say that a variable is not set. An item is added with its text, or empty and changed later.
fn unset(events: &str) -> Outcome<usize> {
    let mut items = BTreeSet::new();
    for line in events.lines().filter(|line| line.contains("(unset)")) {
        let event: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        items.extend(event["item"]["id"].as_str().map(str::to_owned));
    }
    Ok(items.len())
}

fn started(start: Start, image: &Path, home: &Path) -> Command {
    let mut command = Command::new(image);
    command.env("HOME", home);
    if matches!(start, Start::Unpacked) {
        command.env("APPIMAGE_EXTRACT_AND_RUN", "1");
    }
    command
}

/// The command with this line as its input.
fn fed(command: &Command, line: &str) -> Command {
    let mut fed = Command::new("sh");
    fed.args(["-c", "printf '%s\\n' \"$0\" | \"$@\"", line])
        .arg(command.get_program())
        .args(command.get_args());
    fed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    fed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_counts_once_however_its_text_arrives() {
        let event = |kind: &str, id: &str, text: &str| {
            format!(r#"{{"type":"{kind}","item":{{"id":"{id}","body":{{"text":"{text}"}}}}}}"#)
        };
        let events = [
            event("itemAdded", "one", "(unset)"),
            event("itemAdded", "two", ""),
            event("itemChanged", "two", "(unset)"),
            event("itemChanged", "two", "(unset)"),
            event("itemAdded", "three", "/tmp"),
        ];
        assert_eq!(unset(&events.join("\n")), Ok(2));
    }
}
