//! Changes as a patch that `git apply` takes.

use super::git::{Git, GitError};
use super::listing::LINK;
use super::versions::{Version, Versions, versions};
use super::{Repository, WorkingTree, read};
use crate::api::{DiffKind, FileChange, FileState, Patch};
use crate::document::{LineHunk, line_hunks};
use std::fmt::Write;

/// Maximum size of a patch in bytes. It is copied to the clipboard.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Files that are read at a time.
const CHUNK: usize = 16;

impl WorkingTree<'_> {
    /// The changes of these files as a patch; without files of all. Fails with a sentence if a file has no change.
    pub async fn patch(&self, only: &[String]) -> Result<Patch, String> {
        let changes = match read(self).await {
            Ok(changes) => changes,
            Err(error) => return Err(super::problem(&error).unwrap_or_else(|| error.to_string())),
        };
        if let Some(missing) = only.iter().find(|path| changes.files.iter().all(|file| file.path != **path)) {
            return Err(format!("{missing} has no changes."));
        }
        let files: Vec<FileChange> =
            changes.files.into_iter().filter(|file| only.is_empty() || only.contains(&file.path)).collect();
        let made = of_files(self, &files).await.map_err(|error| error.to_string())?;
        let mut left_out = made.left_out;
        if only.is_empty() {
            left_out.extend(changes.problem);
            left_out.extend((changes.n_more > 0).then(|| format!("{} more files changed.", changes.n_more)));
            let n = changes.n_not_compared;
            left_out.extend((n > 0).then(|| format!("{n} files were too large or too many to compare.")));
        }
        Ok(Patch { left_out, ..made })
    }
}

async fn of_files(
    &WorkingTree { host, project, since }: &WorkingTree<'_>,
    files: &[FileChange],
) -> Result<Patch, GitError> {
    let mut patch = Patch { text: String::new(), n_files: 0, left_out: Vec::new() };
    let git = Git::new(host, project).await?;
    let Some(repository) = Repository::of(&git).await? else { return Ok(patch) };
    let prefix = git.ask(&["rev-parse", "--show-prefix"]).await?;
    let prefix = String::from_utf8_lossy(&prefix).trim_end_matches('\n').to_owned();
    for chunk in files.chunks(CHUNK) {
        let paths: Vec<&str> = chunk
            .iter()
            .flat_map(|file| [Some(file.path.as_str()), file.old_path.as_deref()])
            .flatten()
            .collect();
        let mut found = versions(&git, &repository, since, &paths).await?.into_iter();
        for file in chunk {
            let new = found.next();
            let old = file.old_path.as_ref().and_then(|_| found.next());
            let (Some(new), old) = (new, old) else { continue };
            match of_file(file, &prefix, new, old) {
                Ok(text) if patch.text.len() + text.len() <= MOST_BYTES => {
                    patch.text.push_str(&text);
                    patch.n_files += 1;
                }
                Ok(_) => patch.left_out.push(format!("{}: the patch would be too large.", file.path)),
                Err(why) => patch.left_out.push(format!("{}: {why}", file.path)),
            }
        }
    }
    Ok(patch)
}

fn of_file(
    file: &FileChange,
    prefix: &str,
    new: Result<Versions, String>,
    old: Option<Result<Versions, String>>,
) -> Result<String, String> {
    let name = |side: char, path: &str| quoted(&format!("{side}/{prefix}{path}"));
    if let (FileState::Renamed, Some(old_path), Some(old)) = (file.state, &file.old_path, old) {
        let modes = old?.old.map(|old| old.mode).zip(new?.now.map(|now| now.mode));
        let mut text = format!("diff --git {} {}\n", name('a', old_path), name('b', &file.path));
        if let Some((old, now)) = modes.filter(|(old, now)| old != now) {
            push(&mut text, format_args!("old mode {old:o}\nnew mode {now:o}\n"));
        }
        let path = |path: &str| quoted(&format!("{prefix}{path}"));
        let (from, to) = (path(old_path), path(&file.path));
        push(&mut text, format_args!("similarity index 100%\nrename from {from}\nrename to {to}\n"));
        return Ok(text);
    }
    let new = new?;
    let names = [name('a', &file.path), name('b', &file.path)];
    match (&new.old, &new.now) {
        // Git takes a file that became a link as one that is gone and one that is new.
        (Some(old), Some(now)) if (old.mode == LINK) != (now.mode == LINK) => {
            Ok(part(&names, Some(old), None, false)? + &part(&names, None, Some(now), false)?)
        }
        (old, now) => part(&names, old.as_ref(), now.as_ref(), new.texts().is_none()),
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

fn part(
    names: &[String; 2],
    old: Option<&Version>,
    now: Option<&Version>,
    is_binary: bool,
) -> Result<String, String> {
    let as_text = |version: Option<&Version>| match version {
        Some(version) => std::str::from_utf8(&version.bytes).map(str::to_owned),
        None => Ok(String::new()),
    };
    let (before, after) = match (as_text(old), as_text(now)) {
        _ if is_binary => return Err("a binary file is left out of the patch.".to_owned()),
        (Ok(before), Ok(after)) => (before, after),
        _ => return Err("a file that is not UTF-8 is left out of the patch.".to_owned()),
    };
    let mut text = format!("diff --git {} {}\n", names[0], names[1]);
    match (old, now) {
        (None, Some(now)) => push(&mut text, format_args!("new file mode {:o}\n", now.mode)),
        (Some(old), None) => push(&mut text, format_args!("deleted file mode {:o}\n", old.mode)),
        (Some(old), Some(now)) if old.mode != now.mode => {
            push(&mut text, format_args!("old mode {:o}\nnew mode {:o}\n", old.mode, now.mode));
        }
        _ => {}
    }
    let hunks = line_hunks(&before, &after);
    if hunks.is_empty() {
        // Git accepts a file that is new or gone without hunks only with this line.
        if old.is_none() != now.is_none() {
            text.push_str("index 0000000..e69de29\n");
        }
        return Ok(text);
    }
    let side = |is_there: bool, name: &str| match (is_there, name.contains([' ', '\t'])) {
        (false, _) => "/dev/null".to_owned(),
        // The tab ends a name with a space in it.
        (true, true) => format!("{name}\t"),
        (true, false) => name.to_owned(),
    };
    let (from, to) = (side(old.is_some(), &names[0]), side(now.is_some(), &names[1]));
    push(&mut text, format_args!("--- {from}\n+++ {to}\n"));
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    for hunk in &hunks {
        push(&mut text, format_args!("{}\n", header(hunk)));
        for (kind, lines) in &hunk.runs {
            let (sign, of) = match kind {
                DiffKind::Context => (' ', &after),
                DiffKind::Removed => ('-', &before),
                DiffKind::Added => ('+', &after),
            };
            for line in of.get(lines.clone()).unwrap_or_default() {
                text.push(sign);
                text.push_str(line);
                if !line.ends_with('\n') {
                    text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    }
    Ok(text)
}

fn header(hunk: &LineHunk) -> String {
    let place = super::revert::place(hunk);
    format!("@@ -{},{} +{},{} @@", place.old_start, place.n_old, place.new_start, place.n_new)
}

/// A path as git writes it: in quotes if it has a character that could be read as something else.
fn quoted(path: &str) -> String {
    if !path.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        return path.to_owned();
    }
    let mut text = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            0x20..0x7f => text.push(char::from(byte)),
            _ => push(&mut text, format_args!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}
