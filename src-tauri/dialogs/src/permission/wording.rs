//! The texts of a permission dialog and the meaning of its buttons, the same on every system. This module shows
//! nothing.

use deskbell_engine::permission::{DialogRequest, DialogResponse};
use std::time::Duration;

/// *Allow once* and *Always allow* are enabled this long after the dialog is shown, so that a click that was meant for
/// something else decides nothing.
pub const ARMED_AFTER: Duration = Duration::from_millis(700);

/// The placeholder of the field for the reason. A task dialog has no such field.
#[cfg(not(windows))]
pub const REASON: &str = "Reason, if you deny (sent to the agent)";

/// The buttons of a dialog, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Deny,
    AllowOnce,
    AlwaysAllow,
    Review,
}

impl Button {
    pub const ALL: [Self; 4] = [Self::Deny, Self::AllowOnce, Self::AlwaysAllow, Self::Review];

    /// Enter anywhere activates the button that decides nothing.
    pub const DEFAULT: Self = Self::Review;

    pub fn label(self) -> &'static str {
        match self {
            Self::Deny => "Deny",
            Self::AllowOnce => "Allow once",
            Self::AlwaysAllow => "Always allow",
            Self::Review => "Review…",
        }
    }

    /// Returns whether the button stays disabled until [`ARMED_AFTER`].
    pub fn is_armed_late(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AlwaysAllow)
    }

    /// The response that pressing the button gives.
    pub fn reaction(self, reason: &str) -> DialogResponse {
        match self {
            Self::Deny => DialogResponse::Deny { reason: reason.trim().to_owned() },
            Self::AllowOnce => DialogResponse::AllowOnce,
            Self::AlwaysAllow => DialogResponse::AlwaysAllow,
            Self::Review => DialogResponse::Review,
        }
    }
}

/// The action that the request asks for, as far as a dialog may show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The complete subject.
    Whole(String),
    /// The reasons why the subject is shown only in the card, one per line.
    NotHere(Vec<String>),
}

/// Maximum length of a session's title in a dialog, in characters.
const SESSION_TITLE: usize = 60;

/// All texts of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialogText {
    /// The window's title: session, project and question.
    pub title: String,
    /// The session and its project. It comes first, so that the dialogs of two sessions look different.
    pub heading: String,
    pub question: String,
    /// The tool and the project, which are never shortened.
    pub place: String,
    /// The subagent that asks; `None` for the agent itself.
    pub asked_by: Option<String>,
    /// What the agent does not say about the call.
    pub unreported: Option<String>,
    pub subject: Subject,
    /// The rule that *Always allow* saves, and where.
    pub always: Option<String>,
}

impl DialogText {
    pub fn of(ask: &DialogRequest) -> Self {
        let heading = format!("{} · {}", shortened(&ask.session_title, SESSION_TITLE), ask.project);
        Self {
            title: format!("{heading} — {}", ask.question),
            heading,
            question: ask.question.clone(),
            place: format!("{} in {}", ask.tool, ask.project),
            asked_by: ask.asked_by.clone(),
            unreported: ask.unreported.clone(),
            subject: match &ask.subject {
                Some(text) => Subject::Whole(text.clone()),
                None => not_here(&ask.notices),
            },
            always: ask
                .subject
                .as_ref()
                .and(ask.always.as_ref())
                .map(|always| format!("Always allow saves: {}", always.scope)),
        }
    }

    /// The same text without the subject, for a subject that cannot be shown unchanged or in full.
    pub fn without_subject(self) -> Self {
        Self { subject: not_here(&[]), always: None, ..self }
    }

    /// The lines below the heading: the question, who asks, the place, what the agent does not say, and the rule that can be
    /// saved.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let asked_by = self.asked_by.as_deref();
        let lines = [self.question.as_str()].into_iter().chain(asked_by).chain([self.place.as_str()]);
        lines.chain(self.unreported.as_deref()).chain(self.always.as_deref())
    }

    /// The same lines as one text, for a system whose dialog has one.
    #[cfg(any(windows, target_os = "macos", test))]
    pub fn text(&self) -> String {
        self.lines().collect::<Vec<_>>().join("\n")
    }

    /// The buttons. Those that allow are included only if the subject is shown, and *Always allow* only with its rule.
    pub fn buttons(&self) -> impl Iterator<Item = Button> + use<> {
        let is_whole = matches!(self.subject, Subject::Whole(_));
        let has_rule = self.always.is_some();
        Button::ALL.into_iter().filter(move |button| match button {
            Button::Deny | Button::Review => true,
            Button::AllowOnce => is_whole,
            Button::AlwaysAllow => is_whole && has_rule,
        })
    }

    /// The same buttons with the default first, for a system that gives the first one the keyboard focus.
    #[cfg(any(windows, target_os = "macos", test))]
    pub fn buttons_default_first(&self) -> Vec<Button> {
        let mut buttons: Vec<Button> = self.buttons().collect();
        buttons.sort_by_key(|button| *button != Button::DEFAULT);
        buttons
    }
}

fn not_here(notices: &[String]) -> Subject {
    let why = if notices.is_empty() {
        "This dialog cannot show all of the request."
    } else {
        "The request may be misleading:"
    };
    let lines = notices.iter().map(|notice| format!("•  {notice}"));
    let last = "Choose Review to see all of it.".to_owned();
    Subject::NotHere(std::iter::once(why.to_owned()).chain(lines).chain([last]).collect())
}

/// Marks a line that continues the one above it. A subject that can be allowed in a dialog does not contain this
/// character.
#[cfg(any(windows, target_os = "macos", test))]
pub const CONTINUED: char = '↪';
/// Marks a space at the end of a line that is continued. A subject does not contain this character either.
#[cfg(any(windows, target_os = "macos", test))]
pub const SPACE: char = '␣';

/// Breaks a subject into lines of at most `columns` characters, for a backend that cannot measure its text. Lines that
/// continue another one are marked. `None`: more than `most_lines`, so part of the subject would not be visible.
#[cfg(any(windows, target_os = "macos", test))]
pub fn wrapped(text: &str, columns: usize, most_lines: usize) -> Option<String> {
    // The marks take up to three columns: the arrow and its space, and the mark of a space.
    let most = columns.saturating_sub(3).max(1);
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let characters: Vec<char> = line.chars().collect();
        let n_chunks = characters.len().div_ceil(most).max(1);
        for n in 0..n_chunks {
            let chunk = &characters[n * most..((n + 1) * most).min(characters.len())];
            let mut shown = if n == 0 { String::new() } else { format!("{CONTINUED} ") };
            shown.extend(chunk);
            if n + 1 < n_chunks && chunk.last() == Some(&' ') {
                shown.push(SPACE);
            }
            lines.push(shown);
        }
    }
    (lines.len() <= most_lines).then(|| lines.join("\n"))
}

/// The first `most` characters of a text, with an ellipsis if it is longer.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Measures how long a dialog has been visible without interruption, for a system that does not report when it appears.
#[cfg(any(windows, target_os = "macos", test))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arming {
    seen_since: Option<Duration>,
}

#[cfg(any(windows, target_os = "macos", test))]
impl Arming {
    /// Checks again; `now` is the time on any one clock. `true`: the delayed button may be enabled.
    pub fn look(&mut self, now: Duration, is_in_sight: bool) -> bool {
        if !is_in_sight {
            self.seen_since = None;
            return false;
        }
        now.saturating_sub(*self.seen_since.get_or_insert(now)) >= ARMED_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ask;
    use super::*;
    use deskbell_engine::permission::AlwaysAllow;

    fn labels(wording: &DialogText) -> Vec<&'static str> {
        wording.buttons().map(Button::label).collect()
    }

    #[test]
    fn a_whole_subject_can_be_allowed_there() {
        let wording = DialogText::of(&ask(1));
        assert_eq!(wording.subject, Subject::Whole("touch 1.txt".to_owned()));
        assert_eq!(labels(&wording), ["Deny", "Allow once", "Review…"]);
        for words in [&wording.title, &wording.place] {
            assert!(words.contains("lighthouse"), "{words} does not name the project");
        }
        assert_eq!(wording.place, "Bash in lighthouse");
        assert_eq!(wording.buttons_default_first(), [Button::Review, Button::Deny, Button::AllowOnce]);
    }

    #[test]
    fn a_rule_is_offered_beside_its_scope() {
        let scope = "Bash(touch:*) · Saved for you in this project (.claude/settings.local.json)".to_owned();
        let always = Some(AlwaysAllow { suggestion: "s0".to_owned(), scope: scope.clone() });
        let wording = DialogText::of(&DialogRequest { always: always.clone(), ..ask(1) });
        assert_eq!(labels(&wording), ["Deny", "Allow once", "Always allow", "Review…"]);
        assert!(wording.text().ends_with(&format!("\nAlways allow saves: {scope}")), "{}", wording.text());
        let unseen = DialogText::of(&DialogRequest { always, subject: None, ..ask(1) });
        for wording in [wording.without_subject(), unseen] {
            assert_eq!(labels(&wording), ["Deny", "Review…"]);
            assert!(!wording.text().contains(&scope));
        }
    }

    #[test]
    fn a_subagent_that_asks_is_named_on_its_own_line() {
        assert_eq!(DialogText::of(&ask(1)).text(), "Run this command?\nBash in lighthouse");
        let asked_by = Some("Asked by the subagent “Explore the parser”".to_owned());
        let wording = DialogText::of(&DialogRequest { asked_by, subject: None, ..ask(1) });
        let expected = "Run this command?\nAsked by the subagent “Explore the parser”\nBash in lighthouse";
        assert_eq!(wording.text(), expected);
        assert_eq!(wording.without_subject().text(), expected);
    }

    #[test]
    fn what_the_agent_does_not_say_is_the_last_line() {
        let unreported = Some("The agent does not send the command itself.".to_owned());
        let wording = DialogText::of(&DialogRequest { unreported, ..ask(1) });
        let expected = "Run this command?\nBash in lighthouse\nThe agent does not send the command itself.";
        assert_eq!(wording.text(), expected);
    }

    #[test]
    fn what_is_not_shown_whole_cannot_be_allowed_there() {
        let mut ask = ask(1);
        ask.subject = None;
        ask.notices = vec!["It has an invisible character.".to_owned()];
        let wording = DialogText::of(&ask);
        assert_eq!(labels(&wording), ["Deny", "Review…"]);
        let Subject::NotHere(lines) = wording.subject else { panic!("it is shown") };
        assert_eq!(lines[1], "•  It has an invisible character.");
        let cut = DialogText::of(&self::ask(1)).without_subject();
        assert_eq!(labels(&cut), ["Deny", "Review…"]);
    }

    #[test]
    fn each_button_means_what_it_says() {
        assert_eq!(
            Button::Deny.reaction(" No tags. "),
            DialogResponse::Deny { reason: "No tags.".to_owned() }
        );
        assert_eq!(Button::AllowOnce.reaction("ignored"), DialogResponse::AllowOnce);
        assert_eq!(Button::DEFAULT.reaction(""), DialogResponse::Review);
        let late: Vec<_> = Button::ALL.into_iter().filter(|button| button.is_armed_late()).collect();
        assert_eq!(late, [Button::AllowOnce, Button::AlwaysAllow]);
    }

    #[test]
    fn lines_that_continue_another_one_are_marked_and_no_character_is_lost() {
        assert_eq!(wrapped("abcdef\ngh", 7, 9).as_deref(), Some("abcd\n↪ ef\ngh"));
        assert_eq!(wrapped("äöü", 6, 9).as_deref(), Some("äöü"));
        assert_eq!(wrapped("a\n\nb", 7, 9).as_deref(), Some("a\n\nb"));
        // `rm -rf a /b` must not look like `rm -rf a/b`.
        assert_eq!(wrapped("abc /def", 7, 9).as_deref(), Some("abc ␣\n↪ /def"));
        let text = "touch a; ".repeat(70);
        let shown = wrapped(&text, 64, 99).unwrap();
        assert_eq!(shown.replace("\n↪ ", "").replace(SPACE, ""), text);
        assert!(shown.lines().all(|line| line.chars().count() <= 64));
    }

    #[test]
    fn a_subject_of_more_lines_than_are_visible_is_not_shown() {
        let six = vec!["x".repeat(80); 6].join("\n");
        assert_eq!(wrapped(&six, 43, 12).map(|shown| shown.lines().count()), Some(12));
        assert_eq!(wrapped(&six, 43, 11), None);
        assert_eq!(wrapped(&"\n".repeat(9), 43, 10).map(|shown| shown.split('\n').count()), Some(10));
        assert_eq!(wrapped(&"\n".repeat(10), 43, 10), None);
    }

    #[test]
    fn the_session_comes_first() {
        let wording = DialogText::of(&ask(1));
        assert_eq!(wording.heading, "Tidy up · lighthouse");
        assert_eq!(wording.title, "Tidy up · lighthouse — Run this command?");
        let other = DialogText::of(&DialogRequest { session_title: "Release".to_owned(), ..ask(1) });
        assert!(other.title.starts_with("Release") && other.heading.starts_with("Release"));
    }

    #[test]
    fn a_long_title_is_cut_and_says_so() {
        assert_eq!((shortened("äöü", 3), shortened("äöüß", 3)), ("äöü".to_owned(), "äöü…".to_owned()));
    }

    #[test]
    fn only_time_in_sight_arms() {
        let ms = Duration::from_millis;
        let mut arming = Arming::default();
        assert!(!arming.look(ms(5_000), true));
        assert!(!arming.look(ms(5_699), true));
        assert!(!arming.look(ms(5_700), false), "it was hidden");
        assert!(!arming.look(ms(9_000), true), "it has just come back");
        assert!(arming.look(ms(9_700), true));
        assert!(arming.look(ms(60_000), true));
    }
}
