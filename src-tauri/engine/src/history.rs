//! A conversation as the agent keeps it on disk, read through the same fold as the live stream. Never written to.
//!
//! `<config>/projects/<encoded folder>/<session id>.jsonl` (2.1.329). The format is the agent's own business: lines
//! that do not parse, a torn last one among them, are left out.

mod end;

pub use end::read_end;

use crate::transcript::Transcript;
use crate::wire::{self, ContentBlock, Inbound, User};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The agent's folder for a project: the real path, each UTF-16 unit that is no ASCII letter or digit as a dash;
/// beyond 200 units cut, with a hash behind it.
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
    let name = if encoded.len() > 200 {
        let hash = units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)));
        format!("{}-{}", &encoded[..200], base36(hash.unsigned_abs()))
    } else {
        encoded
    };
    config.join("projects").join(name)
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

/// Where a session's transcript lies.
pub fn transcript_path(config: &Path, project: &Path, agent_session_id: &str) -> PathBuf {
    project_folder(config, project).join(format!("{agent_session_id}.jsonl"))
}

/// Folds a transcript on disk. A file that is not there is an empty conversation.
pub fn read(path: &Path, project: &Path) -> io::Result<Transcript> {
    let mut transcript = Transcript::new(project);
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(transcript),
        Err(error) => return Err(error),
    };
    on_the_branch(&lines_of(&bytes)).into_iter().for_each(|line| fold(&mut transcript, line));
    Ok(finished(transcript))
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').collect()
}

/// What was not finished then is not going on now.
fn finished(mut transcript: Transcript) -> Transcript {
    transcript.note(0, crate::session::machine::Note::ProcessEnded);
    transcript
}

/// The lines form a tree: what is shown is the way from the last message back to its root, in the file's order.
fn on_the_branch<'a>(lines: &[&'a [u8]]) -> Vec<&'a [u8]> {
    #[derive(serde::Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct Place {
        r#type: String,
        uuid: Option<String>,
        parent_uuid: Option<String>,
        is_sidechain: bool,
        attachment: Option<Attachment>,
    }
    let places: Vec<Place> =
        lines.iter().map(|line| serde_json::from_slice(line).unwrap_or_default()).collect();
    let by_uuid: HashMap<&str, usize> =
        places.iter().enumerate().filter_map(|(at, place)| Some((place.uuid.as_deref()?, at))).collect();
    let is_message = |place: &Place| place.r#type == "user" || place.r#type == "assistant";
    let is_shown =
        |place: &Place| is_message(place) || place.attachment.as_ref().is_some_and(Attachment::is_prompt);
    let mut shown = vec![false; lines.len()];
    let mut at = places.iter().rposition(|place| is_message(place) && !place.is_sidechain);
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
        .filter(|((_, shown), place)| **shown && is_shown(place))
        .map(|((line, _), _)| *line)
        .collect()
}

/// What the agent kept beside the messages. A prompt that was taken up in the middle of a turn is kept so, and not as a
/// message of the user (2.1.197 and 2.1.329).
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Attachment {
    r#type: String,
    #[serde(rename = "commandMode")]
    mode: String,
    source_uuid: Option<String>,
    prompt: serde_json::Value,
    timestamp: Option<String>,
}

impl Attachment {
    fn is_prompt(&self) -> bool {
        self.r#type == "queued_command" && self.mode == "prompt" && self.source_uuid.is_some()
    }

    /// Its text, and how many images it brings.
    fn content(&self) -> (String, u32) {
        let blocks = self.prompt.as_array().map_or(&[][..], Vec::as_slice);
        let texts: Vec<&str> = self
            .prompt
            .as_str()
            .into_iter()
            .chain(blocks.iter().filter_map(|block| block["text"].as_str()))
            .collect();
        let n_images = blocks.iter().filter(|block| block["type"] == "image").count();
        (texts.join("\n"), n_images as u32)
    }
}

/// A line that is a prompt of the middle of a turn.
fn joined_prompt(line: &[u8]) -> Option<Attachment> {
    #[derive(serde::Deserialize)]
    struct Line {
        attachment: Attachment,
    }
    let line: Line = serde_json::from_slice(line).ok()?;
    Some(line.attachment).filter(Attachment::is_prompt)
}

fn fold(transcript: &mut Transcript, line: &[u8]) {
    if let Some(prompt) = joined_prompt(line)
        && let Some(uuid) = &prompt.source_uuid
    {
        let (text, n_images) = prompt.content();
        return transcript.past_prompt(milliseconds(prompt.timestamp.as_deref()), uuid, text, n_images);
    }
    let mut inbound = wire::parse(line);
    let at = match &inbound {
        Inbound::Assistant(assistant) => milliseconds(assistant.timestamp.as_deref()),
        Inbound::User(user) => {
            let at = milliseconds(user.timestamp.as_deref());
            past_prompt(transcript, at, user);
            at
        }
        _ => 0,
    };
    transcript.line(at, &mut inbound);
}

/// A prompt is a user message with text of its own that is neither the agent's doing nor a tool's result.
fn past_prompt(transcript: &mut Transcript, at: u64, user: &User) {
    let Some(uuid) = &user.uuid else { return };
    if user.is_meta || user.is_synthetic || user.is_sidechain || user.is_compact_summary {
        return;
    }
    let mut texts = Vec::new();
    let mut n_images = 0;
    for block in &user.message.content {
        match block {
            ContentBlock::Text { text } => texts.push(text.as_str()),
            ContentBlock::Image => n_images += 1,
            _ => return,
        }
    }
    let text = texts.join("\n");
    let is_the_agents = ["<local-command", "<command-", "[Request interrupted", "<task-notification"]
        .iter()
        .any(|mark| text.starts_with(mark));
    if !is_the_agents && (n_images > 0 || !text.is_empty()) {
        transcript.past_prompt(at, uuid, text, n_images);
    }
}

/// Milliseconds since the epoch; 0 where there is no readable moment.
fn milliseconds(timestamp: Option<&str>) -> u64 {
    let moment = timestamp.and_then(|timestamp| OffsetDateTime::parse(timestamp, &Rfc3339).ok());
    moment.and_then(|moment| u64::try_from(moment.unix_timestamp_nanos() / 1_000_000).ok()).unwrap_or(0)
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
    fn a_prompt_of_the_middle_of_a_turn_is_shown_where_it_was_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let lines = [
            r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"one"}}"#,
            r#"{"type":"attachment","uuid":"x1","parentUuid":"u1","attachment":{"type":"queued_command","prompt":"and this","source_uuid":"u2","commandMode":"prompt"}}"#,
            r#"{"type":"attachment","uuid":"x2","parentUuid":"x1","attachment":{"type":"queued_command","prompt":"a task ended","commandMode":"task-notification"}}"#,
            r#"{"type":"attachment","uuid":"x3","parentUuid":"x2","attachment":{"type":"queued_command","prompt":[{"type":"image"},{"type":"text","text":"see"}],"source_uuid":"u3","commandMode":"prompt"}}"#,
            r#"{"type":"assistant","uuid":"a1","parentUuid":"x3","message":{"id":"m1","content":[{"type":"text","text":"both"}]}}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let transcript = read(&path, Path::new("/project")).unwrap();
        let ids: Vec<_> = transcript.items().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["u1", "u2", "u3", "m1.0"]);
        assert!(
            matches!(&transcript.items().nth(2).unwrap().body, Body::Prompt { text, n_images: 1, .. } if text == "see")
        );
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
        let transcript = read(&path, Path::new("/project")).unwrap();
        let ids: Vec<_> = transcript.items().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["u1", "m1.0"]);
        assert_eq!(transcript.items().next().unwrap().at, 1_767_225_600_500);
        assert!(
            matches!(&transcript.items().next().unwrap().body, Body::Prompt { text, .. } if text == "one")
        );
    }
}
