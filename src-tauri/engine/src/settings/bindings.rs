//! Keys that the user chose for actions: which are possible.

use crate::api::KeyBinding;
use serde_json::Value;

/// Maximum number of entries. There are about a hundred actions.
const MOST: usize = 500;

/// Maximum length of an action's name, in bytes.
const MOST_NAME: usize = 64;

const MODIFIERS: [&str; 3] = ["ctrl", "alt", "shift"];

/// Keys with names, besides F1 to F24.
const NAMED: [&str; 14] = [
    "escape",
    "insert",
    "delete",
    "backspace",
    "home",
    "end",
    "pageup",
    "pagedown",
    "arrowup",
    "arrowdown",
    "arrowleft",
    "arrowright",
    "plus",
    "minus",
];

/// Chords that edit text, that the prompt box needs, or that desktops take.
const TAKEN: [&str; 16] = [
    "ctrl+a",
    "ctrl+c",
    "ctrl+v",
    "ctrl+x",
    "ctrl+y",
    "ctrl+z",
    "ctrl+shift+z",
    "ctrl+shift+v",
    "alt+f4",
    "f10",
    "ctrl+backspace",
    "ctrl+delete",
    "ctrl+arrowleft",
    "ctrl+arrowright",
    "ctrl+home",
    "ctrl+end",
];

/// The actions that answer a permission request. One stray key must not.
const ANSWERS: [&str; 3] = ["allow", "always-allow", "deny"];

/// Checks the list. The error continues a sentence and says which entry is wrong.
pub(super) fn check(value: &Value) -> Result<(), String> {
    let bindings: Vec<KeyBinding> =
        serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    if bindings.len() > MOST {
        return Err(format!("more than {MOST} entries"));
    }
    let mut chords: Vec<(String, &str)> = Vec::new();
    for (nr, KeyBinding { action, key }) in bindings.iter().enumerate() {
        if bindings[..nr].iter().any(|earlier| earlier.action == *action) {
            return Err(format!("“{action}” is there twice"));
        }
        if action.trim().is_empty() || action.len() > MOST_NAME || action.contains(char::is_control) {
            return Err("the name of an action is empty, too long or has control characters".to_owned());
        }
        let Some(key) = key else { continue };
        let chord = chord(key, action).map_err(|problem| format!("“{key}” for “{action}” {problem}"))?;
        if let Some((_, other)) = chords.iter().find(|(known, _)| *known == chord) {
            return Err(format!("“{key}” is there for “{other}” and for “{action}”"));
        }
        chords.push((chord, action));
    }
    Ok(())
}

/// A chord in one spelling: modifiers in order, in lower case.
fn chord(text: &str, action: &str) -> Result<String, &'static str> {
    let lower = text.to_lowercase();
    let mut parts: Vec<&str> = lower.split('+').map(str::trim).collect();
    let key = parts.pop().unwrap_or_default();
    let is_modifier = |part: &&str| MODIFIERS.contains(part);
    let is_repeated = parts.iter().enumerate().any(|(n, part)| parts[..n].contains(part));
    if !parts.iter().all(is_modifier) || is_repeated {
        return Err("has another modifier than Ctrl, Alt and Shift, each once");
    }
    let nr = key.strip_prefix('f').and_then(|nr| nr.parse::<u8>().ok());
    let is_function = nr.is_some_and(|nr| (1..=24).contains(&nr));
    let mut characters = key.chars();
    let is_character = matches!((characters.next(), characters.next()), (Some(one), None) if !one.is_whitespace() && !one.is_control());
    if !is_function && !is_character && !NAMED.contains(&key) {
        return Err(
            "does not end with a key: a character, F1 to F24, Escape, ArrowUp, PageDown, Plus and so on",
        );
    }
    let has = |modifier: &str| parts.contains(&modifier);
    if !has("ctrl") && !has("alt") {
        if !is_function {
            return Err("needs Ctrl or Alt: alone it is for typing");
        }
        if ANSWERS.contains(&action) {
            return Err("needs Ctrl or Alt, because it answers a permission request");
        }
    }
    let modifiers = MODIFIERS.into_iter().filter(|modifier| has(modifier));
    let chord = modifiers.chain([key]).collect::<Vec<_>>().join("+");
    if TAKEN.contains(&chord.as_str()) {
        return Err("is taken: it edits text or belongs to the desktop");
    }
    Ok(chord)
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::json;

    #[test]
    fn possible_keys_are_accepted() {
        for key in
            ["Ctrl+Alt+N", "alt+ctrl+n", "F5", "Shift+F24", "Ctrl+Plus", "Alt+ArrowUp", "Ctrl+,", "Alt+ä"]
        {
            assert_eq!(check(&json!([{"action": "new", "key": key}])), Ok(()), "{key}");
        }
        assert_eq!(check(&json!([])), Ok(()));
        let several = json!([
            {"action": "new", "key": "F5"}, {"action": "fold", "key": "F6"}, {"action": "find", "key": null},
        ]);
        assert_eq!(check(&several), Ok(()));
    }

    #[test]
    fn other_keys_are_refused_with_the_reason() {
        for (key, reason) in [
            ("", "does not end with a key"),
            ("Ctrl+", "does not end with a key"),
            ("Ctrl+Enter", "does not end with a key"),
            ("Ctrl+Space", "does not end with a key"),
            ("F25", "does not end with a key"),
            ("Ctrl+NN", "does not end with a key"),
            ("Hyper+N", "another modifier"),
            ("Ctrl+Ctrl+N", "each once"),
            ("n", "for typing"),
            ("Shift+N", "for typing"),
            ("Escape", "for typing"),
            ("Ctrl+C", "is taken"),
            ("shift+ctrl+Z", "is taken"),
        ] {
            let error = check(&json!([{"action": "new", "key": key}])).unwrap_err();
            assert!(error.contains(reason), "{key}: {error}");
        }
        for action in super::ANSWERS {
            let error = check(&json!([{"action": action, "key": "F5"}])).unwrap_err();
            assert!(error.contains("permission request"), "{error}");
            assert_eq!(check(&json!([{"action": action, "key": "Alt+F5"}])), Ok(()));
        }
    }

    #[test]
    fn lists_that_say_no_one_thing_are_refused() {
        for wrong in [
            json!({}),
            json!(null),
            json!(["F5"]),
            json!([{"key": "F5"}]),
            json!([{"action": "", "key": "F5"}]),
            json!([{"action": "a\u{0}", "key": "F5"}]),
            json!([{"action": "a".repeat(65), "key": "F5"}]),
            json!([{"action": "new", "key": 5}]),
            json!([{"action": "new", "key": "Ctrl+N"}, {"action": "new", "key": null}]),
            json!([{"action": "new", "key": "Ctrl+N"}, {"action": "find", "key": "ctrl+n"}]),
            json!(vec![json!({"action": "new", "key": null}); 501]),
        ] {
            assert!(check(&wrong).is_err(), "{wrong}");
        }
    }
}
