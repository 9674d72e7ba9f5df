//! Inputs that the user changed before they ran.
//!
//! The agent's own transcript has only the original input (2.1.197 and 2.1.329), so changed inputs are saved with the
//! session: few of them, and no large ones.

use crate::agent::tool::RawInput;
use serde::{Deserialize, Serialize};

/// Changed inputs kept for a session. The oldest are dropped first.
const MOST: usize = 100;
/// Size limit for all of them together, in bytes of JSON.
const MOST_BYTES: usize = 64 * 1024;
/// An input larger than a quarter of `MOST_BYTES` has each text cut to this many bytes.
const CUT: usize = 1024;

/// The input that a tool call ran with, instead of the agent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedInput {
    pub tool_use_id: String,
    pub input: RawInput,
}

/// The most recent changed inputs, oldest first.
#[derive(Debug, Default)]
pub struct ChangedInputs {
    kept: Vec<ChangedInput>,
    bytes: usize,
}

impl ChangedInputs {
    pub fn new(kept: Vec<ChangedInput>) -> Self {
        let mut all = Self::default();
        kept.into_iter().for_each(|one| all.keep(one));
        all
    }

    pub fn add(&mut self, tool_use_id: String, input: &RawInput) {
        self.keep(ChangedInput { tool_use_id, input: input.clone() });
    }

    fn keep(&mut self, mut one: ChangedInput) {
        if size(&one) > MOST_BYTES / 4 {
            // Enough to show which command ran, and on which file.
            one.input.cut(CUT);
        }
        if size(&one) > MOST_BYTES {
            return;
        }
        self.bytes += size(&one);
        self.kept.push(one);
        while self.kept.len() > MOST || self.bytes > MOST_BYTES {
            self.bytes -= size(&self.kept.remove(0));
        }
    }

    pub fn to_vec(&self) -> Vec<ChangedInput> {
        self.kept.clone()
    }
}

fn size(one: &ChangedInput) -> usize {
    one.tool_use_id.len() + one.input.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn few_are_kept_and_none_is_large() {
        let mut all = ChangedInputs::default();
        (0..1_000).for_each(|nr| all.add(format!("t{nr}"), &json!({"command": "x".repeat(100)}).into()));
        assert_eq!((all.to_vec().len(), all.to_vec()[99].tool_use_id.as_str()), (MOST, "t999"));
        all.add("large".to_owned(), &json!({"file_path": "a.txt", "content": "é".repeat(1_000_000)}).into());
        let last = serde_json::to_value(all.to_vec().pop().unwrap().input).unwrap();
        assert_eq!(last["file_path"], "a.txt");
        assert!(last["content"].as_str().is_some_and(|text| text.ends_with("… (cut)") && text.len() < 1_100));
        // An input that is too large even after cutting is not kept, and no other is dropped for it.
        let n_kept = all.to_vec().len();
        all.add("larger".to_owned(), &json!(vec!["y".repeat(500); 10_000]).into());
        assert_eq!(all.to_vec().len(), n_kept);
        let bytes = all.to_vec().iter().map(size).sum::<usize>();
        assert!(bytes <= MOST_BYTES && all.bytes == bytes, "{bytes}");
        assert_eq!(ChangedInputs::new(all.to_vec()).to_vec(), all.to_vec());
    }
}
