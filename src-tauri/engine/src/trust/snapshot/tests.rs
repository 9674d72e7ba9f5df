use super::super::surveyed;
use super::*;
use serde_json::json;

/// A folder, and the folder for its copies.
struct Place {
    _folder: tempfile::TempDir,
    project: PathBuf,
    copies: PathBuf,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let place = Self { project: root.join("project"), copies: root.join("copies"), _folder: folder };
        fs::create_dir(&place.project).unwrap();
        // Folders above it have no effect.
        fs::create_dir(place.project.join(".git")).unwrap();
        place.put(files);
        place
    }

    fn put(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.project.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// Copies the current contents.
    fn copy(&self) -> Snapshot {
        self.copy_naming(&[])
    }

    /// The same, with these settings trusted by name.
    fn copy_naming(&self, named: &[&str]) -> Snapshot {
        let (survey, files) = surveyed(&self.project, None);
        let named = named.iter().map(ToString::to_string).collect();
        let key = CopyKey { fingerprint: &survey.fingerprint.unwrap(), named: &named };
        let snapshots = Snapshots::of(&self.copies, &self.project);
        snapshots.write(&self.project, &files.claude, &key).unwrap();
        snapshots.open(&self.project, &key).unwrap()
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The settings of the folder in its copy.
fn copied_settings(snapshot: &Snapshot) -> Value {
    Value::Object(super::copied_settings(snapshot.settings.parent().unwrap()).unwrap())
}

#[test]
fn a_folder_does_not_decide_about_messages_of_other_sessions() {
    for text in ["{}", r#"{"crossSessionInbound":"accept","model":"a"}"#] {
        let place = Place::new(&[(SHARED, text)]);
        let snapshot = place.copy();
        let mut expected = copied_settings(&snapshot);
        expected["crossSessionInbound"] = json!("refuse");
        assert_eq!(read(&snapshot.settings), expected, "{text}");
    }
}

const SHARED: &str = ".claude/settings.json";
const LOCAL: &str = ".claude/settings.local.json";

#[test]
fn settings_are_joined_and_the_local_ones_count_first() {
    let place = Place::new(&[
        (SHARED, r#"{"model":"a","env":{"A":"1","B":"1"},"permissions":{"deny":["Bash(rm:*)"]}}"#),
        (
            LOCAL,
            r#"{"model":"b","env":{"B":"2"},"permissions":{"deny":["Bash(rm:*)","WebFetch"],"allow":["Bash(ls)"]}}"#,
        ),
    ]);
    let expected = json!({
        "model": "b",
        "env": {"A": "1", "B": "2"},
        "permissions": {"deny": ["Bash(rm:*)", "WebFetch"], "allow": ["Bash(ls)"]},
    });
    assert_eq!(copied_settings(&place.copy()), expected);
}

#[test]
fn a_rule_about_a_path_stays_about_the_project() {
    let place = Place::new(&[(
        SHARED,
        r#"{"permissions":{"deny":["Read(/secret/**)","Edit(//etc/**)","Read(./a)","Bash(/bin/rm:*)"]}}"#,
    )]);
    let project = place.project.display();
    let expected =
        json!([format!("Read(/{project}/secret/**)"), "Edit(//etc/**)", "Read(./a)", "Bash(/bin/rm:*)"]);
    assert_eq!(copied_settings(&place.copy())["permissions"]["deny"], expected);
}

#[test]
fn a_folder_cannot_choose_that_nothing_is_asked() {
    for mode in ["bypassPermissions", "auto"] {
        let settings = json!({
            "permissions": {"defaultMode": mode},
            "skipDangerousModePermissionPrompt": true,
            "theme": "dark",
        });
        let place = Place::new(&[(SHARED, &settings.to_string())]);
        assert_eq!(copied_settings(&place.copy()), json!({"permissions": {}, "theme": "dark"}));
    }
    let place = Place::new(&[(SHARED, r#"{"permissions":{"defaultMode":"acceptEdits"}}"#)]);
    assert_eq!(copied_settings(&place.copy()), json!({"permissions": {"defaultMode": "acceptEdits"}}));
}

/// One bad entry would make the CLI ignore the deny rules with it.
#[test]
fn what_is_malformed_takes_nothing_else_with_it() {
    let place = Place::new(&[
        (SHARED, r#"{"hooks":{"Stop":"x"},"permissions":{"allow":"all","deny":["Bash",1]}}"#),
        (LOCAL, "{ // a comment\n }"),
        (".mcp.json", r#"{"mcpServers":{"a":{"command":"x","args":"y"},"b":{"command":"x"},"c":1}}"#),
    ]);
    let copy = place.copy();
    assert_eq!(copied_settings(&copy), json!({"hooks": {}, "permissions": {"deny": ["Bash"]}}));
    assert_eq!(read(&copy.servers[0]), json!({"mcpServers": {"b": {"command": "x"}}}));
}

/// A value of a wrong form would make the CLI ignore all settings, deny rules included (2.1.197 and 2.1.332).
#[test]
fn a_value_of_a_wrong_form_costs_itself_and_is_named() {
    let shared = json!({"permissions": {"deny": ["Read(./secret)"]}, "hooks": {"Stop": [
        {"hooks": [{"type": "command", "command": "kept"}, {"type": "command"}, {"type": "zzz", "command": "x"}]},
        {"matcher": 5, "hooks": [{"type": "command", "command": "x"}]}, 7,
    ]}});
    let kept = json!({"permissions": {"deny": ["Read(./secret)"]}, "hooks": {"Stop": [
        {"hooks": [{"type": "command", "command": "kept"}]},
    ]}});
    for (key, value) in [
        ("model", json!(5)),
        ("model", json!(null)),
        ("env", json!([])),
        ("apiKeyHelper", json!(5)),
        ("statusLine", json!("x")),
        ("statusLine", json!({"type": "x", "command": "y"})),
        ("language", json!(5)),
        ("enabledPlugins", json!(["x@m"])),
        ("permissions", json!(5)),
        ("permissions", json!({"defaultMode": "nonsense"})),
        ("permissions", json!({"disableBypassPermissionsMode": 5})),
        ("permissions", json!({"deny": {}})),
        ("hooks", json!(5)),
    ] {
        let place = Place::new(&[(SHARED, &shared.to_string()), (LOCAL, &json!({key: value}).to_string())]);
        let mut settings = copied_settings(&place.copy());
        settings.as_object_mut().unwrap().retain(|key, _| kept[key].is_object());
        assert_eq!(settings, kept, "{key}: {value}");
        let findings = surveyed(&place.project, None).0.findings;
        let is_named = |finding: &crate::api::Finding| {
            finding.file == LOCAL
                && (finding.text.starts_with(key) || finding.kind == crate::api::FindingKind::Mode)
        };
        assert!(findings.iter().any(is_named), "{key}: {value}: {findings:#?}");
    }
}

#[test]
fn a_setting_that_is_not_known_to_be_harmless_is_left_out() {
    let settings =
        json!({"processWrapper": "x", "cleanupPeriodDays": 1, "newSetting": true, "verbose": true});
    let place = Place::new(&[(SHARED, &settings.to_string())]);
    assert_eq!(copied_settings(&place.copy()), json!({"verbose": true}));
}

/// The CLI ignores a file with an invalid value, so the deny rules are passed as arguments, too.
#[test]
fn a_setting_that_the_user_names_is_loaded_and_the_rules_that_deny_stay() {
    let settings = json!({
        "cleanupPeriodDays": 1,
        "processWrapper": "x",
        "skipDangerousModePermissionPrompt": true,
        "permissions": {"deny": ["Bash(rm:*)", "Read(./secret)"]},
    });
    let place = Place::new(&[(SHARED, &settings.to_string())]);
    let (_, files) = surveyed(&place.project, None);
    assert_eq!(
        unknown_settings(&files.claude),
        ["cleanupPeriodDays", "processWrapper"].map(str::to_owned).into()
    );
    let (without, with) =
        (place.copy(), place.copy_naming(&["cleanupPeriodDays", "skipDangerousModePermissionPrompt"]));
    let deny = json!({"deny": ["Bash(rm:*)", "Read(./secret)"]});
    assert_eq!(copied_settings(&without), json!({"permissions": deny}));
    assert_eq!(copied_settings(&with), json!({"permissions": deny, "cleanupPeriodDays": 1}));
    let denies = |snapshot: &Snapshot| -> Vec<OsString> {
        let args = snapshot.args(false).into_iter();
        args.filter(|argument| argument.to_string_lossy().starts_with("--disallowedTools")).collect()
    };
    assert!(denies(&without).is_empty());
    assert_eq!(denies(&with), ["--disallowedTools=Bash(rm:*)", "--disallowedTools=Read(./secret)"]);
}

#[test]
fn a_folder_turns_off_its_own_hooks_and_not_those_of_the_user() {
    let hooks = json!({"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]});
    let place = Place::new(&[(SHARED, &json!({"hooks": hooks, "disableAllHooks": true}).to_string())]);
    assert_eq!(copied_settings(&place.copy()), json!({}));
}

/// The CLI reads some characters of a path as signs of a pattern; a relative rule is in force in each of these folders
/// (2.1.332).
#[cfg(unix)]
#[test]
fn a_folder_with_any_name_keeps_its_rules_about_paths() {
    let rules = json!({"permissions": {"deny": ["Read(/secret/**)"], "allow": ["Edit(/src/**)"]}});
    for (name, is_plain) in
        [("a[b]c", true), ("a b", true), ("a*b", false), ("a?b", false), ("a\\b", false), ("a\nb", false)]
    {
        let outer = Place::new(&[]);
        let project = outer.project.join(name);
        let place = Place { project, copies: outer.copies.clone(), _folder: outer._folder };
        place.put(&[(SHARED, &rules.to_string())]);
        let permissions = copied_settings(&place.copy())["permissions"].clone();
        let path = place.project.display().to_string().replace('[', "\\[").replace(']', "\\]");
        let mut deny = vec![format!("Read(/{path}/secret/**)")];
        if name.contains('\n') {
            deny.clear();
        }
        let mut allow = vec![format!("Edit(/{path}/src/**)")];
        if !is_plain {
            deny.push("Read(./secret/**)".to_owned());
            allow.clear();
        }
        assert_eq!(permissions, json!({"deny": deny, "allow": allow}), "{name}");
    }
}

#[test]
fn a_server_that_is_turned_off_is_left_out() {
    let place = Place::new(&[
        (SHARED, r#"{"disabledMcpjsonServers":["a"]}"#),
        (".mcp.json", r#"{"mcpServers":{"a":{"command":"x"},"b":{"url":"http://x"}}}"#),
    ]);
    assert_eq!(read(&place.copy().servers[0]), json!({"mcpServers": {"b": {"url": "http://x"}}}));
}

#[test]
fn skills_and_commands_keep_their_names() {
    let place = Place::new(&[
        (".claude/skills/lint/SKILL.md", "---\ndescription: d\n---\nRun ${CLAUDE_SKILL_DIR}/x.sh"),
        (".claude/skills/lint/x.sh", "true"),
        (".claude/commands/ship.md", "Ship it"),
        (".claude/commands/db/reset.md", "Reset it"),
    ]);
    let plugin = place.copy().plugin.unwrap();
    let text = |name: &str| fs::read_to_string(plugin.join(name)).unwrap();
    let skill = text("skills/lint/SKILL.md");
    let folder = place.project.join(".claude/skills/lint");
    assert!(skill.starts_with("---\nname: \"lint\"\ndescription: \"d\"\n---\n"), "{skill}");
    assert!(skill.contains(&format!("Run {}/x.sh", folder.display())), "{skill}");
    assert!(skill.contains(&format!("other files of this skill are in {}", folder.display())), "{skill}");
    assert_eq!(text("skills/ship/SKILL.md"), "---\nname: \"ship\"\n---\nShip it");
    assert_eq!(text("commands/db/reset.md"), "---\n---\nReset it");
}

#[test]
fn subagents_keep_what_they_say() {
    let place = Place::new(&[(
        ".claude/agents/review.md",
        "---\nname: review\ndescription: Use it: often\ntools: Read, Bash(git log, git show)\ncolor: red\n---\nLook.\n",
    )]);
    let agents: Value = serde_json::from_str(&place.copy().agents.unwrap()).unwrap();
    let expected = json!({"review": {
        "description": "Use it: often",
        "tools": ["Read", "Bash(git log, git show)"],
        "prompt": "Look.",
    }});
    assert_eq!(agents, expected);
}

/// With one value of a wrong form in `--agents`, 2.1.332 starts no session.
#[test]
fn a_value_of_a_wrong_form_costs_itself_in_a_subagent_and_never_widens_its_tools() {
    let agent = |line: &str| {
        let text = format!("---\nname: a\ndescription: d\n{line}\n---\nLook.\n");
        let place = Place::new(&[(".claude/agents/a.md", &text)]);
        let findings = surveyed(&place.project, None).0.findings;
        let agents = place.copy().agents;
        let is_named = findings.iter().any(|finding| finding.kind == crate::api::FindingKind::Oddity);
        (agents.map(|agents| serde_json::from_str::<Value>(&agents).unwrap()["a"].clone()), is_named)
    };
    let plain = json!({"description": "d", "prompt": "Look."});
    for line in [
        "maxTurns: 0",
        "maxTurns: 1.5",
        "maxTurns: many",
        "effort: weird",
        "memory: x",
        "background: \"true\"",
        "mcpServers: 5",
        "mcpServers: [5]",
        "mcpServers: [{a: {}}]",
        "model: 5",
        "model: \"\"",
        "skills: [5]",
        "permissionMode: weird",
        "permissionMode: bypassPermissions",
        "hooks: 5",
    ] {
        assert_eq!(agent(line), (Some(plain.clone()), true), "{line}");
    }
    for line in ["tools: 5", "tools: [5]", "disallowedTools: {a: 1}"] {
        assert_eq!(agent(line), (None, true), "{line}");
    }
    assert_eq!(agent("hooks: {Stop: [5], Nope: []}").0.unwrap()["hooks"], json!({"Stop": []}));
    let whole = agent("maxTurns: 3").0.unwrap();
    assert_eq!(whole["maxTurns"], 3);
}

#[test]
fn many_subagents_do_not_become_an_argument() {
    let place = Place::new(&[]);
    for n in 0..4 {
        let text = format!("---\nname: a{n}\ndescription: d\n---\n{}", "x".repeat(MOST_AGENTS / 3));
        place.put(&[(&format!(".claude/agents/a{n}.md"), &text)]);
    }
    let copy = place.copy();
    assert_eq!(copy.agents, None);
    assert_eq!(fs::read_dir(copy.plugin.unwrap().join("agents")).unwrap().count(), 4);
}

#[test]
fn a_copy_never_changes_and_a_change_is_another_copy() {
    let place = Place::new(&[(SHARED, r#"{"model":"a"}"#)]);
    let before = place.copy();
    let modified = fs::metadata(&before.settings).unwrap().modified().unwrap();
    assert_eq!(place.copy(), before);
    assert_eq!(fs::metadata(&before.settings).unwrap().modified().unwrap(), modified);
    place.put(&[(SHARED, r#"{"model":"b"}"#)]);
    let after = place.copy();
    assert_ne!(after.settings, before.settings);
    assert_eq!(copied_settings(&before), json!({"model": "a"}));
}

#[test]
fn a_marketplace_of_this_computer_is_left_out_with_its_plugins() {
    let settings = |name: &str, source: Value| json!({"extraKnownMarketplaces": {name: {"source": source}}});
    let near = settings("near", json!({"source": "directory", "path": "./market"}));
    let mut shared = settings("far", json!({"source": "github", "repo": "a/b"}));
    shared["enabledPlugins"] = json!({"x@near": true, "y@far": true, "z@near": false});
    let place = Place::new(&[(SHARED, &shared.to_string()), (LOCAL, &near.to_string())]);
    let copied = copied_settings(&place.copy());
    assert_eq!(copied["enabledPlugins"], json!({"x@near": false, "y@far": true, "z@near": false}));
    let far = json!({"far": {"source": {"source": "github", "repo": "a/b"}}});
    assert_eq!(copied["extraKnownMarketplaces"], far);
}

#[cfg(unix)]
#[test]
fn a_copy_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(&[(SHARED, "{}"), (".claude/commands/x.md", "x")]);
    let copy = place.copy();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&copy.settings), 0o600);
    assert_eq!(mode(copy.settings.parent().unwrap()), 0o700);
    assert_eq!(mode(&copy.plugin.unwrap()), 0o700);
}

#[test]
fn instructions_that_the_folder_does_not_hold_itself_are_loaded() {
    let place = Place::new(&[
        ("CLAUDE.md", "top"),
        ("inner/CLAUDE.local.md", "mine"),
        (".claude/rules/a/all.md", "---\ndescription: d\n---\nrule of all files"),
        (".claude/rules/some.md", "---\npaths: src/**\n---\nrule of some files"),
    ]);
    let inner =
        Place { project: place.project.join("inner"), copies: place.copies.clone(), _folder: place._folder };
    let copy = inner.copy();
    assert_eq!(copy.instructions[0], inner.project);
    let text = fs::read_to_string(copy.instructions[1].join("CLAUDE.md")).unwrap();
    assert!(text.contains(&format!("@{}/CLAUDE.local.md", inner.project.display())), "{text}");
    assert!(text.contains("top") && text.contains("rule of all files"), "{text}");
    assert!(!text.contains("rule of some files"), "{text}");
}

#[test]
fn an_agent_is_given_the_copy_and_nothing_of_the_folder() {
    let place =
        Place::new(&[(SHARED, r#"{"crossSessionInbound": "accept"}"#), (".claude/commands/x.md", "x")]);
    let args: Vec<String> =
        place.copy().args(false).into_iter().map(|argument| argument.into_string().unwrap()).collect();
    assert_eq!(args[0], "--setting-sources=user");
    for flag in ["--settings=", "--mcp-config=", "--plugin-dir="] {
        let at = format!("{flag}{}", place.copies.display());
        assert!(args.iter().any(|argument| argument.starts_with(&at)), "{flag}: {args:?}");
    }
    let receiving = place.copy().args(true);
    for (args, decision) in [
        (args.iter().map(String::as_str).collect::<Vec<_>>(), Some(json!("refuse"))),
        (receiving.iter().map(|argument| argument.to_str().unwrap()).collect(), None),
    ] {
        let path = args.iter().find_map(|argument| argument.strip_prefix("--settings=")).unwrap();
        let settings: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(settings.get("crossSessionInbound"), decision.as_ref(), "{path}");
    }
    let flags: Vec<&str> = args.iter().map(|argument| argument.split('=').next().unwrap()).collect();
    assert!(flags.iter().all(|flag| FLAGS.contains(flag)), "{flags:?}");
}
