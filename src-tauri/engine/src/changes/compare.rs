//! The comparison of a project's files with an earlier state.

use super::content::{Content, Finder, Work, shown, texts};
use super::git::{Git, GitError};
use super::listing::{self, Blob, GitPath, IndexEntry, SUBMODULE};
use super::snapshot::Earlier;
use crate::api::{FileChange, FileContent, FileState};
use crate::disk;
use crate::document::count_changes;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

/// Maximum size of a file whose lines are compared.
pub(super) const MOST_TEXT: u64 = 2 * 1024 * 1024;
/// Maximum size of a file that is compared byte by byte.
pub(super) const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum bytes that are read of all files, and again of git's objects.
const MOST_READ: u64 = 96 * 1024 * 1024;
/// Bytes of objects that one question to git asks for.
const CHUNK: u64 = 16 * 1024 * 1024;
/// Maximum number of files whose content is compared.
const MOST_COMPARED: usize = 20_000;
/// Maximum number of submodules whose commit is read.
const MOST_SUBMODULES: usize = 50;
/// Time limit for reading files, of one step.
const DEADLINE: Duration = Duration::from_secs(20);

/// Attributes that change what git compares.
const ATTRIBUTES: [&str; 6] = ["filter", "text", "eol", "ident", "working-tree-encoding", "diff"];

/// Everything that is compared.
pub(super) struct States {
    pub old: BTreeMap<GitPath, Earlier>,
    pub index: BTreeMap<GitPath, IndexEntry>,
    pub untracked: Vec<GitPath>,
    pub rules: Rules,
}

/// Settings of the repository that decide what a change is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// When git last wrote the index: a file that changed in the same moment is compared by its content.
    pub index_written: (u64, u32),
    pub compares_executable: bool,
    /// Line ends of text files are converted at checkout.
    pub converts_line_ends: bool,
}

pub(super) struct Compared {
    pub files: Vec<FileChange>,
    pub n_not_compared: usize,
}

/// Compares all files. What git's index says is unchanged is not read.
pub(super) async fn compare(git: &Git<'_>, project: &Path, states: States) -> Result<Compared, GitError> {
    let rules = states.rules;
    let root = project.to_owned();
    let mut tasks = on_disk(project, move || tasks(&root, states)).await?;
    // Files that are likely the same are read last, if there is room.
    tasks.sort_by(|a, b| (a.is_likely_same, &a.path).cmp(&(b.is_likely_same, &b.path)));
    let mut n_not_compared = tasks.len().saturating_sub(MOST_COMPARED);
    tasks.truncate(MOST_COMPARED);
    let attributes =
        attributes(git, tasks.iter().filter(|t| t.old.is_some()).map(|t| &t.path), rules).await?;
    let sizes = sizes(git, tasks.iter().filter_map(|task| task.old_blob())).await?;

    let mut found = Vec::new();
    let mut room = MOST_READ;
    let mut n_submodules = 0;
    let mut rest = tasks.into_iter().peekable();
    while rest.peek().is_some() {
        let (mut chunk, mut wanted, mut n_bytes) = (Vec::new(), Vec::new(), 0);
        while n_bytes < CHUNK
            && let Some(mut task) = rest.next()
        {
            task.attributes = attributes.get(&task.path).copied().unwrap_or_default();
            if task.is_submodule() && task.work == Work::Folder && n_submodules < MOST_SUBMODULES {
                n_submodules += 1;
                task.submodule = submodule(git, project, &task.path).await;
            }
            let blob = task.old_blob().cloned();
            task.old_size = blob.as_ref().and_then(|blob| sizes.get(&blob.id).copied());
            let size = task.bytes_to_read();
            if size <= room {
                room -= size;
                n_bytes += size;
                task.may_read = true;
                wanted.extend(blob.filter(|_| task.old_size.is_some_and(|size| size <= task.limit())));
            }
            chunk.push(task);
        }
        let objects = contents(git, &wanted).await?;
        let root = project.to_owned();
        let deciding = on_disk(project, move || {
            let mut finder = Finder::new(&root);
            chunk.iter().map(|task| task.decide(&mut finder, &objects, rules)).collect::<Vec<_>>()
        });
        for decided in deciding.await? {
            match decided {
                Decided::Changed(change) => found.push(change),
                Decided::Same => {}
                Decided::NotCompared => n_not_compared += 1,
            }
        }
    }
    Ok(Compared { files: with_renames(found), n_not_compared })
}

/// A file that has to be looked at.
#[derive(Clone, Debug)]
struct Task {
    path: GitPath,
    old: Option<Earlier>,
    work: Work,
    is_untracked: bool,
    is_conflicted: bool,
    /// Same size and time as git saw.
    is_likely_same: bool,
    attributes: Attributes,
    old_size: Option<u64>,
    may_read: bool,
    /// The commit that is checked out in a submodule.
    submodule: Option<String>,
}

enum Decided {
    Changed(Changed),
    Same,
    NotCompared,
}

struct Changed {
    change: FileChange,
    /// Of the content of a file that is new or gone, to find renames.
    hash: Option<[u8; 32]>,
}

/// The files that may differ.
fn tasks(root: &Path, states: States) -> Vec<Task> {
    let States { mut old, index, untracked, rules } = states;
    let mut finder = Finder::new(root);
    let mut found = Vec::new();
    let mut add = |path: GitPath, old: Option<Earlier>, entry: Option<&IndexEntry>, is_untracked: bool| {
        let work = finder.find(path.strip_suffix(b"/").unwrap_or(&path));
        if entry.is_some_and(|entry| entry.is_skipped) && work == Work::Missing {
            return;
        }
        let is_conflicted = entry.is_some_and(|entry| entry.blob.is_none());
        let same = same(&work, old.as_ref(), entry, rules);
        if same == Same::Surely && !is_conflicted {
            return;
        }
        found.push(Task {
            path,
            old,
            work,
            is_untracked,
            is_conflicted,
            is_likely_same: same == Same::Likely,
            attributes: Attributes::default(),
            old_size: None,
            may_read: false,
            submodule: None,
        });
    };
    for (path, entry) in &index {
        add(path.clone(), old.remove(path), Some(entry), false);
    }
    for path in untracked {
        let old = old.remove(&path);
        add(path, old, None, true);
    }
    for (path, earlier) in old {
        add(path, Some(earlier), None, false);
    }
    found
}

#[derive(PartialEq, Eq)]
enum Same {
    Surely,
    Likely,
    Unknown,
}

/// Whether a file is the same as before, from what git saw of it.
fn same(work: &Work, old: Option<&Earlier>, entry: Option<&IndexEntry>, rules: Rules) -> Same {
    let Some(IndexEntry { blob: Some(in_index), seen: Some(saw), .. }) = entry else { return Same::Unknown };
    let Work::File { seen, .. } = work else { return Same::Unknown };
    let is_same_blob = matches!(old, Some(Earlier::Blob(blob)) if blob.id == in_index.id);
    let mode = work.mode().filter(|_| rules.compares_executable).unwrap_or(in_index.mode);
    let is_same_mode =
        matches!(old, Some(Earlier::Blob(blob)) if blob.mode == in_index.mode && blob.mode == mode);
    if !is_same_blob || !is_same_mode || seen.size != saw.size || !is_same_time(seen.modified, saw.modified) {
        return Same::Unknown;
    }
    let is_same_file =
        cfg!(not(unix)) || (is_same_time(seen.changed, saw.changed) && seen.inode == saw.inode);
    if is_same_file && saw.modified < rules.index_written { Same::Surely } else { Same::Likely }
}

/// Git may have been built to keep whole seconds.
fn is_same_time(now: (u64, u32), saw: (u64, u32)) -> bool {
    now.0 == saw.0 && (saw.1 == 0 || now.1 == saw.1)
}

impl Task {
    fn old_blob(&self) -> Option<&Blob> {
        match &self.old {
            Some(Earlier::Blob(blob)) if blob.mode != SUBMODULE => Some(blob),
            _ => None,
        }
    }

    fn is_submodule(&self) -> bool {
        matches!(&self.old, Some(Earlier::Blob(blob)) if blob.mode == SUBMODULE)
    }

    fn size(&self) -> u64 {
        if let Work::File { size, .. } = self.work { size } else { 0 }
    }

    /// Whether a different size is a change.
    fn differs_in_size(&self) -> bool {
        !self.attributes.converts_line_ends
            && matches!(self.work, Work::File { .. })
            && self.old_size.is_some_and(|size| size != self.size())
    }

    /// Up to this size the content is read: more of it only to learn whether it changed.
    fn limit(&self) -> u64 {
        if self.old.is_some() && !self.differs_in_size() { MOST_BYTES } else { MOST_TEXT }
    }

    fn bytes_to_read(&self) -> u64 {
        let limit = self.limit();
        let counted = |size: u64| if size <= limit { size } else { 0 };
        counted(self.size()) + counted(self.old_size.unwrap_or(0))
    }

    fn decide(&self, finder: &mut Finder<'_>, objects: &HashMap<String, Vec<u8>>, rules: Rules) -> Decided {
        let new_state = if self.is_untracked { FileState::Untracked } else { FileState::Added };
        match (&self.old, &self.work) {
            (None, Work::Missing | Work::Special) => Decided::Same,
            (None, Work::Folder) => self.changed(new_state, FileContent::Repository),
            (None, Work::File { .. } | Work::Link) => self.one_side(new_state, self.now(finder)),
            (Some(_), Work::Special) => self.changed(FileState::Modified, FileContent::Special),
            (Some(_), Work::Folder) if self.is_submodule() => {
                let before = self.old.as_ref().and_then(Earlier::id);
                match &self.submodule {
                    Some(now) if Some(now.as_str()) != before => {
                        self.changed(FileState::Modified, FileContent::Repository)
                    }
                    _ => Decided::Same,
                }
            }
            (Some(_), Work::Missing | Work::Folder) if self.is_submodule() => {
                self.changed(FileState::Deleted, FileContent::Repository)
            }
            (Some(old), Work::Missing | Work::Folder) => {
                self.one_side(FileState::Deleted, old.content(objects).map(Content::Bytes))
            }
            (Some(old), Work::File { .. } | Work::Link) => self.both(old, finder, objects, rules),
        }
    }

    fn now(&self, finder: &mut Finder<'_>) -> Option<Content> {
        self.may_read.then(|| finder.read(&self.path, &self.work, self.limit()))
    }

    /// A file that is new or gone.
    fn one_side(&self, state: FileState, content: Option<Content>) -> Decided {
        let is_link = self.work == Work::Link || self.old.as_ref().is_some_and(Earlier::is_link);
        let bytes = match content {
            Some(Content::Bytes(bytes)) => bytes,
            Some(Content::Unreadable) => return self.changed(state, FileContent::Unknown),
            Some(Content::Large) | None if self.size().max(self.old_size.unwrap_or(0)) > MOST_TEXT => {
                return self.changed(state, FileContent::Large);
            }
            Some(Content::Large) | None => return self.changed(state, FileContent::Text),
        };
        let mut changed = self.change(state, if is_link { FileContent::Link } else { FileContent::Text });
        match texts(&bytes, b"").filter(|_| !self.attributes.is_binary) {
            Some((text, _)) => {
                let n_lines = u32::try_from(text.split_inclusive('\n').count()).unwrap_or(u32::MAX);
                let (added, removed) = if state == FileState::Deleted { (0, n_lines) } else { (n_lines, 0) };
                (changed.added, changed.removed) = (Some(added), Some(removed));
            }
            None => changed.content = FileContent::Binary,
        }
        let hash = (!bytes.is_empty()).then(|| Sha256::digest(&bytes).into());
        Decided::Changed(Changed { change: changed, hash })
    }

    /// A file that was there and is there.
    fn both(
        &self,
        old: &Earlier,
        finder: &mut Finder<'_>,
        objects: &HashMap<String, Vec<u8>>,
        rules: Rules,
    ) -> Decided {
        if self.attributes.is_converted {
            return match self.is_likely_same {
                true => Decided::Same,
                false => self.changed(FileState::Modified, FileContent::Converted),
            };
        }
        let is_link = self.work == Work::Link;
        let has_other_kind = is_link != old.is_link();
        let has_other_mode = rules.compares_executable && self.work.mode() != Some(old.mode());
        let (before, now) = match (old.content(objects), self.now(finder)) {
            (Some(before), Some(Content::Bytes(now))) => {
                let now = self.attributes.normalize(now, &before);
                (before, now)
            }
            (_, Some(Content::Unreadable)) => return self.changed(FileState::Modified, FileContent::Unknown),
            (_, now) => return self.without_content(old, now),
        };
        if before == now && !has_other_kind {
            return match has_other_mode || self.is_conflicted {
                true => self.counted(FileContent::Text, Some((0, 0))),
                false => Decided::Same,
            };
        }
        if before.len().max(now.len()) as u64 > MOST_TEXT {
            return self.changed(FileState::Modified, FileContent::Large);
        }
        let Some((before, now)) = texts(&before, &now).filter(|_| !self.attributes.is_binary) else {
            return self.changed(FileState::Modified, FileContent::Binary);
        };
        let counts = if has_other_kind {
            (count_changes("", &now).0, count_changes(&before, "").1)
        } else {
            count_changes(&before, &now)
        };
        self.counted(if is_link { FileContent::Link } else { FileContent::Text }, Some(counts))
    }

    /// A file with a version that is not known.
    fn without_content(&self, old: &Earlier, now: Option<Content>) -> Decided {
        if let (Earlier::Hash { sha256, .. }, Some(Content::Bytes(now))) = (old, &now) {
            return match *sha256 == super::snapshot::hash(now) {
                true => Decided::Same,
                false => self.changed(FileState::Modified, FileContent::Unknown),
            };
        }
        let is_large = self.size().max(self.old_size.unwrap_or(0)) > MOST_TEXT;
        if self.differs_in_size() {
            return self
                .changed(FileState::Modified, if is_large { FileContent::Large } else { FileContent::Text });
        }
        if self.is_likely_same { Decided::Same } else { Decided::NotCompared }
    }

    fn change(&self, state: FileState, content: FileContent) -> FileChange {
        FileChange {
            path: shown(&self.path),
            old_path: None,
            state: if self.is_conflicted { FileState::Conflicted } else { state },
            content,
            added: None,
            removed: None,
        }
    }

    fn changed(&self, state: FileState, content: FileContent) -> Decided {
        Decided::Changed(Changed { change: self.change(state, content), hash: None })
    }

    fn counted(&self, content: FileContent, counts: Option<(u32, u32)>) -> Decided {
        let mut change = self.change(FileState::Modified, content);
        (change.added, change.removed) = (counts.map(|counts| counts.0), counts.map(|counts| counts.1));
        Decided::Changed(Changed { change, hash: None })
    }
}

/// Joins a file that is gone with a new one of the same content. Each is used once.
fn with_renames(found: Vec<Changed>) -> Vec<FileChange> {
    let mut gone: HashMap<[u8; 32], Vec<String>> = HashMap::new();
    for changed in found.iter().rev().filter(|changed| changed.change.state == FileState::Deleted) {
        if let Some(hash) = changed.hash {
            gone.entry(hash).or_default().push(changed.change.path.clone());
        }
    }
    let mut renamed = std::collections::HashSet::new();
    let mut files: Vec<FileChange> = found
        .into_iter()
        .map(|Changed { mut change, hash }| {
            let is_new = matches!(change.state, FileState::Added | FileState::Untracked);
            if let Some(old) = hash.filter(|_| is_new).and_then(|hash| gone.get_mut(&hash)?.pop()) {
                renamed.insert(old.clone());
                change.old_path = Some(old);
                change.state = FileState::Renamed;
                if change.added.is_some() {
                    (change.added, change.removed) = (Some(0), Some(0));
                }
            }
            change
        })
        .collect();
    files.retain(|change| change.state != FileState::Deleted || !renamed.contains(&change.path));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The attributes of a file that change what git compares.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub is_converted: bool,
    pub is_binary: bool,
    converts_line_ends: bool,
    /// Line ends are converted only in a file that has none of the other kind in git.
    only_without: bool,
}

impl Attributes {
    fn of(values: &HashMap<String, String>, rules: Rules) -> Self {
        let value = |attribute: &str| values.get(attribute).map_or("unspecified", String::as_str);
        let is_set = |name: &str| !matches!(value(name), "unspecified" | "unset");
        let text = value("text");
        let is_auto = text == "auto" || (text == "unspecified" && rules.converts_line_ends && !is_set("eol"));
        Self {
            is_converted: is_set("filter") || is_set("ident") || is_set("working-tree-encoding"),
            is_binary: value("diff") == "unset",
            converts_line_ends: text != "unset" && (is_set("text") || is_set("eol") || is_auto),
            only_without: is_auto,
        }
    }

    /// The content as git would store it.
    pub fn normalize(self, now: Vec<u8>, before: &[u8]) -> Vec<u8> {
        let has_crlf = |bytes: &[u8]| bytes.windows(2).any(|pair| pair == b"\r\n");
        if !self.converts_line_ends
            || !has_crlf(&now)
            || (self.only_without && (has_crlf(before) || now.contains(&0)))
        {
            return now;
        }
        let next = now.iter().skip(1).copied().map(Some).chain([None]);
        now.iter()
            .zip(next)
            .filter(|(byte, next)| **byte != b'\r' || *next != Some(b'\n'))
            .map(|(b, _)| *b)
            .collect()
    }
}

/// The attributes of these files, as the index and `.git/info/attributes` have them.
pub(super) async fn attributes(
    git: &Git<'_>,
    paths: impl Iterator<Item = &GitPath>,
    rules: Rules,
) -> Result<HashMap<GitPath, Attributes>, GitError> {
    let input = paths.flat_map(|path| path.iter().copied().chain([0])).collect::<Vec<_>>();
    if input.is_empty() {
        return Ok(HashMap::new());
    }
    // With `--cached`, because git would open a `.gitattributes` of the project, which may be a named pipe.
    let args = [&["check-attr", "--cached", "-z", "--stdin"][..], &ATTRIBUTES].concat();
    let output = git.ask_with(&args, &input, super::git::MOST_LISTED).await?;
    let values = listing::attributes(&output);
    Ok(values.into_iter().map(|(path, values)| (path, Attributes::of(&values, rules))).collect())
}

fn lines<'b>(blobs: impl Iterator<Item = &'b Blob>) -> Vec<u8> {
    let mut ids: Vec<&str> = blobs.map(|blob| blob.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().flat_map(|id| id.bytes().chain([b'\n'])).collect()
}

pub(super) async fn sizes<'b>(
    git: &Git<'_>,
    blobs: impl Iterator<Item = &'b Blob>,
) -> Result<HashMap<String, u64>, GitError> {
    let input = lines(blobs);
    if input.is_empty() {
        return Ok(HashMap::new());
    }
    let output = git.ask_with(&["cat-file", "--batch-check"], &input, super::git::MOST_LISTED).await?;
    Ok(listing::sizes(&output))
}

pub(super) async fn contents(git: &Git<'_>, blobs: &[Blob]) -> Result<HashMap<String, Vec<u8>>, GitError> {
    if blobs.is_empty() {
        return Ok(HashMap::new());
    }
    let most = usize::try_from(CHUNK + 2 * MOST_BYTES).unwrap_or(usize::MAX);
    let output = git.ask_with(&["cat-file", "--batch"], &lines(blobs.iter()), most).await?;
    Ok(listing::contents(&output))
}

/// The commit that is checked out in a submodule; `None` if none is.
pub(super) async fn submodule(git: &Git<'_>, project: &Path, path: &[u8]) -> Option<String> {
    let (root, path) = (project.to_owned(), path.to_vec());
    let finding = move || Finder::new(&root).repository(&path);
    let folder = disk::run(project, DEADLINE, finding).await.ok().flatten()?;
    let output = git.of(&folder).ask(&["rev-parse", "--show-prefix", "HEAD"]).await.ok()?;
    // A prefix names a place in an outer repository.
    let text = String::from_utf8(output).ok()?;
    let id = text.strip_prefix('\n')?.trim();
    Some(id.to_owned())
}

pub(super) async fn on_disk<T: Send + 'static>(
    project: &Path,
    access: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GitError> {
    Ok(disk::run(project, DEADLINE, access).await?)
}
