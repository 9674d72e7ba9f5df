//! `deskbell changes`: lists the files of a working tree that differ from its last commit. See docs/relay.md.

use crate::args::ChangesOptions;
use anyhow::bail;
use deskbell_engine::LocalHost;
use deskbell_engine::api::{Changes, ChangesBase, FileChange, FileContent, FileState};
use deskbell_engine::changes;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Fails if there is no repository, or if the list is not complete.
pub fn main(options: &ChangesOptions) -> ExitCode {
    match run(options) {
        Ok(is_complete) if is_complete => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &ChangesOptions) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let changes = runtime.block_on(changes::changes(&LocalHost, &options.project, None));
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    if changes.base == ChangesBase::NoRepository {
        match &changes.problem {
            Some(problem) => bail!("{problem}"),
            None => bail!("{} is not in a git repository", options.project.display()),
        }
    }
    let mut text = Vec::new();
    for file in &changes.files {
        match options.json {
            true => serde_json::to_writer(&mut text, file)?,
            false => text.extend(line(file).into_bytes()),
        }
        text.push(b'\n');
    }
    match io::stdout().lock().write_all(&text) {
        // The reader, such as `head`, has enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    let missing = missing(&changes);
    missing.iter().for_each(|missing| eprintln!("deskbell: {missing}"));
    Ok(missing.is_empty())
}

/// What the list lacks.
fn missing(changes: &Changes) -> Vec<String> {
    let more =
        (changes.n_more > 0).then(|| format!("{} more files changed and are not listed", changes.n_more));
    let n = changes.n_not_compared;
    let rest = (n > 0).then(|| format!("{n} files were not compared: they are too large, or too many"));
    changes.problem.clone().into_iter().chain(more).chain(rest).collect()
}

fn line(file: &FileChange) -> String {
    let state = match file.state {
        FileState::Added => 'A',
        FileState::Untracked => '?',
        FileState::Modified => 'M',
        FileState::Deleted => 'D',
        FileState::Renamed => 'R',
        FileState::Conflicted => 'U',
    };
    let counts = match (file.added, file.removed, file.content) {
        (Some(added), Some(removed), _) => format!("+{added} -{removed}"),
        (_, _, FileContent::Binary) => "binary".to_owned(),
        (_, _, FileContent::Large) => "large".to_owned(),
        (_, _, FileContent::Repository) => "repository".to_owned(),
        (_, _, FileContent::Special) => "not a file".to_owned(),
        (_, _, FileContent::Converted) => "converted".to_owned(),
        _ => "not counted".to_owned(),
    };
    let old = file.old_path.as_ref().map_or_else(String::new, |old| format!("{} -> ", plain(old)));
    format!("{state}  {old}{}  {counts}", plain(&file.path))
}

/// A path without characters that a terminal would act on.
fn plain(path: &str) -> String {
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    path.chars().map(|c| if is_odd(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_change_and_no_name_breaks_it() {
        let file = FileChange {
            path: "b\n\u{202e}c".to_owned(),
            old_path: Some("a".to_owned()),
            state: FileState::Renamed,
            content: FileContent::Text,
            added: Some(0),
            removed: Some(2),
        };
        assert_eq!(line(&file), "R  a -> b\\u{a}\\u{202e}c  +0 -2");
        let binary =
            FileChange { old_path: None, content: FileContent::Binary, added: None, removed: None, ..file };
        assert_eq!(line(&binary), "R  b\\u{a}\\u{202e}c  binary");
    }
}
