//! The transcript on disk: `<config>/projects/<encoded folder>/<session>.jsonl`, as the real CLI stores it.
//!
//! Without `CLAUDE_CONFIG_DIR` there is no store and nothing is written. A write error is reported on the standard
//! error and ends nothing.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::clock;
use crate::folder_name::encode;
use crate::past::EarlierRun;
use crate::usage::{self, ByModel};

/// The transcript of one session.
pub struct TranscriptFile {
    root: Option<PathBuf>,
    file: PathBuf,
    marker: Option<PathBuf>,
    session_id: String,
    cwd: String,
    version: &'static str,
    leaf: Option<String>,
    last_prompt: Option<String>,
    late: bool,
    waiting: String,
    /// The texts of the prompts so far, those of an earlier run first.
    pub prompts: Vec<String>,
    /// The uuids of all messages so far.
    uuids: HashSet<String>,
}

impl TranscriptFile {
    /// A store in the folder `root`, or none.
    pub fn new(
        root: Option<PathBuf>,
        session_id: &str,
        cwd: &Path,
        version: &'static str,
        late: bool,
    ) -> Self {
        let cwd = cwd.to_string_lossy().into_owned();
        let mut store = Self {
            root,
            file: PathBuf::new(),
            marker: None,
            session_id: String::new(),
            cwd,
            version,
            leaf: None,
            last_prompt: None,
            late,
            waiting: String::new(),
            prompts: Vec::new(),
            uuids: HashSet::new(),
        };
        store.begin(session_id);
        store
    }

    /// Continues in a new, empty session.
    pub fn begin(&mut self, session_id: &str) {
        session_id.clone_into(&mut self.session_id);
        self.leaf = None;
        self.prompts.clear();
        self.uuids.clear();
        let Some(root) = &self.root else { return };
        let folder = root.join("projects").join(encode(&self.cwd));
        self.file = folder.join(format!("{session_id}.jsonl"));
        self.marker = Some(root.join("sessions").join(format!("{}.json", std::process::id())));
    }

    /// Resumes an earlier run; a fork gets a copy under its own id.
    pub fn take_up(&mut self, past: EarlierRun) {
        self.leaf = past.leaf;
        self.prompts = past.prompts;
        self.uuids = past.uuids;
        if past.session_id == self.session_id {
            self.file = past.file;
        } else {
            for line in past.lines {
                self.text(&line.replace(&past.session_id, &self.session_id));
            }
        }
    }

    /// Writes a marker that a process of this session is running.
    pub fn mark(&mut self) {
        let Some(marker) = &self.marker else { return };
        let mark = json!({
            "pid": std::process::id(),
            "sessionId": self.session_id,
            "cwd": self.cwd,
            "startedAt": clock::millis(),
            "version": self.version,
            "kind": "interactive",
            "entrypoint": "sdk-cli",
        });
        let folder = marker.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(marker, mark.to_string()));
        if let Err(error) = written {
            eprintln!("the session can not be marked as alive: {error}");
        }
    }

    /// Writes the pending lines, and removes the marker of the running process.
    pub fn close(&mut self) {
        self.settle();
        if let Some(marker) = &self.marker {
            let _ = fs::remove_file(marker);
        }
    }

    /// Returns whether a message has this uuid.
    pub fn knows(&self, uuid: &str) -> bool {
        self.uuids.contains(uuid)
    }

    /// Records that a prompt enters or leaves the queue.
    pub fn queue_operation(&mut self, operation: &str, content: Option<&str>) {
        let mut line = json!({
            "type": "queue-operation",
            "operation": operation,
            "timestamp": clock::timestamp(),
            "sessionId": self.session_id,
        });
        if let Some(content) = content {
            line["content"] = content.into();
        }
        self.line(&line);
    }

    /// Records a prompt.
    pub fn prompt(&mut self, uuid: &str, text: &str, content: &Value, mode: &str) {
        self.prompts.push(text.to_owned());
        self.last_prompt = Some(text.to_owned());
        let message = json!({"role": "user", "content": content});
        let extra = json!({"permissionMode": mode, "promptSource": "sdk", "turnOrigin": "sdk"});
        self.entry("user", message, uuid, extra);
    }

    /// Records a live `user` line: a tool's result, or a message that the agent writes for the user.
    pub fn user(&mut self, line: &Value) {
        let mut extra = json!({});
        if let Some(result) = line.get("tool_use_result") {
            extra["toolUseResult"] = result.clone();
        }
        if line.get("isSynthetic") == Some(&Value::Bool(true)) {
            extra["isCompactSummary"] = true.into();
        }
        self.live("user", line, extra);
    }

    /// Records a live `assistant` line.
    pub fn assistant(&mut self, line: &Value, usage: Value, stop_reason: &str) {
        let mut line = line.clone();
        line["message"]["usage"] = usage;
        if line["message"]["stop_reason"].is_null() {
            line["message"]["stop_reason"] = stop_reason.into();
        }
        let mut extra = json!({"requestId": line["request_id"]});
        if line.get("is_api_error_message") == Some(&Value::Bool(true)) {
            extra["isApiErrorMessage"] = true.into();
            extra["error"] = line["error"].clone();
        }
        self.live("assistant", &line, extra);
    }

    /// Records that the context was summarized.
    pub fn compacted(&mut self, line: &Value) {
        let extra = json!({
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "compactMetadata": line["compact_metadata"],
        });
        self.live("system", line, extra);
    }

    /// Records a title, of either kind.
    pub fn title(&mut self, kind: &str, key: &str, title: &str) {
        let line = json!({"type": kind, key: title, "sessionId": self.session_id});
        self.line(&line);
    }

    /// Records the end of a turn.
    pub fn turn_ended(&mut self, usage: &ByModel) {
        if let Some(last) = &self.last_prompt {
            let line = json!({
                "type": "last-prompt",
                "lastPrompt": last,
                "leafUuid": self.leaf,
                "sessionId": self.session_id,
            });
            self.line(&line);
        }
        let line = json!({
            "type": "cost-state",
            "sessionId": self.session_id,
            "totalCostUSD": usage::cost(usage),
            "modelUsage": usage::model_usage(usage),
            "hasUnknownModelCost": false,
        });
        self.line(&line);
        self.settle();
    }

    fn live(&mut self, kind: &str, line: &Value, extra: Value) {
        let uuid = line.get("uuid").and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = line.get("message").cloned().unwrap_or_default();
        self.entry(kind, message, &uuid, extra);
    }

    fn entry(&mut self, kind: &str, message: Value, uuid: &str, extra: Value) {
        let mut line = json!({"parentUuid": self.leaf, "isSidechain": false, "type": kind});
        if let Some(line) = line.as_object_mut() {
            if !message.is_null() {
                line.insert("message".into(), message);
            }
            if let Value::Object(extra) = extra {
                line.extend(extra);
            }
            let rest = json!({
                "uuid": uuid,
                "timestamp": clock::timestamp(),
                "userType": "external",
                "entrypoint": "sdk-cli",
                "cwd": self.cwd,
                "sessionId": self.session_id,
                "version": self.version,
                "gitBranch": "HEAD",
            });
            if let Value::Object(rest) = rest {
                line.extend(rest);
            }
        }
        self.leaf = Some(uuid.to_owned());
        self.uuids.insert(uuid.to_owned());
        self.line(&line);
    }

    fn line(&mut self, line: &Value) {
        self.text(&line.to_string());
    }

    fn text(&mut self, line: &str) {
        if self.root.is_none() {
            return;
        }
        self.waiting.push_str(line);
        self.waiting.push('\n');
        if !self.late {
            self.settle();
        }
    }

    fn settle(&mut self) {
        if self.waiting.is_empty() || self.root.is_none() {
            return;
        }
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::OpenOptions::new().create(true).append(true).open(&self.file))
            .and_then(|mut file| file.write_all(self.waiting.as_bytes()));
        self.waiting.clear();
        if let Err(error) = written {
            eprintln!("the transcript can not be written: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past;

    #[test]
    fn a_torn_last_line_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let mut store =
            TranscriptFile::new(Some(dir.path().to_owned()), "one", Path::new("/project"), "2.1.329", false);
        store.prompt("u1", "hello", &"hello".into(), "default");
        fs::OpenOptions::new().append(true).open(&store.file).unwrap().write_all(b"{\"type\":\"us").unwrap();
        let past = past::find(dir.path(), "one").unwrap();
        assert_eq!(past.prompts, ["hello"]);
        assert_eq!(past.leaf.as_deref(), Some("u1"));
    }

    #[test]
    fn without_a_root_nothing_is_written() {
        let mut store = TranscriptFile::new(None, "one", Path::new("/project"), "2.1.329", false);
        store.prompt("u1", "hello", &"hello".into(), "default");
        store.mark();
        store.close();
        assert_eq!(store.prompts, ["hello"]);
    }
}
