//! The requirements on the system: installed where possible, otherwise reported.

use std::io::{self, IsTerminal};
use std::process::Command;
use std::sync::OnceLock;

use crate::Outcome;
use crate::command::{find, read, run};
use crate::packages::{Family, Need};

/// Makes sure that the system meets the needs.
///
/// Debian and its relatives: installs what is missing. Elsewhere: fails with the exact commands.
pub fn ensure(needs: &[Need]) -> Outcome {
    if needs.is_empty() {
        return Ok(());
    }
    match System::this() {
        System::Linux(Family::Debian) => apt_install(&Family::Debian.packages(needs)),
        System::Linux(family) => tell_missing(family, &family.packages(needs)),
        System::OtherLinux => tell_unknown(needs),
        System::MacOs => tell_macos(),
        System::Windows => tell_windows(),
    }
}

/// Installs without questions, progress bars, or packages that were not requested.
pub const APT_INSTALL: [&str; 5] =
    ["--quiet=2", "--option=Dpkg::Use-Pty=0", "--yes", "--no-install-recommends", "install"];

/// Installs those of the packages that are missing, with apt.
pub fn apt_install(packages: &[&str]) -> Outcome {
    let missing = apt_missing(packages)?;
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() && find("sudo").is_none() {
        let install =
            format!("apt-get update && apt-get install --no-install-recommends {}", missing.join(" "));
        return Err(format!(
            "packages are missing, and there is no `sudo` to install them; as root, run:\n\n    {install}"
        ));
    }
    println!("Installing {}", missing.join(" "));
    static UPDATED: OnceLock<()> = OnceLock::new();
    if UPDATED.set(()).is_ok() {
        // Old package lists may be enough: the install below decides.
        if let Err(reason) = run(apt_get()?.args(["--quiet=2", "update"])) {
            eprintln!("xtask: {reason}; going on with the package lists that are there");
        }
    }
    run(apt_get()?.args(APT_INSTALL).args(missing))
}

/// An `apt-get` that may change the system and asks nothing.
pub fn apt_get() -> Outcome<Command> {
    let mut apt_get = privileged("env")?;
    apt_get.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--option=DPkg::Lock::Timeout=300"]);
    Ok(apt_get)
}

/// A command that runs with the rights of root: unchanged for root itself, by `sudo` for others.
pub fn privileged(program: &str) -> Outcome<Command> {
    if is_root() {
        return Ok(Command::new(program));
    }
    if find("sudo").is_none() {
        return Err(format!("`{program}` needs the rights of root, and there is no `sudo`"));
    }
    let mut sudo = Command::new("sudo");
    sudo.arg(program);
    Ok(sudo)
}

/// Whether `privileged` will work, asking for a password only where a user can type one.
pub fn can_be_privileged() -> bool {
    is_root()
        || find("sudo").is_some()
            && (io::stdin().is_terminal() || read(Command::new("sudo").args(["-n", "true"])).is_ok())
}

/// Whether packages come from apt here.
pub fn has_apt() -> bool {
    System::this() == System::Linux(Family::Debian)
}

/// Whether a window can be shown here.
pub fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// The packages that dpkg does not have installed.
fn apt_missing<'a>(packages: &[&'a str]) -> Outcome<Vec<&'a str>> {
    // It fails if it does not know one of them, but still lists the others.
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat=${Package} ${db:Status-Status}\\n"])
        .args(packages)
        .output()
        .map_err(|error| format!("could not start `dpkg-query`: {error}"))?;
    Ok(not_installed(packages, &String::from_utf8_lossy(&output.stdout)))
}

fn not_installed<'a>(packages: &[&'a str], dpkg_status: &str) -> Vec<&'a str> {
    let is_installed = |package: &str| dpkg_status.lines().any(|line| line == format!("{package} installed"));
    packages.iter().copied().filter(|package| !is_installed(package)).collect()
}

/// Whether this runs as root.
pub fn is_root() -> bool {
    static IS_ROOT: OnceLock<bool> = OnceLock::new();
    *IS_ROOT.get_or_init(|| cfg!(unix) && read(Command::new("id").arg("-u")).is_ok_and(|id| id == "0"))
}

fn tell_missing(family: Family, packages: &[&str]) -> Outcome {
    let (query, install): (&[&str], &str) = match family {
        Family::Fedora => (&["rpm", "--query", "--whatprovides"], "sudo dnf install"),
        Family::Arch => (&["pacman", "--query", "--info"], "sudo pacman --sync --needed"),
        Family::Debian => (&["dpkg-query", "--show"], "sudo apt-get install"),
    };
    let is_missing = |package: &&&str| read(Command::new(query[0]).args(&query[1..]).arg(package)).is_err();
    let missing: Vec<&str> = packages.iter().filter(is_missing).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "some packages are missing; install them and try again:\n\n    {install} {}",
        missing.join(" ")
    ))
}

fn tell_unknown(needs: &[Need]) -> Outcome {
    if read(Command::new("pkg-config").args(["--exists", "webkit2gtk-4.1"])).is_ok() {
        return Ok(());
    }
    Err(format!(
        "this Linux distribution is not known here, and WebKitGTK 4.1 with its headers was not found.\n\
         Install what your distribution calls these Debian packages, and try again:\n\n    {}",
        Family::Debian.packages(needs).join(" ")
    ))
}

fn tell_macos() -> Outcome {
    match read(Command::new("xcode-select").arg("-p")) {
        Ok(_) => Ok(()),
        Err(_) => Err("the command line tools are missing; install them and try again:\n\n    \
                       xcode-select --install"
            .to_owned()),
    }
}

fn tell_windows() -> Outcome {
    // The runtime registers itself here, for the machine or for the user.
    const CLIENT: &str = r"Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}";
    let keys = [r"HKLM\SOFTWARE\WOW6432Node\", r"HKLM\SOFTWARE\", r"HKCU\Software\"];
    let is_there =
        |key: &&str| read(Command::new("reg").args(["query", &format!("{key}{CLIENT}"), "/v", "pv"])).is_ok();
    if keys.iter().any(is_there) {
        return Ok(());
    }
    Err("the WebView2 runtime is missing; install it and try again:\n\n    \
         winget install --exact --id Microsoft.EdgeWebView2Runtime"
        .to_owned())
}

/// The system on which xtask runs, as far as it matters for installing packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux(Family),
    OtherLinux,
    MacOs,
    Windows,
}

impl System {
    fn this() -> Self {
        if cfg!(windows) {
            return Self::Windows;
        }
        if cfg!(target_os = "macos") {
            return Self::MacOs;
        }
        let os_release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        Family::of(&os_release).map_or(Self::OtherLinux, Self::Linux)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_installed_is_missing() {
        let status = "xvfb installed\nopenbox config-files\ngit-man installed\n";
        assert_eq!(not_installed(&["xvfb", "openbox", "git"], status), ["openbox", "git"]);
        assert_eq!(not_installed(&["xvfb"], status), [""; 0]);
    }
}
