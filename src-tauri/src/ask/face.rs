//! What a dialog says, and what is meant by what is pressed in it: the same on every system. Nothing here shows anything.

use deskbell_engine::permission::{Ask, Reaction};
use std::time::Duration;

/// *Allow once* is armed this long after the dialog is shown: a click that was meant for something else decides
/// nothing.
pub const ARMED_AFTER: Duration = Duration::from_millis(700);

/// What the field for the reason says while it is empty; a task dialog has none.
#[cfg(not(windows))]
pub const REASON: &str = "Reason for a denial, which the agent reads";

/// What can be pressed, in the order in which it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Deny,
    AllowOnce,
    Review,
}

impl Button {
    pub const ALL: [Self; 3] = [Self::Deny, Self::AllowOnce, Self::Review];

    /// Enter anywhere leads to the button that decides nothing.
    pub const DEFAULT: Self = Self::Review;

    pub fn label(self) -> &'static str {
        match self {
            Self::Deny => "Deny",
            Self::AllowOnce => "Allow once",
            Self::Review => "Review…",
        }
    }

    /// Is it there, but not to be used before [`ARMED_AFTER`]?
    pub fn is_armed_late(self) -> bool {
        self == Self::AllowOnce
    }

    /// What it means that it was pressed.
    pub fn reaction(self, reason: &str) -> Reaction {
        match self {
            Self::Deny => Reaction::Deny { reason: reason.trim().to_owned() },
            Self::AllowOnce => Reaction::AllowOnce,
            Self::Review => Reaction::Review,
        }
    }
}

/// What would happen, as far as a dialog may say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// All of it.
    Whole(String),
    /// Why it is for the card, line by line.
    NotHere(Vec<String>),
}

/// Everything that a dialog says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Face {
    pub title: String,
    pub question: String,
    /// The tool and the project, which are never cut.
    pub place: String,
    pub session: String,
    pub subject: Subject,
}

impl Face {
    pub fn of(ask: &Ask) -> Self {
        Self {
            title: format!("{} — {}", ask.question, ask.project),
            question: ask.question.clone(),
            place: format!("{} in {}", ask.tool, ask.project),
            session: format!("Session: “{}”", ask.session_title),
            subject: match &ask.subject {
                Some(text) => Subject::Whole(text.clone()),
                None => not_here(&ask.notices),
            },
        }
    }

    /// The same, where the subject cannot be shown as it is.
    #[cfg(any(windows, test))]
    pub fn without_subject(self) -> Self {
        Self { subject: not_here(&[]), ..self }
    }

    /// What can be pressed. *Allow once* is there only if the subject is.
    pub fn buttons(&self) -> impl Iterator<Item = Button> + use<> {
        let is_whole = matches!(self.subject, Subject::Whole(_));
        Button::ALL.into_iter().filter(move |button| is_whole || *button != Button::AllowOnce)
    }

    /// The same with the default in front, for a system that gives the keyboard to the first.
    #[cfg(any(windows, target_os = "macos", test))]
    pub fn buttons_default_first(&self) -> Vec<Button> {
        let mut buttons: Vec<Button> = self.buttons().collect();
        buttons.sort_by_key(|button| *button != Button::DEFAULT);
        buttons
    }
}

fn not_here(notices: &[String]) -> Subject {
    let why = if notices.is_empty() {
        "This is more than a dialog can show plainly."
    } else {
        "This may not be what it seems:"
    };
    let lines = notices.iter().map(|notice| format!("•  {notice}"));
    let last = "Review it to see all of it.".to_owned();
    Subject::NotHere(std::iter::once(why.to_owned()).chain(lines).chain([last]).collect())
}

/// Marks the end of a line, which is not to be taken for a line that was broken because it is long.
pub const LINE_END: char = '↵';

/// A text for where long lines are cut, not broken: broken after so many characters, and where a line really ends
/// [`LINE_END`] says so.
#[cfg(any(windows, target_os = "macos", test))]
pub fn broken(text: &str, most: usize) -> String {
    let mut broken = String::new();
    let mut n_in_line = 0;
    for character in text.chars() {
        if character == '\n' {
            broken.extend([LINE_END, '\n']);
            n_in_line = 0;
            continue;
        }
        if n_in_line == most {
            broken.push('\n');
            n_in_line = 0;
        }
        broken.push(character);
        n_in_line += 1;
    }
    broken
}

/// A text that need not be whole, at most so long.
#[cfg(any(windows, target_os = "macos", test))]
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Counts how long a dialog has been in sight without a break, for a system that does not tell when it appears.
#[cfg(any(windows, target_os = "macos", test))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arming {
    seen_since: Option<Duration>,
}

#[cfg(any(windows, target_os = "macos", test))]
impl Arming {
    /// Looks once more; `now` is the time on any one clock. `true`: what is armed late is armed.
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

    fn labels(face: &Face) -> Vec<&'static str> {
        face.buttons().map(Button::label).collect()
    }

    #[test]
    fn a_whole_subject_can_be_allowed_there() {
        let face = Face::of(&ask(1));
        assert_eq!(face.subject, Subject::Whole("touch 1.txt".to_owned()));
        assert_eq!(labels(&face), ["Deny", "Allow once", "Review…"]);
        for words in [&face.title, &face.place] {
            assert!(words.contains("lighthouse"), "{words} does not name the project");
        }
        assert_eq!(face.place, "Bash in lighthouse");
        assert_eq!(face.buttons_default_first(), [Button::Review, Button::Deny, Button::AllowOnce]);
    }

    #[test]
    fn what_is_not_shown_whole_cannot_be_allowed_there() {
        let mut ask = ask(1);
        ask.subject = None;
        ask.notices = vec!["It has an invisible character.".to_owned()];
        let face = Face::of(&ask);
        assert_eq!(labels(&face), ["Deny", "Review…"]);
        let Subject::NotHere(lines) = face.subject else { panic!("it is shown") };
        assert_eq!(lines[1], "•  It has an invisible character.");
        let cut = Face::of(&self::ask(1)).without_subject();
        assert_eq!(labels(&cut), ["Deny", "Review…"]);
    }

    #[test]
    fn each_button_means_what_it_says() {
        assert_eq!(Button::Deny.reaction(" No tags. "), Reaction::Deny { reason: "No tags.".to_owned() });
        assert_eq!(Button::AllowOnce.reaction("ignored"), Reaction::AllowOnce);
        assert_eq!(Button::DEFAULT.reaction(""), Reaction::Review);
        let late: Vec<_> = Button::ALL.into_iter().filter(|button| button.is_armed_late()).collect();
        assert_eq!(late, [Button::AllowOnce]);
    }

    #[test]
    fn breaking_lines_takes_no_character_and_marks_real_ends() {
        assert_eq!(broken("abcdef\ngh", 4), "abcd\nef↵\ngh");
        assert_eq!(broken("äöü", 3), "äöü");
        assert_eq!(broken("a\n\n", 3), "a↵\n↵\n");
        let text = "touch a; ".repeat(70);
        assert_eq!(broken(&text, 64).replace('\n', ""), text);
        assert!(broken(&text, 64).lines().all(|line| line.chars().count() <= 64));
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
