//! Every type that crosses to the UI and through `deskbell relay`, and nothing else.
//!
//! Conventions: objects are camelCase; a variant is named by its `type`; a missing value is `null`, never absent
//! (on input it may be absent); ids are opaque strings; moments end in `At` and are milliseconds since the Unix
//! epoch; spans end in `Ms`. The TypeScript of these types is `ui/src/lib/bindings/api.ts`; the test
//! `bindings_are_fresh` holds the two together.

mod agent;
mod command;
mod diff;
mod document;
mod event;
mod files;
mod id;
mod item;
mod permission;
mod preferences;
mod prompt;
mod rules;
mod session;
mod survivor;
mod tool;
mod trust;
mod turn;
mod view;
mod window;

pub use agent::*;
pub use command::*;
pub use diff::*;
pub use document::*;
pub use event::*;
pub use files::*;
pub use id::*;
pub use item::*;
pub use permission::*;
pub use preferences::*;
pub use prompt::*;
pub use rules::*;
pub use session::*;
pub use survivor::*;
pub use tool::*;
pub use trust::*;
pub use turn::*;
pub use view::*;
pub use window::*;
