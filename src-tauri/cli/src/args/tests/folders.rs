//! The commands about a folder: changes, worktrees, trust, projects, agents and folders.

use super::super::changes::{ChangesAction, ChangesOptions};
use super::super::commit::{CommitAction, CommitOptions};
use super::super::rules::{RulesAction, RulesOptions};
use super::super::trust::{Of, TrustOptions};
use super::super::worktrees::{WorktreesAction, WorktreesOptions};
use super::*;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{
    CommitFile, CommitFiles, CommitPrograms, CommitRequest, HunkPlace, RuleEffect, RuleOrigin, TrustDecision,
};
use deskbell_engine::api::{ProjectRef, RemoteProject};

/// A command in `/`.
fn of(command: &str, args: &[&str]) -> Result<Mode, Problem> {
    parsed(&[&[command][..], args].concat())
}

fn refusal(command: &str, args: &[&str]) -> ErrorKind {
    kind(&[&[command][..], args].concat())
}

#[test]
fn changes_are_those_of_one_folder() {
    let changes = |args: &[&str], action| {
        let options = ChangesOptions { project: "/".into(), action };
        assert_eq!(of("changes", args).unwrap(), Mode::Changes(options), "{args:?}");
    };
    changes(&[], ChangesAction::List { json: false });
    changes(&["/", "--json"], ChangesAction::List { json: true });
    changes(&["--patch"], ChangesAction::Patch(vec![]));
    changes(&["--patch", "/"], ChangesAction::Patch(vec![]));
    let two = vec!["a".to_owned(), "b=c".to_owned()];
    changes(&["--patch=a", "/", "--patch=b=c"], ChangesAction::Patch(two));
    changes(&["--undo-revert"], ChangesAction::UndoRevert);
    assert_eq!(refusal("changes", &["/", "/"]), ErrorKind::UnknownArgument);
    assert_eq!(refusal("changes", &["--all"]), ErrorKind::UnknownArgument);
    assert_eq!(refusal("changes", &["--patch="]), ErrorKind::InvalidValue);
    assert_eq!(refusal("changes", &["--revert="]), ErrorKind::InvalidValue);
}

#[test]
fn a_hunk_is_named_by_its_line_in_the_patch() {
    let revert = |hunk| {
        let action = ChangesAction::Revert { path: "a".to_owned(), hunk };
        Mode::Changes(ChangesOptions { project: "/".into(), action })
    };
    assert_eq!(of("changes", &["--revert", "a"]).unwrap(), revert(None));
    let hunk = HunkPlace { old_start: 12, n_old: 4, new_start: 12, n_new: 1 };
    let named = of("changes", &["--hunk=@@ -12,4 +12 @@ fn x()", "--revert=a"]);
    assert_eq!(named.unwrap(), revert(Some(hunk)));
    for hunk in ["--hunk", "--hunk=", "--hunk=1", "--hunk=@@ -a +1 @@", "--hunk=@@ -1,-1 +1 @@"] {
        assert!(matches!(of("changes", &["--revert=a", hunk]), Err(Problem::Clap(_))), "{hunk}");
    }
    assert_eq!(refusal("changes", &["--hunk=@@ -1 +1 @@"]), ErrorKind::MissingRequiredArgument);
    for both in [["--json", "--patch"], ["--revert=a", "--revert=b"], ["--undo-revert", "--revert=a"]] {
        assert_eq!(refusal("changes", &both), ErrorKind::ArgumentConflict, "{both:?}");
    }
}

#[test]
fn a_commit_is_planned_made_or_undone() {
    let commit = |args: &[&str], action, json| {
        let options = CommitOptions { project: "/".into(), action, json };
        assert_eq!(of("commit", args).unwrap(), Mode::Commit(options), "{args:?}");
    };
    let file = |path: &str, hunks| CommitFile { path: path.to_owned(), hunks, version: None };
    let request = |files| CommitRequest { files, message: Some("x".to_owned()), ..CommitRequest::default() };
    let two = CommitFiles::Only(vec![file("a", None), file("-b", None)]);
    commit(&["-m", "x", "a", "--", "-b"], CommitAction::Make(request(two), None), false);
    let all = CommitRequest { signoff: true, ..request(CommitFiles::All) };
    let run = Some(CommitPrograms::Run);
    commit(&["--all", "-mx", "--signoff", "--hooks=run", "--json"], CommitAction::Make(all, run), true);
    let hunk = HunkPlace { old_start: 1, n_old: 1, new_start: 1, n_new: 2 };
    let part = CommitFiles::Only(vec![file("a", Some(vec![hunk]))]);
    commit(&["a", "--hunk=@@ -1 +1,2 @@", "--message=x", "--plan"], CommitAction::Plan(request(part)), false);
    let amend = CommitRequest { amend: true, ..CommitRequest::default() };
    commit(&["--amend", "--hooks=skip"], CommitAction::Make(amend, Some(CommitPrograms::Skip)), false);
    commit(&["--undo", "--in=/"], CommitAction::Undo, false);
    let two_files = of("commit", &["a", "b", "--hunk=@@ -1 +1,2 @@", "-mx"]);
    assert!(matches!(two_files, Err(Problem::HunksOfFiles)));
    for both in [["--undo", "--all"], ["--undo", "a"], ["--all", "a"], ["--plan", "--hooks=run"]] {
        assert_eq!(refusal("commit", &both), ErrorKind::ArgumentConflict, "{both:?}");
    }
    assert_eq!(refusal("commit", &["--hooks=yes"]), ErrorKind::InvalidValue);
}

#[test]
fn worktrees_are_listed_looked_at_added_or_removed() {
    let worktrees = |args: &[&str], action, json| {
        let options = WorktreesOptions { folder: "/".into(), action, json };
        assert_eq!(of("worktrees", args).unwrap(), Mode::Worktrees(options), "{args:?}");
    };
    worktrees(&[], WorktreesAction::List, false);
    worktrees(&["/", "--json"], WorktreesAction::List, true);
    worktrees(&["--add=a/b"], WorktreesAction::Add("a/b".to_owned()), false);
    worktrees(&["--json", "--plan", "a"], WorktreesAction::Plan("a".to_owned()), true);
    worktrees(&["--current"], WorktreesAction::Current, false);
    let name = || "../x".to_owned();
    worktrees(&["--folder=../x", "/"], WorktreesAction::Folder { name: name() }, false);
    worktrees(&["--review=../x"], WorktreesAction::Review { name: name() }, false);
    let remove = |with_ignored| WorktreesAction::Remove { name: name(), with_ignored };
    worktrees(&["--remove=../x"], remove(false), false);
    worktrees(&["--with-ignored", "--remove=../x"], remove(true), false);
    for both in [["--add=a", "--remove=a"], ["--current", "--add=a"]] {
        assert_eq!(refusal("worktrees", &both), ErrorKind::ArgumentConflict, "{both:?}");
    }
    assert_eq!(refusal("worktrees", &["--add=a", "--with-ignored"]), ErrorKind::ArgumentConflict);
    assert_eq!(refusal("worktrees", &["--with-ignored"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal("worktrees", &["--add"]), ErrorKind::InvalidValue);
    assert_eq!(refusal("worktrees", &["--remove="]), ErrorKind::InvalidValue);
    assert_eq!(refusal("worktrees", &["--force"]), ErrorKind::UnknownArgument);
    assert_eq!(refusal("worktrees", &["/", "/"]), ErrorKind::UnknownArgument);
}

fn trust(args: &[&str]) -> TrustOptions {
    match of("trust", args) {
        Ok(Mode::Trust(options)) => options,
        other => panic!("{args:?}: {other:?}"),
    }
}

#[test]
fn what_was_not_seen_cannot_be_trusted() {
    let shown = trust(&["--json", "/"]);
    assert_eq!((shown.decision, shown.json), (None, true));
    let trusted = trust(&["/", "--decide=trust", "--fingerprint=f"]);
    assert_eq!((trusted.decision, trusted.fingerprint), (Some(TrustDecision::Trust), Some("f".into())));
    assert_eq!(trust(&["--decide", "restrict"]).decision, Some(TrustDecision::Restrict));
    for args in [&["--decide=trust"][..], &["--decide=keep"], &["--decide=restrict", "--fingerprint=f"]] {
        assert!(matches!(of("trust", args), Err(Problem::Fingerprint)), "{args:?}");
    }
    let loading = trust(&["--decide=trust", "--fingerprint=f", "--load=b", "--load=a"]);
    assert_eq!(loading.load, ["a", "b"].map(str::to_owned).into());
    assert!(matches!(of("trust", &["--decide=restrict", "--load=a"]), Err(Problem::Load)));
    assert_eq!(refusal("trust", &["--load=a"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal("trust", &["--fingerprint=f"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal("trust", &["--decide=yes"]), ErrorKind::InvalidValue);
    assert_eq!(refusal("trust", &["--all"]), ErrorKind::UnknownArgument);
}

#[test]
fn a_decision_is_about_one_agent() {
    let codex = ChosenAgent::row_of("codex").unwrap();
    assert_eq!(trust(&[]).of, Of::ClaudeCode);
    assert_eq!(trust(&["--agent=codex"]).of, Of::Agent(codex));
    assert_eq!(trust(&["--profile=Work"]).of, Of::Profile("Work".into()));
    assert_eq!(refusal("trust", &["--agent=claude2"]), ErrorKind::ValueValidation);
    assert_eq!(refusal("trust", &["--agent=codex", "--profile=Work"]), ErrorKind::ArgumentConflict);
    assert!(matches!(of("trust", &["--agent="]), Err(Problem::Clap(_))));
}

#[test]
fn a_tilde_is_the_home_folder() {
    let home = dunce::canonicalize(dirs::home_dir().unwrap()).unwrap();
    for named in ["~", "~/"] {
        assert_eq!(of("folders", &[named]).unwrap(), Mode::Folders(home.clone()), "{named}");
    }
    assert_eq!(of("folders", &["--json"]).unwrap(), Mode::Folders(PathBuf::from("/")));
    assert!(of("folders", &["~root/no"]).is_err());
    assert_eq!(refusal("folders", &["/", "/"]), ErrorKind::UnknownArgument);
    assert_eq!(of("agents", &["--json"]).unwrap(), Mode::Agents { models: false, json: true });
    assert_eq!(of("agents", &["--models"]).unwrap(), Mode::Agents { models: true, json: false });
    assert_eq!(refusal("agents", &["x"]), ErrorKind::UnknownArgument);
}

#[test]
fn the_list_of_projects_is_changed_by_one_option() {
    let change = |change| Mode::Projects(Some(change));
    assert_eq!(of("projects", &[]).unwrap(), Mode::Projects(None));
    assert_eq!(of("projects", &["--json"]).unwrap(), Mode::Projects(None));
    assert_eq!(of("projects", &["--clear"]).unwrap(), change(Change::Clear));
    let pin = |pinned| change(Change::Pin { project: "/".into(), pinned });
    assert_eq!(of("projects", &["--pin=/"]).unwrap(), pin(true));
    assert_eq!(of("projects", &["--unpin", "/"]).unwrap(), pin(false));
    let gone = Change::Remove { project: "/no/such".into() };
    assert_eq!(of("projects", &["--remove=/no/such"]).unwrap(), change(gone));
    assert_eq!(refusal("projects", &["--remove="]), ErrorKind::InvalidValue);
    assert_eq!(refusal("projects", &["now"]), ErrorKind::UnknownArgument);
    for both in
        [["--clear", "--pin=/"], ["--pin=/", "--pin=/"], ["--pin=/", "--remove=/"], ["--json", "--clear"]]
    {
        assert_eq!(refusal("projects", &both), ErrorKind::ArgumentConflict, "{both:?}");
    }
}

#[test]
fn a_moved_folder_is_named_with_its_new_place() {
    let moved = of("projects", &["--moved=/no/such", "--to=/"]).unwrap();
    let Mode::Projects(Some(Change::Moved { from, to, .. })) = moved else { panic!("{moved:?}") };
    assert_eq!((from, to), ("/no/such".into(), "/".into()));
    assert!(matches!(of("projects", &["--moved=/", "--to=/no/such"]), Err(Problem::Folder(_))));
    for args in [&["--moved=/"][..], &["--to=/"]] {
        assert_eq!(refusal("projects", args), ErrorKind::MissingRequiredArgument, "{args:?}");
    }
    assert!(of("projects", &["--pin=/", "--to=/"]).is_err());
    assert!(of("projects", &["--machine=box", "--moved=/", "--to=/"]).is_err());
}

#[test]
fn a_project_is_chosen_to_keep_running_or_not() {
    let chosen = |args: &[&str]| match of("projects", args) {
        Ok(Mode::Projects(Some(Change::KeepRunning { folder, keep, at }))) => {
            (folder, keep, at > 1_700_000_000_000)
        }
        other => panic!("{args:?}: {other:?}"),
    };
    assert_eq!(chosen(&["--keep-running=/"]), ("/".into(), Some(true), true));
    assert_eq!(chosen(&["--no-keep-running=/"]), ("/".into(), Some(false), true));
    assert_eq!(chosen(&["--default-keep-running=/no/such"]), ("/no/such".into(), None, true));
    assert!(matches!(of("projects", &["--keep-running=/no/such"]), Err(Problem::Folder(_))));
    assert_eq!(refusal("projects", &["--keep-running="]), ErrorKind::InvalidValue);
    // Sessions of another machine always run there.
    assert!(matches!(of("projects", &["--machine=box", "--keep-running=/"]), Err(Problem::Clap(_))));
}

#[test]
fn a_folder_of_another_machine_is_named_as_it_is_listed() {
    let app: ProjectRef =
        RemoteProject { machine: "box".parse().unwrap(), folder: "/app".parse().unwrap() }.into();
    let removed = || Mode::Projects(Some(Change::Remove { project: app.clone() }));
    assert_eq!(of("projects", &["--machine=box", "--remove=/app"]).unwrap(), removed());
    assert_eq!(of("projects", &["--remove=/app", "--machine", "box"]).unwrap(), removed());
    let pinned = Change::Pin { project: app.clone(), pinned: true };
    assert_eq!(of("projects", &["--machine=box", "--pin=/app"]).unwrap(), Mode::Projects(Some(pinned)));
    for args in [&["--machine=box"][..], &["--machine=box", "--clear"]] {
        assert_eq!(refusal("projects", args), ErrorKind::MissingRequiredArgument, "{args:?}");
    }
    assert!(matches!(of("projects", &["--machine=", "--remove=/app"]), Err(Problem::Clap(_))));
    let option = ["--machine=-oProxyCommand=x", "--remove=/app"];
    assert_eq!(refusal("projects", &option), ErrorKind::ValueValidation);
    for folder in ["app", "../app", "/a\nb"] {
        let named = of("projects", &["--machine=box", &format!("--remove={folder}")]);
        assert!(matches!(named, Err(Problem::BadFolder(_))), "{folder:?}: {named:?}");
    }
}

#[test]
fn rules_are_listed_for_a_folder_or_one_is_removed() {
    let rules = |args: &[&str], action| {
        let options = RulesOptions { folder: "/".into(), action };
        assert_eq!(of("rules", args).unwrap(), Mode::Rules(options), "{args:?}");
    };
    rules(&[], RulesAction::List { json: false });
    rules(&["/", "--json"], RulesAction::List { json: true });
    let removed = |effect, from| RulesAction::Remove { rule: "Bash(ls)".to_owned(), effect, from };
    rules(&["remove", "Bash(ls)"], removed(None, None));
    rules(
        &["remove", "Bash(ls)", "/", "--effect=deny", "--from=user"],
        removed(Some(RuleEffect::Deny), Some(RuleOrigin::User)),
    );
    assert_eq!(refusal("rules", &["remove"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal("rules", &["remove", ""]), ErrorKind::InvalidValue);
    assert_eq!(refusal("rules", &["remove", "Read", "--from=policy"]), ErrorKind::InvalidValue);
}
