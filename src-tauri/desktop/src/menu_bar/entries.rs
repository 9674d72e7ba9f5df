//! What the menu bar shows: the menu of a page, with the entries that macOS expects of every app. Pure.

use deskbell_engine::api::MenuEntry;
use deskbell_engine::title::Title;

/// Longest label, in user-perceived characters: it can be the title of a session or the path of a project.
const LABEL: usize = 80;
/// Maximum number of entries, and of levels of submenus. A page has some hundred, on two levels.
const MOST: usize = 2_000;
const DEEPEST: usize = 4;

/// The page's actions that are in the menu of the app on macOS.
const QUIT: &str = "quit";
const SETTINGS: &str = "settings";

/// An entry of the bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Separator,
    Standard(Standard),
    Submenu {
        label: String,
        role: Role,
        is_enabled: bool,
        entries: Vec<Entry>,
    },
    /// Chosen by its id.
    Action {
        id: String,
        label: String,
        is_enabled: bool,
        is_checked: Option<bool>,
        accelerator: Option<String>,
    },
}

/// A submenu to which macOS adds entries of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    None,
    Window,
    Help,
}

/// An entry that macOS carries out itself, with its usual words and keys. A field of text gets its keys through these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    About,
    Services,
    Hide,
    HideOthers,
    ShowAll,
    Quit,
    CloseWindow,
    Undo,
    Redo,
    Cut,
    Copy,
    Paste,
    SelectAll,
    Fullscreen,
    Minimize,
    Zoom,
    AllToFront,
}

/// The bar of a window with this menu; of no window if the menu is empty. `app` is the name of the app.
pub fn bar(app: &str, menu: &[MenuEntry]) -> Vec<Entry> {
    use Standard::*;
    let mut left = MOST;
    let page = |name: &str, left: &mut usize| {
        let found = menu.iter().find(|entry| entry.label == name);
        entries_of(found.and_then(|entry| entry.items.as_deref()).unwrap_or_default(), left, 1)
    };
    let own = |id: &str| action_of(menu, id).map(Entry::action).into_iter().collect::<Vec<_>>();
    // The page's own entry asks first where agents work; that of the system ends the app at once.
    let quit = Some(own(QUIT)).filter(|quit| !quit.is_empty()).unwrap_or_else(|| standard([Quit]));
    let mut bar = vec![Entry::submenu(
        app,
        Role::None,
        sections([
            standard([About]),
            own(SETTINGS),
            standard([Services]),
            standard([Hide, HideOthers, ShowAll]),
            quit,
        ]),
    )];
    // In the order of the page; what the page leaves out is there for the system's own entries.
    let names = ["File", "Edit", "View"];
    for name in names {
        let own = page(name, &mut left);
        let parts = match name {
            "File" => [own, standard([CloseWindow]), Vec::new()],
            "Edit" => [standard([Undo, Redo]), standard([Cut, Copy, Paste, SelectAll]), own],
            _ => [own, standard([Fullscreen]), Vec::new()],
        };
        bar.push(Entry::submenu(name, Role::None, sections(parts)));
    }
    for entry in menu.iter().filter(|entry| !names.contains(&entry.label.as_str()) && entry.label != "Help") {
        let own = page(&entry.label, &mut left);
        bar.push(Entry::submenu(&label(&entry.label), Role::None, own));
    }
    let window = sections([standard([Minimize, Zoom]), standard([AllToFront])]);
    bar.push(Entry::submenu("Window", Role::Window, window));
    bar.push(Entry::submenu("Help", Role::Help, page("Help", &mut left)));
    bar
}

fn standard<const N: usize>(entries: [Standard; N]) -> Vec<Entry> {
    entries.map(Entry::Standard).into()
}

/// Joins the sections that are not empty, with lines between them.
fn sections<const N: usize>(sections: [Vec<Entry>; N]) -> Vec<Entry> {
    let sections: Vec<Vec<Entry>> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    sections.join(&Entry::Separator)
}

/// The action with this id, wherever it is in the menu.
fn action_of<'a>(menu: &'a [MenuEntry], id: &str) -> Option<&'a MenuEntry> {
    let inside = menu.iter().flat_map(|entry| entry.items.iter().flatten());
    inside.into_iter().find(|entry| entry.id == id)
}

/// The entries of a menu of the page. `left` counts down the entries that may still be added.
fn entries_of(menu: &[MenuEntry], left: &mut usize, depth: usize) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut is_separated = false;
    for entry in menu {
        is_separated |= entry.separated;
        // They are in the menu of the app.
        if [QUIT, SETTINGS].contains(&entry.id.as_str()) || *left == 0 {
            continue;
        }
        *left -= 1;
        if is_separated && !entries.is_empty() {
            entries.push(Entry::Separator);
        }
        is_separated = false;
        entries.push(match &entry.items {
            Some(items) if depth < DEEPEST => {
                let inside = entries_of(items, left, depth + 1);
                let is_enabled = entry.enabled && !inside.is_empty();
                Entry::Submenu { label: label(&entry.label), role: Role::None, is_enabled, entries: inside }
            }
            Some(_) => Entry::Submenu {
                label: label(&entry.label),
                role: Role::None,
                is_enabled: false,
                entries: Vec::new(),
            },
            None => Entry::action(entry),
        });
    }
    entries
}

impl Entry {
    fn submenu(label: &str, role: Role, entries: Vec<Self>) -> Self {
        Self::Submenu { label: label.to_owned(), role, is_enabled: true, entries }
    }

    fn action(entry: &MenuEntry) -> Self {
        Self::Action {
            id: entry.id.clone(),
            label: label(&entry.label),
            is_enabled: entry.enabled,
            is_checked: entry.checked,
            accelerator: entry.chord.as_deref().and_then(accelerator),
        }
    }
}

/// One line without characters that could mislead. One ampersand would mark a letter of the label.
fn label(text: &str) -> String {
    Title::one_line(text, LABEL).replace('&', "&&")
}

/// The keys as muda reads them; `None` for keys that must not be taken from a field of text: those without the command
/// key, except F1 to F24. The page still has them.
fn accelerator(chord: &str) -> Option<String> {
    let (modifiers, key) = chord.rsplit_once('+').unwrap_or(("", chord));
    let modifiers: Vec<&str> = modifiers.split('+').filter(|modifier| !modifier.is_empty()).collect();
    let words = modifiers.iter().map(|modifier| match *modifier {
        "Ctrl" => Some("CmdOrCtrl"),
        "Alt" => Some("Alt"),
        "Shift" => Some("Shift"),
        _ => None,
    });
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    let key = key_of(key)?;
    if !is_function_key(&key) && !modifiers.contains(&"Ctrl") {
        return None;
    }
    words.push(&key);
    Some(words.join("+"))
}

/// F1 to F24.
fn is_function_key(key: &str) -> bool {
    key.strip_prefix('F').is_some_and(|nr| nr.parse().is_ok_and(|nr: u8| (1..=24).contains(&nr)))
}

/// The name of a key for muda, which names the key of a keyboard, not the character on it.
fn key_of(key: &str) -> Option<String> {
    let mut characters = key.chars();
    if let (Some(one), None) = (characters.next(), characters.next()) {
        let is_key = one.is_ascii_alphanumeric() || "`\\[],=-.';/".contains(one);
        return is_key.then(|| one.to_ascii_uppercase().to_string());
    }
    let named = match key {
        // On the key of the equals sign, which the page accepts as well.
        "Plus" => "=",
        "Minus" => "-",
        "Enter" | "Escape" | "Tab" | "Space" | "Backspace" | "Delete" | "Insert" | "Home" | "End"
        | "PageUp" | "PageDown" | "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight" => key,
        _ if is_function_key(key) => key,
        _ => return None,
    };
    Some(named.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use muda::accelerator::Accelerator;

    /// The menu with every action of the page, as it is on macOS.
    /// `UPDATE_MENU=1 npx vitest run src/lib/window/actions/bar.test.ts` writes it.
    const EVERY_ACTION: &str = include_str!("every_action.json");

    fn every_action() -> Vec<MenuEntry> {
        serde_json::from_str(EVERY_ACTION).unwrap()
    }

    fn entry(id: &str, label: &str) -> MenuEntry {
        MenuEntry {
            id: id.to_owned(),
            label: label.to_owned(),
            chord: None,
            enabled: true,
            checked: None,
            separated: false,
            items: None,
        }
    }

    fn menu(label: &str, items: Vec<MenuEntry>) -> MenuEntry {
        MenuEntry { items: Some(items), ..entry(label, label) }
    }

    /// The labels and standard entries of a submenu of the bar.
    fn of(bar: &[Entry], name: &str) -> Vec<String> {
        let entries = bar.iter().find_map(|entry| match entry {
            Entry::Submenu { label, entries, .. } if label == name => Some(entries),
            _ => None,
        });
        let shown = |entry: &Entry| match entry {
            Entry::Separator => "-".to_owned(),
            Entry::Standard(standard) => format!("{standard:?}"),
            Entry::Submenu { label, .. } => format!("{label} >"),
            Entry::Action { label, .. } => label.clone(),
        };
        entries.unwrap().iter().map(shown).collect()
    }

    fn actions(entries: &[Entry]) -> Vec<&Entry> {
        let mut all = Vec::new();
        for entry in entries {
            match entry {
                Entry::Submenu { entries, .. } => all.extend(actions(entries)),
                Entry::Action { .. } => all.push(entry),
                _ => {}
            }
        }
        all
    }

    #[test]
    fn every_action_is_in_the_bar_once() {
        fn ids(menu: &[MenuEntry]) -> Vec<&str> {
            menu.iter()
                .flat_map(|entry| match &entry.items {
                    Some(items) => ids(items),
                    None => vec![entry.id.as_str()],
                })
                .collect()
        }
        let menu = every_action();
        let mut wanted = ids(&menu);
        let bar = bar("Deskbell", &menu);
        let mut found: Vec<&str> = actions(&bar)
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Action { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        wanted.sort_unstable();
        found.sort_unstable();
        assert!(wanted.len() > 60, "{wanted:?}");
        assert_eq!(found, wanted);
    }

    #[test]
    fn every_chord_of_the_table_is_an_accelerator_or_belongs_to_the_page() {
        fn chords(menu: &[MenuEntry]) -> Vec<&str> {
            menu.iter()
                .flat_map(|entry| {
                    let inside = entry.items.as_deref().map(chords).unwrap_or_default();
                    entry.chord.as_deref().into_iter().chain(inside)
                })
                .collect()
        }
        let menu = every_action();
        let all = chords(&menu);
        assert!(all.len() > 25, "{all:?}");
        let mut of_the_page = Vec::new();
        for chord in all {
            match accelerator(chord) {
                Some(keys) => assert!(keys.parse::<Accelerator>().is_ok(), "{chord}: {keys}"),
                None => of_the_page.push(chord),
            }
        }
        // Without the command key.
        assert_eq!(of_the_page, ["Alt+ArrowDown", "Alt+ArrowUp", "?"]);
    }

    #[test]
    fn keys_are_named_as_the_menu_reads_them() {
        for (chord, keys) in [
            ("Ctrl+Shift+P", Some("CmdOrCtrl+Shift+P")),
            ("Ctrl+Plus", Some("CmdOrCtrl+=")),
            ("Ctrl+Minus", Some("CmdOrCtrl+-")),
            ("Ctrl+0", Some("CmdOrCtrl+0")),
            ("Ctrl+Alt+ArrowUp", Some("CmdOrCtrl+Alt+ArrowUp")),
            ("Ctrl+,", Some("CmdOrCtrl+,")),
            ("F8", Some("F8")),
            ("Shift+F8", Some("Shift+F8")),
            ("F24", Some("F24")),
            // They write, or edit a text.
            ("?", None),
            ("A", None),
            ("Shift+Tab", None),
            ("Escape", None),
            ("Alt+ArrowUp", None),
            ("F", None),
            // A key that the user chose, and that no menu can name.
            ("Ctrl+É", None),
            ("Ctrl+F99", None),
            ("Ctrl+MediaPlay", None),
            ("Hyper+A", None),
            ("Ctrl+", None),
            ("", None),
        ] {
            assert_eq!(accelerator(chord).as_deref(), keys, "{chord}");
            if let Some(keys) = keys {
                assert!(keys.parse::<Accelerator>().is_ok(), "{keys}");
            }
        }
    }

    #[test]
    fn the_bar_has_what_macos_expects_also_without_a_window() {
        let empty = bar("Deskbell", &[]);
        assert_eq!(
            of(&empty, "Deskbell"),
            ["About", "-", "Services", "-", "Hide", "HideOthers", "ShowAll", "-", "Quit"]
        );
        assert_eq!(of(&empty, "File"), ["CloseWindow"]);
        assert_eq!(of(&empty, "Edit"), ["Undo", "Redo", "-", "Cut", "Copy", "Paste", "SelectAll"]);
        assert_eq!(of(&empty, "View"), ["Fullscreen"]);
        assert_eq!(of(&empty, "Window"), ["Minimize", "Zoom", "-", "AllToFront"]);
        assert_eq!(of(&empty, "Help"), [""; 0]);
        let labels: Vec<String> = bar("Deskbell", &every_action())
            .iter()
            .filter_map(|entry| match entry {
                Entry::Submenu { label, .. } => Some(label.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(labels, ["Deskbell", "File", "Edit", "View", "Session", "Agent", "Go", "Window", "Help"]);
    }

    #[test]
    fn settings_and_quit_are_in_the_menu_of_the_app() {
        let file = vec![
            entry("new", "New session"),
            MenuEntry { separated: true, ..entry(SETTINGS, "Settings") },
            entry("keys", "Keys"),
            MenuEntry { separated: true, ..entry(QUIT, "Quit") },
        ];
        let bar = bar("Deskbell", &[menu("File", file)]);
        assert_eq!(of(&bar, "Deskbell")[..4], ["About", "-", "Settings", "-"]);
        assert_eq!(of(&bar, "Deskbell").last().unwrap(), "Quit");
        assert!(actions(&bar).iter().any(|entry| matches!(entry, Entry::Action { id, .. } if id == QUIT)));
        // The line of the section stays, before its next entry.
        assert_eq!(of(&bar, "File"), ["New session", "-", "Keys", "-", "CloseWindow"]);
    }

    #[test]
    fn a_page_cannot_fill_the_bar_or_mislead() {
        let many = (0..MOST * 2).map(|nr| entry(&nr.to_string(), "One")).collect();
        let bar_of_many = bar("Deskbell", &[menu("View", many)]);
        assert_eq!(actions(&bar_of_many).len(), MOST);
        let deep = (0..50).fold(entry("x", "x"), |inside, _| menu("Deep", vec![inside]));
        assert_eq!(actions(&bar("Deskbell", &[menu("View", vec![deep])])), Vec::<&Entry>::new());
        let named = entry("x", "a & b\n\u{202e}c\u{7}");
        let long = entry("y", &"long ".repeat(100));
        let bar = bar("Deskbell", &[menu("Go", vec![named, long])]);
        let [first, second] = &of(&bar, "Go")[..] else { panic!("{bar:?}") };
        assert_eq!(first, "a && b c");
        assert!(second.chars().count() <= LABEL, "{second}");
    }

    #[test]
    fn choices_are_checked_and_a_submenu_without_choices_is_off() {
        let model = menu("Model", vec![MenuEntry { checked: Some(true), ..entry("model/choice/a", "a") }]);
        let off = MenuEntry { enabled: false, ..entry("stop", "Stop") };
        let bar = bar("Deskbell", &[menu("Agent", vec![model, menu("Mode", Vec::new()), off])]);
        let Some(Entry::Submenu { entries, .. }) =
            bar.iter().find(|entry| matches!(entry, Entry::Submenu { label, .. } if label == "Agent"))
        else {
            panic!("{bar:?}")
        };
        let [Entry::Submenu { entries: models, is_enabled: true, .. }, mode, stop] = &entries[..] else {
            panic!("{entries:?}")
        };
        assert!(matches!(&models[..], [Entry::Action { is_checked: Some(true), .. }]), "{models:?}");
        assert!(matches!(mode, Entry::Submenu { is_enabled: false, .. }), "{mode:?}");
        assert!(matches!(stop, Entry::Action { is_enabled: false, is_checked: None, .. }), "{stop:?}");
    }
}
