//! The files that the CLI reads for a folder: settings, servers, skills, agents and commands. Reading never waits and
//! never executes; links are followed and named.

pub(super) use crate::claude::trust::Role;
use crate::claude::trust::{instructions::imported, json, schedule};
use crate::disk::{ReadError, list, read_regular, read_start};
use std::fs;
use std::path::{Path, PathBuf};

/// A longer file is not read; the CLI skips a file of this length (2.1.329).
pub(crate) const MOST_BYTES_OF_SETTINGS: u64 = 4 * 1024 * 1024;

/// It has an entry for each folder in which the CLI ever worked.
const MOST_STATE_BYTES: u64 = 64 * 1024 * 1024;

/// A model reads no more than this as instructions.
const MOST_INSTRUCTIONS_BYTES: u64 = 256 * 1024;

/// Git's own small files.
const MOST_GIT_BYTES: u64 = 64 * 1024;

/// Maximum number of skills, agents and commands that are read. A folder with more of them cannot be trusted.
pub(super) const MOST_EXTENSIONS: usize = 2000;

/// Maximum depth of the search for agents and commands, in folders.
pub(super) const MOST_DEPTH: usize = 8;

/// A path at which the CLI looks for a file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub path: PathBuf,
    /// The path for display, relative to the project: `.claude/settings.json`, `../.mcp.json`.
    pub label: String,
    pub role: Role,
}

/// The contents of a place.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// A dangling link.
    LeadsNowhere {
        target: PathBuf,
    },
    /// An entry that cannot be judged, and the reason.
    Unreadable(String),
}

/// A file that exists.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub place: Place,
    /// Its real path, if a link leads there.
    pub link: Option<PathBuf>,
    pub content: Content,
}

/// Reads every file that the CLI would read for this folder. The folder's path must contain no links.
pub(super) fn read(project: &Path) -> Vec<Found> {
    let mut n_extensions = 0;
    let mut files = Vec::new();
    for place in places(project) {
        if !matches!(place.role, Role::Settings | Role::Servers | Role::Schedule) {
            n_extensions += 1;
            if n_extensions > MOST_EXTENSIONS {
                let reason = format!("there are more than {MOST_EXTENSIONS} skills, agents and commands");
                if n_extensions == MOST_EXTENSIONS + 1 {
                    files.push(Found { place, link: None, content: Content::Unreadable(reason) });
                }
                continue;
            }
        }
        files.extend(look(place));
    }
    files
}

/// The name of the settings that the folder shares with others.
const SHARED: &str = "settings.json";

/// The name of the settings of one user.
const LOCAL: &str = "settings.local.json";

/// The settings files of a folder: the shared one, and those of one user. The folder's path must contain no links.
pub(crate) fn settings_files(project: &Path) -> (PathBuf, Vec<PathBuf>) {
    let local = std::iter::once(settings(project, "", LOCAL)).chain(root_settings(project));
    (settings(project, "", SHARED).path, local.map(|place| place.path).collect())
}

/// The local settings of the repository's root; for a linked worktree also those of the main worktree.
fn root_settings(project: &Path) -> Vec<Place> {
    let mut roots = Vec::new();
    if let Some((n_up, root)) =
        project.ancestors().enumerate().find(|(_, folder)| is_there(&folder.join(".git")))
    {
        roots.push((root.to_owned(), "../".repeat(n_up)));
        if let Some(main) = main_worktree(root) {
            let label = format!("{}/", main.display());
            roots.push((main, label));
        }
    }
    // In the home folder the CLI has no such file to read (2.1.329).
    let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
    let others = roots.into_iter().filter(|(root, _)| root != project && Some(root) != home.as_ref());
    others.map(|(root, label)| settings(&root, &label, LOCAL)).collect()
}

fn settings(folder: &Path, label: &str, name: &str) -> Place {
    Place {
        path: folder.join(".claude").join(name),
        label: format!("{label}.claude/{name}"),
        role: Role::Settings,
    }
}

/// The folder's own three files, and the other files that apply to it.
fn places(project: &Path) -> Vec<Place> {
    let servers = |folder: &Path, label: &str| Place {
        path: folder.join(".mcp.json"),
        label: format!("{label}.mcp.json"),
        role: Role::Servers,
    };
    let mut places = vec![
        settings(project, "", SHARED),
        settings(project, "", LOCAL),
        Place { role: Role::Schedule, ..settings(project, "", "scheduled_tasks.json") },
        servers(project, ""),
    ];
    // 2.1.329 also starts the servers of every folder above, and reads the local settings of the repository's root; for
    // a linked worktree that is the root of the main worktree.
    for (n_up, folder) in project.ancestors().enumerate().skip(1) {
        places.push(servers(folder, &"../".repeat(n_up)));
    }
    for (n_up, folder) in extension_folders(project) {
        find_extensions(&mut places, &folder.join(".claude"), &format!("{}.claude", "../".repeat(n_up)));
    }
    places.extend(root_settings(project));
    places
}

/// The folders whose skills, agents and commands the CLI loads: the project and all folders above it, up to the root of
/// its repository (2.1.329 and 2.1.197). The nearest is first. The user's home is excluded, because its contents are
/// the user's own.
pub(super) fn extension_folders(project: &Path) -> Vec<(usize, &Path)> {
    let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
    let mut folders = Vec::new();
    for (n_up, folder) in project.ancestors().enumerate() {
        if Some(folder) == home.as_deref() {
            break;
        }
        folders.push((n_up, folder));
        if is_there(&folder.join(".git")) {
            break;
        }
    }
    folders
}

/// The names of a folder's files of instructions.
const INSTRUCTIONS: [&str; 3] = ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];

/// The files of instructions that the CLI loads of a folder at the start, without those that only its subfolders have.
pub(super) fn instructions(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = INSTRUCTIONS.map(|name| folder.join(name)).into();
    paths.retain(|path| is_there(path));
    let mut rules: Vec<PathBuf> =
        documents(&rules_folder(folder)).into_iter().map(|(path, _)| path).collect();
    rules.sort();
    paths.append(&mut rules);
    paths
}

pub(super) fn rules_folder(folder: &Path) -> PathBuf {
    folder.join(".claude/rules")
}

/// The first `limit` paths that a file of instructions could import; none if it cannot be read.
pub(super) fn imported_paths(path: &Path, limit: usize) -> Vec<String> {
    let bytes = read_start(path, MOST_BYTES_OF_SETTINGS).unwrap_or_default();
    imported(&json::decode(&bytes).text).take(limit).collect()
}

/// The manifest of a plugin, in the plugin's folder.
const PLUGIN_MANIFEST: &str = ".claude-plugin/plugin.json";

/// Adds the skills, agents, commands and left-out parts of one `.claude`, in the order of their paths.
fn find_extensions(places: &mut Vec<Place>, folder: &Path, label: &str) {
    let mut found = Vec::new();
    for entry in entries(&folder.join("skills")) {
        let path = entry.join("SKILL.md");
        if let (true, Some(name)) = (is_there(&path), name_of(&entry)) {
            let label = format!("{label}/skills/{name}/SKILL.md");
            found.push(Place { path, label, role: Role::Skill { name } });
        }
        let path = entry.join(PLUGIN_MANIFEST);
        if let (true, Some(name)) = (is_there(&path), name_of(&entry)) {
            let label = format!("{label}/skills/{name}/{PLUGIN_MANIFEST}");
            let what = "A plugin in the folder of a skill: its hooks, its servers and all its other parts";
            found.push(Place { path, label, role: Role::NotLoaded { what } });
        }
    }
    for (path, name) in documents(&folder.join("agents")) {
        let label = format!("{label}/agents/{name}.md");
        found.push(Place { path, label, role: Role::Agent });
    }
    for (path, name) in documents(&folder.join("commands")) {
        let label = format!("{label}/commands/{name}.md");
        // A `SKILL.md` has the name of its folder (2.1.197 and 2.1.332).
        let name = match name.rsplit_once('/') {
            Some((folder, file)) if file.eq_ignore_ascii_case("skill") => folder,
            _ => &name,
        };
        found.push(Place { path, label, role: Role::Command { name: name.replace('/', ":") } });
    }
    for (path, name) in documents(&folder.join("output-styles")) {
        let label = format!("{label}/output-styles/{name}.md");
        found.push(Place { path, label, role: Role::NotLoaded { what: "An output style" } });
    }
    for path in entries(&folder.join("workflows")) {
        let Some(name) = name_of(&path) else { continue };
        let label = format!("{label}/workflows/{name}");
        found.push(Place { path, label, role: Role::NotLoaded { what: "A workflow" } });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    places.append(&mut found);
}

/// The Markdown files in a folder and below it, each with its name relative to the folder, without the extension.
fn documents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new(), 0)];
    let mut n_folders = 0;
    while let Some((folder, prefix, depth)) = folders.pop() {
        // Links may form cycles.
        n_folders += 1;
        if n_folders > MOST_EXTENSIONS {
            break;
        }
        for path in entries(&folder) {
            let Some(name) = name_of(&path) else { continue };
            if path.is_dir() {
                if depth < MOST_DEPTH {
                    folders.push((path, format!("{prefix}{name}/"), depth + 1));
                }
            } else if let Some(name) = name.strip_suffix(".md") {
                found.push((path, format!("{prefix}{name}")));
            }
        }
        if found.len() > MOST_EXTENSIONS {
            break;
        }
    }
    found
}

/// The entries of a folder, at most one more than the limit. Empty if it is no folder or cannot be read: the CLI, which
/// runs as the same user, then finds nothing either.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    list(folder, MOST_EXTENSIONS + 1).map(|listing| listing.paths).unwrap_or_default()
}

pub(super) fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The main worktree of a linked worktree.
fn main_worktree(worktree: &Path) -> Option<PathBuf> {
    let text = |path: &Path| {
        let bytes = read_regular(path, MOST_GIT_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    };
    let own = worktree.join(text(&worktree.join(".git"))?.strip_prefix("gitdir: ")?);
    let common = dunce::canonicalize(own.join(text(&own.join("commondir"))?)).ok()?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

/// Reads one place; `None` if it has no file.
fn look(place: Place) -> Option<Found> {
    if let Role::NotLoaded { .. } = place.role {
        // Its contents have no effect.
        let link = dunce::canonicalize(&place.path).ok().filter(|real| *real != place.path);
        return Some(Found { place, link, content: Content::Bytes(Vec::new()) });
    }
    let (link, mut content) = look_at(&place.path)?;
    if let (Role::Schedule, Content::Bytes(bytes)) = (&place.role, &mut content) {
        *bytes = schedule::without_notes(std::mem::take(bytes));
    }
    Some(Found { place, link, content })
}

/// The real path of a file that is reached through a link, and its contents; `None` if there is no file.
pub(super) fn look_at(path: &Path) -> Option<(Option<PathBuf>, Content)> {
    let real = dunce::canonicalize(path);
    let link = real.as_ref().ok().filter(|real| **real != path).cloned();
    let content = match read_regular(path, MOST_BYTES_OF_SETTINGS) {
        Ok(bytes) => Content::Bytes(bytes),
        Err(ReadError::Missing | ReadError::DanglingLink { .. }) => {
            Content::LeadsNowhere { target: dead_link(path)? }
        }
        Err(error) => Content::Unreadable(error.to_string()),
    };
    Some((link, content))
}

/// The target of a dangling link at the file or at its folder.
fn dead_link(path: &Path) -> Option<PathBuf> {
    let links = [Some(path), path.parent()].into_iter().flatten().filter(|path| path.is_symlink());
    links.filter(|link| link.canonicalize().is_err()).find_map(|link| fs::read_link(link).ok())
}

/// The CLI's own file with its state of each folder; `None` if it cannot be read.
pub(super) fn read_state(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, MOST_STATE_BYTES).ok()
}

/// Instructions for the model; `None` if there are none that can be read.
pub(super) fn read_instructions(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, MOST_INSTRUCTIONS_BYTES).ok()
}
