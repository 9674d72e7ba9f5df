//! The scripts of GNOME Shell, for the contract of notification daemons: its packages are unpacked and not installed, for
//! they depend on a whole desktop.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::run;
use crate::{Outcome, project};

/// The script that the contract runs, in the unpacked packages and on a desktop with GNOME.
const SERVICE: &str = "usr/share/gnome-shell/org.gnome.Shell.Notifications.src.gresource";

/// The service, and the descriptions of its interfaces.
const PACKAGES: [&str; 2] = ["gnome-shell", "gnome-shell-common"];

/// Unpacks the packages of Debian on first need. Where they cannot be had the test says so.
pub fn ensure() -> Outcome {
    let folder = project::tools().join("gnome-shell");
    if Path::new("/").join(SERVICE).is_file() || folder.join(SERVICE).is_file() {
        return Ok(());
    }
    let error = |error| format!("could not make {}: {error}", folder.display());
    let packages = folder.join("packages");
    fs::create_dir_all(&packages).map_err(error)?;
    run(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(&packages))?;
    for package in fs::read_dir(&packages).map_err(error)? {
        let package = package.map_err(error)?.path();
        run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&folder))?;
    }
    fs::remove_dir_all(&packages).map_err(error)
}
