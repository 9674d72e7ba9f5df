//! Screenshots of the interface for review: every view and every story, two sizes, light and dark.

use crate::command::run;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system, ui};
use std::fs;

/// The pictures of the documentation, each with its view. They are of the wide size in the light theme.
const DOCS: [(&str, &str); 4] = [
    ("deskbell.png", "permission"),
    ("board.png", "board-asked"),
    ("open-machine.png", "open-machine"),
    ("connection.png", "far-lost"),
];

/// Saves the screenshots in `target/shots`. The UI's own script reports errors in any of them.
pub fn shots(views: &[&str]) -> Outcome {
    system::ensure(&[Need::Browser])?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    let folder = project::target().join("shots");
    run(node.command("node").current_dir(project::ui()).arg("shots/shots.js").arg(folder).args(views))
}

/// Makes the pictures of the documentation again.
pub fn docs() -> Outcome {
    shots(&DOCS.map(|(_, view)| view))?;
    for (picture, view) in DOCS {
        let made = project::target().join("shots").join(format!("{view}-wide-light.png"));
        let kept = project::root().join("docs").join(picture);
        fs::copy(&made, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    }
    Ok(())
}
