//! The file and the page edit the same settings: they agree, and nothing else changes.

use super::*;
use crate::api::{Preset, Profile, SessionOptions, SettingControl, SettingSection, Theme};
use crate::chance::Chance;
use crate::traps::{Trap, all, in_time};
use serde_json::json;
use std::fs;

fn read(text: &str) -> Read {
    text::read(text, &Settings::default())
}

/// The places and the messages of all problems.
fn problems(text: &str) -> Vec<String> {
    let words = |problem: &SettingsProblem| {
        format!("{}:{} {}", problem.line.unwrap(), problem.column.unwrap(), problem.message)
    };
    read(text).problems.iter().map(words).collect()
}

fn edited(text: &str, key: &str, value: Value) -> String {
    text::edit(text, key, &value).unwrap()
}

#[test]
fn an_edit_keeps_comments_unknown_keys_and_layout() {
    let text = "\u{feff}// mine\r\n{\r\n\t\"theme\" : \"dark\", // at night\r\n\t\"later\": {\"a\": [1, /* two */ 2.50]},\r\n}\r\n";
    let expected = text.replace("\"dark\"", "\"light\"");
    assert_eq!(edited(text, "theme", json!("light")), expected);
    assert_eq!(edited(&expected, "theme", json!("light")), expected, "nothing changes");
    let added = edited(text, "agent.program", json!("/opt/\"x\"\\y\n"));
    assert_eq!(read(&added).settings.agent.program.as_deref(), Some("/opt/\"x\"\\y\n"));
    assert_eq!(read(&added).unknown, [("later".to_owned(), 4)]);
    for kept in
        ["\u{feff}// mine\r\n", "// at night\r\n", "{\"a\": [1, /* two */ 2.50]}", "\"theme\" : \"dark\""]
    {
        assert!(added.contains(kept), "{kept} is lost: {added}");
    }
}

#[test]
fn a_command_is_changed_in_place() {
    let key = "bell.failed.command";
    let text = r#"{"bell": {"failed": {"command": {
  "program": "a", // mine
  "args": ["b", /* two */ "c"],
  "note": 1
}}}}"#;
    let changed = edited(text, key, json!({"program": "x", "args": ["y", "z"]}));
    let expected = text.replace("\"a\"", "\"x\"").replace("\"b\"", "\"y\"").replace("\"c\"", "\"z\"");
    assert_eq!(changed, expected);
    // The comments would be lost.
    assert!(matches!(text::edit(text, key, &Value::Null), Err(text::EditError::Unsafe)));
    let plain = edited("{}", key, json!({"program": "x", "args": ["y", "z"]}));
    let shorter = edited(&plain, key, json!({"program": "x", "args": []}));
    assert_eq!(value_of(&shorter, key), Some(json!({"program": "x", "args": []})));
    assert_eq!(value_of(&edited(&shorter, key, Value::Null), key), Some(Value::Null));
}

#[test]
fn a_new_file_begins_with_the_template() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(&folder.path().join("deskbell"));
    assert_eq!(file.read(&Settings::default()), read(""));
    file.set("zoom", &json!(125)).unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(text.starts_with("// The settings of Deskbell.") && text.contains("\"zoom\": 125"), "{text}");
    assert_eq!(file.read(&Settings::default()).settings, Settings { zoom: 125, ..Settings::default() });
    assert_eq!(file.read(&Settings::default()).unknown, []);
    file.prepare().unwrap();
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(file.folder().join("settings.schema.json")).unwrap())
            .unwrap();
    assert_eq!(&schema, super::schema());
}

#[test]
fn a_wrong_value_counts_as_the_last_good_one_and_its_place_is_reported() {
    let last = Settings { theme: Theme::Dark, zoom: 150, ..Settings::default() };
    let text = "{\n  \"theme\": \"mauve\",\n  \"zoom\": 49, \"agent\": 7,\n  \"asking\": \"card\"\n}";
    let found = text::read(text, &last);
    assert_eq!(found.settings, Settings { asking: crate::api::Asking::Card, ..last.clone() });
    assert_eq!(
        problems(text),
        [
            "2:12 “theme” must be \"system\", \"light\" or \"dark\".",
            "3:11 “zoom” must be a whole number from 50 to 200.",
            "3:24 “agent” must be an object: { … }.",
        ]
    );
    assert_eq!(
        problems("{\"zoom\": 90, // ä\n \"zoom\": 80}"),
        ["1:10 “zoom” appears again below; the last one counts."]
    );
    assert_eq!(read("{\"zoom\": 90, \"zoom\": 80}").settings.zoom, 80);
    assert_eq!(read(&edited("{\"zoom\": 90, \"zoom\": 80}", "zoom", json!(70))).settings.zoom, 70);
}

#[test]
fn a_file_that_is_not_valid_keeps_the_last_good_settings_and_is_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    let last = Settings { zoom: 150, ..Settings::default() };
    let mut places = Vec::new();
    for text in [
        "{\n  \"zoom\": 90\n  \"theme\": \"dark\"\n}",
        "{\"zoom\": 0x10}",
        "{'zoom': 90}",
        "{zoom: 90}",
        "[90]",
        "\n{\"zoom\": ",
        "{} {}",
        "{\"a\": \"",
    ] {
        fs::write(file.path(), text).unwrap();
        let found = file.read(&last);
        assert_eq!(found.settings, last, "{text}");
        let [problem] = &found.problems[..] else { panic!("{text}: {found:?}") };
        places.push((problem.line.unwrap(), problem.column.unwrap()));
        let error = file.set("zoom", &json!(100)).unwrap_err();
        assert!(matches!(error, SettingsError::Invalid { .. }), "{text}: {error}");
        assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
    }
    assert_eq!(places, [(2, 13), (1, 10), (1, 2), (1, 2), (1, 1), (2, 10), (1, 4), (1, 7)]);
    fs::write(file.path(), b"{\"zoom\": \xff}").unwrap();
    assert!(file.read(&last).problems[0].message.contains("it is not text"));
    assert!(matches!(file.set("zoom", &json!(100)), Err(SettingsError::Io { .. })));
}

#[test]
fn the_command_of_a_terminal_is_an_argument_of_its_own() {
    let text = |arg: &str| json!({"terminal": {"program": "x", "args": ["-e", arg]}}).to_string();
    assert_eq!(problems(&text("{command}")), [""; 0]);
    let place = "1:13 “terminal”: “{command}” must be an argument of its own.";
    for joined in ["--run={command}", "{command} -x", "{command}{command}"] {
        assert_eq!(problems(&text(joined)), [place], "{joined}");
        assert_eq!(read(&text(joined)).settings.terminal, None);
    }
}

#[test]
fn a_language_that_is_no_tag_is_reported_and_the_last_one_stays() {
    let last = Settings { dates: Some("de".to_owned()), ..Settings::default() };
    for wrong in ["de_DE", "English", "", "de-", "de/DE"] {
        let read = text::read(&json!({"dates": wrong}).to_string(), &last);
        assert_eq!((read.settings.dates.as_deref(), read.problems.len()), (Some("de"), 1), "{wrong}");
    }
    let text = json!({"dates": "de_DE"}).to_string();
    let expected =
        "1:10 “dates”: it must be \"system\" or a language tag (BCP 47) such as \"de\" or \"en-GB\".";
    assert_eq!(problems(&text), [expected]);
}

#[test]
fn names_with_dots_are_not_keys() {
    let found = read(r#"{"agent.program": "/x", "agent": {"a.b": 1}}"#);
    assert_eq!(found.settings, Settings::default());
    assert_eq!(found.unknown, [("agent.program".to_owned(), 1), ("agent.a.b".to_owned(), 1)]);
    let text = edited(r#"{"agent.program": "/x"}"#, "agent.program", json!("/y"));
    assert_eq!(read(&text).settings.agent.program.as_deref(), Some("/y"));
    assert!(text.contains("\"/x\""));
}

#[test]
fn every_setting_is_documented_and_its_default_fits() {
    let mut tree = serde_json::to_value(Settings::default()).unwrap();
    for known in keys() {
        assert!(!known.label.is_empty() && !known.description.is_empty(), "{}", known.key);
        assert!(!known.help.is_empty() && !known.help.contains(['{', '`']), "{}", known.key);
        assert_eq!(keys::check(known, &known.default), Ok(()), "{}", known.key);
        let place = tree.pointer_mut(&format!("/{}", known.key.replace('.', "/"))).expect("it is a field");
        assert_eq!(place.take(), known.default, "{}", known.key);
        if let SettingControl::Choice { options } = &known.control {
            assert!(options.iter().all(|option| !option.label.is_empty()), "{}", known.key);
        }
    }
    // No field is left out of the list.
    fn is_null(value: &Value) -> bool {
        value.as_object().map_or(value.is_null(), |object| object.values().all(is_null))
    }
    assert!(is_null(&tree), "{tree}");
}

#[test]
fn every_setting_names_its_section_and_the_sections_are_in_order() {
    let text = keys::schema().to_string();
    // A setting without one would be counted as advanced.
    assert_eq!(text.matches("\"section\":").count(), keys().len());
    let sections: Vec<SettingSection> = keys().iter().map(|known| known.section).collect();
    assert!(sections.is_sorted(), "{sections:?}");
    let mut each = sections.clone();
    each.dedup();
    assert_eq!(each.first(), Some(&SettingSection::Appearance));
    assert_eq!(each.len(), 8, "{each:?}");
}

#[test]
fn a_file_is_broken_if_nothing_in_it_can_be_changed() {
    for broken in ["{\"zoom\": 110 \"tray\": false}", "{", "[]"] {
        let read = read(broken);
        assert!(read.is_broken && read.problems.len() == 1, "{broken}: {read:?}");
    }
    for whole in ["", "{}", "{\"zoom\": 9}", "{\"mine\": 1}"] {
        assert!(!read(whole).is_broken, "{whole}");
    }
}

/// A value that fits the setting, and one that does not.
fn values(chance: &mut Chance, control: &SettingControl) -> (Value, Value) {
    let texts = ["plain", "with \"quotes\" \\ and \t", "ünï \u{202e} {\"zoom\": 1} // no comment", "/*"];
    let text = json!(chance.pick(&texts).unwrap());
    match control {
        SettingControl::Toggle => (json!(chance.one_in(2)), json!("true")),
        SettingControl::Number { min, max, .. } => {
            let within = u64::from(*min) + chance.below(u64::from(max - min) + 1);
            let beyond = u64::from(*max) + 1;
            (
                json!(within),
                chance.pick(&[json!(beyond), json!(-1), json!(1.5), json!(null)]).unwrap().clone(),
            )
        }
        SettingControl::Choice { options } => {
            (json!(chance.pick(options).unwrap().value), json!("no such value"))
        }
        SettingControl::Text { .. } => {
            (if chance.one_in(3) { Value::Null } else { json!("de-CH") }, json!(""))
        }
        SettingControl::Presets => {
            let max_turns = Some(1 + chance.below(9) as u32);
            let options = SessionOptions { max_turns, ..SessionOptions::default() };
            let preset = Preset { name: "a preset".to_owned(), options, projects: Vec::new() };
            (json!([preset]), json!([{"name": "x", "options": {"arguments": ["--settings=x"]}}]))
        }
        SettingControl::Profiles => {
            let model = Some(format!("model-{}", chance.below(9)));
            let profile = Profile { name: "a profile".to_owned(), model, ..Profile::default() };
            let bad = json!([{"name": "x", "environment": [{"name": "LD_PRELOAD", "value": "x"}]}]);
            (json!([profile]), bad)
        }
        SettingControl::Keys => {
            let key = format!("Ctrl+F{}", 1 + chance.below(24));
            (json!([{"action": "a-name", "key": key}]), json!([{"action": "new", "key": "n"}]))
        }
        SettingControl::Command => (json!({"program": text, "args": [text, ""]}), json!({"program": ""})),
    }
}

#[test]
fn each_limit_of_the_schema_is_the_limit_of_the_check() {
    let mut chance = Chance::new(7);
    for known in keys() {
        for _ in 0..20 {
            let (good, bad) = values(&mut chance, &known.control);
            assert_eq!(keys::check(known, &good), Ok(()), "{} {good}", known.key);
            assert!(keys::check(known, &bad).is_err(), "{} {bad}", known.key);
            let text = edited("{}", &known.key, good.clone());
            let settings = serde_json::to_value(read(&text).settings).unwrap();
            let pointer = format!("/{}", known.key.replace('.', "/"));
            assert_eq!(settings.pointer(&pointer), Some(&good), "{text}");
        }
        if let SettingControl::Number { min, max, .. } = known.control {
            assert_eq!(keys::check(known, &json!(min)), Ok(()));
            assert_eq!(keys::check(known, &json!(max)), Ok(()));
            assert!(min == 0 || keys::check(known, &json!(min - 1)).is_err());
        }
    }
}

/// A user's file: what is in it, written in some layout.
struct Mine {
    /// Every text that must never be lost: comments and unknown entries.
    kept: Vec<String>,
    n_added: usize,
}

impl Mine {
    /// Adds a comment, an unknown entry or a blank line to the text, as an editor would.
    fn write(&mut self, chance: &mut Chance, text: &str) -> String {
        self.n_added += 1;
        let n = self.n_added;
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let line = usize::try_from(chance.below(lines.len() as u64)).unwrap();
        match chance.below(5) {
            0 => {
                self.kept.push(format!("// note {n}."));
                lines.insert(line, format!("  // note {n}."));
            }
            1 if !lines[line].contains("//") => {
                self.kept.push(format!("/* mark {n}. */"));
                lines[line].push_str(&format!(" /* mark {n}. */"));
            }
            2 => {
                let entry = format!("\"x{n}\": {{\"deep\": [{n}, /* in {n} */ 2.500, \"\\u0041\"]}}");
                self.kept.push(entry.clone());
                let open = lines.iter().position(|line| line.contains('{')).unwrap();
                lines[open] = lines[open].replacen('{', &format!("{{{entry}, // after {n}.\n"), 1);
                self.kept.push(format!("// after {n}."));
            }
            3 => lines.insert(line, String::new()),
            _ => {
                return if text.contains('\r') {
                    text.replace("\r\n", "\n")
                } else {
                    text.replace('\n', "\r\n")
                };
            }
        }
        lines.join("\n")
    }
}

/// `DESKBELL_SETTINGS_SEED` replays one run.
#[test]
fn a_thousand_edits_by_file_and_page_agree_and_lose_nothing() {
    let seed = std::env::var("DESKBELL_SETTINGS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(uuid::Uuid::new_v4().as_fields().0));
    println!("DESKBELL_SETTINGS_SEED={seed}");
    let mut chance = Chance::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    let mut mine = Mine { kept: Vec::new(), n_added: 0 };
    let mut expected = Settings::default();
    for n in 0..1_000 {
        // A file grows with each edit; a user begins again now and then.
        if n % 100 == 0 {
            mine.kept.clear();
            expected = Settings::default();
            fs::write(file.path(), chance.pick(&["{}", "{ }\n", TEMPLATE, "// none\n", ""]).unwrap())
                .unwrap();
        }
        let known = chance.pick(keys()).unwrap();
        let (good, bad) = values(&mut chance, &known.control);
        let by_page = chance.one_in(2);
        if by_page {
            file.set(&known.key, &good).unwrap();
        } else {
            let text = fs::read_to_string(file.path()).unwrap();
            let text =
                if text.contains('{') { mine.write(&mut chance, &text) } else { format!("{text}{{}}") };
            fs::write(file.path(), &text).unwrap();
            // A typing error is reported, and changes nothing until it is corrected.
            // Where a command or a list is, a wrong one would replace the comments in it.
            let has_parts = matches!(
                known.control,
                SettingControl::Command
                    | SettingControl::Presets
                    | SettingControl::Profiles
                    | SettingControl::Keys
            );
            if chance.one_in(4) && !has_parts {
                fs::write(file.path(), edited(&text, &known.key, bad)).unwrap();
                let found = file.read(&expected);
                assert_eq!(found.settings, expected, "seed {seed}, edit {n}");
                assert_eq!(found.problems.len(), 1, "seed {seed}, edit {n}: {found:?}");
                fs::write(file.path(), text).unwrap();
            }
        }
        let text = fs::read_to_string(file.path()).unwrap();
        if by_page {
            let mut tree = serde_json::to_value(&expected).unwrap();
            *tree.pointer_mut(&format!("/{}", known.key.replace('.', "/"))).unwrap() =
                if good.is_null() { known.default.clone() } else { good };
            expected = serde_json::from_value(tree).unwrap();
        }
        let found = file.read(&expected);
        assert_eq!(found.problems, [], "seed {seed}, edit {n}:\n{text}");
        assert_eq!(found.settings, expected, "seed {seed}, edit {n}:\n{text}");
        for kept in &mine.kept {
            assert!(text.contains(kept), "seed {seed}, edit {n}: {kept} is lost:\n{text}");
        }
    }
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let write = |key: &'static str, values: [Value; 2]| {
        let file = SettingsFile::new(folder.path());
        std::thread::spawn(move || {
            for n in 0..40 {
                file.set(key, &values[n % 2]).unwrap();
            }
        })
    };
    for writer in [write("theme", [json!("light"), json!("dark")]), write("zoom", [json!(90), json!(80)])] {
        writer.join().unwrap();
    }
    let found = SettingsFile::new(folder.path()).read(&Settings::default());
    assert_eq!((found.settings.theme, found.settings.zoom), (Theme::Dark, 80));
}

#[test]
fn whatever_is_in_place_of_the_file_or_its_lock_holds_nothing_up_and_is_kept() {
    for name in ["settings.json", "settings.lock", "settings.schema.json"] {
        for trap in all() {
            let folder = tempfile::tempdir().unwrap();
            trap.put_at(&folder.path().join(name));
            let file = SettingsFile::new(folder.path());
            let last = Settings { zoom: 150, ..Settings::default() };
            let what = format!("{name}, {trap:?}");
            let (reading, by) = (file.clone(), last.clone());
            let found = in_time(&what, move || reading.read(&by));
            if name == "settings.json" {
                assert_eq!((found.settings, found.problems.len()), (last, 1), "{what}");
            }
            let made = in_time(&what, move || file.set("zoom", &json!(90)).and_then(|()| file.prepare()));
            let is_kept = |name: &str| trap.is_at(&folder.path().join(name));
            match (name, trap) {
                // It may be the user's file, so it stays where it is.
                ("settings.json", Trap::Huge | Trap::Unreadable) => {
                    assert!(made.is_err() && is_kept(name), "{what}")
                }
                ("settings.json", Trap::DanglingLink) => assert!(made.is_err() && is_kept(name), "{what}"),
                // These can be locked or replaced as they are.
                (_, Trap::Huge | Trap::DanglingLink | Trap::Unreadable) => {
                    made.unwrap_or_else(|e| panic!("{what}: {e}"))
                }
                _ => {
                    made.unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(is_kept(&format!("{name}.unreadable")), "{what}");
                }
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_and_a_link_to_it_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(&root.path().join("config/deskbell"));
    file.set("zoom", &json!(90)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.path()), mode(file.folder())), (0o600, 0o700));
    let dotfile = root.path().join("dotfile");
    fs::rename(file.path(), &dotfile).unwrap();
    std::os::unix::fs::symlink(&dotfile, file.path()).unwrap();
    file.set("zoom", &json!(80)).unwrap();
    assert!(fs::symlink_metadata(file.path()).unwrap().is_symlink());
    assert!(fs::read_to_string(&dotfile).unwrap().contains("80"));
}

#[test]
fn every_way_to_save_the_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    let (sender, changes) = std::sync::mpsc::channel();
    let _watch = SettingsWatch::new(file.path(), move || sender.send(()).unwrap_or_default()).unwrap();
    let soon = std::time::Duration::from_secs(10);
    let seen = |what: &str| {
        assert!(changes.recv_timeout(soon).is_ok(), "{what}");
        while changes.recv_timeout(std::time::Duration::from_millis(100)).is_ok() {}
    };
    fs::write(file.path(), "{}").unwrap();
    seen("it appears");
    fs::write(file.path(), "{ }").unwrap();
    seen("it is written in place");
    file.set("zoom", &json!(90)).unwrap();
    seen("the page replaces it");
    fs::remove_file(file.path()).unwrap();
    seen("it is removed");
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    assert!(changes.recv_timeout(std::time::Duration::from_millis(300)).is_err(), "another file counts");
}

#[test]
fn presets_are_replaced_and_their_unknown_names_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    let text = r#"{
  // mine
  "agent": {
    "presets": [
      {
        "name": "one",
        // why
        "options": {"maxTurns": 2, "later": true},
        "note": "kept"
      }
    ]
  },
  "zoom": 110
}"#;
    fs::write(file.path(), text).unwrap();
    let mut presets = file.read(&Settings::default()).settings.agent.presets;
    assert_eq!(presets[0].options.max_turns, Some(2));
    presets[0].options.max_turns = Some(3);
    presets.push(Preset { name: "two".to_owned(), ..Preset::default() });
    file.set_presets(&presets, &[]).unwrap();
    let read = file.read(&Settings::default());
    assert_eq!((read.settings.agent.presets, read.problems), (presets.clone(), Vec::new()));
    let written = fs::read_to_string(file.path()).unwrap();
    for kept in ["// mine", "// why", "\"note\": \"kept\"", "\"later\": true", "\"zoom\": 110"] {
        assert!(written.contains(kept), "{kept} in {written}");
    }
    // A comment is not removed with a preset. Without one, the next preset does not get what was in the removed one.
    assert!(matches!(file.set_presets(&presets[1..], &[]), Err(SettingsError::Unsafe(_))));
    fs::write(file.path(), written.replace("// why", "")).unwrap();
    file.set_presets(&presets[1..], &[]).unwrap();
    assert_eq!(file.read(&Settings::default()).settings.agent.presets, presets[1..]);
    assert!(!fs::read_to_string(file.path()).unwrap().contains("note"));

    presets[1].name = "one".to_owned();
    assert!(matches!(file.set_presets(&presets, &[]), Err(SettingsError::BadValue(_))));
}

#[test]
fn a_wrong_preset_is_reported_with_its_place_and_the_last_ones_stay() {
    let text = r#"{"agent": {"presets": [{"name": "a", "options": {"maxTurns": 0}}]}}"#;
    let read = read(text);
    assert!(read.settings.agent.presets.is_empty());
    let problem = &read.problems[0];
    assert!(problem.message.contains("preset “a”: maxTurns: Enter"), "{}", problem.message);
    assert_eq!(problem.line, Some(1));
}

#[test]
fn a_wrong_profile_is_reported_with_its_place_and_none_is_used() {
    let text = "{\n  \"agent\": {\n    \"profiles\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}}";
    let read = read(text);
    assert!(read.settings.agent.profiles.is_empty());
    let problem = &read.problems[0];
    assert_eq!(problem.message, "“agent.profiles”: two profiles have the name “a”.");
    assert_eq!((problem.line, problem.column), (Some(3), Some(17)));
}

#[test]
fn a_profile_is_added_changed_and_removed_and_what_is_unknown_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    let text = r#"{
  // mine
  "agent": {
    "profiles": [
      {
        "name": "Work",
        // why
        "environment": [{"name": "TEAM", "value": "a", "later": 1}],
        "model": "opus",
        "note": "kept"
      }
    ]
  }
}"#;
    fs::write(file.path(), text).unwrap();
    let profiles = || {
        let read = file.read(&Settings::default());
        assert_eq!(read.problems, Vec::new());
        read.settings.agent.profiles
    };
    let confirmed = ["Agent · Profiles · “Work” · environment\nNow: TEAM=a\nNew: TEAM=b".to_owned()];
    let mut work = profiles()[0].clone();
    work.model = None;
    work.environment[0].value = "b".to_owned();
    assert_eq!(file.change_profile(Some("Work"), Some(&work), &[]).unwrap(), confirmed);
    assert!(file.change_profile(Some("Work"), Some(&work), &confirmed).unwrap().is_empty());
    let home = Profile { name: "Home".to_owned(), ..Profile::default() };
    file.change_profile(None, Some(&home), &confirmed).unwrap();
    assert_eq!(profiles(), [work.clone(), home.clone()]);
    let written = fs::read_to_string(file.path()).unwrap();
    for kept in
        ["// mine", "// why", "\"note\": \"kept\"", "\"later\": 1", "\"name\": \"Home\"", "\"model\": null"]
    {
        assert!(written.contains(kept), "{kept} in {written}");
    }
    assert_eq!((written.matches("null").count(), written.matches("model").count()), (1, 1), "{written}");

    // The list is checked as a whole, and a refused change writes nothing.
    let refused = |was: Option<&str>, profile: Option<&Profile>| {
        file.change_profile(was, profile, &confirmed).unwrap_err().to_string()
    };
    let bad = Profile { program: Some("relative".to_owned()), ..home.clone() };
    assert_eq!(
        refused(Some("Home"), Some(&bad)),
        "“agent.profiles”: profile “Home”: “program” must be an absolute path."
    );
    assert!(refused(None, Some(&home)).contains("two profiles have the name “Home”"));
    assert_eq!(refused(Some("Gone"), None), "the file has no profile “Gone”");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), written);

    // A comment is not removed with a renamed profile; what is unknown in it stays.
    let renamed = Profile { name: "Office".to_owned(), ..work };
    assert!(matches!(
        file.change_profile(Some("Work"), Some(&renamed), &confirmed),
        Err(SettingsError::Unsafe(_))
    ));
    fs::write(file.path(), written.replace("// why", "")).unwrap();
    file.change_profile(Some("Work"), Some(&renamed), &confirmed).unwrap();
    assert!(fs::read_to_string(file.path()).unwrap().contains("\"note\": \"kept\""));
    file.change_profile(Some("Office"), None, &confirmed).unwrap();
    assert_eq!(profiles(), [home]);
    assert!(!fs::read_to_string(file.path()).unwrap().contains("note"));

    fs::write(file.path(), r#"{"agent": {"profiles": {"name": "Work"}}}"#).unwrap();
    assert!(refused(Some("Work"), None).contains("“agent.profiles”: invalid type"));
}
