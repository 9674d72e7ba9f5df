//! Opaque ids.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Declares an opaque string id: a newtype in Rust, a plain string on the wire.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        pub struct $name(pub String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// Deskbell's id of a session; stable from its creation on, across restarts of app and agent.
    SessionId
);
id!(
    /// The id of an item of the transcript.
    ItemId
);
id!(
    /// The id of a prompt. The agent receives this id when the prompt is first sent, and a new one each time it is sent
    /// again.
    PromptId
);
id!(
    /// The agent's id of a permission request.
    RequestId
);
