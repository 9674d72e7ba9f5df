//! What the tray shows: its menu, its tooltip, and whether it asks for attention. Pure.

use super::Choice;
use deskbell_engine::api::{BoardRow, BoardState, BoardView, Status};
use deskbell_engine::title::Title;

/// Maximum number of sessions in the menu. The board has them all.
const MOST: usize = 12;

/// Longest title and state of a session, in user-perceived characters.
const TITLE: usize = 40;

/// What the tray shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub tooltip: String,
    /// A session waits for the user.
    pub needs_user: bool,
    pub entries: Vec<Entry>,
}

/// A line of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Choice(String, Choice),
    Text(String),
    Separator,
}

/// The sessions that wait come first, then those that work.
pub fn contents(board: &BoardView) -> Contents {
    let of = |state: BoardState| board.rows.iter().filter(move |row| row.state == state);
    let (n_waiting, n_working) = (of(BoardState::NeedsInput).count(), of(BoardState::Working).count());
    let rows = of(BoardState::NeedsInput).chain(of(BoardState::Working));
    let mut entries: Vec<Entry> = rows
        .take(MOST)
        .map(|row| Entry::Choice(label(row), Choice::Session(row.session_id.clone())))
        .collect();
    let n_more = (n_waiting + n_working).saturating_sub(MOST);
    if n_more > 0 {
        entries.push(Entry::Choice(format!("{n_more} more…"), Choice::Board));
    }
    if entries.is_empty() {
        entries.push(Entry::Text("No session works or waits".to_owned()));
    }
    entries.extend([
        Entry::Separator,
        Entry::Choice("All projects".to_owned(), Choice::Board),
        Entry::Choice("Open a project…".to_owned(), Choice::StartPage),
        Entry::Separator,
        Entry::Choice("Quit Deskbell".to_owned(), Choice::Quit),
    ]);
    Contents { tooltip: tooltip(n_waiting, n_working), needs_user: n_waiting > 0, entries }
}

fn label(row: &BoardRow) -> String {
    let state = match &row.status {
        Status::NeedsInput { what } => Title::one_line(what, TITLE),
        _ => "Working".to_owned(),
    };
    let title = Title::one_line(&row.title, TITLE);
    format!("{state}: {title} — {}", Title::one_line(&row.project_name, TITLE))
}

fn tooltip(n_waiting: usize, n_working: usize) -> String {
    let waiting = match n_waiting {
        0 => None,
        1 => Some("1 session needs you".to_owned()),
        n => Some(format!("{n} sessions need you")),
    };
    let working = match n_working {
        0 => None,
        1 => Some("1 works".to_owned()),
        n => Some(format!("{n} work")),
    };
    let parts: Vec<String> = waiting.into_iter().chain(working).collect();
    if parts.is_empty() { "Deskbell".to_owned() } else { format!("Deskbell: {}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::SessionId;

    fn row(id: &str, title: &str, state: BoardState, status: Status) -> BoardRow {
        BoardRow {
            session_id: SessionId::new(id),
            title: title.to_owned(),
            project: "/home/me/lighthouse".to_owned(),
            project_name: "lighthouse".to_owned(),
            machine: None,
            profile: None,
            agent: None,
            checkout: Default::default(),
            state,
            status,
            request: None,
            answer: None,
            needs_login: false,
            is_reached: true,
            since: 0,
            n_background: 0,
            other_pid: None,
            cost_usd: 0.0,
            processes: None,
        }
    }

    fn of(rows: Vec<BoardRow>) -> BoardView {
        BoardView { rows, machines: Vec::new() }
    }

    fn working(id: &str) -> BoardRow {
        row(id, id, BoardState::Working, Status::Working { activity: String::new() })
    }

    fn waiting(id: &str, title: &str) -> BoardRow {
        let what = "Wants to run a command".to_owned();
        row(id, title, BoardState::NeedsInput, Status::NeedsInput { what })
    }

    fn labels(contents: &Contents) -> Vec<&str> {
        fn label(entry: &Entry) -> Option<&str> {
            match entry {
                Entry::Choice(label, _) | Entry::Text(label) => Some(label),
                Entry::Separator => None,
            }
        }
        contents.entries.iter().filter_map(label).collect()
    }

    #[test]
    fn those_that_wait_come_before_those_that_work() {
        let done = row("c", "c", BoardState::Finished, Status::Completed);
        let contents = contents(&of(vec![working("a"), waiting("b", "Tides"), done]));
        assert_eq!(contents.tooltip, "Deskbell: 1 session needs you, 1 works");
        assert!(contents.needs_user);
        assert_eq!(
            contents.entries[0],
            Entry::Choice(
                "Wants to run a command: Tides — lighthouse".to_owned(),
                Choice::Session(SessionId::new("b"))
            )
        );
        assert_eq!(labels(&contents)[1], "Working: a — lighthouse");
        assert_eq!(labels(&contents)[2..], ["All projects", "Open a project…", "Quit Deskbell"]);
    }

    #[test]
    fn without_work_it_says_so() {
        let contents = contents(&of(Vec::new()));
        assert_eq!((contents.tooltip.as_str(), contents.needs_user), ("Deskbell", false));
        assert_eq!(labels(&contents)[0], "No session works or waits");
    }

    #[test]
    fn a_long_list_ends_in_the_board() {
        let rows = (0..100).map(|i| working(&format!("s{i}"))).collect();
        let contents = contents(&of(rows));
        assert_eq!(contents.entries[MOST], Entry::Choice("88 more…".to_owned(), Choice::Board));
        assert_eq!(contents.tooltip, "Deskbell: 100 work");
    }

    #[test]
    fn a_title_cannot_change_the_menu() {
        let title = format!("a\nb\u{202e}c{}", "x".repeat(1_000_000));
        let contents = contents(&of(vec![waiting("a", &title)]));
        let label = labels(&contents)[0];
        assert!(label.starts_with("Wants to run a command: a bcx"), "{label}");
        assert!(label.chars().count() < 130 && !label.contains(['\n', '\u{202e}']), "{label}");
    }
}
