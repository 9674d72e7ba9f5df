//! Tests for every file that Deskbell reads, with each trap in place of the file: no read blocks, nothing is lost, and
//! the important ones report what was found.

use crate::api::{Body, Dropped, SessionId, SessionMark, Settings, StoredSession};
use crate::files::Files;
use crate::history::{Additions, Kept, Own};
use crate::locate::Places;
use crate::log_files::LogFiles;
use crate::owner::{Lock, live_processes};
use crate::process::app_runs::{AppRuns, Earlier};
use crate::projects::ProjectStore;
use crate::recorder::Recording;
use crate::settings::SettingsFile;
use crate::store::Store;
use crate::stored::{AgentSessions, Catalogue, Hidden, MarkStore, Place};
use crate::traps::{Trap, all, in_time};
use crate::trust::{TrustState, TrustStore, survey};
use crate::{disk, git, history};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One file that Deskbell reads.
struct Read {
    name: &'static str,
    /// Its path in a temporary folder.
    path: &'static str,
    /// Creates the files around it.
    prepare: fn(&Path),
    /// Reads it with the trap in its place.
    check: fn(Trap, &Path),
}

/// A project with a `.git` folder and one file, `found.rs`.
fn project(root: &Path) {
    fs::create_dir_all(root.join("p/.git")).unwrap();
    fs::write(root.join("p/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join("p/found.rs"), "").unwrap();
}

fn nothing(_root: &Path) {}

/// A phrase about the trap that every error message contains.
fn words(trap: Trap) -> &'static str {
    match trap {
        Trap::Pipe => "named pipe",
        Trap::Socket => "socket",
        Trap::Device => "device",
        Trap::Folder => "folder",
        Trap::DanglingLink => "nowhere",
        Trap::Huge => "too large",
        Trap::Unreadable => "ermission denied",
    }
}

/// The sessions of a project in the agent's store.
fn stored_sessions(place: Place, caches: Option<&Path>) -> Vec<StoredSession> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (sender, mut changes) = tokio::sync::mpsc::channel(64);
    runtime.block_on(Catalogue::open(place, caches).list(&sender));
    drop(sender);
    let mut sessions = Vec::new();
    while let Some(change) = runtime.block_on(changes.recv()) {
        sessions.extend(change.changed);
    }
    sessions
}

#[track_caller]
fn says(trap: Trap, said: &str) {
    assert!(said.contains(words(trap)), "{trap:?}: {said}");
}

fn is_surveyed(trap: Trap, root: &Path) {
    let survey = survey(&root.join("p"));
    // The target of a dangling link is known and part of the fingerprint. No other trap can be fingerprinted.
    assert_eq!(survey.fingerprint.is_some(), trap == Trap::DanglingLink, "{trap:?}");
    says(trap, &survey.findings[0].text);
}

fn is_skipped_in_completion(_trap: Trap, root: &Path) {
    let found = Files::of(&root.join("p")).find("found", 10, Instant::now());
    assert_eq!(found.files[0].path, "found.rs");
}

fn head_is_named(trap: Trap, root: &Path) {
    let error = git::checkout(&root.join("p")).unwrap_err().to_string();
    assert!(error.contains(".git"), "{error}");
    says(trap, &error);
}

/// A conversation with one subagent, `agent-a`.
fn subagent(root: &Path) {
    let call = include_str!("../../../tests/fixtures/subagent.jsonl");
    fs::write(root.join("s.jsonl"), call).unwrap();
    fs::create_dir_all(root.join("s/subagents")).unwrap();
    fs::write(root.join("s/subagents/agent-a.meta.json"), r#"{"toolUseId":"t"}"#).unwrap();
}

/// The notice about subagents, below the call that started one.
fn missing_subagents(root: &Path) -> String {
    let path = root.join("s.jsonl");
    let kept = Kept::load(&path).unwrap().with_subagents_of(&path);
    let transcript = kept.transcript(&root.join("p"), &Additions::default());
    let items: Vec<_> = transcript.items().collect();
    let [call, notice] = &items[..] else { panic!("{items:?}") };
    assert!(matches!(call.body, Body::ToolCall(_)));
    let Body::Notice { text, detail, .. } = &notice.body else { panic!("{notice:?}") };
    assert_eq!(text, "Some work of subagents is not shown");
    detail.clone().unwrap_or_default()
}

/// All files that Deskbell reads. Add each new one here.
const READS: &[Read] = &[
    Read {
        name: "places of windows",
        path: "windows.json",
        prepare: nothing,
        check: |trap, root| {
            let read = disk::load_json::<serde_json::Value>(&root.join("windows.json"), 1 << 20);
            let disk::Loaded::Unreadable(aside) = read else { panic!("{trap:?} was read") };
            says(trap, &aside.problem);
            assert!(trap.is_at(&aside.moved_to.unwrap()), "{trap:?} is lost");
        },
    },
    Read {
        name: "log",
        path: "log/app.2026-11-22.1.log",
        prepare: nothing,
        check: |trap, root| {
            let lines = LogFiles::last_lines(&root.join("log"), 9).unwrap();
            // Only the end of a large file is read.
            if trap != Trap::Huge {
                says(trap, &lines[0]);
            }
        },
    },
    Read {
        name: "settings of the user",
        path: "settings.json",
        prepare: nothing,
        check: |trap, root| {
            let found = SettingsFile::new(root).read(&Settings::default());
            says(trap, &found.problems[0].message);
            assert!(trap.is_at(&root.join("settings.json")), "{trap:?} is lost");
        },
    },
    Read {
        name: "projects that were opened earlier",
        path: "projects.json",
        prepare: nothing,
        check: |trap, root| {
            let projects = ProjectStore::new(root).load();
            let aside = projects.set_aside.expect("it is reported");
            says(trap, &aside.problem);
            assert!(trap.is_at(&aside.moved_to.unwrap()), "{trap:?} is lost");
        },
    },
    Read {
        name: "session record, which is the journal of its prompts",
        path: "sessions/a.json",
        prepare: nothing,
        check: |trap, root| {
            let sessions = Store::open(root.join("sessions")).unwrap().load().unwrap();
            let [aside] = &sessions.set_aside[..] else { panic!("{trap:?}: {sessions:?}") };
            says(trap, &aside.problem);
            assert!(trap.is_at(aside.moved_to.as_ref().unwrap()), "{trap:?} is lost");
        },
    },
    Read {
        name: "folder of sessions",
        path: "sessions",
        prepare: nothing,
        check: |trap, root| {
            let store = Store::open(root.join("sessions"));
            assert!(store.unwrap().load().unwrap().records.is_empty());
            assert!(
                trap == Trap::Folder || trap.is_at(&root.join("sessions.unreadable")),
                "{trap:?} is lost"
            );
        },
    },
    Read {
        name: "trust decision",
        path: "trust/decision",
        prepare: project,
        check: |trap, root| {
            let store = TrustStore::open(root.join("trust")).unwrap();
            let project = root.join("p");
            store.decide(&project, crate::api::TrustDecision::Restrict, None).unwrap();
            let mut folder = fs::read_dir(root.join("trust")).unwrap().map(|entry| entry.unwrap().path());
            let kept = folder.find(|path| path.extension().is_some()).unwrap();
            fs::remove_file(&kept).unwrap();
            fs::rename(root.join("trust/decision"), &kept).unwrap();
            assert!(matches!(store.state(&project).unwrap(), TrustState::Unknown { .. }), "{trap:?}");
        },
    },
    Read { name: "settings", path: "p/.claude/settings.json", prepare: project, check: is_surveyed },
    Read {
        name: "local settings",
        path: "p/.claude/settings.local.json",
        prepare: project,
        check: is_surveyed,
    },
    Read { name: "servers", path: "p/.mcp.json", prepare: project, check: is_surveyed },
    Read {
        name: "folder of settings",
        path: "p/.claude",
        prepare: project,
        check: |_, root| drop(survey(&root.join("p"))),
    },
    Read {
        name: "git's folder",
        path: "p/.git",
        prepare: nothing,
        check: |trap, root| {
            match trap {
                // An empty folder is not a repository.
                Trap::Folder => assert!(git::checkout(&root.join("p")).unwrap().branch.is_none()),
                _ => head_is_named(trap, root),
            }
            drop(survey(&root.join("p")));
        },
    },
    Read { name: "branch", path: "p/.git/HEAD", prepare: nothing, check: head_is_named },
    Read {
        name: "branch of a linked worktree",
        path: "main/HEAD",
        prepare: |root| {
            fs::create_dir_all(root.join("p")).unwrap();
            fs::write(root.join("p/.git"), "gitdir: ../main").unwrap();
        },
        check: |trap, root| says(trap, &git::checkout(&root.join("p")).unwrap_err().to_string()),
    },
    Read {
        name: "main folder of a linked worktree",
        path: "main/commondir",
        prepare: |root| {
            fs::create_dir_all(root.join("p")).unwrap();
            fs::write(root.join("p/.git"), "gitdir: ../main").unwrap();
        },
        check: |_, root| drop(survey(&root.join("p"))),
    },
    Read { name: "ignore file", path: "p/.ignore", prepare: project, check: is_skipped_in_completion },
    Read {
        name: "git's ignore file",
        path: "p/.gitignore",
        prepare: project,
        check: is_skipped_in_completion,
    },
    Read {
        name: "git's own exclusions",
        path: "p/.git/info/exclude",
        prepare: project,
        check: is_skipped_in_completion,
    },
    Read { name: "entry of a project", path: "p/a", prepare: project, check: is_skipped_in_completion },
    Read {
        name: "file dropped on a window",
        path: "p/drop.png",
        prepare: project,
        check: |trap, root| {
            let dropped = Files::dropped(&root.join("p"), &[root.join("p/drop.png")]);
            match (trap, &dropped[0]) {
                // A folder, and a file that is not an image, are named in the prompt without being read.
                (Trap::Folder | Trap::Huge, Dropped::File { .. }) => {}
                (_, Dropped::Refused { why }) => says(trap, why),
                (_, dropped) => panic!("{trap:?}: {dropped:?}"),
            }
        },
    },
    Read {
        name: "conversation as the agent keeps it",
        path: "s.jsonl",
        prepare: nothing,
        check: |trap, root| {
            let (path, project) = (root.join("s.jsonl"), root.join("p"));
            assert!(
                !matches!(history::read_end(&path, &project, &Additions::default()), Ok(Some(_))),
                "{trap:?}"
            );
            match Kept::load(&path).map(|kept| kept.transcript(&project, &Additions::default())) {
                Err(error) => says(trap, &error.to_string()),
                Ok(transcript) => {
                    let first = transcript.items().next().expect("it is said that the beginning is left out");
                    assert!(matches!(&first.body, Body::Notice { text, .. } if text.contains("too large")));
                    assert_eq!(trap, Trap::Huge);
                }
            }
        },
    },
    Read {
        name: "lines of a subagent",
        path: "s/subagents/agent-a.jsonl",
        prepare: subagent,
        check: |_, root| {
            assert!(missing_subagents(root).contains("1 subagent are too large or cannot be read"))
        },
    },
    Read {
        name: "call of a subagent",
        path: "s/subagents/agent-a.meta.json",
        prepare: |root| {
            subagent(root);
            fs::remove_file(root.join("s/subagents/agent-a.meta.json")).unwrap();
        },
        check: |trap, root| says(trap, &missing_subagents(root)),
    },
    Read {
        name: "folder of subagents",
        path: "s/subagents",
        prepare: |root| {
            subagent(root);
            fs::remove_dir_all(root.join("s/subagents")).unwrap();
        },
        check: |trap, root| match trap {
            // An empty one has no subagents.
            Trap::Folder => {}
            _ => drop(missing_subagents(root)),
        },
    },
    Read {
        name: "conversation that Deskbell keeps",
        path: "sessions/s.conversation.jsonl",
        prepare: nothing,
        check: |trap, root| {
            let store = Store::open(root.join("sessions")).unwrap();
            match (trap, store.conversation(&SessionId::new("s"))) {
                (Trap::Huge, Ok(Some(end))) => {
                    let transcript =
                        Own::parse(&end).transcript(&root.join("p"), Vec::new(), history::Colouring::All);
                    let first = transcript.items().next().expect("it is said that the beginning is left out");
                    assert!(matches!(&first.body, Body::Notice { text, .. } if text.contains("too large")));
                }
                (_, Err(error)) => says(trap, &error.to_string()),
                (_, read) => panic!("{trap:?}: {}", read.unwrap().is_some()),
            }
        },
    },
    Read {
        name: "session in the agent's store",
        path: "c/projects/x/00000000-0000-4000-8000-000000000001.jsonl",
        prepare: nothing,
        check: |_, root| {
            let place =
                Place { folder: root.join("c/projects/x"), ..Place::new(root.join("c"), root.join("p")) };
            assert!(stored_sessions(place, None).is_empty());
        },
    },
    Read {
        name: "folder of the agent's store",
        path: "c/projects/x",
        prepare: nothing,
        check: |_, root| {
            let place =
                Place { folder: root.join("c/projects/x"), ..Place::new(root.join("c"), root.join("p")) };
            assert!(stored_sessions(place, None).is_empty());
        },
    },
    Read {
        name: "folder of caches of stored sessions",
        path: "caches",
        prepare: nothing,
        check: |_, root| {
            let place = Place::new(root.join("c"), root.join("p"));
            assert!(stored_sessions(place, Some(&root.join("caches"))).is_empty());
        },
    },
    Read {
        name: "sessions that were removed from the list",
        path: "hidden.json",
        prepare: nothing,
        check: |trap, root| {
            let mut hidden = Hidden::open(root.join("hidden.json"));
            hidden.hide("a", 1).unwrap();
            assert!(hidden.has("a", 1));
            let mut moved = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
            assert!(moved.any(|path| trap.is_at(&path)), "{trap:?} is lost");
        },
    },
    Read {
        name: "marks of sessions",
        path: "session-marks.json",
        prepare: nothing,
        check: |trap, root| {
            let store = MarkStore::new(root);
            assert_eq!(store.load(), []);
            assert_eq!(store.mark("a", Some(SessionMark::Pinned)).unwrap().len(), 1);
            let mut moved = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
            assert!(moved.any(|path| trap.is_at(&path)), "{trap:?} is lost");
        },
    },
    Read {
        name: "sessions that other agents have listed",
        // The name is a hash of the project's path, /p.
        path: "agent-sessions/00d74baf14ea415c6164614838c91f83.json",
        prepare: nothing,
        check: |trap, root| {
            let (lists, project) = (AgentSessions::new(root.join("agent-sessions")), Path::new("/p"));
            assert_eq!(lists.load(project), []);
            let agent = crate::acp::ChosenAgent::row_of("qwen").unwrap();
            let listed = crate::agent::ListedSession { id: "a".to_owned(), title: None, changed_at: None };
            lists.keep(project, agent, None, vec![listed], 1).unwrap();
            assert_eq!(lists.load(project).len(), 1);
            let moved = fs::read_dir(lists.place()).unwrap().map(|entry| entry.unwrap().path());
            assert!(moved.into_iter().any(|path| trap.is_at(&path)), "{trap:?} is lost");
        },
    },
    Read {
        name: "the agent's list of its processes",
        path: "sessions/1.json",
        prepare: nothing,
        check: |_, root| assert_eq!(live_processes(root, "s"), []),
    },
    Read {
        name: "mark on a conversation",
        path: "locks/s.lock",
        prepare: nothing,
        check: |trap, root| {
            let lock = Lock::take(&root.join("locks"), "s");
            match trap {
                // A regular file of any size can be locked, and a dangling link is followed to create its target.
                Trap::Huge | Trap::DanglingLink => assert!(lock.unwrap().is_some()),
                _ => says(trap, &lock.unwrap_err().to_string()),
            }
        },
    },
    Read {
        name: "mark of a run",
        path: "runs/a.json",
        prepare: nothing,
        check: |_, root| {
            let runs = AppRuns::open(root.join("runs")).unwrap();
            assert_eq!(runs.earlier().unwrap(), Earlier::default());
        },
    },
    Read {
        name: "program of the agent",
        path: "claude",
        prepare: nothing,
        check: |trap, root| {
            let places = Places { chosen: Some(root.join("claude")), ..Places::default() };
            let tried = places.locate().unwrap_err().tried.remove(0).problem;
            let expected = match trap {
                Trap::Huge | Trap::Unreadable => "is not executable",
                Trap::DanglingLink => "does not exist",
                _ => "is not a file",
            };
            assert_eq!(tried, expected, "{trap:?}");
        },
    },
    Read {
        name: "folder of Node versions",
        path: ".nvm/versions/node",
        prepare: nothing,
        check: |_, root| drop(crate::locate::usual_directories(Some(root))),
    },
    Read {
        name: "settings of npm",
        path: ".npmrc",
        prepare: nothing,
        check: |_, root| drop(crate::locate::usual_directories(Some(root))),
    },
    Read {
        name: "starter of npm",
        path: "claude.cmd",
        prepare: nothing,
        check: |_, root| {
            let places = Places { chosen: Some(root.join("claude.cmd")), ..Places::default() };
            assert_eq!(places.locate().unwrap_err().tried.len(), 1);
        },
    },
    Read {
        name: "recording",
        path: "recording.ndjson",
        prepare: nothing,
        check: |trap, root| {
            says(trap, &Recording::read(&root.join("recording.ndjson")).unwrap_err().to_string())
        },
    },
];

#[test]
fn no_file_that_is_read_can_hold_anything_up() {
    for Read { name, path, prepare, check } in READS {
        for trap in all() {
            let folder = tempfile::tempdir().unwrap();
            let root: PathBuf = folder.path().canonicalize().unwrap();
            prepare(&root);
            let at = root.join(path);
            if trap == Trap::Folder && at.is_dir() {
                continue;
            }
            trap.put_at(&at);
            fs::create_dir_all(root.join("p")).unwrap();
            eprintln!("{name}: {trap:?}");
            in_time(&format!("{name}, {trap:?}"), move || check(trap, &root));
        }
    }
}
