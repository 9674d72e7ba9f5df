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
        let (survey, files) = surveyed(&self.project, None);
        let fingerprint = survey.fingerprint.unwrap();
        let snapshots = Snapshots::of(&self.copies, &self.project);
        snapshots.write(&self.project, &files, &fingerprint).unwrap();
        snapshots.open(&self.project, &fingerprint).unwrap()
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The settings of the folder in its copy.
fn copied_settings(snapshot: &Snapshot) -> Value {
    read(&snapshot.settings.with_file_name(SETTINGS))
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
    assert!(skill.starts_with("---\nname: \"lint\"\ndescription: d\n---\n"), "{skill}");
    assert!(skill.contains(&format!("Run {}/x.sh", folder.display())), "{skill}");
    assert!(skill.contains(&format!("other files of this skill are in {}", folder.display())), "{skill}");
    assert_eq!(text("skills/ship/SKILL.md"), "---\nname: \"ship\"\n---\nShip it");
    assert_eq!(text("commands/db/reset.md"), "Reset it");
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
    let place = Place::new(&[("CLAUDE.md", "top"), ("inner/CLAUDE.local.md", "mine")]);
    let inner =
        Place { project: place.project.join("inner"), copies: place.copies.clone(), _folder: place._folder };
    let copy = inner.copy();
    assert_eq!(copy.instructions[0], inner.project);
    let text = fs::read_to_string(copy.instructions[1].join("CLAUDE.md")).unwrap();
    assert!(text.contains(&format!("@{}/CLAUDE.local.md", inner.project.display())), "{text}");
    assert!(text.contains("top"), "{text}");
}

#[test]
fn an_agent_is_given_the_copy_and_nothing_of_the_folder() {
    let place = Place::new(&[(SHARED, "{}"), (".claude/commands/x.md", "x")]);
    let args: Vec<String> =
        place.copy().args().into_iter().map(|argument| argument.into_string().unwrap()).collect();
    assert_eq!(args[0], "--setting-sources=user");
    for flag in ["--settings=", "--mcp-config=", "--plugin-dir="] {
        let at = format!("{flag}{}", place.copies.display());
        assert!(args.iter().any(|argument| argument.starts_with(&at)), "{flag}: {args:?}");
    }
    let flags: Vec<&str> = args.iter().map(|argument| argument.split('=').next().unwrap()).collect();
    assert!(flags.iter().all(|flag| FLAGS.contains(flag)), "{flags:?}");
}
