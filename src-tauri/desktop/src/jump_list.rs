//! The jump list of Windows, which the taskbar shows with the right button: the projects of this machine that were opened
//! last, and the start page. What it has is pure and compiled on every system; `native` shows it.

#[cfg(windows)]
mod native;

use deskbell_engine::api::ProjectRef;
use deskbell_engine::projects::KnownProject;
use deskbell_engine::title::Title;
use std::collections::HashSet;

/// Maximum number of projects. Windows shows about as many, and says how many it has room for.
const MOST: usize = 10;

/// Longest title, in user-perceived characters.
const TITLE: usize = 60;

/// The longest tooltip that Windows shows, in UTF-16 units with the end (`INFOTIPSIZE`).
const TOOLTIP: usize = 1_024;

/// A start of Deskbell with these arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub title: String,
    pub tooltip: String,
    /// As a program for Windows parses them.
    pub arguments: String,
}

/// What the jump list has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JumpList {
    pub projects: Vec<Link>,
    pub tasks: Vec<Link>,
}

/// The list for these projects, the pinned and then the last ones first.
pub fn contents(known: &[KnownProject]) -> JumpList {
    let here = known.iter().map(|known| &known.project).filter(|project| project.here().is_some());
    let link = |project: &ProjectRef| Link {
        title: Title::one_line(&project.name(), TITLE),
        tooltip: fitting(&Title::one_line(&project.to_string(), TOOLTIP)),
        arguments: format!("--open {}", quoted(&project.to_string())),
    };
    let start_page = Link {
        title: "Start page".to_owned(),
        tooltip: "Choose a project".to_owned(),
        arguments: "--open".to_owned(),
    };
    JumpList { projects: here.map(link).collect(), tasks: vec![start_page] }
}

impl JumpList {
    /// The projects without those that the user removed from the list there, as many as there is room for. Windows refuses
    /// a list with a removed one.
    pub fn projects_in(&self, room: usize, removed: &HashSet<String>) -> Vec<&Link> {
        let left = self.projects.iter().filter(|link| !removed.contains(&link.arguments));
        left.take(room.min(MOST)).collect()
    }
}

/// One argument of a command line of Windows: in quotes, where a backslash counts as itself unless it precedes a quote.
fn quoted(argument: &str) -> String {
    let mut quoted = "\"".to_owned();
    let mut n_backslashes = 0;
    for letter in argument.chars() {
        if letter == '"' {
            quoted.push_str(&"\\".repeat(n_backslashes + 1));
        }
        n_backslashes = if letter == '\\' { n_backslashes + 1 } else { 0 };
        quoted.push(letter);
    }
    quoted.push_str(&"\\".repeat(n_backslashes));
    quoted.push('"');
    quoted
}

/// The text, or its beginning where a tooltip has no more room.
fn fitting(text: &str) -> String {
    let mut n_units = 0;
    text.chars()
        .take_while(|letter| {
            n_units += letter.len_utf16();
            n_units < TOOLTIP
        })
        .collect()
}

/// Replaces the list by that of these projects.
#[cfg(windows)]
pub async fn show(known: &[KnownProject]) -> anyhow::Result<()> {
    use anyhow::Context;

    /// Longest wait for the shell of Windows.
    const DEADLINE: std::time::Duration = std::time::Duration::from_secs(10);

    let list = contents(known);
    let program = std::env::current_exe().context("the program has no path")?;
    let (answer, answered) = tokio::sync::oneshot::channel();
    // A thread with an apartment of its own.
    let thread = std::thread::Builder::new().name("jump list".to_owned());
    thread.spawn(move || answer.send(native::show(&program, &list)))?;
    let shown = tokio::time::timeout(DEADLINE, answered).await.context("the shell does not answer")?;
    shown.context("the thread ended")?.context("the shell refused it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::RemoteProject;

    fn known(path: &str) -> KnownProject {
        KnownProject::new(path)
    }

    fn shown(list: &JumpList, room: usize, removed: &[&str]) -> Vec<String> {
        let removed = removed.iter().map(|arguments| (*arguments).to_owned()).collect();
        list.projects_in(room, &removed).iter().map(|link| link.arguments.clone()).collect()
    }

    #[test]
    fn the_projects_of_this_machine_are_listed_in_their_order() {
        let far = RemoteProject { machine: "box".parse().unwrap(), folder: "/srv/app".parse().unwrap() };
        let far = KnownProject::new(far);
        let list = contents(&[known("/home/me/tide"), far, known("/home/me/my app")]);
        assert_eq!(shown(&list, 9, &[]), ["--open \"/home/me/tide\"", "--open \"/home/me/my app\""]);
        assert_eq!(list.projects[1].title, "my app");
        assert_eq!(list.projects[1].tooltip, "/home/me/my app");
        assert_eq!(list.tasks.iter().map(|task| &*task.arguments).collect::<Vec<_>>(), ["--open"]);
    }

    #[test]
    fn a_removed_project_stays_away_and_there_is_never_too_much() {
        let many: Vec<KnownProject> = (0..50).map(|nr| known(&format!("/home/me/{nr}"))).collect();
        let list = contents(&many);
        assert_eq!(shown(&list, 100, &[]).len(), MOST);
        let few = shown(&list, 2, &["--open \"/home/me/0\"", "--open \"/home/me/elsewhere\""]);
        assert_eq!(few, ["--open \"/home/me/1\"", "--open \"/home/me/2\""]);
    }

    /// The rules of `CommandLineToArgvW`: 2n backslashes before a quote are n, and 2n + 1 make it a part of the argument.
    #[test]
    fn an_argument_is_parsed_as_what_it_was() {
        for (argument, written) in [
            (r"C:\work\my app", r#""C:\work\my app""#),
            (r"C:\", r#""C:\\""#),
            (r"\\box\share\\", r#""\\box\share\\\\""#),
            (r#"a"b"#, r#""a\"b""#),
            (r#"a\"b"#, r#""a\\\"b""#),
            ("", r#""""#),
        ] {
            assert_eq!(quoted(argument), written);
        }
    }

    #[test]
    fn a_tooltip_is_cut_between_characters() {
        let long = fitting(&"🛎".repeat(2_000));
        assert_eq!(long.encode_utf16().count(), TOOLTIP - 2);
        assert_eq!(fitting("C:\\tide"), "C:\\tide");
    }
}
