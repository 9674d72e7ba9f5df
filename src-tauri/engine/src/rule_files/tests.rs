use super::*;
use crate::api::TrustDecision;

/// A project with a store of decisions and the user's settings.
struct Place {
    folder: tempfile::TempDir,
    files: RuleFiles,
}

const LOCAL: &str = "project/.claude/settings.local.json";
const SHARED: &str = "project/.claude/settings.json";
const USER: &str = "config/settings.json";

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["project/.claude", "config"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let trust = TrustStore::open(root.join("trust")).unwrap();
        let files = RuleFiles::new(&root.join("project"), &root.join("config"), trust).unwrap();
        Self { folder, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn place(&self, name: &str, rule: &str) -> RulePlace {
        let path = self.path(name).display().to_string();
        RulePlace { path, effect: RuleEffect::Allow, rule: rule.to_owned() }
    }

    fn remove(&self, name: &str, rule: &str) -> Result<RuleRemoval, CommandError> {
        self.files.remove(&self.place(name, rule))
    }

    /// The reason for a refusal, without the path.
    fn refused(&self, name: &str, rule: &str) -> String {
        let detail = self.remove(name, rule).unwrap_err().detail.unwrap();
        detail.strip_prefix(&format!("{}: ", self.path(name).display())).unwrap_or(&detail).to_owned()
    }

    fn trust(&self) {
        let shown = self.files.trust.view(&self.files.project).unwrap().fingerprint;
        self.files.trust.decide(&self.files.project, TrustDecision::Trust, shown.as_deref()).unwrap();
    }

    fn state(&self) -> TrustState {
        self.files.trust.state(&self.files.project).unwrap()
    }
}

fn allowing(rules: &[&str]) -> String {
    format!("{{\n    \"model\": \"opus\",\n    \"permissions\": {{\"allow\": {rules:?}}}\n}}\n")
}

#[test]
fn rules_are_listed_by_file_with_the_forms_of_the_copy() {
    let place = Place::new();
    place.write(LOCAL, &allowing(&["Read(/src/**)"]));
    place.write(SHARED, "{\"permissions\": {\"deny\": [\"WebFetch\"], \"allow\": 7}}");
    place.write(USER, &allowing(&["Bash(ls)"]));
    let list = place.files.list().unwrap();
    assert_eq!(list.folder, FolderRules::Undecided);
    let [local, shared, user] = &list.files[..] else { panic!("{list:?}") };
    let project = place.path("project");
    assert_eq!(local.rules[0].forms, [format!("Read(/{}/src/**)", project.display())]);
    assert_eq!(
        (local.origin, shared.origin, user.origin),
        (RuleOrigin::Local, RuleOrigin::Project, RuleOrigin::User)
    );
    assert_eq!(shared.problem.as_deref(), Some("“permissions.allow” is not a list"));
    assert_eq!((user.rules[0].rule.as_str(), user.rules[0].forms.len()), ("Bash(ls)", 0));
    place.trust();
    assert_eq!(place.files.list().unwrap().folder, FolderRules::InEffect);
}

#[test]
fn a_rule_is_removed_from_each_file_and_put_back_with_every_byte() {
    let place = Place::new();
    for name in [LOCAL, SHARED, USER] {
        let text = allowing(&["Bash(a)", "Bash(b)", "Bash(c)"]);
        place.write(name, &text);
        let removal = place.remove(name, "Bash(b)").unwrap();
        assert_eq!(place.read(name), allowing(&["Bash(a)", "Bash(c)"]), "{name}");
        place.files.restore(&removal).unwrap();
        assert_eq!(place.read(name), text);
        let again = place.files.restore(&removal).unwrap_err();
        assert!(again.detail.unwrap().ends_with("the rule is in the file again"));
    }
}

#[test]
fn what_cannot_be_changed_is_refused_with_its_reason_and_stays() {
    let place = Place::new();
    assert_eq!(place.refused(LOCAL, "A"), "it could not be read: it does not exist");
    for (text, reason) in [
        ("", "the file does not have the rule"),
        ("{\n  // mine\n}", "line 2, column 3: key must be a string"),
        ("{\"permissions\": []}", "“permissions” is not an object"),
        ("{\"permissions\": {\"allow\": [\"B\"]}}", "the file does not have the rule"),
    ] {
        place.write(LOCAL, text);
        assert_eq!(place.refused(LOCAL, "A"), reason);
        assert_eq!(place.read(LOCAL), text);
    }
    place.write("project/package.json", &allowing(&["A"]));
    let error = place.remove("project/package.json", "A").unwrap_err();
    assert!(error.message.contains("not one of the folder's"), "{error:?}");
    fs::remove_file(place.path(LOCAL)).unwrap();
    fs::create_dir(place.path(LOCAL)).unwrap();
    assert_eq!(place.refused(LOCAL, "A"), "it could not be read: it is a folder, not a file");
}

#[test]
fn a_large_file_is_changed_and_one_that_the_agent_skips_is_not_read() {
    let place = Place::new();
    let many: Vec<String> = (0..40_000).map(|nr| format!("Bash(command-{nr:06} with arguments)")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let text = allowing(&many);
    assert!(text.len() > 1_000_000);
    place.write(LOCAL, &text);
    let removal = place.remove(LOCAL, many[39_999]).unwrap();
    assert_eq!(place.read(LOCAL), allowing(&many[..39_999]));
    place.files.restore(&removal).unwrap();
    assert_eq!(place.read(LOCAL), text);
    place.write(LOCAL, &" ".repeat(5 * 1024 * 1024));
    assert!(place.refused(LOCAL, "A").contains("it is too large"), "{}", place.refused(LOCAL, "A"));
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_links_are_followed_and_read_only_is_respected() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let set =
        |name: &str, mode| fs::set_permissions(place.path(name), PermissionsExt::from_mode(mode)).unwrap();
    place.write("dotfiles.json", &allowing(&["A", "B"]));
    set("dotfiles.json", 0o604);
    std::os::unix::fs::symlink(place.path("dotfiles.json"), place.path(USER)).unwrap();
    let listed = place.files.list().unwrap().files;
    assert_eq!(listed[0].link.as_deref(), Some(&*place.path("dotfiles.json").display().to_string()));
    place.remove(USER, "A").unwrap();
    assert_eq!(place.read("dotfiles.json"), allowing(&["B"]));
    assert!(place.path(USER).is_symlink());
    assert_eq!(fs::metadata(place.path("dotfiles.json")).unwrap().permissions().mode() & 0o7777, 0o604);
    set("dotfiles.json", 0o444);
    assert_eq!(place.refused(USER, "B"), "it is read-only");

    place.write(LOCAL, &allowing(&["A"]));
    set("project/.claude", 0o555);
    assert_eq!(place.refused(LOCAL, "A"), "its folder is read-only");
    set("project/.claude", 0o755);
    assert_eq!(place.read(LOCAL), allowing(&["A"]));
}

#[cfg(unix)]
#[test]
fn a_rule_is_put_back_only_into_the_file_that_it_came_from() {
    let place = Place::new();
    place.write(LOCAL, &allowing(&["A"]));
    let removal = place.remove(LOCAL, "A").unwrap();
    place.write("other.json", &allowing(&[]));
    fs::remove_file(place.path(LOCAL)).unwrap();
    std::os::unix::fs::symlink(place.path("other.json"), place.path(LOCAL)).unwrap();
    let refused = place.files.restore(&removal).unwrap_err().detail.unwrap();
    assert!(refused.ends_with("it is another file now, because a link changed"), "{refused}");
    assert_eq!(place.read("other.json"), allowing(&[]));
}

#[test]
fn misleading_characters_are_written_out() {
    let place = Place::new();
    place.write(LOCAL, "{}");
    let failed = place.remove(LOCAL, "Bash(a\u{202e})").unwrap_err();
    assert_eq!(failed.message, "Bash(a\\u{202E}) was not removed.");
    let place =
        RulePlace { path: "/p\n/q".to_owned(), effect: RuleEffect::Deny, rule: "A\u{202e}".repeat(500) };
    let described = described(&place);
    assert!(
        described.starts_with("Rule: A\\u{202E}A") && described.ends_with("…\n\nFile: /p\\u{000A}/q"),
        "{described}"
    );
}

#[test]
fn what_another_program_writes_meanwhile_is_kept() {
    let place = Place::new();
    place.write(LOCAL, &allowing(&["A", "B"]));
    let mut n_edits = 0;
    let path = place.path(LOCAL);
    let counted = std::cell::RefCell::new(&mut n_edits);
    let edit = |bytes: &[u8]| {
        let taken_out = RuleText::read(bytes)?.without(RuleEffect::Allow, "A")?;
        **counted.borrow_mut() += 1;
        if **counted.borrow() == 1 {
            place.write(LOCAL, &allowing(&["A", "B", "C"]));
        }
        Ok(taken_out)
    };
    place.files.change(&path, Some("A"), edit).unwrap();
    assert_eq!((place.read(LOCAL), n_edits), (allowing(&["B", "C"]), 2));
    let keeps_writing = |bytes: &[u8]| {
        place.write(LOCAL, &format!("{} ", String::from_utf8_lossy(bytes)));
        Ok((Vec::new(), ()))
    };
    let busy = place.files.change(&path, None, keeps_writing).map(|_| ()).unwrap_err();
    assert!(matches!(busy, RuleFileError::Busy), "{busy}");
    assert_eq!(place.read(LOCAL), allowing(&["B", "C"]) + "     ");
}

#[test]
fn a_trusted_folder_stays_trusted_with_exactly_the_users_change() {
    let place = Place::new();
    place.write(LOCAL, &allowing(&["A", "B"]));
    place.write(SHARED, "{\"permissions\": {\"deny\": [\"WebFetch\"]}}");
    place.trust();
    let before = place.files.trust.view(&place.files.project).unwrap().fingerprint;
    let removal = place.remove(LOCAL, "A").unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
    let view = place.files.trust.view(&place.files.project).unwrap();
    assert!(
        view.fingerprint != before && view.findings.iter().all(|finding| finding.text != "A"),
        "{view:?}"
    );
    // A rule that widens is the user's own choice as well.
    let deny = RulePlace { effect: RuleEffect::Deny, ..place.place(SHARED, "WebFetch") };
    let denied = place.files.remove(&deny).unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
    place.files.restore(&denied).unwrap();
    place.files.restore(&removal).unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
    assert_eq!(place.files.trust.view(&place.files.project).unwrap().fingerprint, before);
    // The rule is not one that may return by itself.
    place.remove(LOCAL, "A").unwrap();
    place.write(LOCAL, &allowing(&["A", "B"]));
    assert!(matches!(place.state(), TrustState::Changed { .. }));
}

#[test]
fn a_rule_that_was_saved_by_an_answer_and_removed_is_asked_about_when_it_returns() {
    let place = Place::new();
    place.write(LOCAL, &allowing(&["A"]));
    place.trust();
    // It was answered twice.
    place.files.trust.expect_rule(&place.files.project, "B").unwrap();
    place.files.trust.expect_rule(&place.files.project, "B").unwrap();
    place.write(LOCAL, &allowing(&["A", "B"]));
    assert_eq!(place.state(), TrustState::Trusted);
    place.remove(LOCAL, "B").unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
    place.write(LOCAL, &allowing(&["A", "B"]));
    assert!(matches!(place.state(), TrustState::Changed { .. }));
}

#[test]
fn another_change_of_the_folder_is_asked_about_all_the_same() {
    let place = Place::new();
    place.write(LOCAL, &allowing(&["A", "B"]));
    place.trust();
    let path = place.path(LOCAL);
    let edit = |bytes: &[u8]| {
        place.write(SHARED, &allowing(&["Bash"]));
        Ok(RuleText::read(bytes)?.without(RuleEffect::Allow, "A")?)
    };
    place.files.change(&path, Some("A"), edit).unwrap();
    let TrustState::Changed { difference, .. } = place.state() else { panic!("{:?}", place.state()) };
    assert_eq!(
        difference.added.iter().map(|finding| finding.text.as_str()).collect::<Vec<_>>(),
        ["Bash", "opus"]
    );

    // A setting of git that would run a program.
    let place = Place::new();
    place.write(LOCAL, &allowing(&["A", "B"]));
    place.trust();
    let path = place.path(LOCAL);
    let edit = |bytes: &[u8]| {
        for name in ["objects", "refs"] {
            fs::create_dir_all(place.path("project/.git").join(name)).unwrap();
        }
        place.write("project/.git/HEAD", "ref: refs/heads/main\n");
        place.write("project/.git/config", "[core]\n\tfsmonitor = ./x\n");
        Ok(RuleText::read(bytes)?.without(RuleEffect::Allow, "A")?)
    };
    place.files.change(&path, Some("A"), edit).unwrap();
    let TrustState::Changed { difference, .. } = place.state() else { panic!("{:?}", place.state()) };
    assert_eq!(
        difference.added.iter().map(|finding| finding.text.as_str()).collect::<Vec<_>>(),
        ["core.fsmonitor = ./x"]
    );

    // A folder that is not trusted does not become trusted.
    for decision in [None, Some(TrustDecision::Restrict)] {
        let place = Place::new();
        place.write(LOCAL, &allowing(&["A", "B"]));
        if let Some(decision) = decision {
            place.files.trust.decide(&place.files.project, decision, None).unwrap();
        }
        let before = std::mem::discriminant(&place.state());
        place.remove(LOCAL, "A").unwrap();
        assert_eq!(std::mem::discriminant(&place.state()), before);
        assert!(!place.state().is_trusted());
    }
}

#[cfg(unix)]
#[test]
fn rules_that_the_agent_saved_are_found_and_what_keeps_it_from_saving_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let rules = ["A".to_owned(), "B".to_owned()];
    assert_eq!((place.files.saved(&rules), place.files.obstacle()), (None, None));
    place.write(LOCAL, &allowing(&["A"]));
    assert_eq!(place.files.saved(&rules), None);
    place.write(LOCAL, &allowing(&["A", "B"]));
    assert_eq!(place.files.saved(&rules).unwrap(), [place.place(LOCAL, "A"), place.place(LOCAL, "B")]);
    let reason = || place.files.obstacle().unwrap().split_once(": ").unwrap().1.to_owned();
    fs::set_permissions(place.path(LOCAL), PermissionsExt::from_mode(0o444)).unwrap();
    assert_eq!(reason(), "it is read-only");
    fs::remove_file(place.path(LOCAL)).unwrap();
    place.write(LOCAL, "{,}");
    assert_eq!(reason(), "line 1, column 2: key must be a string");
    fs::remove_file(place.path(LOCAL)).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere.json"), place.path(LOCAL)).unwrap();
    place.write("elsewhere.json", "{}");
    assert!(reason().starts_with("it is a link to"), "{}", reason());
}

#[test]
fn a_decision_that_is_made_meanwhile_stays() {
    let before = allowing(&["A", "B"]);
    let changed = |decision: TrustDecision| {
        let place = Place::new();
        place.write(LOCAL, &before);
        place.trust();
        let path = place.path(LOCAL);
        let edit = |bytes: &[u8]| {
            place.write(SHARED, &allowing(&["Bash"]));
            let shown = place.files.trust.view(&place.files.project).unwrap().fingerprint;
            place.files.trust.decide(&place.files.project, decision, shown.as_deref()).unwrap();
            Ok(RuleText::read(bytes)?.without(RuleEffect::Allow, "A")?)
        };
        place.files.change(&path, Some("A"), edit).unwrap();
        place
    };
    assert_eq!(changed(TrustDecision::Restrict).state(), TrustState::Restricted);
    // The files that were declined stay declined, and those that were trusted stay trusted.
    let place = changed(TrustDecision::Keep);
    assert!(matches!(place.state(), TrustState::Changed { .. }));
    place.write(LOCAL, &before);
    assert!(matches!(place.state(), TrustState::Kept { .. }), "{:?}", place.state());
    let place = changed(TrustDecision::Trust);
    assert!(matches!(place.state(), TrustState::Changed { .. }));
    place.write(LOCAL, &before);
    assert_eq!(place.state(), TrustState::Trusted);
}
