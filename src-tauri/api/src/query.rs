//! The queries about a session: what a window or a client reads that events do not contain. A query changes nothing.

use super::background::TaskOutput;
use super::board::ProcessCost;
use super::changes::{Against, Changes, FileDiff, Patch, PromptMoment};
use super::export::ExportFormat;
use super::files::{FileText, FoundFiles};
use super::id::ItemId;
use super::options::{OptionsReview, SessionOptions};
use super::prompt::Attachment;
use super::raw::RawLines;
use super::tool::Output;
use super::view::{CopyOf, Found};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The parameters of a query, with the type of its answer.
pub trait TypedQuery: Clone + Into<SessionQuery> {
    type Answer: Serialize + DeserializeOwned + Send + 'static;
}

/// Chooses the first block for a query that the session answers, the second for one about its folder or its processes.
#[doc(hidden)]
#[macro_export]
macro_rules! by_source {
    (session, $session:tt, $folder:tt) => {
        $session
    };
    (folder, $session:tt, $folder:tt) => {
        $folder
    };
}

/// The name that `hello` gives to a query; `None` for those that every server answers.
macro_rules! name_in_hello {
    (first, $name:tt) => {
        None
    };
    (later, $name:tt) => {
        Some($name)
    };
}

/// Declares each query once: its source, whether it came after the first servers, its name on the wire, its variant, its
/// parameters and its answer. `$d` is a dollar sign for the macro that this one declares.
macro_rules! queries {
    ($d:tt $(
        $(#[$doc:meta])*
        [$source:ident, $age:ident] $name:tt: $variant:ident = $query:ident {
            $($(#[$field_attribute:meta])* $field:ident: $type:ty),*
        } -> $answer:ty;
    )*) => {
        /// The parameters of a query about a session.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
        #[serde(tag = "type", rename_all_fields = "camelCase")]
        pub enum SessionQuery {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $variant { $($(#[$field_attribute])* $field: $type),* },
            )*
            /// A query of a newer client. It is refused.
            #[serde(other)]
            #[ts(skip)]
            Unknown,
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $query { $(pub $field: $type),* }

            impl TypedQuery for $query {
                type Answer = $answer;
            }

            impl From<$query> for SessionQuery {
                fn from($query { $($field),* }: $query) -> Self {
                    Self::$variant { $($field),* }
                }
            }
        )*

        /// The type of each query's answer, for TypeScript.
        #[derive(TS)]
        #[allow(non_snake_case)]
        pub struct SessionAnswers {
            $(
                #[ts(rename = $name)]
                pub $variant: $answer,
            )*
        }

        impl SessionQuery {
            fn name_in_hello(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant { .. } => name_in_hello!($age, $name),)*
                    Self::Unknown => None,
                }
            }

            /// The names of all queries.
            pub fn names() -> impl Iterator<Item = &'static str> {
                [$($name),*].into_iter()
            }

            /// The names of the queries that came after the first servers.
            pub fn later_names() -> impl Iterator<Item = &'static str> {
                [$(name_in_hello!($age, $name)),*].into_iter().flatten()
            }
        }

        /// Evaluates an expression with the query as the type of its own, by its source.
        #[macro_export]
        macro_rules! each_query {
            (
                $d of:expr,
                session $d by_session:ident => $d session:expr,
                folder $d by_folder:ident => $d folder:expr,
                unknown => $d unknown:expr $d(,)?
            ) => {
                match $d of {
                    $($crate::SessionQuery::$variant { $($field),* } => $crate::by_source!(
                        $source,
                        {
                            let $d by_session = $crate::$query { $($field),* };
                            $d session
                        },
                        {
                            let $d by_folder = $crate::$query { $($field),* };
                            $d folder
                        }
                    ),)*
                    $crate::SessionQuery::Unknown => $d unknown,
                }
            };
        }
    };
}

queries! { $
    /// Lines of a tool's output, from line `first`; `null` if there is no such output.
    [session, first] "output": Output = OutputQuery { item_id: ItemId, first: u32, count: u32 } -> Option<Output>;

    /// The images that a tool returned; `null` if there is no such call.
    [session, first] "images": Images = ImagesQuery { item_id: ItemId } -> Option<Vec<Attachment>>;

    /// The end of the output of a task in the background; `null` if it does not run, or writes none that can be shown.
    [session, first] "taskOutput": TaskOutput = TaskOutputQuery { task_id: String } -> Option<TaskOutput>;

    /// The end of an MCP server's error output from before it was connected; `null` if the agent kept nothing of it.
    [session, later] "serverLog": ServerLog = ServerLogQuery { server: String } -> Option<TaskOutput>;

    /// The last lines between Deskbell and the agent after line `after`, without secrets; 0 is all that are kept.
    [session, first] "rawLines": RawLines = RawLinesQuery { after: u64 } -> RawLines;

    /// A text as the agent wrote it, for the clipboard; `null` if the item does not exist.
    [session, first] "copy": Copy = CopyQuery { copy: CopyOf } -> Option<String>;

    /// Match number `index` of a search in the whole transcript; it wraps around, and `null` is the last one. The answer is
    /// `null` if a later search replaced this one.
    [session, first] "find": Find = FindQuery { query: String, index: Option<i64> } -> Option<Found>;

    /// The agent's last text in its last turn; `null` if there is none.
    [session, first] "lastAnswer": LastAnswer = LastAnswerQuery {} -> Option<String>;

    /// The id of a prompt in the agent's transcript, and its text; `null` if the item is not a prompt.
    [session, first] "storedPrompt": StoredPrompt = StoredPromptQuery { item_id: ItemId } -> Option<(String, String)>;

    /// What the agent would be started with if the session had these options, and what is wrong with them.
    [session, first] "reviewOptions": ReviewOptions = ReviewOptionsQuery { options: Box<SessionOptions> } -> OptionsReview;

    /// The conversation in a file's format.
    [session, first] "export": Export = ExportQuery { format: ExportFormat } -> String;

    /// The files of the session's folder that texts of the agent name by these paths, at most 100: paths relative to the
    /// folder, each `null` if there is no such file.
    [session, later] "namedFiles": NamedFiles = NamedFilesQuery { paths: Vec<String> } -> Vec<Option<String>>;

    /// The lines of a file of the session's folder around a line, which is counted from 1.
    [session, later] "fileText": FileText = FileTextQuery { path: String, line: Option<u32> } -> FileText;

    /// Files of the session's folder that match a partly typed name.
    [folder, later] "files": Files = FilesQuery { query: String } -> FoundFiles;

    /// The files of the session's folder that differ from its last commit, or from the folder at a prompt. Without git, and
    /// for the last prompt if the folder at it is not known, those that the agent edited, as of `edits`.
    [folder, later] "changes": Changes = ChangesQuery { #[serde(default)] against: Against } -> Changes;

    /// The change of one of these files.
    [folder, later] "fileDiff": FileDiff = FileDiffQuery { path: String, #[serde(default)] against: Against } -> FileDiff;

    /// The prompts with whose folder the present one can be compared, the newest first.
    [folder, later] "promptMoments": PromptMoments = PromptMomentsQuery {} -> Vec<PromptMoment>;

    /// The files that the agent edited, compared with its own copies from before its first edit or, with `sincePrompt`,
    /// from before the last prompt; `null` without a conversation.
    [folder, later] "edits": Edits = EditsQuery { since_prompt: bool } -> Option<Changes>;

    /// The change of one of these files; `null` without a conversation.
    [folder, later] "editDiff": EditDiff = EditDiffQuery { since_prompt: bool, path: String } -> Option<FileDiff>;

    /// The changes of one of these files, or of all, for `git apply`.
    [folder, later] "patch": Patch = PatchQuery { path: Option<String>, #[serde(default)] against: Against } -> Patch;

    /// What the agent's process and every process below it cost now; `null` if none runs or the system does not say.
    [folder, later] "processes": Processes = ProcessesQuery {} -> Option<ProcessCost>;
}

impl SessionQuery {
    /// Its name in `hello`; `None` if every server of this protocol answers it.
    pub fn later_name(&self) -> Option<&'static str> {
        match self {
            Self::Changes { against } | Self::FileDiff { against, .. } | Self::Patch { against, .. } => {
                against.later_name().or(self.name_in_hello())
            }
            _ => self.name_in_hello(),
        }
    }
}

impl Against {
    /// The name in `hello` of a comparison with a prompt. An older server would compare with the last commit instead.
    pub fn later_name(self) -> Option<&'static str> {
        (self != Self::Commit).then_some("promptMoments")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    /// Servers and clients of other versions have this form.
    #[test]
    fn queries_have_the_form_of_the_protocol() {
        let item_id = || ItemId::new("7.0");
        let options = Box::default();
        let queries: [(SessionQuery, Value); 21] = [
            (
                OutputQuery { item_id: item_id(), first: 1, count: 2 }.into(),
                json!({"type": "output", "itemId": "7.0", "first": 1, "count": 2}),
            ),
            (ImagesQuery { item_id: item_id() }.into(), json!({"type": "images", "itemId": "7.0"})),
            (TaskOutputQuery { task_id: "t".into() }.into(), json!({"type": "taskOutput", "taskId": "t"})),
            (ServerLogQuery { server: "s".into() }.into(), json!({"type": "serverLog", "server": "s"})),
            (RawLinesQuery { after: 3 }.into(), json!({"type": "rawLines", "after": 3})),
            (
                CopyQuery { copy: CopyOf::Conversation }.into(),
                json!({"type": "copy", "copy": {"type": "conversation"}}),
            ),
            (
                FindQuery { query: "a".into(), index: None }.into(),
                json!({"type": "find", "query": "a", "index": null}),
            ),
            (LastAnswerQuery {}.into(), json!({"type": "lastAnswer"})),
            (
                StoredPromptQuery { item_id: item_id() }.into(),
                json!({"type": "storedPrompt", "itemId": "7.0"}),
            ),
            (
                ReviewOptionsQuery { options }.into(),
                json!({"type": "reviewOptions", "options": SessionOptions::default()}),
            ),
            (ExportQuery { format: ExportFormat::Html }.into(), json!({"type": "export", "format": "html"})),
            (
                NamedFilesQuery { paths: vec!["a".into()] }.into(),
                json!({"type": "namedFiles", "paths": ["a"]}),
            ),
            (
                FileTextQuery { path: "a".into(), line: Some(1) }.into(),
                json!({"type": "fileText", "path": "a", "line": 1}),
            ),
            (FilesQuery { query: "a".into() }.into(), json!({"type": "files", "query": "a"})),
            (
                ChangesQuery { against: Against::Commit }.into(),
                json!({"type": "changes", "against": "commit"}),
            ),
            (
                FileDiffQuery { path: "a".into(), against: Against::At(5) }.into(),
                json!({"type": "fileDiff", "path": "a", "against": {"at": 5}}),
            ),
            (PromptMomentsQuery {}.into(), json!({"type": "promptMoments"})),
            (EditsQuery { since_prompt: true }.into(), json!({"type": "edits", "sincePrompt": true})),
            (
                EditDiffQuery { since_prompt: true, path: "a".into() }.into(),
                json!({"type": "editDiff", "sincePrompt": true, "path": "a"}),
            ),
            (
                PatchQuery { path: None, against: Against::Prompt }.into(),
                json!({"type": "patch", "path": null, "against": "prompt"}),
            ),
            (ProcessesQuery {}.into(), json!({"type": "processes"})),
        ];
        let names: Vec<&str> = queries.iter().filter_map(|(_, json)| json["type"].as_str()).collect();
        assert_eq!(names, SessionQuery::names().collect::<Vec<_>>());
        for (query, json) in queries {
            assert_eq!(serde_json::to_value(&query).unwrap(), json);
            assert_eq!(serde_json::from_value::<SessionQuery>(json).unwrap(), query);
        }
        let read = |json| serde_json::from_value::<SessionQuery>(json).unwrap();
        assert_eq!(read(json!({"type": "changes"})), ChangesQuery { against: Against::Commit }.into());
        assert_eq!(read(json!({"type": "weather", "place": "a"})), SessionQuery::Unknown);
    }

    #[test]
    fn later_queries_are_named_and_a_comparison_with_a_prompt_by_its_own_name() {
        let later = [
            "changes",
            "editDiff",
            "edits",
            "fileDiff",
            "fileText",
            "files",
            "namedFiles",
            "patch",
            "processes",
            "promptMoments",
            "serverLog",
        ];
        assert_eq!(SessionQuery::later_names().collect::<BTreeSet<_>>(), BTreeSet::from(later));
        let name = |against| SessionQuery::from(PatchQuery { path: None, against }).later_name();
        assert_eq!((name(Against::Commit), name(Against::Session)), (Some("patch"), Some("promptMoments")));
        assert_eq!(SessionQuery::from(LastAnswerQuery {}).later_name(), None);
    }
}
