//! Snapshots: private copies of a trusted folder's settings, which its agents load instead of the folder's own files.
//!
//! The CLI reads a folder's settings again while it runs: a hook that appears in them runs at the next prompt, and a
//! new API address gets the key with the next request (2.1.329 and 2.1.197). So a trusted folder's agent is started
//! with `--setting-sources=user` and with this copy, made of exactly the bytes that the user agreed to.
//! docs/design/trust.md has the measurements and the alternatives that were tried.

mod plugin;

use super::files::{self, Content, Found, Role};
use crate::claude::other_sessions;
use crate::claude::trust::snapshot::{servers, settings};
use crate::claude::trust::{instructions::rule_for_all_files, json};
use crate::disk::write_atomically;
use crate::disk::{ReadError, list, read_regular, read_text};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// If all subagents together are longer than this, they are loaded as part of a plugin, because the length of an
/// argument is limited: 128 KiB on Linux, 32 KiB for all of them on Windows.
const MOST_AGENTS: usize = if cfg!(windows) { 12 * 1024 } else { 96 * 1024 };

/// A copy that no decision names is removed after this time. Agents that were started with it have ended by then.
const KEEP: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Without this variable the CLI loads no `CLAUDE.md` of a folder that `--add-dir` names.
const LOAD_INSTRUCTIONS: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// The arguments of an agent that loads a copy. An agent that does not know them exits at once.
pub(crate) const FLAGS: [&str; 6] =
    ["--setting-sources", "--settings", "--mcp-config", "--add-dir", "--plugin-dir", "--agents"];

/// A copy on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    settings: PathBuf,
    /// The same for a session that receives messages of others.
    receiving_settings: PathBuf,
    /// The folder's servers, and those that the user added for this folder alone.
    servers: Vec<PathBuf>,
    /// Folders whose `CLAUDE.md` is loaded.
    instructions: Vec<PathBuf>,
    /// Skills and slash commands.
    plugin: Option<PathBuf>,
    /// Subagents, as JSON.
    agents: Option<String>,
    /// The deny rules, if the copy has settings that the user named. With an invalid value in one of them the CLI
    /// ignores the whole file (2.1.197 and 2.1.332).
    denied: Vec<String>,
}

impl Snapshot {
    /// `receives`: messages of other sessions.
    pub fn args(&self, receives: bool) -> Vec<OsString> {
        let joined = |flag: &str, value: &Path| {
            let mut argument = OsString::from(flag);
            argument.push("=");
            argument.push(value);
            argument
        };
        let settings = if receives { &self.receiving_settings } else { &self.settings };
        let mut args = vec!["--setting-sources=user".into(), joined("--settings", settings)];
        args.extend(self.servers.iter().map(|path| joined("--mcp-config", path)));
        args.extend(self.instructions.iter().map(|path| joined("--add-dir", path)));
        args.extend(self.plugin.iter().map(|path| joined("--plugin-dir", path)));
        args.extend(self.agents.iter().map(|json| OsString::from(format!("--agents={json}"))));
        args.extend(self.denied.iter().map(|rule| OsString::from(format!("--disallowedTools={rule}"))));
        args
    }

    pub fn env(&self) -> [(OsString, OsString); 1] {
        [(LOAD_INSTRUCTIONS.into(), "1".into())]
    }
}

/// Identifies a copy by its source files and by the settings that the user trusted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyKey<'a> {
    pub fingerprint: &'a str,
    pub named: &'a BTreeSet<String>,
}

impl CopyKey<'_> {
    fn folder_name(&self) -> Cow<'_, str> {
        if self.named.is_empty() {
            return self.fingerprint.into();
        }
        super::fingerprint::of_text(&format!("{} {:?}", self.fingerprint, self.named)).into()
    }
}

/// The settings with unknown effects in these files.
pub(super) fn unknown_settings(files: &[Found]) -> BTreeSet<String> {
    settings::unknown(objects(files, &Role::Settings))
}

/// All copies of one project, in a folder that only the user can read.
pub(super) struct Snapshots {
    folder: PathBuf,
}

impl Snapshots {
    pub fn of(folder: &Path, project: &Path) -> Self {
        Self { folder: folder.join(super::fingerprint::of_path(project)) }
    }

    pub fn has(&self, key: &CopyKey<'_>) -> bool {
        self.copy(key).join(SETTINGS).is_file()
    }

    fn copy(&self, key: &CopyKey<'_>) -> PathBuf {
        self.folder.join(&*key.folder_name())
    }

    /// Writes the copy of these files, completely or not at all. An existing copy stays, because agents may read it.
    pub fn write(&self, project: &Path, files: &[Found], key: &CopyKey<'_>) -> io::Result<()> {
        if self.has(key) {
            return Ok(());
        }
        make_private(&self.folder)?;
        self.remove_old(key.fingerprint)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let unfinished = builder.prefix(".new").tempdir_in(&self.folder)?;
        fill(unfinished.path(), project, files, key.named)?;
        let path = unfinished.keep();
        let renamed = fs::rename(&path, self.copy(key));
        if renamed.is_err() {
            fs::remove_dir_all(&path)?;
        }
        // Another session of the folder may have written the same copy.
        if self.has(key) { Ok(()) } else { renamed }
    }

    /// Opens a copy for an agent that is about to start. The user's own servers and the instructions are included in
    /// their current state, because they need no trust.
    pub fn open(&self, project: &Path, key: &CopyKey<'_>) -> io::Result<Snapshot> {
        let copy = self.copy(key);
        let mut servers = vec![copy.join(SERVERS)];
        servers.extend(self.own_servers(project)?);
        let mut instructions = vec![project.to_owned()];
        instructions.extend(self.instructions(project)?);
        let agents = match read_text(&copy.join(AGENTS), MOST_BYTES) {
            Ok(agents) => Some(agents),
            Err(ReadError::Missing) => None,
            Err(error) => return Err(error.into()),
        };
        let plugin = Some(copy.join(PLUGIN)).filter(|plugin| plugin.is_dir());
        let settings = start_settings(&copy, START, other_sessions::refuse_messages)?;
        let receiving_settings = start_settings(&copy, RECEIVING, other_sessions::receive_messages)?;
        let denied =
            if key.named.is_empty() { Vec::new() } else { settings::denied(&copied_settings(&copy)?) };
        Ok(Snapshot { settings, receiving_settings, servers, instructions, plugin, agents, denied })
    }

    /// The servers that the user added for this folder alone (`claude mcp add`). The CLI leaves them out together with
    /// the folder's own (2.1.329 and 2.1.197).
    fn own_servers(&self, project: &Path) -> io::Result<Option<PathBuf>> {
        let servers = servers_of_user(project);
        let path = self.folder.join("own-servers.json");
        if servers.is_empty() && !path.exists() {
            return Ok(None);
        }
        write_changed(&path, &servers::document(servers))?;
        Ok(Some(path))
    }

    /// The instructions that `--add-dir` of the project does not load: `CLAUDE.local.md`, and those of the folders
    /// above. Of their rules, those that count for all files.
    fn instructions(&self, project: &Path) -> io::Result<Option<PathBuf>> {
        let mut text = String::new();
        let local = project.join("CLAUDE.local.md");
        if local.is_file() {
            // Imported, so that its own imports are loaded as well.
            text.push_str(&format!("@{}\n", local.display()));
        }
        for (_, folder) in files::extension_folders(project).into_iter().skip(1) {
            for path in files::instructions(folder) {
                let Some(bytes) = files::read_instructions(&path) else { continue };
                let whole = json::decode(&bytes).text;
                let is_rule = path.starts_with(files::rules_folder(folder));
                let counts = if is_rule { rule_for_all_files(&whole) } else { Some(&*whole) };
                if let Some(counts) = counts {
                    text.push_str(&format!("\nContents of {}:\n\n{counts}\n", path.display()));
                }
            }
        }
        let folder = self.folder.join("instructions");
        let path = folder.join("CLAUDE.md");
        if text.is_empty() && !path.exists() {
            return Ok(None);
        }
        make_private(&folder)?;
        write_changed(&path, text.as_bytes())?;
        Ok(Some(folder))
    }

    fn remove_old(&self, fingerprint: &str) -> io::Result<()> {
        for path in list(&self.folder, MOST_COPIES)?.paths {
            let name = path.file_name().unwrap_or_default();
            let is_copy = name.len() == fingerprint.len() || name.to_string_lossy().starts_with(".new");
            let changed_at = fs::symlink_metadata(&path)?.modified()?;
            let age = SystemTime::now().duration_since(changed_at).unwrap_or_default();
            if is_copy && age > KEEP {
                fs::remove_dir_all(path)?;
            }
        }
        Ok(())
    }
}

/// A file of a copy is made from files of at most 4 MiB each; a larger one is not ours.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Copies that are looked at when old ones are removed; the rest waits for the next time.
const MOST_COPIES: usize = 10_000;
const SETTINGS: &str = "settings.json";
/// The settings of the folder, with what Deskbell decides for each agent.
const START: &str = "start.json";
/// The same for a session that receives messages of others.
const RECEIVING: &str = "receiving.json";
const SERVERS: &str = "servers.json";
const AGENTS: &str = "agents.json";
const PLUGIN: &str = "plugin";

/// Writes all parts of a copy.
fn fill(folder: &Path, project: &Path, files: &[Found], named: &BTreeSet<String>) -> io::Result<()> {
    let settings = settings::merged(project, objects(files, &Role::Settings), named);
    let turned_off = settings::turned_off_servers(&settings);
    let servers = servers::of_folder(objects(files, &Role::Servers).map(|(_, object)| object), &turned_off);
    write_new(&folder.join(SERVERS), &servers::document(servers))?;
    let agents = plugin::agents(files);
    let json = Value::Object(agents).to_string();
    let is_long = json.len() > MOST_AGENTS;
    plugin::write(&folder.join(PLUGIN), files, is_long)?;
    if json != "{}" && !is_long {
        write_new(&folder.join(AGENTS), json.as_bytes())?;
    }
    // Written last, because its presence marks the copy as complete.
    write_new(&folder.join(SETTINGS), Value::Object(settings).to_string().as_bytes())
}

/// The settings of the folder in its copy.
fn copied_settings(copy: &Path) -> io::Result<Map<String, Value>> {
    let text = read_text(&copy.join(SETTINGS), MOST_BYTES)?;
    Ok(serde_json::from_str(&text)?)
}

/// Writes the settings that an agent is started with. They are made from the copy at each start, because a copy can be
/// of an earlier version of Deskbell, and a folder must not decide about messages of other sessions.
fn start_settings(
    copy: &Path,
    name: &str,
    decide_messages: fn(&mut Map<String, Value>),
) -> io::Result<PathBuf> {
    let mut settings = copied_settings(copy)?;
    decide_messages(&mut settings);
    let path = copy.join(name);
    write_changed(&path, Value::Object(settings).to_string().as_bytes())?;
    Ok(path)
}

/// The objects in the files of one role, with their paths. Files that are not JSON objects are skipped; the CLI skips
/// them as well.
fn objects<'a>(files: &'a [Found], role: &'a Role) -> impl Iterator<Item = (&'a Path, Map<String, Value>)> {
    let of_role = files.iter().filter(move |file| file.place.role == *role);
    of_role.filter_map(|file| match serde_json::from_str(&text(file)?) {
        Ok(Value::Object(object)) => Some((file.place.path.as_path(), object)),
        _ => None,
    })
}

fn text(file: &Found) -> Option<Cow<'_, str>> {
    match &file.content {
        Content::Bytes(bytes) => Some(json::decode(bytes).text),
        _ => None,
    }
}

/// The servers that the user added for this folder alone. They are in the CLI's own file, under the folder or the root
/// of its repository.
fn servers_of_user(project: &Path) -> Map<String, Value> {
    let state = state_file().and_then(|path| files::read_state(&path)).unwrap_or_default();
    let mut folders = files::extension_folders(project).into_iter().map(|(_, folder)| folder);
    let root = folders.next_back().filter(|root| *root != project);
    servers::of_user(&state, [Some(project), root].into_iter().flatten())
}

fn state_file() -> Option<PathBuf> {
    let folder = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    Some(folder.or_else(dirs::home_dir)?.join(".claude.json"))
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_private(folder)?;
    }
    write_atomically(path, bytes)
}

/// Writes a file only if its contents differ: the CLI watches the files that it was started with.
fn write_changed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match read_regular(path, MOST_BYTES) {
        Ok(before) if before == bytes => Ok(()),
        _ => write_atomically(path, bytes),
    }
}

#[cfg(test)]
mod tests;
