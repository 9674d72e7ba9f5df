//! Conversation history: reads the agent's transcript file and folds it like the live stream. Never writes to it.
//!
//! `<config>/projects/<encoded folder>/<session id>.jsonl` (2.1.329). The format belongs to the agent: lines that do
//! not parse are skipped, such as a torn last line.

mod end;
mod own;
mod tail;

pub use end::read_end;
pub(crate) use own::{Own, OwnLine};
pub(crate) use tail::Tail;

use crate::agent::{AgentEvent, User};
use crate::api::Level;
use crate::claude::stored::{JoinedPrompt, Place, milliseconds, prompt, task_end};
use crate::disk::{self, ReadError};
use crate::transcript::changed_inputs::ChangedInput;
use crate::transcript::supplement::Supplement;
use crate::transcript::{Transcript, TranscriptEvent};
use crate::wire;
use memchr::memmem;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Maximum size of a file that is read completely. Reading takes several times as much memory.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// Bytes read from the end of a larger file.
const MOST_OF_LARGE: u64 = 64 * 1024 * 1024;

/// Longest name of a project's folder, without its hash.
const LONGEST_NAME: usize = 200;

/// Maximum number of projects' folders that are looked through for a long name.
const MOST_FOLDERS: usize = 100_000;

/// The agent's folder for a project: the real path, with each UTF-16 unit that is not an ASCII letter or digit replaced
/// by a dash. A name of more than 200 units is cut there and gets a hash as suffix.
pub fn project_folder(config: &Path, project: &Path) -> PathBuf {
    let real = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let text = real.to_string_lossy();
    let units: Vec<u16> = text.encode_utf16().collect();
    let encoded: String = units
        .iter()
        .map(|unit| match u8::try_from(*unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect();
    let encoded_is_cut = encoded.len() > LONGEST_NAME;
    let name = if encoded_is_cut {
        let hash = units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)));
        format!("{}-{}", &encoded[..LONGEST_NAME], base36(hash.unsigned_abs()))
    } else {
        encoded
    };
    let folder = config.join("projects").join(name);
    if encoded_is_cut { with_same_beginning(&folder).unwrap_or(folder) } else { folder }
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

/// Path of a session's transcript file.
pub(crate) fn transcript_path(config: &Path, project: &Path, agent_session_id: &str) -> PathBuf {
    project_folder(config, project).join(format!("{agent_session_id}.jsonl"))
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
        Ok(Self { n_left_out: size.saturating_sub(bytes.len() as u64), bytes, leaf: None })
    }

    /// Shows the conversation up to the message with this uuid, whatever follows it.
    pub fn until(mut self, leaf: Option<String>) -> Self {
        self.leaf = leaf;
        self
    }

    /// The place of the prompt with this id; `None` if the file has no such prompt.
    pub(crate) fn place_of(&self, prompt: &str) -> Option<PromptPlace> {
        let of_prompt = |line: &&[u8]| memmem::find(line, prompt.as_bytes()).is_some();
        let mut places = self.lines().filter(of_prompt).map(Place::read);
        let place = places.find(|place| place.is_prompt(prompt))?;
        Some(place.parent_uuid.map_or(PromptPlace::Beginning, PromptPlace::After))
    }

    /// The lines as they are in the file.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'\n')
    }

    /// Folds the lines into a transcript.
    pub fn transcript(&self, project: &Path, additions: &Additions) -> Transcript {
        finished(self.folded(project, additions))
    }

    /// The same for a conversation that another process works on: what is not finished goes on.
    pub fn live_transcript(&self, project: &Path, additions: &Additions) -> Transcript {
        complete(self.folded(project, additions))
    }

    fn folded(&self, project: &Path, additions: &Additions) -> Transcript {
        let mut transcript = additions.transcript(project);
        if self.bytes.is_empty() && self.n_left_out == 0 {
            return transcript;
        }
        if self.n_left_out > 0 {
            let text = "The beginning of this conversation is not shown: its file is too large".to_owned();
            let detail = Some(format!("{} bytes at its beginning were not read.", self.n_left_out));
            transcript.apply(0, TranscriptEvent::Notice { level: Level::Warning, text, detail });
        }
        on_the_branch(&lines_of(&self.bytes), self.leaf.as_deref())
            .into_iter()
            .for_each(|line| fold(&mut transcript, line));
        transcript
    }
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').collect()
}

/// Marks unfinished work as ended: the process that did it is gone.
fn finished(mut transcript: Transcript) -> Transcript {
    transcript.apply(0, TranscriptEvent::ProcessEnded);
    complete(transcript)
}

/// Adds what belongs after the last line, and the colours.
fn complete(mut transcript: Transcript) -> Transcript {
    transcript.supplement_end();
    // This runs on a separate thread, so all code is highlighted now and shown with its colours at once.
    transcript.colour_all();
    transcript
}

/// Selects the active branch: the lines form a tree, and the path from its leaf back to the root is shown, in file
/// order. Without a leaf it is the last message.
fn on_the_branch<'a>(lines: &[&'a [u8]], leaf: Option<&str>) -> Vec<&'a [u8]> {
    let places: Vec<Place> = lines.iter().map(|line| Place::read(line)).collect();
    let by_uuid: HashMap<&str, usize> =
        places.iter().enumerate().filter_map(|(at, place)| Some((place.uuid.as_deref()?, at))).collect();
    let mut shown = vec![false; lines.len()];
    let mut at = match leaf {
        Some(leaf) => by_uuid.get(leaf).copied(),
        None => places.iter().rposition(|place| place.is_message() && !place.is_sidechain),
    };
    while let Some(here) = at {
        if std::mem::replace(&mut shown[here], true) {
            break;
        }
        at = places[here].parent_uuid.as_deref().and_then(|parent| by_uuid.get(parent)).copied();
    }
    lines
        .iter()
        .zip(&shown)
        .zip(&places)
        .filter(|((_, shown), place)| **shown && place.is_shown())
        .map(|((line, _), _)| *line)
        .collect()
}

fn fold(transcript: &mut Transcript, line: &[u8]) {
    if let Some(prompt) = JoinedPrompt::read(line) {
        let at = milliseconds(prompt.timestamp.as_deref());
        return transcript.past_prompt(at, prompt.uuid(), prompt.content());
    }
    let inbound = wire::parse(line);
    let at = match &inbound {
        AgentEvent::Assistant(assistant) => milliseconds(assistant.timestamp.as_deref()),
        AgentEvent::User(user) => {
            let at = milliseconds(user.timestamp.as_deref());
            past_prompt(transcript, at, user);
            at
        }
        _ => 0,
    };
    let task_end = match &inbound {
        AgentEvent::User(user) => task_end(user),
        _ => None,
    };
    transcript.line(at, inbound);
    if let Some(task_end) = task_end {
        transcript.line(at, task_end);
    }
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
        assert_eq!(ids(Some("gone")), [""; 0]);
    }

    #[test]
    fn a_torn_line_and_an_abandoned_branch_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let lines = [
            r#"{"type":"user","uuid":"u1","parentUuid":null,"timestamp":"2026-01-01T00:00:00.500Z","message":{"role":"user","content":"one"}}"#,
            r#"{"type":"assistant","uuid":"a0","parentUuid":"u1","message":{"id":"m0","content":[{"type":"text","text":"abandoned"}]}}"#,
            r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","content":[{"type":"text","text":"two"}]}}"#,
            r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","mess"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let transcript = Kept::load(&path).unwrap().transcript(Path::new("/project"), &Additions::default());
        let ids: Vec<_> = transcript.items().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["u1", "m1.0"]);
        assert_eq!(transcript.items().next().unwrap().at, 1_767_225_600_500);
        assert!(
            matches!(&transcript.items().next().unwrap().body, Body::Prompt { text, .. } if text == "one")
        );
    }
}
