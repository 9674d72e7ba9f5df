//! Screenshots of the interface for review: every view and every story, two sizes, light and dark.

use crate::command::run;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system, ui};

/// Saves the screenshots in `target/shots`. The UI's own script reports errors in any of them.
pub fn shots(views: &[&str]) -> Outcome {
    system::ensure(&[Need::Browser])?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    let folder = project::target().join("shots");
    run(node.command("node").current_dir(project::ui()).arg("shots/shots.js").arg(folder).args(views))
}
