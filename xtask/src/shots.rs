//! Pictures of the interface, to be looked at: every view and every story, two sizes, light and dark.

use crate::command::run;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system, ui};

/// Takes the pictures into `target/shots`. The UI's own script says what is wrong with any of them.
pub fn shots(views: &[&str]) -> Outcome {
    system::ensure(&[Need::Browser])?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    let folder = project::target().join("shots");
    run(node.command("node").current_dir(project::ui()).arg("shots/shots.js").arg(folder).args(views))
}
