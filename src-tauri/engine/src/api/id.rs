//! Opaque names of what crosses.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Declares an opaque string id, a newtype in Rust and a plain string on the wire.
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
    /// A session as Deskbell knows it; stable from its creation, across restarts of app and agent.
    SessionId
);
id!(
    /// One entry of the transcript.
    ItemId
);
id!(
    /// A prompt. It carries this id to the agent when it is sent first, and another each time it is sent again.
    PromptId
);
id!(
    /// A permission request, as the agent named it.
    RequestId
);
