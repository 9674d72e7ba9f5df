//! `deskbell sessions search`: searches the text of stored sessions. See docs/relay.md.

use crate::args::sessions::SearchOptions;
use crate::exit::Exit;
use crate::output::{plain, stdout};
use crate::serve::place::session_folders_in_time;
use anyhow::Context;
use deskbell_engine::api::{FoundSession, SearchChange, SearchHit, SearchPlace};
use deskbell_engine::disk;
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::search::{Query, Searching, Today};
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::profiles;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Exit codes as those of grep: 0 if something was found, 1 if nothing was, 2 if a part could not be searched.
pub fn main(options: SearchOptions) -> ExitCode {
    match run(options) {
        Ok(end) => {
            end.problems.iter().for_each(|problem| eprintln!("deskbell: {problem}"));
            match (end.problems.is_empty(), end.n_found) {
                (false, _) => Exit::Usage.into(),
                (true, 0) => Exit::Failed.into(),
                (true, _) => ExitCode::SUCCESS,
            }
        }
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            Exit::Usage.into()
        }
    }
}

/// The end of a search.
#[derive(Default)]
struct End {
    n_found: usize,
    problems: Vec<String>,
}

fn run(options: SearchOptions) -> anyhow::Result<End> {
    let now = now_ms();
    let query = Query::parse(&options.query, Today { now, utc_offset_minutes: 0 })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let end = runtime.block_on(print(options.project, query, options.json));
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    end
}

/// Prints results as they are found.
async fn print(project: Option<PathBuf>, query: Query, json: bool) -> anyhow::Result<End> {
    let stores = profiles::stores(&profiles::settings());
    let sessions = session_folders_in_time(folders::data()).await;
    let data = folders::data();
    let of = data.clone();
    let project = match project {
        Some(project) => {
            let known = move || ProjectStore::new(&of).folders(&project);
            Some(disk::run(&data, disk::DEADLINE, known).await.context("reading the list of projects")?)
        }
        None => None,
    };
    let (_searching, mut changes) = Searching::start(stores, sessions, project, query, Arc::default());
    let mut end = End::default();
    let is_terminal = io::stdout().is_terminal();
    let is_bold = is_terminal && !is_plain_wanted(std::env::var_os("NO_COLOR").as_deref());
    let mut last = SearchChange::default();
    while let Some(change) = changes.recv().await {
        let mut text = Vec::new();
        for found in &change.found {
            if json {
                serde_json::to_writer(&mut text, found)?;
                text.push(b'\n');
            } else {
                text.extend(lines(found, is_terminal, is_bold).into_bytes());
            }
        }
        end.n_found += change.found.len();
        // The bold words are commands for the terminal, the words themselves have none.
        let (mut safe, mut bare) = (stdout(), io::stdout().lock());
        let written = if json { safe.write_all(&text) } else { bare.write_all(&text) };
        match written.and_then(|()| safe.flush()) {
            Ok(()) => {}
            // The reader, such as `head`, has enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(end),
            Err(error) => return Err(error).context("writing the results"),
        }
        last = change;
    }
    end.problems.extend(last.problem);
    if last.n_unreadable > 0 {
        let files = if last.n_unreadable == 1 { "file" } else { "files" };
        end.problems.push(format!(
            "{} {files} of the agent's store could not be searched; DESKBELL_LOG=info names them",
            last.n_unreadable
        ));
    }
    if last.is_cut {
        eprintln!("deskbell: there are more results; add words or a date");
    }
    Ok(end)
}

/// `NO_COLOR`: the user wants no escapes, unless it is empty. See no-color.org.
fn is_plain_wanted(no_color: Option<&OsStr>) -> bool {
    no_color.is_some_and(|value| !value.is_empty())
}

/// A session and its matches as text. On a terminal matches are bold, unless `NO_COLOR` is set.
fn lines(found: &FoundSession, is_terminal: bool, is_bold: bool) -> String {
    let shown = |text: &str| if is_terminal { plain(text) } else { text.to_owned() };
    let (project, title) = (shown(&found.project_name), shown(&found.title));
    let mut text = format!("{}  {project}  {title}\n", found.agent_session_id);
    for hit in &found.hits {
        let snippet: String = hit
            .snippet
            .iter()
            .map(|part| {
                if part.is_match && is_bold {
                    format!("\u{1b}[1m{}\u{1b}[0m", shown(&part.text))
                } else {
                    shown(&part.text)
                }
            })
            .collect();
        let at = hit.at.map_or_else(String::new, |at| format!("{}  ", Today::utc(at)));
        text += &format!("    {at}{}: {snippet}\n", shown(&place(hit)));
    }
    if found.has_more {
        text += "    … and earlier matches\n";
    }
    text
}

fn place(hit: &SearchHit) -> String {
    let tool = || hit.tool.as_deref().unwrap_or("a tool");
    match hit.place {
        SearchPlace::Title => "title".to_owned(),
        SearchPlace::Prompt => "prompt".to_owned(),
        SearchPlace::Text => "answer".to_owned(),
        SearchPlace::Thinking => "thinking".to_owned(),
        SearchPlace::Call => tool().to_owned(),
        SearchPlace::Output => format!("output of {}", tool()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{ItemId, SnippetPart};

    #[test]
    fn a_result_is_readable_with_and_without_a_terminal() {
        let part = |text: &str, is_match| SnippetPart { text: text.to_owned(), is_match };
        let hit = |place, tool: Option<&str>, at| SearchHit {
            item_id: Some(ItemId::new("t1")),
            place,
            tool: tool.map(str::to_owned),
            at,
            snippet: vec![part("cargo ", false), part("test", true)],
        };
        let found = FoundSession {
            agent_session_id: "id".to_owned(),
            title: "Fix the tests".to_owned(),
            project: "/home/me/lighthouse".to_owned(),
            project_name: "lighthouse".to_owned(),
            changed_at: 0,
            hits: vec![
                hit(SearchPlace::Output, Some("Bash"), Some(1_795_357_800_000)),
                hit(SearchPlace::Call, None, None),
            ],
            has_more: true,
            in_other_window: false,
            profile: None,
        };
        let expected = "id  lighthouse  Fix the tests\n    2026-11-22 14:30 UTC  output of Bash: cargo test\n    a tool: cargo test\n    … and earlier matches\n";
        assert_eq!(lines(&found, false, false), expected);
        assert!(lines(&found, true, true).contains("cargo \u{1b}[1mtest\u{1b}[0m\n"));
        assert!(!lines(&found, true, false).contains('\u{1b}'));
        assert!(is_plain_wanted(Some(OsStr::new("1"))) && !is_plain_wanted(Some(OsStr::new(""))));
        assert!(!is_plain_wanted(None));
        let hostile = FoundSession { title: "\u{1b}[2J\u{202e}".to_owned(), hits: Vec::new(), ..found };
        assert!(lines(&hostile, true, true).contains("\\u{1b}[2J\\u{202e}\n"));
        assert!(lines(&hostile, false, false).contains("\u{1b}[2J\u{202e}\n"), "a file gets each byte");
    }
}
