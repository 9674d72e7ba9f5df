//! Searches of whole stores.

use super::*;
use crate::api::{Body, FoundSession};
use crate::history::{self, Additions, Kept};
use crate::transcript::words;
use crate::traps;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

const TODAY: Today = Today { now: 1_795_357_800_000, utc_offset_minutes: 0 };

/// A store with sessions of one project, whose folder is real.
struct Store {
    root: tempfile::TempDir,
    folder: PathBuf,
}

impl Store {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("lighthouse");
        fs::create_dir(&project).unwrap();
        let folder = history::project_folder(root.path(), &project);
        fs::create_dir_all(&folder).unwrap();
        Self { root, folder }
    }

    fn project(&self) -> PathBuf {
        self.root.path().join("lighthouse")
    }

    /// The folder of Deskbell's sessions.
    fn sessions(&self) -> PathBuf {
        self.root.path().join("sessions")
    }

    fn id(nr: u32) -> String {
        format!("00000000-0000-4000-8000-{nr:012}")
    }

    fn path(&self, nr: u32) -> PathBuf {
        self.folder.join(format!("{}.jsonl", Self::id(nr)))
    }

    /// Writes a session; those with higher numbers changed later.
    fn put(&self, nr: u32, lines: &[Value]) {
        self.put_in(&self.folder, nr, &self.project(), lines);
    }

    fn put_in(&self, folder: &Path, nr: u32, cwd: &Path, lines: &[Value]) {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(format!("{}.jsonl", Self::id(nr)));
        let lines = lines.iter().cloned().map(|mut line| {
            if line.get("cwd").is_none() {
                line["cwd"] = json!(cwd);
            }
            format!("{line}\n")
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
        let at = std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + u64::from(nr));
        fs::File::options().append(true).open(&path).unwrap().set_modified(at).unwrap();
    }

    fn only(&self) -> crate::stored::Store {
        crate::stored::Store { config: self.root.path().to_owned(), profile: None }
    }

    async fn search(&self, query: &str) -> (Vec<FoundSession>, SearchChange) {
        self.search_in(query, Some(self.project()), Arc::default()).await
    }

    async fn search_in(
        &self,
        query: &str,
        project: Option<PathBuf>,
        absent: Arc<Absent>,
    ) -> (Vec<FoundSession>, SearchChange) {
        self.search_as_far_as(Extent::All, query, project, absent).await
    }

    async fn search_as_far_as(
        &self,
        extent: Extent,
        query: &str,
        project: Option<PathBuf>,
        absent: Arc<Absent>,
    ) -> (Vec<FoundSession>, SearchChange) {
        let query = Query::parse(query, TODAY).unwrap();
        let sessions = vec![self.sessions()];
        let request =
            Request { stores: vec![self.only()], sessions, project: project.map(Into::into), query, extent };
        let (_searching, mut changes) = Searching::begin(request, absent);
        let (mut found, mut last) = (Vec::new(), SearchChange::default());
        while let Some(mut change) = changes.recv().await {
            assert!(!last.is_complete, "nothing follows the last change");
            found.append(&mut change.found);
            last = change;
        }
        assert!(last.is_complete);
        (found, last)
    }

    /// The items that a search finds in session 1.
    async fn items(&self, query: &str) -> Vec<String> {
        let (found, _) = self.search(query).await;
        let items = found.iter().flat_map(|session| &session.hits).map(|hit| hit.item_id.clone());
        items.map(|id| id.map_or_else(|| "title".to_owned(), |id| id.0)).collect()
    }
}

fn prompt(uuid: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "timestamp": "2026-11-20T10:00:00Z", "message": {"content": text}})
}

fn reply(message: &str, content: Value) -> Value {
    json!({"type": "assistant", "uuid": "a", "timestamp": "2026-11-21T10:00:00Z",
           "message": {"id": message, "content": [content]}})
}

fn call(id: &str, tool: &str, input: Value) -> Value {
    reply("m9", json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": "r", "timestamp": "2026-11-21T10:00:01Z",
           "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}})
}

fn snippet(session: &FoundSession) -> String {
    let mark = |part: &crate::api::SnippetPart| {
        if part.is_match { format!("[{}]", part.text) } else { part.text.clone() }
    };
    session.hits[0].snippet.iter().map(mark).collect()
}

#[tokio::test]
async fn results_are_in_context_and_the_last_changed_session_is_first() {
    let store = Store::new();
    store
        .put(1, &[prompt("u1", "Fix the Login page"), reply("m1", json!({"type": "text", "text": "Done."}))]);
    store.put(2, &[prompt("u2", "why does login fail?")]);
    store.put(3, &[prompt("u3", "something else")]);
    let (found, last) = store.search("login").await;
    let titles: Vec<_> = found.iter().map(|session| session.title.as_str()).collect();
    assert_eq!(titles, ["why does login fail?", "Fix the Login page"]);
    assert_eq!(snippet(&found[1]), "Fix the [Login] page");
    assert_eq!(
        (found[1].agent_session_id.clone(), found[1].project_name.as_str()),
        (Store::id(1), "lighthouse")
    );
    let hit = &found[1].hits[0];
    assert_eq!(
        (hit.item_id.as_ref().unwrap().as_str(), hit.place, hit.at),
        ("u1", SearchPlace::Prompt, Some(1_795_168_800_000))
    );
    assert_eq!(
        (last.n_files, last.n_searched, last.n_unreadable, last.n_left_out, last.is_cut),
        (3, 3, 0, 0, false)
    );
}

#[tokio::test]
async fn words_phrases_and_filters_choose_items() {
    let store = Store::new();
    store.put(
        1,
        &[
            prompt("u1", "run the tests of src/lib.rs, then say \"done\"\nin one word"),
            reply("m1", json!({"type": "thinking", "thinking": "tests first"})),
            reply("m1", json!({"type": "text", "text": "I run the tests, then the lints."})),
            call("t1", "Bash", json!({"command": "cargo test", "description": "Run the tests"})),
            output("t1", "test result: ok"),
            call("t2", "Read", json!({"file_path": "/p/src/lib.rs"})),
            output("t2", "fn tests() {}"),
            json!({"type": "custom-title", "customTitle": "Testing day"}),
        ],
    );
    let table = [
        ("tests", vec!["t2", "t1", "m1.1", "m1.0", "u1"]),
        ("\"the tests\"", vec!["t1", "m1.1", "u1"]),
        ("tests lints", vec!["m1.1"]),
        ("\"done\\\" in one\"", vec!["u1"]),
        ("\"", vec!["u1"]),
        ("tool:bash", vec!["t1"]),
        ("tool:bash ok", vec!["t1"]),
        ("tool:read ok", vec![]),
        ("tests file:lib.rs", vec!["t2"]),
        ("file:src/lib tool:Read", vec!["t2"]),
        ("file:lib.rs tool:Bash", vec![]),
        ("tool:bash tool:read", vec!["t2", "t1"]),
        ("tests before:2026-11-21", vec!["u1"]),
        ("tests after:2026-11-21 before:2026-11-21T10:00:01Z", vec!["t1", "m1.1", "m1.0"]),
        ("testing", vec!["title"]),
        // Names of keys are not text.
        ("file_path", vec![]),
        ("toolUseResult", vec![]),
    ];
    for (query, expected) in table {
        assert_eq!(store.items(query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn what_is_escaped_in_the_file_is_found_and_what_is_no_text_is_not() {
    let store = Store::new();
    let image = json!([{"type": "image", "source": {"type": "base64", "data": "QUJDneedleREVG"}}, {"type": "text", "text": "see"}]);
    let line = json!({"type": "user", "uuid": "u2", "message": {"content": image}});
    store.put(1, &[prompt("u1", "x"), line]);
    let mut text = fs::read_to_string(store.path(1)).unwrap();
    let cwd = json!(store.project());
    text += &format!(
        "{{\"type\":\"user\",\"uuid\":\"u3\",\"cwd\":{cwd},\"message\":{{\"content\":\"Gr\\u00fc\\u00DFe \\ud83d\\ude00 a\\\\b \\ud83d broken\"}}}}\n"
    );
    fs::write(store.path(1), text).unwrap();
    for query in ["grüße", "😀", r"a\b", "broken"] {
        assert_eq!(store.items(query).await, ["u3"], "{query}");
    }
    assert_eq!(store.items("needle").await, [""; 0]);
    assert_eq!(store.items("see").await, ["u2"]);
}

#[tokio::test]
async fn an_output_is_found_as_a_terminal_shows_it() {
    let store = Store::new();
    let link = "\u{1b}]8;;https://a.example/hidden\u{7}the page\u{1b}]8;;\u{7}";
    store.put(1, &[output("t1", &format!("\u{1b}[1;31m2 tests\u{1b}[0m failed, see {link}"))]);
    let (found, _) = store.search("failed").await;
    assert_eq!(snippet(&found[0]), "2 tests [failed], see the page");
    assert_eq!(store.items("hidden").await, [""; 0]);
}

#[tokio::test]
async fn other_projects_are_searched_only_if_wanted() {
    let store = Store::new();
    store.put(1, &[prompt("u1", "needle here")]);
    // The same encoded name, and another folder.
    store.put_in(&store.folder, 2, Path::new("/elsewhere"), &[prompt("u2", "needle there")]);
    let other = store.root.path().join("projects/-far-away");
    store.put_in(&other, 3, Path::new("/far/away"), &[prompt("u3", "needle far away")]);
    assert_eq!(store.items("needle").await, ["u1"]);
    let (found, _) = store.search_in("needle", None, Arc::default()).await;
    let projects: Vec<_> = found.iter().map(|session| session.project_name.as_str()).collect();
    assert_eq!(projects, ["away", "elsewhere", "lighthouse"]);
    assert_eq!(found[0].project, "/far/away");
}

#[tokio::test]
async fn a_hostile_store_is_searched_as_far_as_it_can_be() {
    for trap in traps::all() {
        let store = Store::new();
        store.put(1, &[prompt("u1", "needle")]);
        trap.put_at(&store.path(2));
        if trap == traps::Trap::Huge {
            // Two windows and no line. A gigabyte takes too long without optimization.
            fs::File::options()
                .write(true)
                .open(store.path(2))
                .unwrap()
                .set_len(2 * WINDOW as u64 + 1)
                .unwrap();
        }
        fs::write(store.path(3), b"\xff\xfe needle\n{\"a\": \"needle\n\n[1, \"needle\"]\n\0\0needle")
            .unwrap();
        fs::write(store.path(4), "").unwrap();
        let search = async { store.search("needle").await };
        let (found, last) = tokio::time::timeout(Duration::from_secs(60), search).await.expect("it ends");
        assert_eq!(found.len(), 1, "{trap:?}");
        // A link to nowhere is not listed; a large file without lines is read.
        let n_unreadable = u32::from(!matches!(trap, traps::Trap::DanglingLink | traps::Trap::Huge));
        assert_eq!(last.n_unreadable, n_unreadable, "{trap:?}");
        assert!(last.n_left_out >= 3, "{trap:?}: {last:?}");
    }
}

#[tokio::test]
async fn a_missing_store_has_nothing_and_one_that_is_no_folder_is_a_problem() {
    let store = Store::new();
    fs::remove_dir_all(store.root.path().join("projects")).unwrap();
    let (found, last) = store.search("x").await;
    assert_eq!((found.len(), last.n_files, last.problem), (0, 0, None));
    let (_, last) = store.search_in("x", None, Arc::default()).await;
    assert_eq!(last.problem, None);
    fs::write(store.root.path().join("projects"), "").unwrap();
    let (_, last) = store.search_in("x", None, Arc::default()).await;
    assert!(last.problem.is_some());
}

#[test]
fn a_line_that_is_longer_than_the_window_is_counted_and_the_next_one_is_searched() {
    let matcher = Matcher::new(Query::parse("needle", TODAY).unwrap()).unwrap();
    let long = prompt("u1", &"needle ".repeat(1_000)).to_string();
    for (n_before, n_after) in [(0, 0), (1, 1), (3, 40)] {
        let short = |nr: usize| prompt(&format!("s{nr}"), "needle").to_string();
        let mut lines: Vec<String> = (0..n_before).map(short).collect();
        lines.push(long.clone());
        lines.extend((0..n_after).map(|nr| short(100 + nr)));
        for end in ["", "\n"] {
            let text = lines.join("\n") + end;
            for window in [200, 512, 1_000] {
                let scan = file::scan(text.as_bytes(), window, &matcher, &[], &|| false).unwrap();
                let expected = (n_before + n_after).min(file::MOST_HITS);
                assert_eq!(
                    (scan.hits.len(), scan.n_left_out),
                    (expected, 1),
                    "{n_before} {n_after} {window}"
                );
                assert_eq!(scan.has_more, n_before + n_after > file::MOST_HITS);
            }
            let whole = file::scan(text.as_bytes(), 1 << 20, &matcher, &[], &|| false).unwrap();
            assert_eq!(whole.n_left_out, 0);
        }
    }
}

#[test]
fn a_word_that_is_only_in_keys_chooses_no_line() {
    let scan = |query: &str, line: Value| {
        let matcher = Matcher::new(Query::parse(query, TODAY).unwrap()).unwrap();
        let scan = file::scan(line.to_string().as_bytes(), WINDOW, &matcher, &[], &|| false).unwrap();
        (scan.hits.len(), scan.is_absent)
    };
    for query in ["timestamp", "stamp", "time", "uuid", "content"] {
        assert_eq!(scan(query, prompt("u1", "hello")), (0, true), "{query}");
        assert_eq!(scan(query, prompt("u1", &format!("{{\"{query}\":1}}"))), (1, false), "{query}");
    }
    let text = json!({"type": "user", "uuid": "u1", "message": {"content": "a key, \"time\": now"}});
    assert_eq!(scan("time", text), (1, false));
    assert_eq!(scan("\"a key\"", prompt("u1", "a key")), (1, false));
}

#[test]
fn a_cancelled_search_reads_no_further() {
    struct Endless(u64);
    impl io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }
    let matcher = Matcher::new(Query::parse("needle", TODAY).unwrap()).unwrap();
    let n_asked = std::cell::Cell::new(0);
    let is_cancelled = || {
        n_asked.set(n_asked.get() + 1);
        n_asked.get() > 100
    };
    let mut endless = Endless(0);
    let scan = file::scan(&mut endless, 1 << 22, &matcher, &[], &is_cancelled).unwrap();
    assert!(scan.is_cancelled && scan.hits.is_empty());
    assert_eq!(n_asked.get(), 101);
}

#[tokio::test]
async fn a_new_search_cancels_the_last_one() {
    let store = Store::new();
    for nr in 0..2_000 {
        store.put(nr, &[prompt("u1", "needle")]);
    }
    let query = Query::parse("needle", TODAY).unwrap();
    let (searching, mut changes) =
        Searching::start(vec![store.only()], Vec::new(), Some(store.project().into()), query, Arc::default());
    let first = changes.recv().await.unwrap();
    assert!(!first.is_complete && first.found[0].agent_session_id == Store::id(1_999));
    drop(searching);
    let mut n_left = 0;
    while let Some(change) = changes.recv().await {
        assert!(!change.is_complete);
        n_left += 1;
    }
    assert!(n_left <= WAITING, "only what was on its way: {n_left}");
}

#[tokio::test]
async fn a_search_ends_when_it_has_enough() {
    let store = Store::new();
    let n_files = u32::try_from(Extent::All.n_sessions()).unwrap() + 10;
    for nr in 0..n_files {
        store.put(nr, &[prompt("u1", "needle")]);
    }
    for extent in [Extent::Newest, Extent::All] {
        let (found, last) =
            store.search_as_far_as(extent, "needle", Some(store.project()), Arc::default()).await;
        assert_eq!((found.len(), last.is_cut), (extent.n_sessions(), true));
        let newest_first = (0..n_files).rev().map(Store::id).take(extent.n_sessions());
        assert!(found.iter().map(|session| session.agent_session_id.clone()).eq(newest_first));
    }
}

/// The agent's file has the input that the agent wanted.
#[tokio::test]
async fn the_input_that_ran_is_found_and_the_one_that_did_not_is_not() {
    let call = |uuid: &str, command: &str| {
        let block =
            json!({"type": "tool_use", "id": "call_0", "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "uuid": uuid, "message": {"id": uuid, "content": [block]}})
    };
    let store = Store::new();
    store.put(1, &[call("a1", "rm first"), call("a2", "rm second"), call("a3", "rm third")]);
    let input = |command: &str| json!({"command": command}).into();
    let memory = crate::store::SavedSession {
        agent_session_id: Some(Store::id(1)),
        changed_inputs: vec![ChangedInput { tool_use_id: "call_0~2".to_owned(), input: input("ls instead") }],
        ..Default::default()
    };
    let record = crate::store::Record {
        id: crate::api::SessionId::new("s"),
        project: store.project(),
        agent: crate::api::AgentKind::Claude,
        created_at: 1,
        changed_at: 1,
        memory,
    };
    crate::store::Store::open(store.sessions()).unwrap().save(&record).unwrap();
    // Found again although the file is known to lack the word.
    let absent = Arc::<Absent>::default();
    for _ in 0..2 {
        for (query, expected) in [
            ("instead", &["call_0~2"][..]),
            ("second", &[]),
            ("rm", &["call_0~3", "call_0"]),
            ("third", &["call_0~3"]),
            ("tool:Bash instead", &["call_0~2"]),
        ] {
            let (found, _) = store.search_in(query, Some(store.project()), absent.clone()).await;
            let hits = found.iter().flat_map(|session| &session.hits);
            let ids: Vec<_> = hits.filter_map(|hit| hit.item_id.as_ref()).map(|id| id.as_str()).collect();
            assert_eq!(ids, expected, "{query}");
        }
    }
}

#[tokio::test]
async fn all_results_that_there_are_are_not_called_cut() {
    let store = Store::new();
    let n_files = u32::try_from(Extent::Newest.n_sessions()).unwrap();
    for nr in 0..n_files {
        store.put(nr, &[prompt("u1", "needle")]);
    }
    let newest = |query| store.search_as_far_as(Extent::Newest, query, Some(store.project()), Arc::default());
    let (found, last) = newest("needle").await;
    assert_eq!((found.len(), last.is_cut), (n_files as usize, false));
    store.put(n_files, &[prompt("u1", "needle")]);
    let (found, last) = newest("needle").await;
    assert_eq!((found.len(), last.is_cut), (n_files as usize, true));
}

#[test]
fn a_word_in_every_line_is_looked_for_from_the_end_and_a_rare_one_everywhere() {
    let line =
        |nr: usize| format!("{}\n", prompt(&format!("u{nr}"), &format!("hay {nr} {}", "x".repeat(1_000))));
    let text: String = (0..1_000).map(line).collect();
    let found = |word: &str| {
        let matcher = Matcher::new(Query::parse(word, TODAY).unwrap()).unwrap();
        let scan = file::scan(text.as_bytes(), WINDOW, &matcher, &[], &|| false).unwrap();
        let ids: Vec<_> = scan.hits.into_iter().map(|hit| hit.item_id.unwrap().as_str().to_owned()).collect();
        (ids, scan.has_more, scan.is_absent)
    };
    let newest = (980..1_000).rev().map(|nr| format!("u{nr}")).collect();
    assert_eq!(found("hay"), (newest, true, false));
    assert_eq!(found("\"hay 7 xxx\""), (vec!["u7".to_owned()], false, false));
    assert_eq!(found("wombat"), (Vec::new(), false, true));
}

#[tokio::test]
async fn a_longer_query_reads_no_file_that_lacks_the_shorter_one() {
    let store = Store::new();
    store.put(1, &[prompt("u1", "needle")]);
    store.put(2, &[prompt("u2", "hay")]);
    let absent = Arc::<Absent>::default();
    let search = |query: &'static str| store.search_in(query, Some(store.project()), absent.clone());
    assert_eq!(search("need").await.0.len(), 1);
    let hay = files::look(&store.path(2)).unwrap();
    assert!(absent.knows("needle", state_of(&hay)) && !absent.knows("nee", state_of(&hay)));
    // A file that changed is read again.
    store.put(2, &[prompt("u2", "needles in hay")]);
    assert_eq!(search("needle").await.0.len(), 2);
}

/// The texts that a window shows of each item of a stored session, without the words that Deskbell adds.
fn shown(path: &Path) -> Vec<(String, String)> {
    let transcript = Kept::load(path).unwrap().transcript(Path::new("/project"), &Additions::default());
    let items = transcript.items().filter_map(|item| {
        let mut text = String::new();
        match &item.body {
            Body::Prompt { .. } | Body::Text { .. } => words::shown(&item.body, &mut text),
            Body::Thinking { .. } | Body::ToolCall(_) => words::inside(&item.body, &mut text),
            Body::Message { text: words, .. } => text.push_str(words),
            Body::Notice { .. } | Body::TurnEnd(_) => return None,
        }
        let output = transcript.output(&item.id).map(|output| output.text()).unwrap_or_default();
        Some((item.id.0.clone(), format!("{text}\n{output}")))
    });
    items.collect()
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stored");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    assert!(paths.len() > 10);
    paths
}

#[test]
fn every_word_that_a_window_shows_is_found_in_its_item() {
    let mut n_words = 0;
    for path in fixtures() {
        let bytes = fs::read(&path).unwrap();
        for (id, text) in shown(&path) {
            // A diff has a sign before each line; JSON has its keys.
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
            for word in words.collect::<HashSet<_>>() {
                let query = Query { words: vec![word.to_owned()], ..Query::default() };
                let scan =
                    file::scan(bytes.as_slice(), WINDOW, &Matcher::new(query).unwrap(), &[], &|| false)
                        .unwrap();
                let found = scan.hits.iter().any(|hit| hit.item_id.as_ref().is_some_and(|item| item.0 == id));
                assert!(found, "“{word}” of {id} in {}", path.display());
                n_words += 1;
            }
        }
    }
    assert!(n_words > 50, "{n_words}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_file_that_is_cut_or_damaged_anywhere_is_searched(
        nr in 0_usize..14,
        cut in 0.0_f64..1.0,
        damage in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 0..4),
        word in prop::sample::select(vec!["the", "Done", "\"", "project", "tool:bash", "file:a e", "\\n"]),
        window in 64_usize..4_096,
    ) {
        let paths = fixtures();
        let mut bytes = fs::read(&paths[nr % paths.len()]).unwrap();
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        for (at, byte) in damage {
            let at = (bytes.len() as f64 * at) as usize;
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        let matcher = Matcher::new(Query::parse(word, TODAY).unwrap()).unwrap();
        let scan = file::scan(bytes.as_slice(), window, &matcher, &[], &|| false).unwrap();
        prop_assert!(scan.hits.len() <= file::MOST_HITS);
    }
}

/// Twenty sessions without a rare word, and the oldest one with it.
fn with_a_gem() -> Store {
    let store = Store::new();
    store.put(0, &[prompt("u0", "the raregem, and the error")]);
    for nr in 1..=20 {
        store.put(nr, &[prompt("u", "the error")]);
    }
    store
}

async fn prepared(store: &Store) -> Arc<Absent> {
    let absent = Arc::<Absent>::default();
    let listed = list_all(&[store.only()], Some(&store.project().into())).await;
    learn(listed.files, absent.clone(), Arc::default()).await;
    absent
}

/// The sessions that a search finds, and how many files it reads.
async fn found_in(store: &Store, query: &str, absent: &Arc<Absent>) -> (Vec<String>, usize) {
    let before = absent.n_read.load(Ordering::Relaxed);
    let (found, last) = store.search_in(query, Some(store.project()), absent.clone()).await;
    assert_eq!((last.n_searched, last.n_unreadable), (last.n_files, 0));
    let ids = found.into_iter().map(|session| session.agent_session_id).collect();
    (ids, absent.n_read.load(Ordering::Relaxed) - before)
}

#[tokio::test]
async fn a_prepared_search_reads_only_files_that_may_have_the_words() {
    let store = with_a_gem();
    for query in ["rar", "raregem", "the raregem", "RAREGEM error", r#""raregem, and""#] {
        let absent = prepared(&store).await;
        assert_eq!(found_in(&store, query, &absent).await, (vec![Store::id(0)], 1), "{query}");
    }
    let absent = prepared(&store).await;
    assert_eq!(found_in(&store, "wombat", &absent).await, (vec![], 0));
    // What has no group may be in any file.
    assert_eq!(found_in(&store, "\u{fc}", &absent).await, (vec![], 21));
    assert_eq!(found_in(&store, "error", &absent).await.0.len(), 21);
    // A session that grew.
    store.put(7, &[prompt("u", "the error"), prompt("u2", "a wombat")]);
    assert_eq!(found_in(&store, "wombat", &absent).await, (vec![Store::id(7)], 1));
}

#[tokio::test]
async fn what_is_prepared_changes_no_result() {
    let store = Store::new();
    store.put(1, &[prompt("u1", "Fix the Login page"), call("t1", "Bash", json!({"command": "ls"}))]);
    store.put(2, &[call("t1", "Edit", json!({"file_path": "/src/Main.rs"})), output("t1", "l\u{fc}gner")]);
    store.put(
        3,
        &[prompt("u3", "a \u{17f}ea \u{212a}elvin"), reply("m", json!({"type": "text", "text": "x"}))],
    );
    let prepared = prepared(&store).await;
    let queries = [
        "login",
        "fix login",
        "tool:bash",
        "file:main.rs",
        "l\u{fc}gner",
        "GNER",
        "sea",
        "kelvin",
        "tool:e x",
    ];
    for query in queries {
        let (plain, _) = found_in(&store, query, &Arc::default()).await;
        assert_eq!(found_in(&store, query, &prepared).await.0, plain, "{query}");
        assert!(!plain.is_empty() || query == "tool:e x", "{query}");
    }
}

#[tokio::test]
async fn the_next_search_is_prepared_after_a_search_and_before_the_first() {
    let store = with_a_gem();
    for is_first in [true, false] {
        let absent = Arc::<Absent>::default();
        let (stores, project) = (vec![store.only()], Some(store.project().into()));
        let searching = if is_first {
            Searching::prepare(stores, project, absent.clone())
        } else {
            let query = Query::parse("the", TODAY).unwrap();
            let (searching, mut changes) =
                Searching::start(stores, Vec::new(), project, query, absent.clone());
            while changes.recv().await.is_some() {}
            searching
        };
        tokio::time::timeout(Duration::from_secs(60), searching.prepared()).await.unwrap();
        assert_eq!(found_in(&store, "raregem", &absent).await, (vec![Store::id(0)], 1), "{is_first}");
    }
}
