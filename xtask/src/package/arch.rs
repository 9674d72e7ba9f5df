//! The recipe for Arch Linux, and the files that it installs.

use std::path::{Path, PathBuf};

use super::kind::Kind;
use super::profile::Profile;
use super::target::Target;
use super::{Source, rpm, symbols, tree};
use crate::command::{command, find, read};
use crate::scratch::Scratch;
use crate::{Outcome, project, system};

/// Writes the files of the app's package into the folder that a recipe packs: `cargo xtask package --tree DIR APP`.
pub fn fill(folder: &str, app: &str) -> Outcome {
    let scratch = Scratch::new()?;
    let program = symbols::split(Path::new(app), Kind::App.name(), &Target::own(), scratch.path())?;
    rpm::tree(PathBuf::from(folder), Kind::App, &Source::read(Profile::Release)?, &program).map(drop)
}

fn recipe() -> PathBuf {
    project::root().join("src-tauri/packaging/arch/PKGBUILD")
}

/// makepkg, where it is, reads the recipe and finds what it needs. Nothing is built.
pub fn check() -> Outcome {
    if find("makepkg").is_none() || !system::is_root() {
        println!(
            "The recipe for Arch Linux was not read: that takes makepkg, and root to become another user"
        );
        return Ok(());
    }
    // makepkg refuses to run as root, and to read what it could not build.
    let scratch = Scratch::new()?;
    tree::copy(&recipe(), &scratch.path().join("PKGBUILD"))?;
    read(command("chown").args(["-R", "nobody"]).arg(scratch.path()))?;
    let mut makepkg = command("runuser");
    // It looks for a package manager, and does not use it here.
    makepkg.args(["-u", "nobody", "--", "env", "PACMAN=true", "makepkg", "--printsrcinfo"]);
    makepkg.current_dir(scratch.path());
    let said = read(&mut makepkg)?;
    for line in ["pkgbase = deskbell", "depends = webkit2gtk-4.1", "license = Apache-2.0 OR MIT"] {
        if !said.lines().any(|found| found.trim() == line) {
            return Err(format!("makepkg does not find {line} in the recipe: {said}"));
        }
    }
    println!("makepkg reads the recipe for Arch Linux");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_is_of_this_version_and_has_no_list_of_files() {
        let text = std::fs::read_to_string(recipe()).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert!(text.contains(&format!("\npkgver={version}\n")), "{text}");
        assert!(text.contains(&format!("--prefix=deskbell-{version}/ --output=deskbell-{version}.tar.gz")));
        // What it installs is what the other packages install.
        assert!(text.contains("cargo xtask package --tree \"$pkgdir\" target/release/deskbell\n"), "{text}");
        assert!(!text.contains("install -"), "{text}");
    }
}
