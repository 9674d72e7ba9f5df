//! Tests for the lists of other agents.

use super::*;
use std::fs;

const NOW: u64 = 1_790_000_000_000;

fn listed(id: &str, title: &str) -> ListedSession {
    let changed_at = Some("2026-01-02T00:00:00Z".to_owned());
    ListedSession { id: id.to_owned(), title: Some(title.to_owned()), changed_at }
}

fn qwen() -> ChosenAgent {
    ChosenAgent::row_of("qwen").unwrap()
}

fn titles(lists: &AgentSessions, project: &Path) -> Vec<String> {
    lists.load(project).into_iter().map(|row| row.title).collect()
}

#[test]
fn an_agents_next_list_replaces_its_own_only() {
    let data = tempfile::tempdir().unwrap();
    let (lists, here) = (AgentSessions::new(data.path().join("lists")), Path::new("/p"));
    assert_eq!(titles(&lists, here), [""; 0]);
    let work = Some("Work".to_owned());
    let codex = ChosenAgent::row_of("codex").unwrap();
    lists.keep(here, qwen(), None, vec![listed("a", "first")], NOW).unwrap();
    lists.keep(here, qwen(), work.clone(), vec![listed("b", "of work")], NOW).unwrap();
    lists.keep(here, codex, None, vec![listed("c", "of codex")], NOW).unwrap();
    lists.keep(Path::new("/q"), qwen(), None, vec![listed("d", "elsewhere")], NOW).unwrap();
    lists.keep(here, qwen(), None, vec![listed("e", "second")], NOW).unwrap();
    assert_eq!(titles(&lists, here), ["of work", "of codex", "second"]);
    let (agent, row) = lists.find(here, "b").unwrap();
    assert_eq!((agent, row.profile, row.agent.as_deref()), (qwen(), work, Some("Qwen Code")));
    assert_eq!((row.changed_at, row.state), (1_767_312_000_000, StoredState::Unknown));
    for gone in ["a", "d", ""] {
        assert_eq!(lists.find(here, gone), None, "{gone}");
    }
}

#[test]
fn the_number_of_lists_is_bounded() {
    let data = tempfile::tempdir().unwrap();
    let (lists, here) = (AgentSessions::new(data.path().join("lists")), Path::new("/p"));
    for nr in 0..MOST_LISTS + 3 {
        let agent = ChosenAgent::Command { program: format!("/bin/{nr}").into(), arguments: Vec::new() };
        lists.keep(here, agent, None, vec![listed(&nr.to_string(), &nr.to_string())], NOW).unwrap();
    }
    let titles = titles(&lists, here);
    assert_eq!((titles.len(), titles[0].as_str()), (MOST_LISTS, "3"));
}

#[test]
fn an_unreadable_file_is_set_aside_and_what_a_newer_version_wrote_is_left_out() {
    let data = tempfile::tempdir().unwrap();
    let (lists, here) = (AgentSessions::new(data.path().join("lists")), Path::new("/p"));
    lists.keep(here, qwen(), None, vec![listed("a", "first")], NOW).unwrap();
    let path = lists.path(here);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"lists\":[", "\"lists\":[{\"agent\":{\"type\":\"later\"}},7,")).unwrap();
    assert_eq!(titles(&lists, here), ["first"]);
    fs::write(&path, "{\"torn").unwrap();
    assert_eq!(titles(&lists, here), [""; 0]);
    let aside = format!("{}.unreadable", path.display());
    assert_eq!(fs::read_to_string(aside).unwrap(), "{\"torn");
    lists.keep(here, qwen(), None, vec![listed("b", "second")], NOW).unwrap();
    assert_eq!(titles(&lists, here), ["second"]);
}

#[test]
fn a_date_is_unknown_if_it_is_none_or_cannot_be() {
    let at = |changed_at: Option<&str>| {
        let changed_at = changed_at.map(str::to_owned);
        known(ListedSession { id: "a".to_owned(), title: None, changed_at }, NOW).changed_at
    };
    assert_eq!(at(Some("2026-01-02T00:00:00.25+01:00")), 1_767_308_400_250);
    for odd in [None, Some(""), Some("yesterday"), Some("1900-01-01T00:00:00Z"), Some("9999-01-01T00:00:00Z")]
    {
        assert_eq!(at(odd), 0, "{odd:?}");
    }
    let untitled = known(ListedSession { id: "a".to_owned(), title: None, changed_at: None }, NOW);
    assert_eq!(untitled.title, "Untitled session");
}
