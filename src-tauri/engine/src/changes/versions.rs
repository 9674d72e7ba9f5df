//! Both versions of changed files: in the commit or the snapshot, and in the working tree.

use super::compare::{Attributes, MOST_TEXT, attributes, contents, on_disk, sizes, submodule};
use super::content::{Content, Finder, Work, inside, texts};
use super::git::{Git, GitError};
use super::listing::{EXECUTABLE, SUBMODULE};
use super::snapshot::{Earlier, Snapshot, hash};
use super::{Repository, earlier, short};

/// One version of a file.
pub(super) struct Version {
    pub mode: u32,
    pub bytes: Vec<u8>,
}

/// Both versions of a file, of which one may be missing.
pub(super) struct Versions {
    pub old: Option<Version>,
    /// Its line ends are as git would store them.
    pub now: Option<Version>,
    /// The present content as it is on disk.
    pub raw: Vec<u8>,
    is_binary: bool,
}

const FILE: u32 = 0o100_644;

impl Versions {
    pub fn was_there(&self) -> bool {
        self.old.is_some()
    }

    pub fn is_there(&self) -> bool {
        self.now.is_some()
    }

    pub fn before(&self) -> &[u8] {
        self.old.as_ref().map_or(&[], |old| &old.bytes)
    }

    pub fn now(&self) -> &[u8] {
        self.now.as_ref().map_or(&[], |now| &now.bytes)
    }

    /// Whether one of them is a link. Its content is where it leads.
    pub fn has_link(&self) -> bool {
        [&self.old, &self.now].into_iter().flatten().any(|version| version.mode == super::listing::LINK)
    }

    /// `None` for a binary file.
    pub fn texts(&self) -> Option<(String, String)> {
        texts(self.before(), self.now()).filter(|_| !self.is_binary)
    }

    /// A change of the mode in words.
    pub fn mode_words(&self) -> Option<&'static str> {
        let (old, now) = (self.old.as_ref()?, self.now.as_ref()?);
        (old.mode != now.mode).then_some(match (old.mode, now.mode) {
            (super::listing::LINK, _) => "It was a link.",
            (_, super::listing::LINK) => "It is a link now; the line is where it leads.",
            (_, EXECUTABLE) => "It is executable now.",
            _ => "It is no longer executable.",
        })
    }

    /// Changes with every byte and mode of both versions.
    pub fn fingerprint(&self) -> String {
        let part = |version: &Option<Version>, bytes: &[u8]| {
            version.as_ref().map_or("-".to_owned(), |version| format!("{:o} {}", version.mode, hash(bytes)))
        };
        hash(format!("{}\n{}", part(&self.old, self.before()), part(&self.now, &self.raw)).as_bytes())
    }
}

/// Both versions of each of these files, or why they cannot be shown, as a sentence.
pub(super) async fn versions(
    git: &Git<'_>,
    repository: &Repository,
    since: Option<&Snapshot>,
    paths: &[&str],
) -> Result<Vec<Result<Versions, String>>, GitError> {
    let alone = if let [path] = paths { Some(*path) } else { None };
    if alone.is_some_and(|path| inside(path.as_bytes()).is_none()) {
        return Ok(vec![Err("This file is not in the project.".to_owned())]);
    }
    let mut all = earlier(git, repository.commit.as_deref(), since, alone).await?;
    let olds: Vec<Option<Earlier>> = paths.iter().map(|path| all.remove(path.as_bytes())).collect();
    drop(all);
    let blobs: Vec<_> = olds
        .iter()
        .filter_map(|old| match old {
            Some(Earlier::Blob(blob)) if blob.mode != SUBMODULE => Some(blob.clone()),
            _ => None,
        })
        .collect();
    let sizes = sizes(git, blobs.iter()).await?;
    let wanted: Vec<_> =
        blobs.into_iter().filter(|blob| sizes.get(&blob.id).is_some_and(|size| *size <= MOST_TEXT)).collect();
    let objects = contents(git, &wanted).await?;
    let names: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    let attributes = attributes(git, names.iter(), repository.rules).await?;
    let (root, places) = (git.folder().to_owned(), names.clone());
    let read = on_disk(git.folder(), move || {
        let mut finder = Finder::new(&root);
        let one = |path: &Vec<u8>| {
            let work = finder.find(path);
            let content = finder.read(path, &work, MOST_TEXT);
            (work, content)
        };
        places.iter().map(one).collect::<Vec<_>>()
    });
    let mut found = Vec::new();
    for ((path, old), (work, content)) in names.iter().zip(olds).zip(read.await?) {
        if let Some(Earlier::Blob(blob)) = old.as_ref().filter(|old| old.mode() == SUBMODULE) {
            let now =
                submodule(git, git.folder(), path).await.unwrap_or_else(|| "not checked out".to_owned());
            found.push(Err(format!("A submodule: {} before, {} now.", short(&blob.id), short(&now))));
            continue;
        }
        let attributes = attributes.get(path).copied().unwrap_or_default();
        found.push(one(old, &work, content, attributes, repository, |id| {
            let size = sizes.get(id).copied().ok_or("The earlier content is missing from the repository.")?;
            if size > MOST_TEXT {
                return Err("This file was too large to show.");
            }
            Ok(objects.get(id).cloned().unwrap_or_default())
        }));
    }
    Ok(found)
}

fn one(
    old: Option<Earlier>,
    work: &Work,
    content: Content,
    attributes: Attributes,
    repository: &Repository,
    of_object: impl Fn(&str) -> Result<Vec<u8>, &'static str>,
) -> Result<Versions, String> {
    match work {
        Work::Special => return Err("A named pipe, a socket or a device, which is not read.".to_owned()),
        Work::Folder if old.is_none() => {
            return Err("A repository of its own, which is not compared.".to_owned());
        }
        Work::Missing if old.is_none() => return Err("This file no longer has changes.".to_owned()),
        Work::Missing | Work::File { .. } | Work::Link | Work::Folder => {}
    }
    let raw = match content {
        _ if !matches!(work, Work::File { .. } | Work::Link) => None,
        Content::Bytes(now) => Some(now),
        Content::Large => return Err("This file is too large to show.".to_owned()),
        Content::Unreadable => return Err("This file cannot be read.".to_owned()),
    };
    let old = match old {
        None => None,
        Some(Earlier::Blob(blob)) => Some(Version { mode: blob.mode, bytes: of_object(&blob.id)? }),
        Some(Earlier::Copy { mode, bytes }) => Some(Version { mode, bytes }),
        Some(Earlier::Hash { .. }) => {
            return Err(
                "This file had changed before that prompt, and its content then was not kept.".to_owned()
            );
        }
    };
    if attributes.is_converted && old.is_some() {
        return Err("Git converts this file with a filter or an encoding of the repository. Deskbell does not run filters, so the file cannot be compared.".to_owned());
    }
    let before = old.as_ref().map_or(&[][..], |old| &old.bytes);
    let now = raw.as_ref().map(|raw| {
        let mode = work.mode().unwrap_or(FILE);
        let is_known = repository.rules.compares_executable || mode == super::listing::LINK;
        let kept = old.as_ref().filter(|old| !is_known && !old_is_link(old)).map(|old| old.mode);
        Version { mode: kept.unwrap_or(mode), bytes: attributes.normalize(raw.clone(), before) }
    });
    Ok(Versions { old, now, raw: raw.unwrap_or_default(), is_binary: attributes.is_binary })
}

fn old_is_link(old: &Version) -> bool {
    old.mode == super::listing::LINK
}
