//! The conversations that Claude Code stored on another machine: the list of a project, and a search in them. Deskbell there
//! reads them.

use super::MachineClient;
use crate::far::{FarError, FarLines};
use deskbell_engine::api::*;
use deskbell_engine::title::Title;

/// Conversations of one project that are listed, the last changed ones.
const MOST_SESSIONS: usize = 5_000;

/// Sessions that a search shows, and matches of each: as many as one of this machine.
const MOST_FOUND: usize = 200;
const MOST_HITS: usize = 20;

/// Longest title or prompt of a row, in user-perceived characters, and longest part of a snippet.
const LONGEST: usize = 300;

impl MachineClient {
    /// What the agent there stored of the project in this folder.
    pub async fn conversations(&self, folder: &RemoteFolder) -> StoredChange {
        let command = ["sessions".to_owned(), "list".to_owned(), folder.to_string()];
        match self.ask_lines(&command).await {
            Ok(listed) => change_of(listed),
            Err(error) => StoredChange { problem: Some(self.words(error)), ..StoredChange::default() },
        }
    }

    /// Searches the conversations of the project in this folder, or of all.
    pub async fn search(&self, folder: &RemoteFolder, query: &str, all: bool) -> SearchChange {
        // An argument there is one line.
        let query = query.replace(char::is_control, " ");
        let scope = if all { "--all".to_owned() } else { format!("--project={folder}") };
        let command = ["sessions", "search", "--json", &scope, "--", &query].map(str::to_owned);
        let asked = self.ask_lines(&command).await;
        asked.map_or_else(
            |error| SearchChange { problem: Some(self.words(error)), ..SearchChange::default() },
            found_of,
        )
    }

    fn words(&self, error: FarError) -> String {
        let CommandError { message, detail, .. } = self.for_window(error);
        format!("{message} {}", detail.unwrap_or_default())
    }
}

/// The list, as far as it can be one of Claude Code: those of other agents are shown by their sessions only.
fn change_of(listed: FarLines<StoredSession>) -> StoredChange {
    let is_ours = |one: &StoredSession| one.agent.is_none() && is_uuid(&one.agent_session_id);
    let sessions = listed.values.into_iter().filter(is_ours);
    let changed = sessions.take(MOST_SESSIONS).map(short).collect();
    let problem = (listed.code != Some(0)).then(|| said(&listed.problems));
    StoredChange { changed, problem, ..StoredChange::default() }
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36 && uuid::Uuid::try_parse(id).is_ok()
}

fn line(text: String) -> String {
    Title::one_line(&text, LONGEST)
}

fn short(one: StoredSession) -> StoredSession {
    let state = match one.state {
        StoredState::Failed { message } => StoredState::Failed { message: line(message) },
        state => state,
    };
    StoredSession {
        title: line(one.title),
        first_prompt: one.first_prompt.map(line),
        last_prompt: one.last_prompt.map(line),
        branch: one.branch.map(line),
        model: one.model.map(line),
        profile: one.profile.map(line),
        state,
        ..one
    }
}

fn said(problems: &[String]) -> String {
    if problems.is_empty() {
        "Deskbell there could not read all of it.".to_owned()
    } else {
        problems.join(" ")
    }
}

/// The results that parse; invalid ones are dropped. Exit code 1 of the search is “nothing found”.
fn found_of(listed: FarLines<FoundSession>) -> SearchChange {
    let is_it = |found: &FoundSession| {
        is_uuid(&found.agent_session_id) && found.project.parse::<RemoteFolder>().is_ok()
    };
    let found: Vec<FoundSession> =
        listed.values.into_iter().filter(is_it).take(MOST_FOUND).map(bounded).collect();
    let is_nothing = listed.code == Some(1) && found.is_empty() && listed.problems.is_empty();
    let problem = (listed.code != Some(0) && !is_nothing).then(|| said(&listed.problems));
    SearchChange { found, problem, ..SearchChange::default() }
}

fn bounded(found: FoundSession) -> FoundSession {
    let part = |part: SnippetPart| SnippetPart { text: cut(&part.text), ..part };
    let hits = found.hits.into_iter().take(MOST_HITS).map(|hit| SearchHit {
        tool: hit.tool.map(line),
        snippet: hit.snippet.into_iter().take(LONGEST).map(part).collect(),
        ..hit
    });
    FoundSession {
        title: line(found.title),
        project_name: line(found.project_name),
        profile: found.profile.map(line),
        hits: hits.collect(),
        in_other_window: false,
        ..found
    }
}

/// A part of a snippet, with the blanks around it.
fn cut(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(LONGEST).collect()
}

/// What a result says of its conversation, to open it.
pub fn stored(found: &FoundSession) -> StoredSession {
    StoredSession {
        agent_session_id: found.agent_session_id.clone(),
        title: found.title.clone(),
        first_prompt: None,
        last_prompt: None,
        branch: None,
        model: None,
        changed_at: found.changed_at,
        state: StoredState::Unknown,
        live: None,
        profile: found.profile.clone(),
        agent: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";

    fn found(id: &str, project: &str) -> FoundSession {
        let snippet = vec![SnippetPart { text: format!("a\u{1b}[2J{}", "x".repeat(10_000)), is_match: true }];
        let hit = SearchHit { item_id: None, place: SearchPlace::Title, tool: None, at: None, snippet };
        FoundSession {
            agent_session_id: id.to_owned(),
            title: format!("a\nb{}", "y".repeat(1_000)),
            project: project.to_owned(),
            project_name: "app".to_owned(),
            changed_at: 0,
            hits: vec![hit; 30],
            has_more: false,
            in_other_window: true,
            profile: None,
        }
    }

    fn lines<T>(values: Vec<T>, code: i32, problems: &[&str]) -> FarLines<T> {
        let problems = problems.iter().map(|&line| line.to_owned()).collect();
        FarLines { values, code: Some(code), problems }
    }

    #[test]
    fn hostile_results_are_bounded_and_name_only_folders_there() {
        let mut values =
            vec![found("x", "/app"), found(ID, "../x"), found(ID, "/a\0b"), found("--all", "/app")];
        values.extend((0..300).map(|_| found(ID, "/app")));
        let change = found_of(lines(values, 0, &[]));
        assert_eq!((change.found.len(), change.problem), (MOST_FOUND, None));
        let one = &change.found[0];
        assert!(one.title.starts_with("a b") && one.title.chars().count() <= LONGEST + 1);
        assert_eq!((one.hits.len(), one.in_other_window), (MOST_HITS, false));
        let text = &one.hits[0].snippet[0].text;
        assert!(!text.contains('\u{1b}') && text.len() <= LONGEST);
    }

    #[test]
    fn nothing_found_is_no_problem_and_a_part_that_was_not_searched_is() {
        let of = |code, problems| found_of(lines(Vec::new(), code, problems)).problem;
        assert_eq!(of(1, &[]), None);
        assert_eq!(of(2, &["deskbell: 1 file"]).as_deref(), Some("deskbell: 1 file"));
        assert_eq!(of(2, &[]).as_deref(), Some("Deskbell there could not read all of it."));
    }

    #[test]
    fn a_hostile_list_is_bounded() {
        let one = |id: &str| StoredSession {
            first_prompt: Some("a\u{202e}b\nc".repeat(1_000)),
            ..stored(&found(id, "/app"))
        };
        let mut values = vec![one(""), one("../../x"), one(&"x".repeat(36))];
        values.push(StoredSession {
            agent: Some("Codex".to_owned()),
            ..one("0c0f2a5e-5d2b-4e8e-9a6b-0123456789ac")
        });
        values.extend((0..MOST_SESSIONS + 7).map(|_| StoredSession { first_prompt: None, ..one(ID) }));
        values[4] = one(ID);
        let change = change_of(lines(values, 1, &["x"]));
        assert!(
            change.changed.iter().all(|one| one.agent_session_id == ID),
            "one of another agent is left out"
        );
        assert_eq!((change.changed.len(), change.problem.as_deref()), (MOST_SESSIONS, Some("x")));
        let prompt = change.changed[0].first_prompt.as_ref().unwrap();
        assert!(prompt.chars().count() <= LONGEST + 1 && !prompt.contains(['\n', '\u{202e}']));
    }
}
