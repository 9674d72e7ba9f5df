//! Conversation history: reads the agent's transcript file and folds it like the live stream. Never writes to it.
//!
//! `<config>/projects/<encoded folder>/<session id>.jsonl` (2.1.329). The format belongs to the agent: lines that do
//! not parse are skipped, such as a torn last line. A notice says how many there are, and where messages are missing.

mod branch;
mod damage;
mod end;
mod own;
mod subagents;
mod tail;

pub use end::read_end;
pub(crate) use own::{Own, OwnLine};
pub(crate) use subagents::Subagents;
pub(crate) use tail::Tail;

use crate::agent::{AgentEvent, User};
use crate::claude::stored::{Place, call_of_subagent, milliseconds, prompt, task_end};
use crate::disk::{self, ReadError};
use crate::parallel;
use crate::transcript::changed_inputs::ChangedInput;
pub(crate) use crate::transcript::colours::Colouring;
use crate::transcript::supplement::Supplement;
use crate::transcript::{Transcript, TranscriptEvent};
use crate::wire;
use branch::{Branch, Line};
use memchr::memmem;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use subagents::{Shown, Threads, calls_in};

/// Maximum size of a file that is read completely. Reading takes several times as much memory.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// Bytes read from the end of a larger file.
const MOST_OF_LARGE: u64 = 64 * 1024 * 1024;

/// Longest name of a project's folder, without its hash.
const LONGEST_NAME: usize = 200;

/// Maximum number of projects' folders that are looked through for a long name.
const MOST_FOLDERS: usize = 100_000;
/// Maximum number of worktrees of agents that are looked through.
const MOST_WORKTREES: usize = 1_000;

/// The agent's folder for a project: the real path, with each UTF-16 unit that is not an ASCII letter or digit replaced
/// by a dash. A name of more than 200 units is cut there and gets a hash as suffix.
pub fn project_folder(config: &Path, project: &Path) -> PathBuf {
    let real = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    folder_of_real(config, &real)
}

/// The agent's folder for a project whose real path is known. Does not read the project's own disk.
pub(crate) fn folder_of_real(config: &Path, real: &Path) -> PathBuf {
    let (name, is_cut) = encoded(&real.to_string_lossy());
    let folder = config.join("projects").join(name);
    if is_cut { with_same_beginning(&folder).unwrap_or(folder) } else { folder }
}

/// A text as the agent writes it in the name of a folder, and whether it is cut.
pub(crate) fn encoded(text: &str) -> (String, bool) {
    let units: Vec<u16> = text.encode_utf16().collect();
    let encoded: String = units
        .iter()
        .map(|unit| match u8::try_from(*unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect();
    if encoded.len() <= LONGEST_NAME {
        return (encoded, false);
    }
    let hash = units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)));
    (format!("{}-{}", &encoded[..LONGEST_NAME], base36(hash.unsigned_abs())), true)
}

/// The agent's folder of a long path if it has another hash: builds of the agent with another runtime hash differently.
fn with_same_beginning(computed: &Path) -> Option<PathBuf> {
    if computed.is_dir() {
        return None;
    }
    let beginning = computed.file_name()?.to_str()?.get(..=LONGEST_NAME)?.to_owned();
    let listing = disk::list(computed.parent()?, MOST_FOLDERS).ok()?;
    let fits = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&beginning))
    };
    listing.paths.into_iter().find(|path| fits(path) && path.is_dir())
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// Path of a session's transcript file. An agent that enters a worktree moves the file to the folder of that worktree
/// (`EnterWorktree`, 2.1.329), so a file that is missing in the project's folder is searched for in the others.
pub(crate) fn transcript_path(config: &Path, project: &Path, agent_session_id: &str) -> PathBuf {
    let name = format!("{agent_session_id}.jsonl");
    let own = project_folder(config, project).join(&name);
    if own.exists() {
        return own;
    }
    let elsewhere = folders_like(config, |_| true).into_iter().filter_map(|folder| {
        let path = folder.join(&name);
        let modified = std::fs::metadata(&path).ok()?.modified().ok();
        Some((modified, path))
    });
    // The last one that changed is where the conversation continues.
    elsewhere.max_by_key(|(modified, _): &(Option<SystemTime>, _)| *modified).map_or(own, |(_, path)| path)
}

/// The agent's folders of the worktrees that agents made in this project: `.claude/worktrees/NAME` (2.1.329).
pub(crate) fn worktree_folders(config: &Path, folder: &Path) -> Vec<PathBuf> {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let beginning = format!("{name}--claude-worktrees-");
    folders_like(config, |name| name.starts_with(&beginning))
}

/// The worktree of this project that the agent of a conversation is in, by the place of the conversation's file.
pub(crate) fn worktree_of(config: &Path, project: &Path, agent_session_id: &str) -> Option<PathBuf> {
    let name = format!("{agent_session_id}.jsonl");
    if project_folder(config, project).join(&name).exists() {
        return None;
    }
    let worktrees = disk::list(&project.join(".claude/worktrees"), MOST_WORKTREES).ok()?.paths;
    let mut real = worktrees.iter().filter_map(|worktree| worktree.canonicalize().ok());
    real.find(|worktree| folder_of_real(config, dunce::simplified(worktree)).join(&name).exists())
}

/// The folders of projects in the agent's store whose names fit.
fn folders_like(config: &Path, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut folders =
        disk::list(&config.join("projects"), MOST_FOLDERS).map_or_else(|_| Vec::new(), |all| all.paths);
    folders.retain(|folder| folder.file_name().and_then(|name| name.to_str()).is_some_and(&fits));
    folders
}

/// Parts of a conversation that Deskbell stores because the agent does not.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// Tool inputs that the user changed before they ran.
    pub changed_inputs: Vec<ChangedInput>,
    /// Ends of turns, and streamed text of interrupted turns.
    pub supplements: Vec<Supplement>,
}

impl Additions {
    /// A transcript that contains only these additions.
    fn transcript(&self, project: &Path) -> Transcript {
        Transcript::with_changed_inputs(project, &self.changed_inputs)
            .supplemented_with(self.supplements.clone())
    }
}

/// The lines of a transcript file, not yet folded.
#[derive(Debug, Default)]
pub struct Kept {
    bytes: Vec<u8>,
    /// The last message to show; `None` is that of the file.
    leaf: Option<String>,
    /// Bytes before these lines that were not read because the file is too large.
    n_left_out: u64,
    subagents: Subagents,
}

/// The place of a prompt in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptPlace {
    /// It is the first message.
    Beginning,
    /// After the message with this uuid.
    After(String),
}

impl Kept {
    /// Reads the lines of a transcript file. If the file is too large, only its end is read.
    pub fn load(path: &Path) -> Result<Self, ReadError> {
        let size = match disk::read_regular(path, MOST_BYTES) {
            Ok(bytes) => return Ok(Self { bytes, ..Self::default() }),
            Err(ReadError::Missing) => return Ok(Self::default()),
            Err(ReadError::TooLarge { size, .. }) => size,
            Err(error) => return Err(error),
        };
        let mut bytes = disk::read_end(path, MOST_OF_LARGE)?;
        // The first line is incomplete.
        bytes.drain(..bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1));
        Ok(Self { n_left_out: size.saturating_sub(bytes.len() as u64), bytes, ..Self::default() })
    }

    /// Shows the conversation up to the message with this uuid, whatever follows it.
    pub fn until(mut self, leaf: Option<String>) -> Self {
        self.leaf = leaf;
        self
    }

    /// Reads also the subagents of the conversation with this transcript file.
    pub fn with_subagents_of(self, path: &Path) -> Self {
        self.with_subagents(Subagents::load(path))
    }

    /// Shows these subagents below their calls.
    pub(crate) fn with_subagents(mut self, subagents: Subagents) -> Self {
        self.subagents = subagents;
        self
    }

    /// The place of the prompt with this id; `None` if the file has no such prompt.
    pub(crate) fn place_of(&self, prompt: &str) -> Option<PromptPlace> {
        let of_prompt = |line: &&[u8]| memmem::find(line, prompt.as_bytes()).is_some();
        let mut places = self.lines().filter(of_prompt).filter_map(Place::read);
        let place = places.find(|place| place.is_prompt(prompt))?;
        let after = |uuid: &str| PromptPlace::After(uuid.to_owned());
        Some(place.parent_uuid().map_or(PromptPlace::Beginning, after))
    }

    /// The lines as they are in the file.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'\n')
    }

    /// Folds the lines into a transcript.
    pub fn transcript(&self, project: &Path, additions: &Additions) -> Transcript {
        self.transcript_with(project, additions, Colouring::All)
    }

    /// The same with colours only for its end, as a window opens it. An export makes the others.
    pub fn transcript_with_last_colours(&self, project: &Path, additions: &Additions) -> Transcript {
        self.transcript_with(project, additions, Colouring::End)
    }

    fn transcript_with(&self, project: &Path, additions: &Additions, colouring: Colouring) -> Transcript {
        finished(self.folded(&self.branch(), project, additions, false).0, colouring)
    }

    /// The transcript, and the place in the file up to which it goes. `is_live`: another process works on the
    /// conversation, so what is not finished goes on.
    pub(crate) fn followed(
        &self,
        project: &Path,
        additions: &Additions,
        is_live: bool,
        colouring: Colouring,
    ) -> (Transcript, Tail) {
        let branch = self.branch();
        let (transcript, shown) = self.folded(&branch, project, additions, is_live);
        let transcript =
            if is_live { complete(transcript, colouring) } else { finished(transcript, colouring) };
        (transcript, Tail::of(self, &branch, shown))
    }

    fn branch(&self) -> Branch<'_> {
        Branch::of(&self.bytes, self.leaf.as_deref())
    }

    fn folded(
        &self,
        branch: &Branch<'_>,
        project: &Path,
        additions: &Additions,
        is_live: bool,
    ) -> (Transcript, Shown) {
        let mut transcript = additions.transcript(project);
        if self.bytes.is_empty() && self.n_left_out == 0 {
            return (transcript, Shown::default());
        }
        if self.n_left_out > 0 {
            damage::beginning_left_out(&mut transcript, self.n_left_out);
        }
        transcript.begin_reading(branch.lines.len());
        let mut threads = Threads::of(&self.subagents, is_live);
        let mut is_first = true;
        parallel::in_order(&branch.lines, read, |line, event| {
            if line.is_after_gap && (!is_first || self.n_left_out == 0) {
                damage::gap(&mut transcript, is_first);
            }
            is_first = false;
            fold_event(&mut transcript, line, event, &mut threads);
        });
        damage::at_the_end(&mut transcript, branch, &threads, is_live);
        (transcript, threads.into_shown())
    }
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').collect()
}

/// Marks unfinished work as ended: the process that did it is gone.
fn finished(mut transcript: Transcript, colouring: Colouring) -> Transcript {
    transcript.apply(0, TranscriptEvent::ProcessEnded);
    complete(transcript, colouring)
}

/// Adds what belongs after the last line, and colours. This runs on a separate thread.
fn complete(mut transcript: Transcript, colouring: Colouring) -> Transcript {
    transcript.supplement_end();
    transcript.colour_stored(colouring);
    transcript.end_reading();
    transcript
}

fn fold(transcript: &mut Transcript, line: &Line<'_>, threads: &mut Threads<'_>) {
    fold_event(transcript, line, read(line), threads);
}

/// The event of a line; `None` for a prompt that joined a running turn.
fn read(line: &Line<'_>) -> Option<AgentEvent> {
    if let Some(message) = line.place.joined_message() {
        return Some(AgentEvent::Message(Box::new(message)));
    }
    line.place.joined_prompt().is_none().then(|| wire::parse(line.bytes))
}

fn fold_event(
    transcript: &mut Transcript,
    line: &Line<'_>,
    event: Option<AgentEvent>,
    threads: &mut Threads<'_>,
) {
    let Some(mut inbound) = event else {
        if let Some(prompt) = line.place.joined_prompt() {
            let at = milliseconds(prompt.timestamp.as_deref());
            transcript.past_prompt(at, prompt.uuid(), prompt.content());
        }
        return;
    };
    let at = match &inbound {
        AgentEvent::Assistant(assistant) => milliseconds(assistant.timestamp.as_deref()),
        AgentEvent::User(user) => {
            let at = milliseconds(user.timestamp.as_deref());
            past_prompt(transcript, at, user);
            at
        }
        AgentEvent::Message(message) => milliseconds(message.timestamp.as_deref()),
        _ => milliseconds(line.place.timestamp()),
    };
    let task_end = match &inbound {
        AgentEvent::User(user) => task_end(user),
        _ => None,
    };
    transcript.identify(&mut inbound);
    let calls = calls_in(&inbound);
    transcript.fold(at, inbound);
    if let Some(task_end) = task_end {
        transcript.line(at, task_end);
    }
    threads.fold(transcript, &calls);
}

/// Adds a user message as a prompt, if it is one.
fn past_prompt(transcript: &mut Transcript, at: u64, user: &User) {
    let Some(uuid) = &user.uuid else { return };
    if let Some(prompt) = prompt(user) {
        transcript.past_prompt(at, uuid, prompt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Body;

    #[test]
    fn a_folder_has_the_agents_own_name() {
        let folder = |path: &str| project_folder(Path::new("/c"), Path::new(path)).display().to_string();
        assert_eq!(folder("/no/such/a_b.c"), "/c/projects/-no-such-a-b-c");
        assert_eq!(folder("/no/such/😀"), "/c/projects/-no-such---");
        let long = format!("/no/{}", "x".repeat(300));
        assert_eq!(
            folder(&long).len(),
            "/c/projects/".len() + 200 + 1 + folder(&long).rsplit('-').next().unwrap().len()
        );
    }

    #[test]
    fn a_long_name_with_another_hash_is_found_by_its_beginning() {
        let config = tempfile::tempdir().unwrap();
        let project = PathBuf::from(format!("/no/{}", "x".repeat(300)));
        let computed = project_folder(config.path(), &project);
        let name = computed.file_name().unwrap().to_str().unwrap();
        let other = config.path().join("projects").join(format!("{}-zzz", &name[..200]));
        std::fs::create_dir_all(&other).unwrap();
        assert_eq!(project_folder(config.path(), &project), other);
        std::fs::create_dir_all(&computed).unwrap();
        assert_eq!(project_folder(config.path(), &project), computed);
    }

    /// The code of the end has its colours, and the other code gets the same ones later.
    #[test]
    fn colours_that_come_later_are_those_of_a_whole_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = |nr: usize| {
            let parent = nr.checked_sub(1).map(|parent| format!("u{parent}"));
            let text = format!("```rust\nlet a = \"{nr}\";\n```\n\n- b\n\n```js\nlet c = /d/;\n```");
            let edit = serde_json::json!({"file_path": "/p/a.rs", "old_string": "let a = 1;",
                "new_string": format!("let a = \"{nr}\";")});
            let content = serde_json::json!([
                {"type": "text", "text": text},
                {"type": "tool_use", "id": format!("t{nr}"), "name": "Edit", "input": edit},
            ]);
            let message = serde_json::json!({"id": format!("m{nr}"), "content": content});
            serde_json::json!({"type": "assistant", "uuid": format!("u{nr}"), "parentUuid": parent,
                "message": message})
        };
        std::fs::write(&path, (0..100).map(|nr| format!("{}\n", line(nr))).collect::<String>()).unwrap();
        let kept = Kept::load(&path).unwrap();
        let read = |colouring| kept.transcript_with(Path::new("/p"), &Additions::default(), colouring);
        let (all, mut end) = (read(Colouring::All), read(Colouring::End));
        let bodies =
            |transcript: &Transcript| transcript.items().map(|item| item.body.clone()).collect::<Vec<_>>();
        let (whole, first) = (bodies(&all), bodies(&end));
        assert!(end.uncoloured().is_none(), "nothing is wanted");
        assert_eq!(first[188..], whole[188..]);
        assert!(first[..188].iter().zip(&whole).all(|(plain, coloured)| plain != coloured));
        end.want_all_colours();
        assert_eq!(end.uncoloured().map(|job| end.colour(job.colour())), Some(()));
        assert_eq!(bodies(&end).iter().zip(&whole).filter(|(now, coloured)| now == coloured).count(), 13);
        while let Some(job) = end.uncoloured() {
            end.colour(job.colour());
        }
        assert_eq!(bodies(&end), whole);
        let exported = |transcript: Transcript| {
            let heading = crate::export::Heading {
                title: "T".to_owned(),
                project: "/p".to_owned(),
                agent: crate::api::AgentKind::Claude,
                agent_session_id: None,
            };
            let conversation = transcript.exported("T", crate::api::ExportFormat::Html);
            conversation
                .render(crate::api::ExportFormat::Html, &heading, &crate::export::Images::default())
                .unwrap()
        };
        assert_eq!(exported(read(Colouring::End)), exported(all));
    }

    #[test]
    fn reading_records_no_changes_and_what_follows_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let code = ANSWER.replace("two", "```rust\\nfn main() {}\\n```");
        std::fs::write(&path, [PROMPT, &code, ""].join("\n")).unwrap();
        let (mut transcript, tail) =
            Kept::load(&path).unwrap().followed(Path::new("/p"), &Additions::default(), true, Colouring::All);
        assert_eq!((transcript.items().count(), transcript.n_unpublished()), (2, 0));
        let Body::Text { blocks, .. } = &transcript.items().nth(1).unwrap().body else { panic!("no text") };
        let is_coloured = |token: &crate::api::Token| token.style != crate::api::TokenStyle::Plain;
        assert!(
            matches!(&blocks[..], [crate::api::Block::Code { lines, .. }] if lines[0].tokens.iter().any(is_coloured))
        );
        let next =
            r#"{"type":"user","uuid":"u9","parentUuid":"a1","message":{"role":"user","content":"next"}}"#;
        std::fs::write(&path, [PROMPT, &code, next, ""].join("\n")).unwrap();
        let mut tail = tail;
        let growth = tail.position().read(&path).unwrap().unwrap();
        assert!(tail.fold(&growth, &mut transcript));
        assert!(
            matches!(&transcript.take_events()[..], [crate::api::Event::ItemAdded { item }] if item.id.as_str() == "u9")
        );
    }

    #[test]
    fn a_prompt_of_the_middle_of_a_turn_is_shown_where_it_was_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let lines = [
            r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"one"}}"#,
            r#"{"type":"attachment","uuid":"x1","parentUuid":"u1","attachment":{"type":"queued_command","prompt":"and this","source_uuid":"u2","commandMode":"prompt"}}"#,
            r#"{"type":"attachment","uuid":"x2","parentUuid":"x1","attachment":{"type":"queued_command","prompt":"a task ended","commandMode":"task-notification"}}"#,
            r#"{"type":"attachment","uuid":"x3","parentUuid":"x2","attachment":{"type":"queued_command","prompt":[{"type":"image"},{"type":"document"},{"type":"text","text":"see"}],"source_uuid":"u3","commandMode":"prompt"}}"#,
            r#"{"type":"assistant","uuid":"a1","parentUuid":"x3","message":{"id":"m1","content":[{"type":"text","text":"both"}]}}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let transcript = Kept::load(&path).unwrap().transcript(Path::new("/project"), &Additions::default());
        let ids: Vec<_> = transcript.items().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["u1", "u2", "u3", "m1.0"]);
        assert!(
            matches!(&transcript.items().nth(2).unwrap().body, Body::Prompt { text, n_images: 1, n_documents: 1, .. } if text == "see")
        );
    }

    #[test]
    fn a_conversation_ends_where_a_fork_of_it_begins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let lines = [
            r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"one"}}"#,
            r#"{"type":"attachment","uuid":"x1","parentUuid":"u1","attachment":{"type":"file"}}"#,
            r#"{"type":"assistant","uuid":"a1","parentUuid":"x1","message":{"id":"m1","content":[{"type":"text","text":"two"}]}}"#,
            r#"{"type":"attachment","uuid":"x2","parentUuid":"a1","attachment":{"type":"queued_command","prompt":"and u3","source_uuid":"u2","commandMode":"prompt"}}"#,
            r#"{"type":"user","uuid":"u3","parentUuid":"x2","message":{"role":"user","content":"u2"}}"#,
            r#"{"type":"assistant","uuid":"a2","parentUuid":"u3","message":{"id":"m2","content":[{"type":"text","text":"four"}]}}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let kept = Kept::load(&path).unwrap();
        assert_eq!(kept.place_of("u1"), Some(PromptPlace::Beginning));
        assert_eq!(kept.place_of("u2"), Some(PromptPlace::After("a1".to_owned())));
        assert_eq!(kept.place_of("u3"), Some(PromptPlace::After("x2".to_owned())));
        for none in ["a1", "x2", "u9", ""] {
            assert_eq!(kept.place_of(none), None, "{none}");
        }
        let ids = |leaf: Option<&str>| {
            let kept = Kept::load(&path).unwrap().until(leaf.map(str::to_owned));
            let transcript = kept.transcript(Path::new("/p"), &Additions::default());
            transcript.items().map(|item| item.id.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(None), ["u1", "m1.0", "u2", "u3", "m2.0"]);
        assert_eq!(ids(Some("a1")), ["u1", "m1.0"]);
        assert_eq!(ids(Some("x2")), ["u1", "m1.0", "u2"]);
    }

    /// The ids of the items, and the texts of the notices with their details.
    fn shown(lines: &[&str], leaf: Option<&str>, is_live: bool) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let kept = Kept::load(&path).unwrap().until(leaf.map(str::to_owned));
        let (transcript, _) =
            kept.followed(Path::new("/project"), &Additions::default(), is_live, Colouring::All);
        let word = |item: &crate::api::Item| match &item.body {
            Body::Notice { text, detail, .. } => format!("{text}: {}", detail.as_deref().unwrap_or_default()),
            _ => item.id.as_str().to_owned(),
        };
        transcript.items().map(word).collect()
    }

    const PROMPT: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"timestamp":"2026-01-01T00:00:00.500Z","message":{"role":"user","content":"one"}}"#;
    const ANSWER: &str = r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","content":[{"type":"text","text":"two"}]}}"#;
    const ORPHAN: &str =
        r#"{"type":"user","uuid":"u2","parentUuid":"gone","message":{"role":"user","content":"three"}}"#;

    #[test]
    fn damaged_lines_are_counted_and_said_and_a_line_that_is_being_written_is_not() {
        let torn = r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","mess"#;
        let said = |n: &str| {
            format!("A part of this conversation could not be read: Damaged in the agent’s files: {n}.")
        };
        assert_eq!(shown(&[PROMPT, ANSWER, torn], None, false), ["u1", "m1.0", &said("1 line")]);
        assert_eq!(shown(&[PROMPT, ANSWER, torn], None, true), ["u1", "m1.0"]);
        assert_eq!(shown(&[PROMPT, torn, "x", ANSWER, torn], None, true), ["u1", "m1.0", &said("2 lines")]);
        assert_eq!(shown(&[PROMPT, ANSWER], None, false), ["u1", "m1.0"]);
    }

    #[test]
    fn a_gap_is_said_where_it_is() {
        let gap = "Messages are missing here: The next message continues another one, which is not in the agent’s \
                   file. The messages above are those that the file has before it.";
        assert_eq!(shown(&[PROMPT, ANSWER, ORPHAN], None, false), ["u1", "m1.0", gap, "u2"]);
        let beginning = "The beginning of this conversation is missing: Its first message continues another one, which is \
                         not in the agent’s file.";
        assert_eq!(shown(&[ORPHAN], None, false), [beginning, "u2"]);
        let ends =
            "This conversation cannot be shown: It ends with a message that is not in the agent’s file.";
        assert_eq!(shown(&[PROMPT], Some("gone"), false), [ends]);
    }

    #[test]
    fn a_time_is_read_and_an_abandoned_branch_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let abandoned = r#"{"type":"assistant","uuid":"a0","parentUuid":"u1","message":{"id":"m0","content":[{"type":"text","text":"abandoned"}]}}"#;
        std::fs::write(&path, [PROMPT, abandoned, ANSWER].join("\n")).unwrap();
        let transcript = Kept::load(&path).unwrap().transcript(Path::new("/project"), &Additions::default());
        let ids: Vec<_> = transcript.items().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["u1", "m1.0"]);
        assert_eq!(transcript.items().next().unwrap().at, 1_767_225_600_500);
        assert!(
            matches!(&transcript.items().next().unwrap().body, Body::Prompt { text, .. } if text == "one")
        );
    }

    #[test]
    fn a_compaction_is_shown_with_its_summary_after_what_it_replaced() {
        let compaction = r#"{"type":"system","subtype":"compact_boundary","uuid":"c1","parentUuid":null,"logicalParentUuid":"a1","timestamp":"2026-01-01T00:00:01.000Z","compactMetadata":{"trigger":"manual","preTokens":15,"postTokens":7}}"#;
        let summary = r#"{"type":"user","uuid":"u2","parentUuid":"c1","isCompactSummary":true,"message":{"role":"user","content":"In short."}}"#;
        let next =
            r#"{"type":"user","uuid":"u3","parentUuid":"u2","message":{"role":"user","content":"go on"}}"#;
        let said = "The conversation was compacted: from 15 to 7 tokens: In short.";
        assert_eq!(
            shown(&[PROMPT, ANSWER, compaction, summary, next], None, false),
            ["u1", "m1.0", said, "u3"]
        );
    }
}
