//! Which project is meant: a folder of this machine, or one of another machine. What reads files takes the path of a folder
//! here, so that a folder there cannot be read here by mistake.

use super::machine::RemoteMachine;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use ts_rs::TS;

/// A project, by its folder. Its text is JSON: a string for a folder of this machine, else an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum ProjectRef {
    /// The absolute path of a folder of this machine.
    Here(#[ts(type = "string")] PathBuf),
    There(RemoteProject),
}

/// A folder of another machine that is a project.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct RemoteProject {
    pub machine: RemoteMachine,
    pub folder: RemoteFolder,
}

/// The absolute path of a folder of another machine. It is one line, and no option of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct RemoteFolder(String);

/// The text is not the absolute path of a folder.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the absolute path of a folder")]
pub struct BadFolder;

impl RemoteFolder {
    /// The longest path, in bytes.
    pub const MOST_BYTES: usize = 4 << 10;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RemoteFolder {
    type Err = BadFolder;

    fn from_str(path: &str) -> Result<Self, BadFolder> {
        let is_one =
            path.starts_with('/') && path.len() <= Self::MOST_BYTES && !path.contains(char::is_control);
        if is_one { Ok(Self(path.to_owned())) } else { Err(BadFolder) }
    }
}

impl TryFrom<String> for RemoteFolder {
    type Error = BadFolder;

    fn try_from(path: String) -> Result<Self, BadFolder> {
        path.parse()
    }
}

impl From<RemoteFolder> for String {
    fn from(folder: RemoteFolder) -> Self {
        folder.0
    }
}

impl fmt::Display for RemoteFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// For the user: `box:/home/me/app`.
impl fmt::Display for RemoteProject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.machine, self.folder)
    }
}

/// For the user: the path, with the machine if it is another one.
impl fmt::Display for ProjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(folder) => folder.display().fmt(f),
            Self::There(project) => project.fmt(f),
        }
    }
}

impl From<PathBuf> for ProjectRef {
    fn from(folder: PathBuf) -> Self {
        Self::Here(folder)
    }
}

impl From<&Path> for ProjectRef {
    fn from(folder: &Path) -> Self {
        Self::Here(folder.to_owned())
    }
}

impl From<&str> for ProjectRef {
    fn from(folder: &str) -> Self {
        Self::Here(folder.into())
    }
}

impl From<RemoteProject> for ProjectRef {
    fn from(project: RemoteProject) -> Self {
        Self::There(project)
    }
}

impl ProjectRef {
    /// Its folder, if that is one of this machine.
    pub fn here(&self) -> Option<&Path> {
        match self {
            Self::Here(folder) => Some(folder),
            Self::There(_) => None,
        }
    }

    /// The project, if it is on another machine.
    pub fn there(&self) -> Option<&RemoteProject> {
        match self {
            Self::Here(_) => None,
            Self::There(project) => Some(project),
        }
    }

    /// The machine that it is on, if that is another one.
    pub fn machine(&self) -> Option<&RemoteMachine> {
        self.there().map(|project| &project.machine)
    }

    /// The name of its folder, or the path of the top one, with the machine if that is another one.
    pub fn name(&self) -> String {
        let folder = self.folder();
        let name = folder
            .file_name()
            .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned());
        match self.machine() {
            Some(machine) => format!("{name} ({machine})"),
            None => name,
        }
    }

    fn folder(&self) -> &Path {
        match self {
            Self::Here(folder) => folder,
            Self::There(project) => Path::new(project.folder.as_str()),
        }
    }

    /// Whether its agents run on this computer, in a container for example.
    pub fn is_on_this_computer(&self) -> bool {
        self.machine().is_none_or(RemoteMachine::is_this_computer)
    }

    /// Whether its folder is this one or in it, on the same machine.
    pub fn is_in(&self, root: &Self) -> bool {
        self.machine() == root.machine() && self.folder().starts_with(root.folder())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(machine: &str, folder: &str) -> ProjectRef {
        RemoteProject { machine: machine.parse().unwrap(), folder: folder.parse().unwrap() }.into()
    }

    #[test]
    fn a_project_is_read_as_it_was_written() {
        let projects = [
            ProjectRef::from("/home/me/app"),
            // Names that look like a project of another machine.
            ProjectRef::from("/box:/app"),
            ProjectRef::from(r#"/{"machine":"box","folder":"/app"}"#),
            there("box", "/app"),
            there("me@box.example:22", "/a:/b"),
            there("devcontainer:/home/me/app", "/workspaces/app"),
            there("ssh:docker:web", "/a \"b\"\\ü"),
            there("docker:web", "/a \"b\"\\ü"),
        ];
        for project in &projects {
            let text = serde_json::to_string(project).unwrap();
            assert_eq!(serde_json::from_str::<ProjectRef>(&text).unwrap(), *project, "{text}");
            assert!(!text.contains("\\u0000"), "{text}");
        }
        let mut texts: Vec<String> = projects.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), projects.len(), "each has its own text");
        assert_eq!(serde_json::to_string(&projects[0]).unwrap(), r#""/home/me/app""#);
        assert_eq!(serde_json::to_string(&projects[3]).unwrap(), r#"{"machine":"box","folder":"/app"}"#);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_without_a_text_is_not_written_as_another_one() {
        use std::os::unix::ffi::OsStrExt;
        let odd = ProjectRef::from(Path::new(std::ffi::OsStr::from_bytes(b"/a\xff")));
        assert!(serde_json::to_string(&odd).is_err());
        assert_eq!(odd.to_string(), "/a\u{fffd}");
    }

    #[test]
    fn a_folder_there_is_one_line_and_no_option() {
        for path in ["", "app", "~", "/a\0b", "/a\nb", "/\u{1b}[2J", "C:\\app", "--decide=trust", "../x"] {
            assert_eq!(path.parse::<RemoteFolder>(), Err(BadFolder), "{path:?}");
            let text = serde_json::json!({ "machine": "box", "folder": path });
            assert!(serde_json::from_value::<ProjectRef>(text).is_err(), "{path:?}");
        }
        assert!("/home/me/app".parse::<RemoteFolder>().is_ok() && "/".parse::<RemoteFolder>().is_ok());
        assert!(format!("/{}", "x".repeat(RemoteFolder::MOST_BYTES)).parse::<RemoteFolder>().is_err());
        let option = serde_json::json!({ "machine": "-oProxyCommand=x", "folder": "/app" });
        assert!(serde_json::from_value::<ProjectRef>(option).is_err());
    }

    #[test]
    fn a_folder_of_the_same_name_on_another_machine_is_another_project() {
        let [here, boxed, other] = ["/app".into(), there("box", "/app"), there("docker:web", "/app")];
        assert!(here != boxed && boxed != other);
        assert_eq!((here.here(), boxed.here()), (Some(Path::new("/app")), None));
        assert_eq!((here.to_string(), boxed.to_string()), ("/app".to_owned(), "box:/app".to_owned()));
        let inside = there("box", "/app/inside");
        assert!(inside.is_in(&boxed) && boxed.is_in(&boxed) && !boxed.is_in(&inside));
        assert!(!inside.is_in(&here) && !inside.is_in(&other) && !there("box", "/apple").is_in(&boxed));
        assert!(here.is_on_this_computer() && other.is_on_this_computer() && !boxed.is_on_this_computer());
        assert!(there("flatpak:host", "/app").is_on_this_computer());
        assert!(!there("kubectl:web", "/app").is_on_this_computer());
        let names = [&here, &inside, &there("box", "/")].map(ProjectRef::name);
        assert_eq!(names, ["app", "inside (box)", "/ (box)"]);
    }
}
