//! The .rpm, assembled with rpm's own tool, which reads the needed libraries from the binary.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::copyright::{Licences, copyright};
use super::dates::dated;
use super::tree::{Tree, Zsh};
use super::{DESCRIPTION, SUMMARY, Source};
use crate::Outcome;
use crate::command::{find, run};
use crate::project::APP;
use crate::scratch::Scratch;

/// Whether the tools are there.
pub fn can_build() -> bool {
    ["rpmbuild", "gzip"].iter().all(|tool| find(tool).is_some())
}

/// Assembles the package in the folder, and returns its path. Equal sources and binaries give equal bytes.
pub fn build(source: &Source, binary: &Path, into: &Path) -> Outcome<PathBuf> {
    let scratch = Scratch::new()?;
    let tree = Tree::new(scratch.folder("tree")?, source, binary, Zsh::Others)?;
    let licences = format!("usr/share/licenses/{APP}");
    let texts = Licences::read(false)?;
    tree.write(&format!("{licences}/copyright"), &copyright(&source.shipped, &texts)?)?;
    tree.write(&format!("{licences}/LICENSE-APACHE"), &texts.apache)?;
    tree.write(&format!("{licences}/LICENSE-MIT"), &texts.mit)?;
    tree.settle(source.seconds)?;

    let spec = scratch.path().join(format!("{APP}.spec"));
    fs::write(&spec, text(source.version, &tree)?)
        .map_err(|error| format!("could not write {}: {error}", spec.display()))?;
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--quiet", "--define", &format!("_topdir {}", scratch.path().display())]).arg(&spec);
    run(dated(&mut build, source.seconds))?;

    let machine = std::env::consts::ARCH;
    let name = format!("{APP}-{}-1.{machine}.rpm", source.version);
    let built = scratch.path().join("RPMS").join(machine).join(&name);
    let package = into.join(name);
    fs::create_dir_all(into)
        .and_then(|()| fs::copy(&built, &package).map(drop))
        .map_err(|error| format!("could not copy {}: {error}", built.display()))?;
    Ok(package)
}

fn text(version: &str, tree: &Tree) -> Outcome<String> {
    let mut text = format!(
        "# The tree is complete: nothing is compiled, stripped or compressed here.\n\
         %global __os_install_post %{{nil}}\n%global debug_package %{{nil}}\n%global _build_id_links none\n\
         %global _buildhost reproducible\n%global use_source_date_epoch_as_buildtime 1\n\
         %global clamp_mtime_to_source_date_epoch 1\n%global _binary_payload w19.zstdio\n\
         Name: {APP}\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\nLicense: Apache-2.0 OR MIT\n\
         Recommends: xdg-utils\n\n%description\n{}\n\n%install\ncp -a '{}/.' %{{buildroot}}/\n\n%files\n%defattr(-,root,root,-)\n",
        DESCRIPTION.join("\n\n"),
        tree.path().display()
    );
    for file in tree.files()? {
        let place = file.display().to_string();
        let mark = match place.as_str() {
            _ if place.starts_with("usr/share/licenses/") => "%license ",
            _ if place.starts_with("usr/share/man/") => "%doc ",
            _ => "",
        };
        let _ = writeln!(text, "{mark}/{place}");
    }
    Ok(text)
}
