//! The manifest of the Flatpak.

use std::path::PathBuf;

use crate::command::{command, find, read};
use crate::{Outcome, project};

fn manifest() -> PathBuf {
    project::root().join("src-tauri/packaging/flatpak/dev.deskbell.Deskbell.yml")
}

/// flatpak-builder, where it is, reads the manifest. Nothing is built: that takes a runtime of Flathub.
pub fn check() -> Outcome {
    if find("flatpak-builder").is_none() {
        println!("The manifest of the Flatpak was not read: that takes flatpak-builder");
        return Ok(());
    }
    let said = read(command("flatpak-builder").arg("--show-manifest").arg(manifest()))?;
    for wanted in [
        r#""id" : "dev.deskbell.Deskbell""#,
        r#""--talk-name=org.freedesktop.Flatpak""#,
        r#""type" : "file""#,
    ] {
        if !said.contains(wanted) {
            return Err(format!("flatpak-builder does not find {wanted} in the manifest: {said}"));
        }
    }
    println!("flatpak-builder reads the manifest of the Flatpak");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_packs_this_version_and_asks_for_no_right_that_it_does_not_need() {
        let text = std::fs::read_to_string(manifest()).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        for file in [
            format!("/bundle/deb/deskbell_{version}-1_amd64.deb\n"),
            format!("/bundle/relay/deskbell-relay-{version}-linux-x86_64.tar.gz\n"),
            format!("ar x deskbell_{version}-1_amd64.deb\n"),
            format!(
                "install -D deskbell-relay-{version}-linux-x86_64/deskbell-relay /app/lib/deskbell/relay/linux-x86_64\n"
            ),
        ] {
            assert!(text.contains(&file), "{file}");
        }
        for forbidden in ["--share=network", "--filesystem=host\n", "--socket=session-bus", "--device=all"] {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
    }
}
