//! The projects that were opened earlier and the machines that were asked, in one small file.
//!
//! Windows, the app and `deskbell projects` may write at the same time: each change reads the file again and replaces
//! it while it holds the lock of a second file.

mod folder_check;
mod seen;

pub use folder_check::FolderProblem;
pub use seen::{FolderIdentity, SeenFolder};
use seen::{last_seen, usable_folders};

use crate::api::{ProjectRef, RemoteMachine, RemoteProject};
use crate::disk::write_atomically;
use crate::disk::{self, Loaded, SetAside, load_json};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of the file in bytes. An entry takes some 150.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of entries that are kept. Those that were used longest ago are dropped, pinned ones last.
pub(crate) const MOST_KEPT: usize = 200;

/// Maximum number of other machines that are kept. Those that were asked longest ago are dropped.
const MOST_MACHINES: usize = 50;

/// Maximum number of earlier folders of a project that are kept.
const MOST_EARLIER: usize = 16;

/// A project that was opened earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownProject {
    #[serde(rename = "path", deserialize_with = "KnownProject::read_project")]
    pub project: ProjectRef,
    #[serde(default)]
    pub last_used_at: u64,
    #[serde(default)]
    pub pinned: bool,
    /// Whether its new sessions run in the server, where that was chosen for the project; `None` follows the setting
    /// `keepRunning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_running: Option<bool>,
    /// The paths that its folder had before it was moved, the last one first. Sessions that began there are listed with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<PathBuf>,
}

/// The folder of a project, and those that it was earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFolders {
    pub now: PathBuf,
    pub earlier: Vec<PathBuf>,
}

impl From<PathBuf> for ProjectFolders {
    fn from(now: PathBuf) -> Self {
        Self { now, earlier: Vec::new() }
    }
}

impl From<&Path> for ProjectFolders {
    fn from(now: &Path) -> Self {
        now.to_owned().into()
    }
}

impl From<&PathBuf> for ProjectFolders {
    fn from(now: &PathBuf) -> Self {
        now.clone().into()
    }
}

impl KnownProject {
    /// A project that was not used yet, and for which nothing was chosen.
    pub fn new(project: impl Into<ProjectRef>) -> Self {
        Self {
            project: project.into(),
            last_used_at: 0,
            pinned: false,
            keep_running: None,
            earlier: Vec::new(),
        }
    }

    /// Reads the project of an entry in a file. An earlier version wrote one of another machine as a path with the name of
    /// the machine between two NULs.
    pub fn read_project<'de, D: Deserializer<'de>>(file: D) -> Result<ProjectRef, D::Error> {
        let project = ProjectRef::deserialize(file)?;
        let path = project.here().and_then(Path::to_str);
        let Some((machine, folder)) = path.and_then(|path| path.strip_prefix('\0')?.split_once('\0')) else {
            return Ok(project);
        };
        let machine = machine.parse().map_err(D::Error::custom)?;
        let folder = folder.parse().map_err(D::Error::custom)?;
        Ok(RemoteProject { machine, folder }.into())
    }

    /// The folder that the project is in, for display: the home folder is `~`.
    pub fn place(&self, home: Option<&Path>) -> String {
        let project = match &self.project {
            ProjectRef::Here(folder) => folder,
            ProjectRef::There(RemoteProject { machine, folder }) => {
                let place = Path::new(folder.as_str()).parent().unwrap_or(Path::new("/"));
                return format!("{machine}:{}", place.display());
            }
        };
        let place = project.parent().unwrap_or(project);
        match home.and_then(|home| place.strip_prefix(home).ok()) {
            Some(inside) if inside.as_os_str().is_empty() => "~".to_owned(),
            Some(inside) => Path::new("~").join(inside).display().to_string(),
            None => place.display().to_string(),
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    #[serde(deserialize_with = "usable_projects")]
    projects: Vec<KnownProject>,
    /// The times at which other machines answered last, with or without a project there.
    #[serde(default, deserialize_with = "usable_machines", skip_serializing_if = "BTreeMap::is_empty")]
    machines: BTreeMap<RemoteMachine, u64>,
    #[serde(default, deserialize_with = "usable_folders", skip_serializing_if = "Vec::is_empty")]
    seen: Vec<SeenFolder>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ListedProject {
    Known(KnownProject),
    /// Of an earlier version, on another machine, and with a name that no machine or no folder has.
    Unusable {
        path: String,
    },
}

fn usable_projects<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<KnownProject>, D::Error> {
    let usable = |listed| match listed {
        ListedProject::Known(known) => Some(known),
        ListedProject::Unusable { path } => {
            tracing::warn!(path, "a project that cannot be opened was listed");
            None
        }
    };
    Ok(Vec::deserialize(file)?.into_iter().filter_map(usable).collect())
}

fn usable_machines<'de, D: Deserializer<'de>>(file: D) -> Result<BTreeMap<RemoteMachine, u64>, D::Error> {
    let machines = BTreeMap::<String, u64>::deserialize(file)?;
    Ok(machines.into_iter().filter_map(|(name, at)| Some((name.parse().ok()?, at))).collect())
}

/// The list, and the file that was found in its place.
#[derive(Debug, Default)]
pub struct Projects {
    /// Pinned ones first, then the most recently used.
    pub known: Vec<KnownProject>,
    /// The other machines that the user asked, with or without a project there, and when they answered last.
    pub machines: BTreeMap<RemoteMachine, u64>,
    /// The folders in which agents started, the last one first.
    pub seen: Vec<SeenFolder>,
    pub set_aside: Option<SetAside>,
    /// There is no file yet.
    pub is_new: bool,
}

/// A change of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The project was opened at this time.
    Used {
        project: ProjectRef,
        at: u64,
    },
    /// The machine answered at this time.
    Asked {
        machine: RemoteMachine,
        at: u64,
    },
    Pin {
        project: ProjectRef,
        pinned: bool,
    },
    /// A choice of the project's own, or `None` to follow the setting. A project that is not in the list is added.
    KeepRunning {
        folder: PathBuf,
        keep: Option<bool>,
        at: u64,
    },
    /// The folder of a project is now another one. What was chosen for the project goes with it, except trust.
    Moved {
        from: PathBuf,
        to: PathBuf,
        at: u64,
    },
    /// An agent starts in this folder.
    Seen(SeenFolder),
    /// Also forgets the project's own choices.
    Remove {
        project: ProjectRef,
    },
    /// Removes all projects that are not pinned, all machines, and the identities of other folders.
    Clear,
}

/// The store of projects that were opened earlier. Its methods access the disk: call them through `disk::run`.
#[derive(Clone, Debug)]
pub struct ProjectStore {
    file: PathBuf,
}

impl ProjectStore {
    /// `data`: the app's own folder. Nothing is read yet.
    pub fn new(data: &Path) -> Self {
        Self { file: data.join("projects.json") }
    }

    /// The folder that the store depends on.
    pub fn place(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// Reads the list. An unreadable file is set aside.
    pub fn load(&self) -> Projects {
        match load_json::<Contents>(&self.file, MOST_BYTES) {
            Loaded::Missing => Projects { is_new: true, ..Projects::default() },
            Loaded::Unreadable(aside) => Projects { set_aside: Some(aside), ..Projects::default() },
            Loaded::Read(Contents { projects, machines, seen }) => Projects {
                known: in_order(projects),
                machines: most_recent(machines),
                seen: last_seen(seen),
                ..Projects::default()
            },
        }
    }

    /// Whether new sessions of this project keep running, if that was chosen for it.
    pub fn keep_running(&self, folder: &Path) -> Option<bool> {
        let projects = self.load();
        if let Some(aside) = &projects.set_aside {
            tracing::warn!(
                problem = aside.problem,
                "the list of projects was not readable: the settings count"
            );
        }
        projects.known.iter().find(|known| known.project.here() == Some(folder))?.keep_running
    }

    /// A project's folder, with those that it was earlier.
    pub fn folders(&self, folder: &Path) -> ProjectFolders {
        self.load().folders(folder)
    }

    /// Applies changes, and returns the new list.
    pub fn change(&self, changes: &[Change]) -> io::Result<Projects> {
        let _lock = disk::lock_writers(&self.file)?;
        let mut projects = self.load();
        if let Some(Err(problem)) = projects.set_aside.as_ref().map(|aside| &aside.moved_to) {
            return Err(io::Error::other(format!("{} cannot be replaced: {problem}", self.file.display())));
        }
        for change in changes {
            apply(&mut projects, change);
        }
        projects.known = in_order(projects.known);
        projects.machines = most_recent(projects.machines);
        projects.seen = last_seen(projects.seen);
        let contents =
            Contents { projects: projects.known, machines: projects.machines, seen: projects.seen };
        write_atomically(&self.file, &serde_json::to_vec_pretty(&contents)?)?;
        let Contents { projects: known, machines, seen } = contents;
        Ok(Projects { known, machines, seen, ..projects })
    }
}

impl Projects {
    /// A project's folder, with those that it was earlier. Reads the disk.
    pub fn folders(&self, folder: &Path) -> ProjectFolders {
        let known = self.known.iter().find(|known| known.project.here() == Some(folder));
        let mut earlier = known.map(|known| known.earlier.clone()).unwrap_or_default();
        earlier.extend(self.renamed_from(folder));
        ProjectFolders { now: folder.to_owned(), earlier }
    }

    /// The folder that was at this path when it was listed, if it was moved since and no other project is listed there.
    pub fn moved_to(&self, path: &Path) -> Option<&Path> {
        let is_listed = self.known.iter().any(|one| one.project.here() == Some(path));
        let now = self.known.iter().find(|one| one.earlier.iter().any(|one| one == path));
        now.filter(|_| !is_listed)?.project.here()
    }
}

fn apply(Projects { known, machines, seen, .. }: &mut Projects, change: &Change) {
    let at =
        |known: &[KnownProject], project: &ProjectRef| known.iter().position(|one| one.project == *project);
    let at_folder = |known: &[KnownProject], folder: &Path| {
        known.iter().position(|one| one.project.here() == Some(folder))
    };
    match change {
        Change::Used { project, at: time } => match at(known, project) {
            Some(nr) => known[nr].last_used_at = known[nr].last_used_at.max(*time),
            None => known.push(KnownProject { last_used_at: *time, ..KnownProject::new(project.clone()) }),
        },
        Change::KeepRunning { folder, keep, at: time } => match at_folder(known, folder) {
            Some(nr) => known[nr].keep_running = *keep,
            None if keep.is_none() => {}
            None => {
                let project = KnownProject::new(folder.clone());
                known.push(KnownProject { last_used_at: *time, keep_running: *keep, ..project });
            }
        },
        Change::Pin { project, pinned } => {
            if let Some(nr) = at(known, project) {
                known[nr].pinned = *pinned;
            }
        }
        Change::Moved { from, to, at: time } => {
            let before = at_folder(known, from).map(|nr| known.remove(nr));
            let before = before.unwrap_or_else(|| KnownProject::new(from.clone()));
            let nr = at_folder(known, to).unwrap_or_else(|| {
                known.push(KnownProject::new(to.clone()));
                known.len() - 1
            });
            let now = &mut known[nr];
            now.last_used_at = now.last_used_at.max(*time);
            now.pinned |= before.pinned;
            now.keep_running = now.keep_running.or(before.keep_running);
            // The names that the folder had before it was moved, if it was renamed.
            let identity = seen.iter().find(|one| one.path == *from).map(|one| one.identity);
            let same = seen.iter().filter(|one| Some(one.identity) == identity).map(|one| one.path.clone());
            let earlier = [from.clone()].into_iter().chain(before.earlier).chain(same);
            let earlier = earlier.chain(std::mem::take(&mut now.earlier));
            let mut once = std::collections::HashSet::from([to.clone()]);
            now.earlier = earlier.filter(|path| once.insert(path.clone())).take(MOST_EARLIER).collect();
        }
        Change::Seen(folder) => {
            seen.retain(|one| one.path != folder.path);
            seen.push(folder.clone());
        }
        Change::Remove { project } => {
            known.retain(|one| one.project != *project);
            seen.retain(|one| project.here() != Some(&one.path));
        }
        Change::Asked { machine, at: time } => {
            let used_at = machines.entry(machine.clone()).or_default();
            *used_at = (*used_at).max(*time);
        }
        Change::Clear => {
            known.retain(|one| one.pinned);
            machines.clear();
            seen.retain(|folder| known.iter().any(|one| one.project.here() == Some(&folder.path)));
        }
    }
}

/// At most [`MOST_MACHINES`], the most recently asked.
fn most_recent(machines: BTreeMap<RemoteMachine, u64>) -> BTreeMap<RemoteMachine, u64> {
    let mut machines: Vec<_> = machines.into_iter().collect();
    machines.sort_by_key(|(_, used_at)| std::cmp::Reverse(*used_at));
    machines.truncate(MOST_MACHINES);
    machines.into_iter().collect()
}

/// Pinned ones first, then the most recently used; each folder once, and at most [`MOST_KEPT`].
fn in_order(mut known: Vec<KnownProject>) -> Vec<KnownProject> {
    // A path from elsewhere that is not absolute would depend on the folder that the app was started in, and the file has
    // only Unicode.
    let is_kept = |folder: &Path| folder.is_absolute() && folder.to_str().is_some();
    known.retain(|one| one.project.here().is_none_or(is_kept));
    known.sort_by(|a, b| (b.pinned, b.last_used_at, &a.project).cmp(&(a.pinned, a.last_used_at, &b.project)));
    let mut seen = std::collections::HashSet::new();
    known.retain(|one| seen.insert(one.project.clone()));
    known.truncate(MOST_KEPT);
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traps::{Trap, all, in_time};
    use std::fs;

    fn used(path: &str, at: u64) -> Change {
        Change::Used { project: path.into(), at }
    }

    fn there(machine: &str, folder: &str) -> ProjectRef {
        RemoteProject { machine: machine.parse().unwrap(), folder: folder.parse().unwrap() }.into()
    }

    fn paths(projects: &Projects) -> Vec<String> {
        projects.known.iter().map(|one| one.project.to_string()).collect()
    }

    #[test]
    fn a_moved_project_keeps_what_was_chosen_for_it_and_knows_where_it_was() {
        let data = tempfile::tempdir().unwrap();
        let store = ProjectStore::new(data.path());
        let moved = |from: &str, to: &str, at| Change::Moved { from: from.into(), to: to.into(), at };
        let keep = Change::KeepRunning { folder: "/a".into(), keep: Some(true), at: 1 };
        let pin = Change::Pin { project: "/a".into(), pinned: true };
        store.change(&[used("/a", 1), keep, pin, used("/other", 5)]).unwrap();
        store.change(&[moved("/a", "/b", 2)]).unwrap();
        let projects = store.change(&[moved("/b", "/c", 3)]).unwrap();
        assert_eq!(paths(&projects), ["/c", "/other"]);
        let now = &projects.known[0];
        assert!(now.pinned && now.keep_running == Some(true) && now.last_used_at == 3, "{now:?}");
        assert_eq!(now.earlier, [Path::new("/b"), Path::new("/a")]);
        assert_eq!(
            store.folders(Path::new("/c")),
            ProjectFolders { now: "/c".into(), earlier: vec!["/b".into(), "/a".into()] }
        );
        assert_eq!(projects.moved_to(Path::new("/a")), Some(Path::new("/c")));
        assert_eq!(projects.moved_to(Path::new("/other")), None);
        // Another project at the old place has its own sessions; and back is the place that it was.
        let projects = store.change(&[used("/a", 6)]).unwrap();
        assert_eq!(projects.moved_to(Path::new("/a")), None);
        let projects = store.change(&[moved("/c", "/b", 7)]).unwrap();
        let now = projects.known.iter().find(|one| one.project == "/b".into()).unwrap();
        assert_eq!(now.earlier, [Path::new("/c"), Path::new("/a")]);
        // A folder that was never listed.
        let projects = store.change(&[moved("/no/such", "/d", 8)]).unwrap();
        assert_eq!(projects.moved_to(Path::new("/no/such")), Some(Path::new("/d")));
    }

    #[test]
    fn pinned_projects_come_first_and_then_the_most_recent() {
        let data = tempfile::tempdir().unwrap();
        let store = ProjectStore::new(data.path());
        assert!(store.load().is_new);
        store.change(&[used("/a", 1), used("/b", 2), used("/c", 3)]).unwrap();
        assert_eq!(paths(&store.load()), ["/c", "/b", "/a"]);
        store.change(&[Change::Pin { project: "/a".into(), pinned: true }]).unwrap();
        store.change(&[used("/b", 4), used("/c", 1)]).unwrap();
        assert_eq!(paths(&store.load()), ["/a", "/b", "/c"]);
        assert_eq!(store.load().known[2].last_used_at, 3, "a time does not go back");
        store.change(&[Change::Remove { project: "/b".into() }]).unwrap();
        assert_eq!(paths(&store.load()), ["/a", "/c"]);
        let left = store.change(&[Change::Clear]).unwrap();
        assert_eq!(paths(&left), ["/a"], "a pinned project stays");
        assert!(!store.load().is_new);
    }

    #[test]
    fn a_project_on_another_machine_is_listed_beside_the_folder_of_the_same_name_here() {
        let data = tempfile::tempdir().unwrap();
        let here = data.path().to_str().unwrap();
        let store = ProjectStore::new(data.path());
        let project = there("me@box", here);
        store.change(&[Change::Used { project: project.clone(), at: 1 }, used(here, 2)]).unwrap();
        let listed = store.load().known;
        assert_eq!(listed.iter().map(|one| &one.project).collect::<Vec<_>>(), [&here.into(), &project]);
        let text = fs::read_to_string(data.path().join("projects.json")).unwrap();
        assert!(text.contains(r#""machine": "me@box""#) && !text.contains("\\u0000"), "{text}");
        store.change(&[Change::Remove { project: here.into() }]).unwrap();
        assert_eq!(paths(&store.load()), [format!("me@box:{here}")]);
        let place = KnownProject::new(there("box", "/home/me/app")).place(Some(Path::new("/home/me")));
        assert_eq!(place, "box:/home/me");
    }

    #[test]
    fn a_list_of_an_earlier_version_keeps_its_projects() {
        let data = tempfile::tempdir().unwrap();
        let entry = |path: &str| serde_json::json!({ "path": path, "lastUsedAt": 7, "pinned": true });
        // Those of other machines; a folder that was opened outside of a sandbox could have any name.
        let far = ["\0me@box:22\0/home/me/app", "\0docker:web\0/a:b", "\0devcontainer:/app\0/app"];
        let odd = ["\0flatpak:host\0/a\nb", "\0-oProxyCommand=x\0/app", "\0box\0../x", "\0box"];
        let projects: Vec<_> = ["/here"].iter().chain(&far).chain(&odd).map(|path| entry(path)).collect();
        let text = serde_json::json!({ "projects": projects }).to_string();
        fs::write(data.path().join("projects.json"), text).unwrap();
        let store = ProjectStore::new(data.path());
        let read = store.load();
        let expected = ["/here".into(), there("devcontainer:/app", "/app"), there("docker:web", "/a:b")];
        let expected = expected.into_iter().chain([there("me@box:22", "/home/me/app")]);
        assert_eq!(read.set_aside, None);
        assert_eq!(
            read.known,
            expected
                .map(|project| KnownProject { last_used_at: 7, pinned: true, ..KnownProject::new(project) })
                .collect::<Vec<_>>()
        );
        store.change(&[used("/new", 1)]).unwrap();
        assert_eq!(store.load().known[..4], read.known);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_the_file_cannot_name_does_not_keep_others_from_it() {
        use std::os::unix::ffi::OsStrExt;
        let data = tempfile::tempdir().unwrap();
        let store = ProjectStore::new(data.path());
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/a\xff"));
        store.change(&[Change::Used { project: odd.into(), at: 1 }, used("/b", 2)]).unwrap();
        assert_eq!(paths(&store.load()), ["/b"]);
    }

    #[test]
    fn a_machine_that_was_asked_is_kept_without_a_project() {
        let data = tempfile::tempdir().unwrap();
        let store = ProjectStore::new(data.path());
        let asked = |machine: &str, at| Change::Asked { machine: machine.parse().unwrap(), at };
        let of = |machines: &[(&str, u64)]| {
            machines.iter().map(|(name, at)| (name.parse().unwrap(), *at)).collect::<BTreeMap<_, _>>()
        };
        store.change(&[used("/a", 1), asked("box", 5), asked("docker:web", 7), asked("box", 2)]).unwrap();
        let expected = of(&[("docker:web", 7), ("box", 5)]);
        assert_eq!(store.load().machines, expected, "a time does not go back");
        store.change(&[used("/b", 2), Change::Remove { project: "/a".into() }]).unwrap();
        assert_eq!((store.load().machines, paths(&store.load())), (expected, vec!["/b".to_owned()]));
        store.change(&(0..100).map(|n| asked(&n.to_string(), 10 + n)).collect::<Vec<_>>()).unwrap();
        let kept = store.load().machines;
        assert_eq!((kept.len(), kept.values().min()), (MOST_MACHINES, Some(&60)));
        assert_eq!(store.change(&[Change::Clear]).unwrap().machines, of(&[]));
        // Written by something else.
        let odd = r#"{"projects": [], "machines": {"": 1, "a\u0000b": 2, "x": 3}}"#;
        fs::write(data.path().join("projects.json"), odd).unwrap();
        assert_eq!(store.load().machines, of(&[("x", 3)]));
    }

    #[test]
    fn ten_thousand_entries_are_read_and_cut() {
        let data = tempfile::tempdir().unwrap();
        let store = ProjectStore::new(data.path());
        let projects = (0..10_000)
            .map(|n| KnownProject {
                last_used_at: n,
                pinned: n == 7,
                ..KnownProject::new(PathBuf::from(format!("/p/{n}")))
            })
            .chain([KnownProject { last_used_at: 1, pinned: true, ..KnownProject::new("relative") }]);
        let text = serde_json::to_vec(&Contents {
            projects: projects.collect(),
            machines: BTreeMap::new(),
            seen: Vec::new(),
        })
        .unwrap();
        fs::write(data.path().join("projects.json"), text).unwrap();
        let read = store.load();
        assert_eq!(read.known.len(), MOST_KEPT);
        assert_eq!(paths(&read)[..3], ["/p/7", "/p/9999", "/p/9998"]);
        store.change(&[used("/new", 20_000)]).unwrap();
        assert!(fs::metadata(data.path().join("projects.json")).unwrap().len() < 50_000);
        assert_eq!(paths(&store.load())[..2], ["/p/7", "/new"]);
    }

    #[test]
    fn whatever_is_in_place_of_the_file_or_its_lock_is_set_aside_and_the_change_is_made() {
        for name in ["projects.json", "projects.lock"] {
            for trap in all() {
                let data = tempfile::tempdir().unwrap();
                let path = data.path().join(name);
                trap.put_at(&path);
                let store = ProjectStore::new(data.path());
                let made = in_time(&format!("{name}, {trap:?}"), move || store.change(&[used("/a", 1)]));
                assert_eq!(paths(&made.unwrap()), ["/a"], "{name}, {trap:?}");
                // A large file and a dangling link can be locked as they are.
                if name == "projects.json" || !matches!(trap, Trap::Huge | Trap::DanglingLink) {
                    assert!(trap.is_at(&data.path().join(format!("{name}.unreadable"))), "{name}, {trap:?}");
                }
            }
        }
    }

    #[test]
    fn a_project_keeps_its_own_choice_until_it_follows_the_setting_again() {
        let data = tempfile::tempdir().unwrap();
        let store = ProjectStore::new(data.path());
        let choose = |path: &str, keep| {
            store.change(&[Change::KeepRunning { folder: path.into(), keep, at: 5 }]).unwrap();
        };
        let of = |path: &str| ProjectStore::new(data.path()).keep_running(Path::new(path));
        store.change(&[used("/a", 1), used("/b", 2)]).unwrap();
        choose("/a", Some(true));
        // One that was never opened is added.
        choose("/c", Some(false));
        choose("/never", None);
        assert_eq!(["/a", "/b", "/c", "/never"].map(of), [Some(true), None, Some(false), None]);
        // To open or pin a project changes nothing about it.
        store.change(&[used("/a", 9), Change::Pin { project: "/a".into(), pinned: true }]).unwrap();
        assert_eq!(of("/a"), Some(true));
        assert_eq!(paths(&store.load()), ["/a", "/c", "/b"]);
        choose("/a", None);
        assert_eq!((of("/a"), of("/c")), (None, Some(false)));
        store.change(&[Change::Remove { project: "/c".into() }, used("/c", 10)]).unwrap();
        assert_eq!(of("/c"), None);
        // A list of an earlier version has no choices.
        fs::write(data.path().join("projects.json"), r#"{"projects": [{"path": "/a"}]}"#).unwrap();
        assert_eq!((of("/a"), store.load().known.len()), (None, 1));
    }

    #[test]
    fn a_torn_file_is_kept_and_reported() {
        let data = tempfile::tempdir().unwrap();
        for text in ["", "{\"projects\": [{\"path\": \"/a\"", "[]", "{\"projects\": [{\"path\": 1}]}"] {
            fs::write(data.path().join("projects.json"), text).unwrap();
            let aside = ProjectStore::new(data.path()).load().set_aside.unwrap();
            assert_eq!(fs::read_to_string(aside.moved_to.unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn two_writers_at_once_lose_nothing() {
        let data = tempfile::tempdir().unwrap();
        let write = |name: &'static str| {
            let store = ProjectStore::new(data.path());
            std::thread::spawn(move || {
                for n in 0..40 {
                    store.change(&[used(&format!("/{name}/{n}"), n)]).unwrap();
                }
            })
        };
        for writer in [write("a"), write("b")] {
            writer.join().unwrap();
        }
        assert_eq!(ProjectStore::new(data.path()).load().known.len(), 80);
    }

    #[test]
    fn the_place_of_a_project_is_the_folder_that_it_is_in() {
        let home = Some(Path::new("/home/ada"));
        let place = |path: &str| KnownProject::new(path).place(home);
        assert_eq!(place("/home/ada/code/ledger"), "~/code");
        assert_eq!(place("/home/ada/ledger"), "~");
        assert_eq!(place("/home/adam/ledger"), "/home/adam");
        assert_eq!(place("/"), "/");
    }
}
