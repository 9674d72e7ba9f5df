//! Checks of the built packages that need no installation.

use std::fs;
use std::path::Path;

use super::kind::Kind;
use super::profile::Profile;
use super::target::Target;
use super::{Source, appimage, built, built_package, deb, relay, rpm, tree};
use crate::command::{command, read, run};
use crate::scratch::Scratch;
use crate::{Outcome, project};

/// The most that the .debs may have, in bytes.
const APP_LIMIT: u64 = 8_000_000;
const RELAY_LIMIT: u64 = 6_500_000;

/// A text of the scripted host.
const SCRIPTED: &str = "build-server";

/// Checks the .deb by Debian's own rules, and its size if it is for users.
pub fn deb(profile: Profile, kind: Kind) -> Outcome {
    let package = built_package(profile, kind, "deb")?;
    run(command("lintian")
        .args(["--fail-on", "error", "--allow-root", "--tag-display-limit", "0"])
        .arg(&package))?;
    let (libraries, limit) = match kind {
        Kind::App => (["libc6 (>= ", "libgtk-3-0 (>= ", "libwebkit2gtk-4.1-0 (>= "].as_slice(), APP_LIMIT),
        Kind::Relay => ([].as_slice(), RELAY_LIMIT),
    };
    depends_on(&package, libraries)?;
    let bytes = fs::metadata(&package).map_or(0, |metadata| metadata.len());
    let installed = read(command("dpkg-deb").arg("--field").arg(&package).arg("Installed-Size"))?;
    println!("{}: {:.2} MB, installed {installed} KiB", package.display(), bytes as f64 / 1e6);
    if profile == Profile::Release && bytes > limit {
        return Err(format!("{} has {bytes} bytes, more than {limit}", package.display()));
    }
    Ok(())
}

/// The most that the first script of the page may have, in bytes: nothing is drawn before it has run.
const FIRST_SCRIPT_LIMIT: u64 = 4_000;

/// Fails unless the page in the app begins with one short script, and no script has the host that a browser without
/// Deskbell gets.
pub fn page() -> Outcome {
    let dist = project::ui().join("dist");
    let html = tree::read(&dist.join("index.html"))?;
    let sources: Vec<&str> = html.split("<script ").skip(1).filter_map(source_of).collect();
    let [first] = &sources[..] else {
        return Err(format!("the page begins with these scripts, and not with one: {sources:?}"));
    };
    let first = dist.join(first.trim_start_matches('/'));
    let bytes = fs::metadata(&first).map_err(|error| format!("{}: {error}", first.display()))?.len();
    if bytes > FIRST_SCRIPT_LIMIT {
        return Err(format!("{} has {bytes} bytes, more than {FIRST_SCRIPT_LIMIT}", first.display()));
    }
    let assets = dist.join("assets");
    let entries =
        fs::read_dir(&assets).map_err(|error| format!("could not read {}: {error}", assets.display()))?;
    let files = entries.flatten().map(|entry| entry.path());
    let scripts: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "js")).collect();
    for script in &scripts {
        let text = fs::read_to_string(script).map_err(|error| format!("{}: {error}", script.display()))?;
        // A machine that only the scripted host knows.
        if text.contains(SCRIPTED) {
            return Err(format!("{} has the scripted host", script.display()));
        }
    }
    Ok(())
}

/// The source of a script, from the text after `<script `.
fn source_of(element: &str) -> Option<&str> {
    element.split('>').next()?.split("src=\"").nth(1)?.split('"').next()
}

/// Fails unless the package depends on these libraries, and on nothing if there are none.
fn depends_on(package: &Path, libraries: &[&str]) -> Outcome {
    let control = read(command("dpkg-deb").arg("--field").arg(package).arg("Depends"))?;
    if let Some(library) = libraries.iter().find(|library| !control.contains(**library)) {
        return Err(format!("{} does not depend on {library}…): {control}", package.display()));
    }
    if libraries.is_empty() && !control.is_empty() {
        return Err(format!("{} must not depend on {control}", package.display()));
    }
    Ok(())
}

/// Assembles the packages of a kind again from the same program, and compares every byte.
pub fn reproducible(profile: Profile, kind: Kind) -> Outcome {
    let (source, scratch) = (Source::read(profile)?, Scratch::new()?);
    let program = profile.symbols().join(kind.name());
    let mut again = vec![
        deb::build(kind, &source, &program, scratch.path())?,
        rpm::build(kind, &source, &program, scratch.path())?,
    ];
    if kind == Kind::App && appimage::can_build() {
        again.push(appimage::build(kind, &source, &program, scratch.path())?);
    }
    if kind == Kind::Relay {
        again.push(relay::tarball(&source, &program, &Target::own(), scratch.path())?);
    }
    again.iter().try_for_each(|again| compare(profile, again))?;
    println!("Assembled again, the packages of {} are equal to the byte", kind.name());
    Ok(())
}

/// Compares a package with the one that was built before.
fn compare(profile: Profile, again: &Path) -> Outcome {
    let first = built(profile)?.into_iter().find(|path| path.file_name() == again.file_name());
    let first = first.ok_or_else(|| format!("{} was not built before", again.display()))?;
    let bytes =
        |path: &Path| fs::read(path).map_err(|error| format!("could not read {}: {error}", path.display()));
    if bytes(&first)? != bytes(again)? {
        return Err(format!("{} differs when it is assembled again", first.display()));
    }
    Ok(())
}
