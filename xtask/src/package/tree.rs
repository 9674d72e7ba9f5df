//! The files that a Linux package installs, in a folder that stands for the root.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::Source;
use super::changelog::appstream;
use super::kind::Kind;
use super::target::Target;
use crate::icons::SIZES;
use crate::project::{self, APP};
use crate::{Outcome, command};

/// The folder of each distribution for completions of zsh.
#[derive(Clone, Copy)]
pub enum Zsh {
    Debian,
    Others,
}

/// A folder that is filled as the root of a system.
pub struct Tree(PathBuf);

impl Tree {
    /// Makes the tree with the files that a package has in every format. `program` has no debug symbols.
    pub fn new(root: PathBuf, kind: Kind, source: &Source, program: &Path, zsh: Zsh) -> Outcome<Self> {
        let name = kind.name();
        let tree = match kind {
            Kind::App => Self(root),
            Kind::Relay => Self::of_relay(root, program)?,
        };
        if kind == Kind::App {
            tree.copy(&format!("usr/bin/{name}"), program)?;
            tree.add_app(source, zsh)?;
        }
        let page = read(&packaging().join(format!("{name}.1")))?;
        tree.compressed(&format!("usr/share/man/man1/{name}.1"), &page)?;
        Ok(tree)
    }

    /// Makes the tree with the program without windows, twice: on the PATH, and where `deskbell on` looks for it.
    pub fn of_relay(root: PathBuf, program: &Path) -> Outcome<Self> {
        let (tree, name) = (Self(root), Kind::Relay.name());
        tree.copy(&format!("usr/bin/{name}"), program)?;
        tree.link(&format!("usr/{}", Target::own().far_program()), &format!("../../../bin/{name}"))?;
        Ok(tree)
    }

    /// Adds the program without windows for another processor, where `deskbell on` looks for it.
    pub fn add_relay_of(&self, target: &Target, program: &Path) -> Outcome {
        self.copy(&format!("usr/{}", target.far_program()), program)
    }

    /// The desktop's files, and completions.
    fn add_app(&self, source: &Source, zsh: Zsh) -> Outcome {
        let (tree, packaging) = (self, packaging());
        tree.copy("usr/share/applications/Deskbell.desktop", &packaging.join("deskbell.desktop"))?;
        tree.write("usr/share/metainfo/dev.deskbell.Deskbell.metainfo.xml", &metainfo(source)?)?;
        let icons = project::root().join("icons");
        // Nothing on Linux asks for a larger one that could not draw the SVG.
        for size in SIZES.into_iter().filter(|size| *size <= 512) {
            let icon = format!("usr/share/icons/hicolor/{size}x{size}/apps/{APP}.png");
            tree.copy(&icon, &icons.join(format!("{size}x{size}.png")))?;
        }
        tree.copy(&format!("usr/share/icons/hicolor/scalable/apps/{APP}.svg"), &icons.join("deskbell.svg"))?;
        let completions = packaging.join("completions");
        tree.copy(
            &format!("usr/share/bash-completion/completions/{APP}"),
            &completions.join("deskbell.bash"),
        )?;
        tree.copy("usr/share/fish/vendor_completions.d/deskbell.fish", &completions.join("deskbell.fish"))?;
        let zsh = match zsh {
            Zsh::Debian => "vendor-completions",
            Zsh::Others => "site-functions",
        };
        tree.copy(&format!("usr/share/zsh/{zsh}/_{APP}"), &completions.join("_deskbell"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a text file.
    pub fn write(&self, place: &str, text: &str) -> Outcome {
        let path = self.place(place)?;
        fs::write(&path, text).map_err(|error| format!("could not write {}: {error}", path.display()))
    }

    fn copy(&self, place: &str, from: &Path) -> Outcome {
        copy(from, &self.place(place)?)
    }

    /// Writes a text file in gzip's format, without a name and a time.
    pub fn compressed(&self, place: &str, text: &str) -> Outcome {
        self.write(place, text)?;
        command::run(Command::new("gzip").args(["--best", "--no-name", "--force"]).arg(self.0.join(place)))
    }

    #[cfg(unix)]
    pub fn link(&self, place: &str, target: &str) -> Outcome {
        let path = self.place(place)?;
        std::os::unix::fs::symlink(target, &path)
            .map_err(|error| format!("could not link {}: {error}", path.display()))
    }

    #[cfg(not(unix))]
    pub fn link(&self, place: &str, _: &str) -> Outcome {
        Err(format!("no package of this system has the link {place}"))
    }

    fn place(&self, place: &str) -> Outcome<PathBuf> {
        let path = self.0.join(place);
        let folder = path.parent().ok_or("a file without a folder")?;
        fs::create_dir_all(folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
        Ok(path)
    }

    /// The files, from the root, by name.
    pub fn files(&self) -> Outcome<Vec<PathBuf>> {
        let (files, _) = self.all()?;
        Ok(files)
    }

    /// Files and folders, from the root, by name.
    fn all(&self) -> Outcome<(Vec<PathBuf>, Vec<PathBuf>)> {
        let (mut files, mut folders, mut waiting) = (Vec::new(), Vec::new(), vec![self.0.clone()]);
        while let Some(folder) = waiting.pop() {
            let error = |error| format!("could not read {}: {error}", folder.display());
            for entry in fs::read_dir(&folder).map_err(error)? {
                let path = entry.map_err(error)?.path();
                let place = path.strip_prefix(&self.0).map_err(|error| error.to_string())?.to_path_buf();
                if path.is_dir() {
                    folders.push(place);
                    waiting.push(path);
                } else {
                    files.push(place);
                }
            }
        }
        files.sort();
        folders.sort();
        Ok((files, folders))
    }

    /// Gives everything the mode of an installed file and the date of the source.
    pub fn settle(&self, seconds: u64) -> Outcome {
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let (files, folders) = self.all()?;
        for place in files.iter().chain(&folders).chain([&PathBuf::new()]) {
            let path = self.0.join(place);
            // Mode and date would be those of its target.
            if path.is_symlink() {
                continue;
            }
            let is_run = path.is_dir() || path.parent().is_some_and(|folder| folder.ends_with("bin"));
            set_mode(&path, if is_run { 0o755 } else { 0o644 })
                .and_then(|()| File::open(&path)?.set_times(FileTimes::new().set_modified(date)))
                .map_err(|error| format!("could not settle {}: {error}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// Copies a file.
pub fn copy(from: &Path, to: &Path) -> Outcome {
    let copied = fs::copy(from, to);
    copied
        .map(drop)
        .map_err(|error| format!("could not copy {} to {}: {error}", from.display(), to.display()))
}

/// The folder with the files of packages.
fn packaging() -> PathBuf {
    project::root().join("src-tauri/packaging")
}

/// The AppStream file with the releases of the changelog.
pub fn metainfo(source: &Source) -> Outcome<String> {
    let template = read(&packaging().join("dev.deskbell.Deskbell.metainfo.xml"))?;
    let (before, after) =
        template.split_once("    <!-- releases -->\n").ok_or("the metainfo has no place for releases")?;
    Ok(format!("{before}{}{after}", appstream(&source.releases, source.version, source.seconds)))
}

pub fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("could not read {}: {error}", path.display()))
}
