//! Tests of the list of stored sessions, and of what follows it.

use super::Follower;
use super::catalogue::{Catalogue, Cost};
use super::files::{EACH_END, Place};
use super::summary_tests::{FIXTURES, bytes};
use crate::api::{StoredChange, StoredSession, StoredState};
use crate::history::transcript_path;
use crate::projects::ProjectFolders;
use crate::traps::all;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_filter_takes_all_words_from_titles_prompts_and_branches() {
    let session = StoredSession {
        agent_session_id: "a".to_owned(),
        title: "Round totals".to_owned(),
        first_prompt: Some("Why is the SUM off?".to_owned()),
        last_prompt: None,
        branch: Some("fix/rounding".to_owned()),
        model: None,
        changed_at: 1,
        state: StoredState::Completed,
        live: None,
        profile: Some("Work".to_owned()),
        agent: Some("Codex".to_owned()),
    };
    for query in ["", "  ", "round", "sum totals", "FIX/ROUND why", "codex round", "work sum"] {
        assert!(Catalogue::fits(&session, query), "{query}");
    }
    for query in ["rounds", "sum none", "opus"] {
        assert!(!Catalogue::fits(&session, query), "{query}");
    }
}

/// A store with one project, `/…/project`.
struct Store {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project")).unwrap();
        Self { _folder: folder, root }
    }

    fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    fn place(&self) -> Place {
        Place::new(self.config(), self.project())
    }

    /// The file of session number `nr`.
    fn file(&self, nr: usize) -> PathBuf {
        self.place().folder.join(format!("{}.jsonl", id(nr)))
    }

    /// Writes a fixture as a session of the project.
    fn put(&self, nr: usize, name: &str) {
        self.write(nr, &self.text(name));
    }

    fn text(&self, name: &str) -> String {
        let cwd = format!("\"cwd\":{}", serde_json::to_string(&self.project()).unwrap());
        String::from_utf8(bytes(name).to_vec()).unwrap().replace("\"cwd\":\"/project\"", &cwd)
    }

    fn write(&self, nr: usize, text: &str) {
        let path = self.file(nr);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn list(&self) -> (HashMap<String, StoredSession>, StoredChange, Cost) {
        let (sender, mut changes) = mpsc::channel(4);
        let (place, caches) = (self.place(), self.root.join("caches"));
        let listing = tokio::spawn(async move {
            let mut catalogue = Catalogue::open(place, Some(&caches));
            catalogue.list(&sender).await;
            catalogue.cost()
        });
        let (mut sessions, mut last) = (HashMap::new(), StoredChange::default());
        while let Some(change) = changes.recv().await {
            take(&mut sessions, &change);
            last = change;
        }
        (sessions, last, listing.await.unwrap())
    }
}

fn id(nr: usize) -> String {
    format!("00000000-0000-4000-8000-{nr:012}")
}

fn take(sessions: &mut HashMap<String, StoredSession>, change: &StoredChange) {
    change.removed.iter().for_each(|id| drop(sessions.remove(id)));
    for session in &change.changed {
        sessions.insert(session.agent_session_id.clone(), session.clone());
    }
}

#[tokio::test]
async fn a_moved_folder_has_the_sessions_of_its_earlier_place() {
    let store = Store::new();
    store.put(1, "completed");
    store.put(2, "other_folder");
    let (before, now) = (store.project(), store.root.join("renamed"));
    fs::rename(&before, &now).unwrap();
    let folders = ProjectFolders { now: now.clone(), earlier: vec![before] };
    let place = Place::new(store.config(), folders.clone());
    assert!(Place::new(store.config(), &now).find(&id(1)).unwrap().is_none(), "it was not said to be moved");
    assert!(place.find(&id(1)).unwrap().is_some() && place.find(&id(2)).unwrap().is_none());

    let (_follower, mut changes) = Follower::start(store.config(), folders, None);
    let mut sessions = HashMap::new();
    until(&mut changes, &mut sessions, "the earlier ones", |all| all.keys().eq([&id(1)])).await;
    // Begun here.
    let text = store.text("completed").replace("/project\"", "/renamed\"");
    let folder = Place::new(store.config(), &now).folder;
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{}.jsonl", id(3))), &text).unwrap();
    until(&mut changes, &mut sessions, "a new one", |all| all.len() == 2).await;
    // The agent continues a conversation in the file in which it began.
    store.write(1, &store.text("interrupted"));
    until(&mut changes, &mut sessions, "an earlier one changed", |all| {
        all[&id(1)].state == StoredState::Interrupted
    })
    .await;
}

#[tokio::test]
async fn only_the_sessions_of_this_project_are_listed() {
    let store = Store::new();
    assert_eq!(store.list().await.0.len(), 0, "there is no store yet");
    store.put(1, "completed");
    store.put(2, "other_folder");
    store.put(3, "sidechain");
    store.write(4, "");
    store.write(5, "not JSON\n\u{0}\u{1}\n[1,2]\n");
    store.put(6, "torn");
    let folder = store.place().folder;
    fs::write(folder.join("agent-1234.jsonl"), store.text("completed")).unwrap();
    fs::write(folder.join("notes.txt"), "x").unwrap();
    fs::create_dir_all(folder.join(id(1)).join("subagents")).unwrap();
    let (sessions, last, _) = store.list().await;
    let mut ids: Vec<&String> = sessions.keys().collect();
    ids.sort();
    assert_eq!(ids, [&id(1), &id(6)]);
    assert_eq!(sessions[&id(1)].title, "Round half to even in totals");
    assert!(last.is_complete);
    assert_eq!(last.n_unreadable, 0);
}

/// 2.1.329 moves the file of a session whose agent called `EnterWorktree` to the folder of that worktree.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_agent_entered_a_worktree_stays_one_of_the_project() {
    let store = Store::new();
    store.put(1, "completed");
    store.put(2, "completed");
    let (_follower, mut changes) = Follower::start(store.config(), store.project(), None);
    let mut sessions = HashMap::new();
    until(&mut changes, &mut sessions, "both are listed", |sessions| sessions.len() == 2).await;

    let worktree = PathBuf::from(format!("{}--claude-worktrees-fix", store.place().folder.display()));
    fs::create_dir(&worktree).unwrap();
    let moved = worktree.join(format!("{}.jsonl", id(1)));
    fs::rename(store.file(1), &moved).unwrap();
    // Began in the worktree: it is none of the project.
    fs::write(worktree.join(format!("{}.jsonl", id(3))), store.text("other_folder")).unwrap();
    store.put(4, "completed");
    until(&mut changes, &mut sessions, "a later change", |sessions| sessions.contains_key(&id(4))).await;
    assert!(sessions.contains_key(&id(1)), "its file has moved: {sessions:?}");
    let mut listed: Vec<String> = store.list().await.0.into_keys().collect();
    listed.sort();
    assert_eq!(listed, [id(1), id(2), id(4)]);
    let path = |nr| transcript_path(&store.config(), &store.project(), &id(nr));
    assert_eq!((path(1), path(2), path(9)), (moved, store.file(2), store.file(9)));
}

/// The lines are those of 2.1.332, which writes the last one again when it ends.
#[tokio::test]
async fn a_session_is_also_listed_in_the_folder_to_which_it_moved_last() {
    let store = Store::new();
    let moved = |folder: &Path| {
        let folder = serde_json::to_string(folder).unwrap();
        format!("{{\"type\":\"relocated\",\"sessionId\":\"x\",\"relocatedCwd\":{folder}}}\n")
    };
    let (began, here, elsewhere) =
        (store.text("other_folder"), moved(&store.project()), moved(Path::new("/elsewhere")));
    store.write(1, &format!("{began}{elsewhere}{here}"));
    store.write(2, &format!("{began}{here}{began}"));
    store.write(3, &format!("{began}{here}{elsewhere}"));
    store.write(4, &format!("{began}{{\"type\":\"relocated\",\"relocatedCwd\":7}}\n"));
    // 2.1.197 writes only lines of another type, and `null` in them when the agent leaves a worktree.
    let state = |worktree: &str| format!("{{\"type\":\"worktree-state\",\"worktreeSession\":{worktree}}}\n");
    let entered = |folder: &Path| state(&format!("{{\"worktreePath\":{}}}", serde_json::json!(folder)));
    let (entered_here, entered_elsewhere) = (entered(&store.project()), entered(Path::new("/elsewhere")));
    store.write(5, &format!("{began}{entered_elsewhere}{entered_here}{began}"));
    store.write(6, &format!("{began}{entered_here}{entered_elsewhere}"));
    store.write(7, &format!("{began}{entered_here}{}", state("null")));
    store.write(8, &format!("{began}{entered_here}{}", state("{\"worktreePath\":7}")));
    let mut listed: Vec<String> = store.list().await.0.into_keys().collect();
    listed.sort();
    assert_eq!(listed, [id(1), id(2), id(5), id(8)]);
}

/// The agent may enter any worktree of the repository (`EnterWorktree` with a path); 2.1.332 then moves the file.
#[tokio::test]
async fn a_session_whose_agent_entered_a_worktree_beside_the_project_stays_one_of_it() {
    let store = Store::new();
    let worktree = store.root.join("beside");
    let note = store.project().join(".git/worktrees/beside");
    for folder in [&worktree, &note] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(note.join("gitdir"), format!("{}\n", worktree.join(".git").display())).unwrap();
    store.put(1, "completed");
    let there = Place::new(store.config(), worktree.as_path()).folder;
    fs::create_dir_all(&there).unwrap();
    fs::write(there.join(format!("{}.jsonl", id(2))), store.text("completed")).unwrap();
    fs::write(there.join(format!("{}.jsonl", id(3))), store.text("other_folder")).unwrap();
    let mut listed: Vec<String> = store.list().await.0.into_keys().collect();
    listed.sort();
    assert_eq!(listed, [id(1), id(2)]);
}

#[tokio::test]
async fn what_is_no_readable_file_is_counted_and_holds_nothing_up() {
    let store = Store::new();
    store.put(1, "completed");
    let traps = all();
    for (nr, trap) in traps.iter().enumerate() {
        trap.put_at(&store.file(10 + nr));
    }
    let (sessions, last, cost) = tokio::time::timeout(SOON, store.list()).await.unwrap();
    assert_eq!(sessions.len(), 1);
    assert!(last.is_complete);
    // A huge file is read at its ends, and has no messages. A dangling link is not listed.
    let n_readable =
        traps.iter().filter(|trap| ["Huge", "DanglingLink"].contains(&format!("{trap:?}").as_str()));
    assert_eq!(last.n_unreadable as usize, traps.len() - n_readable.count());
    assert!(cost.bytes_read < 3 * 2 * EACH_END as u64, "{cost:?}");
}

#[tokio::test]
async fn of_too_many_files_some_are_missing_and_it_is_said() {
    let store = Store::new();
    let folder = store.place().folder;
    fs::create_dir_all(&folder).unwrap();
    for nr in 0..100_000 {
        fs::write(folder.join(nr.to_string()), "").unwrap();
    }
    assert_eq!(store.list().await.1.problem, None);
    store.put(1, "completed");
    let (_, last, cost) = store.list().await;
    let said = last.problem.unwrap_or_default();
    assert!(said.ends_with("has more than 100000 files, so some sessions are missing"), "{said}");
    assert!(last.is_complete && cost.n_read <= 1);
}

#[tokio::test]
async fn ten_thousand_sessions_are_read_once_and_only_at_their_ends() {
    const N: usize = 10_000;
    let store = Store::new();
    let small = store.text("completed");
    let large = format!(
        "{small}{}{small}",
        format!("{{\"type\":\"attachment\",\"x\":\"{}\"}}\n", "y".repeat(999)).repeat(200)
    );
    for nr in 0..N {
        store.write(nr, if nr % 100 == 0 { &large } else { &small });
    }
    let (sessions, last, cost) = store.list().await;
    assert_eq!(sessions.len(), N);
    assert!(last.is_complete);
    assert_eq!((cost.n_listed, cost.n_read), (N, N));
    // Of 18 lines: the first three up to the first prompt, and the last three.
    assert_eq!(cost.n_parsed, N * 6);
    let most = (N - N / 100) * small.len() + N / 100 * 2 * EACH_END;
    assert_eq!(cost.bytes_read, most as u64);

    // Again: nothing is read, except one file that has grown.
    fs::write(store.file(7), format!("{small}{small}")).unwrap();
    let (sessions, _, cost) = store.list().await;
    assert_eq!((sessions.len(), cost.n_read), (N, 1));
}

#[tokio::test]
async fn the_cache_may_be_deleted_or_be_anything() {
    let store = Store::new();
    (0..40).for_each(|nr| store.put(nr, "completed"));
    let n_read = async || {
        let (sessions, _, cost) = store.list().await;
        assert_eq!(sessions.len(), 40);
        cost.n_read
    };
    assert_eq!((n_read().await, n_read().await), (40, 0));
    let caches = store.root.join("caches");
    let cache = fs::read_dir(&caches).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&cache).unwrap();
    for damaged in ["", "{\"version\":5,", &text.replace("\"version\":5", "\"version\":0")] {
        fs::write(&cache, damaged).unwrap();
        assert_eq!((n_read().await, n_read().await), (40, 0), "{damaged:.20}");
    }
    fs::remove_dir_all(&caches).unwrap();
    assert_eq!(n_read().await, 40);
}

/// Receives changes until the list is as wanted.
async fn until(
    changes: &mut mpsc::Receiver<StoredChange>,
    sessions: &mut HashMap<String, StoredSession>,
    what: &str,
    wanted: impl Fn(&HashMap<String, StoredSession>) -> bool,
) {
    let seen = async {
        while !wanted(sessions) {
            let change = changes.recv().await.expect("it is followed");
            take(sessions, &change);
        }
    };
    assert!(tokio::time::timeout(SOON, seen).await.is_ok(), "{what}: {sessions:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_is_followed_from_before_it_exists() {
    let store = Store::new();
    let (follower, mut changes) = Follower::start(store.config(), store.project(), None);
    let mut sessions = HashMap::new();
    assert!(changes.recv().await.unwrap().is_complete);

    store.put(1, "killed_in_tool");
    let state = |sessions: &HashMap<String, StoredSession>, nr| {
        sessions.get(&id(nr)).map(|session: &StoredSession| session.state.clone())
    };
    until(&mut changes, &mut sessions, "the store appears", |sessions| {
        state(sessions, 1) == Some(StoredState::Interrupted)
    })
    .await;
    store.put(2, "completed");
    until(&mut changes, &mut sessions, "a session appears", |sessions| sessions.len() == 2).await;
    let longer = format!("{}{}", store.text("killed_in_tool"), store.text("completed"));
    store.write(1, &longer);
    until(&mut changes, &mut sessions, "a session goes on", |sessions| {
        state(sessions, 1) == Some(StoredState::Completed)
    })
    .await;
    fs::remove_file(store.file(2)).unwrap();
    until(&mut changes, &mut sessions, "a session is removed", |sessions| sessions.len() == 1).await;
    fs::rename(store.config(), store.root.join("before")).unwrap();
    until(&mut changes, &mut sessions, "the store is gone", HashMap::is_empty).await;
    fs::rename(store.root.join("before"), store.config()).unwrap();
    until(&mut changes, &mut sessions, "the store is back", |sessions| sessions.len() == 1).await;

    // At once, before anything is read in between: the old watch is on a folder that is no more.
    let folder = store.place().folder;
    fs::rename(&folder, store.root.join("old")).unwrap();
    fs::create_dir(&folder).unwrap();
    until(&mut changes, &mut sessions, "the folder is another", HashMap::is_empty).await;
    store.put(3, "completed");
    until(&mut changes, &mut sessions, "the other folder is followed", |sessions| sessions.len() == 1).await;

    drop(follower);
    let ended = async { while changes.recv().await.is_some() {} };
    assert!(tokio::time::timeout(SOON, ended).await.is_ok(), "it is still followed");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_a_process_has_open_says_so() {
    use crate::api::{LiveActivity, LiveProcess};

    let store = Store::new();
    store.put(1, "completed");
    let (_follower, mut changes) = Follower::start(store.config(), store.project(), None);
    let mut sessions = HashMap::new();
    until(&mut changes, &mut sessions, "it is listed", |sessions| sessions.len() == 1).await;
    assert_eq!(sessions[&id(1)].live, None);

    let pid = std::process::id();
    let mark = store.config().join("sessions").join(format!("{pid}.json"));
    fs::create_dir_all(mark.parent().unwrap()).unwrap();
    let text = serde_json::json!({"pid": pid, "sessionId": id(1), "cwd": "/", "status": "busy"});
    fs::write(&mark, text.to_string()).unwrap();
    let working = Some(LiveProcess { pid, activity: LiveActivity::Working });
    until(&mut changes, &mut sessions, "it is open", |sessions| sessions[&id(1)].live == working).await;
    fs::remove_file(&mark).unwrap();
    until(&mut changes, &mut sessions, "it is closed", |sessions| sessions[&id(1)].live.is_none()).await;
}

/// A window that shows the session reads its subagents when its row comes, changed or not.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_row_of_a_live_session_comes_again_when_its_subagents_write() {
    let store = Store::new();
    store.put(1, "completed");
    store.put(2, "completed");
    let pid = std::process::id();
    let mark = store.config().join("sessions").join(format!("{pid}.json"));
    fs::create_dir_all(mark.parent().unwrap()).unwrap();
    let text = serde_json::json!({"pid": pid, "sessionId": id(1), "cwd": "/", "status": "busy"});
    fs::write(&mark, text.to_string()).unwrap();
    let (_follower, mut changes) = Follower::start(store.config(), store.project(), None);
    let mut sessions = HashMap::new();
    until(&mut changes, &mut sessions, "they are listed", |sessions| sessions.len() == 2).await;

    let folder = |nr| store.place().folder.join(id(nr)).join("subagents");
    for what in ["the folder appears", "a file appears", "a file grows"] {
        for nr in [1, 2] {
            fs::create_dir_all(folder(nr)).unwrap();
            let file = folder(nr).join("agent-aa.jsonl");
            match what {
                "a file appears" => fs::write(file, "{}").unwrap(),
                "a file grows" => fs::write(file, "{}\n{}").unwrap(),
                _ => {}
            }
        }
        let again = async {
            loop {
                let change = changes.recv().await.expect("it is followed");
                let ids: Vec<_> =
                    change.changed.iter().map(|session| session.agent_session_id.clone()).collect();
                if ids == [id(1)] {
                    break;
                }
                assert_eq!(ids, [] as [String; 0], "{what}: no process has the other one open");
            }
        };
        assert!(tokio::time::timeout(SOON, again).await.is_ok(), "{what}");
        // The folder is watched a moment after it was seen.
        while let Ok(change) = tokio::time::timeout(4 * super::follow::TOGETHER, changes.recv()).await {
            assert!(change.is_some(), "{what}");
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn live_conversations_of_all_projects_are_followed() {
    use crate::api::LiveActivity;

    let store = Store::new();
    let (_stores, stores) = tokio::sync::watch::channel(vec![only(&store, None)]);
    let (_follower, mut live) = Follower::live(stores);
    store.put(1, "completed");
    let pid = std::process::id();
    let mark = store.config().join("sessions").join(format!("{pid}.json"));
    fs::create_dir_all(mark.parent().unwrap()).unwrap();
    let write = |session: &str, status: &str| {
        let cwd = dunce::canonicalize(store.project()).unwrap();
        let text = serde_json::json!({"pid": pid, "sessionId": session, "cwd": cwd, "status": status});
        fs::write(&mark, text.to_string()).unwrap();
    };
    let mut until = async |what: &str, fits: &dyn Fn(&[super::Located]) -> bool| {
        let seen = tokio::time::timeout(SOON, live.wait_for(|live| fits(live))).await;
        seen.unwrap_or_else(|_| panic!("{what}")).unwrap().clone()
    };
    write(&id(1), "busy");
    let found = until("it works", &|live| live.len() == 1).await;
    assert_eq!(found[0].project.as_deref(), Some(store.project().as_path()));
    assert_eq!(found[0].session.title, "Round half to even in totals");
    write(&id(1), "waiting");
    let waits = |live: &[super::Located]| {
        live.first()
            .and_then(|one| one.session.live.clone())
            .is_some_and(|live| live.activity == LiveActivity::NeedsInput)
    };
    until("it waits", &waits).await;
    write(&id(2), "busy");
    until("a process without a conversation is left out", &<[_]>::is_empty).await;
    write(&id(1), "idle");
    until("it is open", &|live| live.len() == 1).await;
    fs::remove_file(&mark).unwrap();
    until("it is closed", &<[_]>::is_empty).await;
}

fn only(store: &Store, profile: Option<&str>) -> super::several::Store {
    super::several::Store { config: store.config(), profile: profile.map(str::to_owned) }
}

/// As the list and the search do, the board follows the stores of all profiles, and a change of them.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn live_conversations_of_every_profile_are_followed_while_it_is_there() {
    let (first, second) = (Store::new(), Store::new());
    let open = |store: &Store, nr: usize, name: &str| {
        let cwd = dunce::canonicalize(store.project()).unwrap();
        let pid = std::process::id();
        let text = serde_json::json!({"pid": pid, "sessionId": id(nr), "cwd": cwd, "status": "busy"});
        let folder = store.config().join("sessions");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text.to_string()).unwrap();
    };
    let name = format!("{}.json", std::process::id());
    first.put(1, "completed");
    second.put(1, "completed");
    second.put(2, "completed");
    open(&first, 1, &name);
    open(&second, 2, &name);
    let (sender, stores) = tokio::sync::watch::channel(vec![only(&first, None)]);
    let (_follower, mut live) = Follower::live(stores);
    let mut until = async |what: &str, expected: &[(usize, Option<&str>)]| {
        let fits = |live: &Vec<super::Located>| {
            let seen = live.iter().map(|one| &one.session);
            seen.map(|one| (one.agent_session_id.clone(), one.profile.clone()))
                .eq(expected.iter().map(|(nr, profile)| (id(*nr), profile.map(str::to_owned))))
        };
        let seen = tokio::time::timeout(SOON, live.wait_for(fits)).await;
        assert!(seen.is_ok(), "{what}");
    };
    until("one store", &[(1, None)]).await;
    let both = vec![only(&first, None), only(&second, Some("Work"))];
    sender.send_replace(both.clone());
    until("a profile is added", &[(1, None), (2, Some("Work"))]).await;
    open(&second, 1, &name);
    until("a conversation of two stores is that of the first one", &[(1, None)]).await;
    open(&second, 2, &name);
    until("its own one is open again", &[(1, None), (2, Some("Work"))]).await;
    fs::remove_file(second.config().join("sessions").join(&name)).unwrap();
    until("it is closed", &[(1, None)]).await;
    open(&second, 2, &name);
    until("it is open", &[(1, None), (2, Some("Work"))]).await;
    sender.send_replace(both[..1].to_vec());
    until("the profile is gone", &[(1, None)]).await;
}

#[test]
fn one_session_is_found_by_its_id() {
    let store = Store::new();
    store.put(1, "completed");
    store.put(2, "other_folder");
    let found = |id: &str| store.place().find(id).unwrap().map(|session| session.title);
    assert_eq!(found(&id(1)).as_deref(), Some("Round half to even in totals"));
    for other in [&id(2), &id(3), "../project", ""] {
        assert_eq!(found(other), None, "{other}");
    }
}

/// Nothing in the store is written, whatever is done with it.
#[tokio::test]
async fn the_store_is_never_written_to() {
    let store = Store::new();
    for (nr, (name, _)) in FIXTURES.iter().enumerate() {
        store.put(nr, name);
    }
    let content = |folder: &Path| -> HashMap<PathBuf, Vec<u8>> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    };
    let folder = store.place().folder;
    let before = content(&folder);
    store.list().await;
    store.list().await;
    assert_eq!(content(&folder), before);
    assert_eq!(fs::read_dir(store.config()).unwrap().count(), 1);
}
