//! The searchable texts in lines of the agent's conversation files.
//!
//! Names of keys, data of images and the agent's bookkeeping are no texts. A text has the id of the item that shows it,
//! and of a call its tool and files, so that a search can filter by them.

use crate::api::SearchPlace;
use crate::outcome::Outcome;
use crate::stored::{JoinedPrompt, LineKind, StoredLine, is_by_agent, milliseconds, task_end_in, texts};
use crate::wire::{peer, server_result};
use deskbell_agent::{AgentEvent, SessionMessage};
use memchr::memmem;
use serde_json::Value;
use std::collections::HashMap;
use std::ops::Range;

/// A text that is in every line with a call. A search without words looks for it.
pub const IN_EVERY_CALL: &str = "tool_use";

/// A text that a window shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub item: ItemRef,
    pub place: SearchPlace,
    /// Milliseconds since the epoch.
    pub at: Option<u64>,
    /// The call, if this is one or its output.
    pub call: Option<Call>,
    /// The text as it is in the file. An output can contain a terminal's control sequences.
    pub text: String,
}

/// The item that shows a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemRef {
    /// None: a title.
    None,
    Id(String),
    /// The call with this id of the agent, which may use it again; see [`key_of_call`].
    Call(String),
    /// A block of a reply. A line has only some of the reply's blocks, but the item's id has the number in the whole
    /// reply; see [`blocks_before`].
    Block {
        message_id: String,
        nr_in_line: usize,
    },
}

/// A tool call, as far as the line has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// The call itself.
    Known(ToolAndFiles),
    /// The output of a call in an earlier line.
    Earlier { id: String },
}

/// The tool of a call, and the files that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAndFiles {
    pub tool: String,
    pub files: Vec<String>,
}

impl ToolAndFiles {
    fn read(call: &Value) -> Self {
        let files = call.get("input").map(files_in).unwrap_or_default();
        Self { tool: text(call, "name").unwrap_or_default().to_owned(), files }
    }
}

/// The files that an input names.
fn files_in(input: &Value) -> Vec<String> {
    let mut files = Vec::new();
    each_text(input, &mut |key, text| {
        // The names that the agent's own tools use (2.1.329).
        if key.is_some_and(|key| ["file_path", "path", "notebook_path", "filePath"].contains(&key)) {
            files.push(text.to_owned());
        }
    });
    files
}

/// The texts of an input, one a line.
fn leaves(input: &Value) -> String {
    let mut leaves = String::new();
    each_text(input, &mut |_, text| add_line(text, &mut leaves));
    leaves
}

impl Entry {
    /// The call ran with this input, which is the user's.
    pub fn run_with(&mut self, input: &Value) {
        if let Some(Call::Known(call)) = &mut self.call {
            self.text = leaves(input);
            call.files = files_in(input);
        }
    }
}

impl StoredLine {
    /// The searchable texts of the line, in order. A subagent's line has none.
    pub fn entries(&self) -> Vec<Entry> {
        if self.is_sidechain() {
            return Vec::new();
        }
        let at = Some(milliseconds(self.timestamp())).filter(|at| *at > 0);
        let mut found = match self.kind() {
            LineKind::User => self.user(),
            LineKind::Assistant => self.assistant(),
            LineKind::CustomTitle(title) | LineKind::GeneratedTitle(title) | LineKind::Summary(title) => {
                let title = title.unwrap_or_default().to_owned();
                vec![entry(ItemRef::None, SearchPlace::Title, None, title)]
            }
            LineKind::LastPrompt(_) | LineKind::Moved(_) | LineKind::MovedBack => Vec::new(),
            LineKind::Other => self.joined_prompt().into_iter().collect(),
        };
        found.retain(|entry| !entry.text.is_empty());
        found.iter_mut().for_each(|entry| entry.at = at);
        found
    }

    fn user(&self) -> Vec<Entry> {
        let Some(content) = self.message("content") else { return Vec::new() };
        let results = self.blocks().filter(|block| text(block, "type") == Some("tool_result"));
        let mut found: Vec<Entry> = results.filter_map(|result| self.output(result)).collect();
        let words = texts(content);
        if let (Some(uuid), Some(message)) = (self.uuid(), self.session_message(&words)) {
            return vec![entry(ItemRef::Id(uuid.to_owned()), SearchPlace::Text, None, message.text)];
        }
        if let Some(AgentEvent::TaskEnded { tool_use_id: Some(id), report: Some(report), .. }) =
            task_end_in(&words)
        {
            // The window shows the report with its call.
            found.push(output_of(&id, report));
        }
        let is_prompt = found.is_empty() && !self.is_remark() && !is_by_agent(&words);
        if let Some(uuid) = self.uuid().filter(|_| is_prompt) {
            found.push(entry(ItemRef::Id(uuid.to_owned()), SearchPlace::Prompt, None, words));
        }
        found
    }

    /// The message of another session that the line is.
    fn session_message(&self, words: &str) -> Option<SessionMessage> {
        let origin = self.origin().filter(|origin| origin["kind"] == "peer")?;
        Some(peer::message(origin, words.to_owned()))
    }

    fn output(&self, result: &Value) -> Option<Entry> {
        let outcome = Outcome {
            content: result.get("content").unwrap_or(&Value::Null),
            structured: self.tool_use_result(),
            is_error: false,
            refusal: None,
        };
        let mut words = outcome.text();
        // The window shows texts of the structured result that the text for the model may not have.
        let (out, error) = outcome.streams();
        for stream in [out, error] {
            if !stream.is_empty() && !words.contains(stream) {
                add_line(stream, &mut words);
            }
        }
        for line in outcome.patch().unwrap_or_default().into_iter().flat_map(|hunk| hunk.lines) {
            add_line(line.get(1..).unwrap_or(&line), &mut words);
        }
        Some(output_of(text(result, "tool_use_id")?, words))
    }

    fn assistant(&self) -> Vec<Entry> {
        let Some(message_id) = self.message_id() else { return Vec::new() };
        let block = |nr_in_line| ItemRef::Block { message_id: message_id.to_owned(), nr_in_line };
        let mut found = Vec::new();
        for (nr, content) in self.blocks().enumerate() {
            let words = |name| text(content, name).unwrap_or_default().to_owned();
            match text(content, "type") {
                Some("text") => found.push(entry(block(nr), SearchPlace::Text, None, words("text"))),
                Some("thinking") => {
                    found.push(entry(block(nr), SearchPlace::Thinking, None, words("thinking")))
                }
                // The server of the API ran the call.
                Some(kind) if kind.ends_with("_tool_result") => {
                    let (Some(id), Some(result)) = (text(content, "tool_use_id"), content.get("content"))
                    else {
                        continue;
                    };
                    found.push(output_of(id, server_result(String::new(), result.clone(), false).text));
                }
                Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                    let Some(input) = content.get("input") else { continue };
                    let call = Call::Known(ToolAndFiles::read(content));
                    let leaves = leaves(input);
                    found.push(entry(ItemRef::Call(words("id")), SearchPlace::Call, Some(call), leaves));
                }
                _ => {}
            }
        }
        found
    }

    fn joined_prompt(&self) -> Option<Entry> {
        let prompt = JoinedPrompt::of(self)?;
        if let Some(SessionMessage { uuid: Some(uuid), text, .. }) = prompt.message() {
            return Some(entry(ItemRef::Id(uuid), SearchPlace::Text, None, text));
        }
        Some(entry(ItemRef::Id(prompt.uuid().to_owned()), SearchPlace::Prompt, None, prompt.content().text))
    }

    /// The calls of the line, each with its id.
    fn calls(&self) -> impl Iterator<Item = (String, ToolAndFiles)> + '_ {
        self.blocks().filter(|block| block.get("input").is_some()).filter_map(|block| {
            let id = text(block, "id")?;
            Some((id.to_owned(), ToolAndFiles::read(block)))
        })
    }
}

fn entry(item: ItemRef, place: SearchPlace, call: Option<Call>, text: String) -> Entry {
    Entry { item, place, at: None, call, text }
}

fn output_of(call: &str, text: String) -> Entry {
    let earlier = Call::Earlier { id: call.to_owned() };
    entry(ItemRef::Call(call.to_owned()), SearchPlace::Output, Some(earlier), text)
}

/// The place of a block among all blocks of its reply: the reply's earlier lines have the blocks before it.
pub fn blocks_before(earlier: &[u8], message_id: &str) -> usize {
    let blocks = |line: Range<usize>| {
        let line = StoredLine::read_leniently(&earlier[line])?;
        let is_part = line.kind() == LineKind::Assistant && !line.is_sidechain();
        (is_part && line.message_id() == Some(message_id)).then(|| line.blocks().count())
    };
    lines_with(earlier, message_id).into_iter().filter_map(blocks).sum()
}

/// The key of the item of a call, or of the call with an output. From its second call on, an id has their number.
pub fn key_of_call(earlier: &[u8], id: &str, place: SearchPlace) -> String {
    let calls = |line: Range<usize>| {
        let line = StoredLine::read_leniently(&earlier[line]).filter(|line| !line.is_sidechain())?;
        Some(line.calls().filter(|(call, _)| call == id).count())
    };
    let n_earlier: usize = lines_with(earlier, id).into_iter().filter_map(calls).sum();
    match n_earlier + usize::from(place == SearchPlace::Call) {
        0 | 1 => id.to_owned(),
        number => format!("{id}~{number}"),
    }
}

/// The lines that may have the calls with these keys, in order.
pub fn lines_of_calls<'a>(bytes: &[u8], keys: impl Iterator<Item = &'a str>) -> Vec<Range<usize>> {
    let id = |key: &'a str| {
        let (id, number) = key.rsplit_once('~').unwrap_or((key, ""));
        let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        [Some(key), is_numbered.then_some(id)]
    };
    let mut lines: Vec<_> = keys.flat_map(id).flatten().flat_map(|id| lines_with(bytes, id)).collect();
    lines.sort_by_key(|line| line.start);
    lines.dedup();
    lines
}

/// The call with this id in the nearest earlier line.
pub fn call_of(earlier: &[u8], id: &str) -> Option<ToolAndFiles> {
    let wanted = Value::from(id).to_string();
    let finder = memmem::FinderRev::new(&wanted);
    let mut end = earlier.len();
    while let Some(at) = finder.rfind(&earlier[..end]) {
        let line = line_at(earlier, at);
        end = line.start;
        let line = StoredLine::read_leniently(&earlier[line]);
        let found = line.and_then(|line| line.calls().find(|(call, _)| call == id));
        if let Some((_, call)) = found {
            return Some(call);
        }
    }
    None
}

/// All calls in these lines, by their ids.
pub fn all_calls(bytes: &[u8]) -> HashMap<String, ToolAndFiles> {
    let lines = lines_with(bytes, "tool_use").into_iter().chain(lines_with(bytes, "server_tool_use"));
    let lines = lines.filter_map(|line| StoredLine::read_leniently(&bytes[line]));
    lines.flat_map(|line| line.calls().collect::<Vec<_>>()).collect()
}

/// The lines that contain this JSON string.
fn lines_with(bytes: &[u8], string: &str) -> Vec<Range<usize>> {
    let wanted = Value::from(string).to_string();
    let finder = memmem::Finder::new(&wanted);
    let (mut lines, mut from) = (Vec::new(), 0);
    while let Some(at) = bytes.get(from..).and_then(|rest| finder.find(rest)) {
        let line = line_at(bytes, from + at);
        from = line.end + 1;
        lines.push(line);
    }
    lines
}

/// The line around a byte, without its newline.
pub fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
    start..end
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn add_line(text: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

/// Calls `each` with every text and number in a value, and with the key that it has. JSON that was parsed is never
/// nested deeper than 128.
fn each_text(value: &Value, each: &mut impl FnMut(Option<&str>, &str)) {
    fn walk(key: Option<&str>, value: &Value, each: &mut impl FnMut(Option<&str>, &str)) {
        match value {
            Value::String(text) => each(key, text),
            Value::Number(number) => each(key, &number.to_string()),
            Value::Array(list) => list.iter().for_each(|value| walk(key, value, each)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| walk(Some(key), value, each)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    walk(None, value, each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The id, the place and the text of each entry of a line.
    fn entries(line: &Value) -> Vec<(String, SearchPlace, String)> {
        let line = StoredLine::read_leniently(line.to_string().as_bytes()).expect("an object");
        let shown = |entry: Entry| {
            let item = match entry.item {
                ItemRef::None => String::new(),
                ItemRef::Id(id) | ItemRef::Call(id) => id,
                ItemRef::Block { message_id, nr_in_line } => format!("{message_id}+{nr_in_line}"),
            };
            (item, entry.place, entry.text)
        };
        line.entries().into_iter().map(shown).collect()
    }

    fn found(item: &str, place: SearchPlace, text: &str) -> Vec<(String, SearchPlace, String)> {
        vec![(item.to_owned(), place, text.to_owned())]
    }

    #[test]
    fn a_field_of_another_type_costs_nothing_else() {
        for wrong in [json!(null), json!(7), json!([]), json!({"a": 1}), json!([{"type": "text"}])] {
            let content = json!([{"type": "text", "text": wrong}, {"type": "thinking", "thinking": "left"},
                {"type": "tool_use", "id": wrong, "name": wrong}]);
            let line = json!({"type": "assistant", "timestamp": wrong, "isSidechain": wrong,
                "message": {"id": "m", "content": content}});
            assert_eq!(entries(&line), found("m+1", SearchPlace::Thinking, "left"), "{wrong}");
            let line = json!({"type": "user", "uuid": "u", "isMeta": wrong, "message": {"content": wrong}});
            assert_eq!(entries(&line), [], "{wrong}");
            let line = json!({"type": "attachment", "attachment": {"type": "queued_command",
                "commandMode": wrong, "source_uuid": "u", "prompt": "x"}});
            assert_eq!(entries(&line), [], "{wrong}");
            assert_eq!(entries(&json!({"type": "ai-title", "aiTitle": wrong})), [], "{wrong}");
        }
        assert!(StoredLine::read_leniently(b"[1]").is_none() && StoredLine::read_leniently(b"{").is_none());
    }

    #[test]
    fn a_prompt_that_joined_a_turn_has_its_wire_id() {
        let line = json!({"type": "attachment", "uuid": "x", "attachment": {"type": "queued_command",
            "commandMode": "prompt", "source_uuid": "u2", "prompt": [{"type": "text", "text": "and this"}]}});
        assert_eq!(entries(&line), found("u2", SearchPlace::Prompt, "and this"));
    }

    #[test]
    fn a_report_belongs_to_its_call_and_other_words_of_the_agent_to_nothing() {
        let line = |text: &str| json!({"type": "user", "uuid": "u", "message": {"content": text}});
        let fields = "<task-id>b</task-id><tool-use-id>t1</tool-use-id>";
        let ended = format!("<task-notification>{fields}<result>All done.</result>");
        assert_eq!(entries(&line(&ended)), found("t1", SearchPlace::Output, "All done."));
        assert_eq!(entries(&line("<task-notification>half")), []);
        assert_eq!(entries(&line("<command-name>/clear</command-name>")), []);
        assert_eq!(entries(&line("hello")), found("u", SearchPlace::Prompt, "hello"));
    }

    #[test]
    fn an_output_has_what_only_the_structured_result_has() {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "a\nb"});
        let structured = json!({"stdout": "b", "stderr": "c", "structuredPatch": [{"lines": ["+d", " e"]}]});
        let line = json!({"type": "user", "message": {"content": [result]}, "toolUseResult": structured});
        assert_eq!(entries(&line), found("t", SearchPlace::Output, "a\nb\nc\nd\ne"));
    }

    #[test]
    fn a_call_is_found_by_its_id_in_the_nearest_earlier_line() {
        let call = |tool: &str, file: &str| {
            let block =
                json!({"type": "tool_use", "id": "t", "name": tool, "input": {"edits": [{"path": file}]}});
            json!({"type": "assistant", "message": {"id": "m", "content": [block]}})
        };
        let lines = format!("{}\n{}\n\"t\" torn", call("Read", "a"), call("Edit", "b"));
        let edit = ToolAndFiles { tool: "Edit".to_owned(), files: vec!["b".to_owned()] };
        assert_eq!(call_of(lines.as_bytes(), "t"), Some(edit.clone()));
        assert_eq!(call_of(lines.as_bytes(), "m"), None);
        assert_eq!(all_calls(lines.as_bytes()), HashMap::from([("t".to_owned(), edit)]));
        assert_eq!(blocks_before(lines.as_bytes(), "m"), 2);
        assert_eq!(blocks_before(lines.as_bytes(), "t"), 0);
    }
}
