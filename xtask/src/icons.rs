//! `cargo xtask icons`: the icon set, drawn from its one source.

use std::fs;

use crate::command::run;
use crate::node::Node;
use crate::scratch::Scratch;
use crate::{Outcome, project, ui};

/// The sizes that Linux desktops look for.
pub const SIZES: [u32; 10] = [16, 24, 32, 48, 64, 96, 128, 256, 512, 1024];

/// Draws every size, and the files that contain several for Windows and macOS.
pub fn draw() -> Outcome {
    let node = Node::ensure()?;
    ui::install(&node)?;
    let scratch = Scratch::new()?;
    let icons = project::root().join("icons");
    let draw = |folder: &str, options: &[&str]| {
        let mut command = ui::tauri(&node);
        command.arg("icon").arg(icons.join("deskbell.svg"));
        run(command.args(options).arg("--output").arg(scratch.path().join(folder)))
    };
    let sizes = SIZES.map(|size| size.to_string()).join(",");
    draw("sizes", &["--png", &sizes])?;
    // The full set also has files for phones and stores; only these two are needed.
    draw("set", &[])?;

    let keep = |folder: &str, name: &str| {
        fs::copy(scratch.path().join(folder).join(name), icons.join(name))
            .map_err(|error| format!("could not write icons/{name}: {error}"))
    };
    for size in SIZES {
        keep("sizes", &format!("{size}x{size}.png"))?;
    }
    keep("set", "icon.ico")?;
    keep("set", "icon.icns")?;
    println!("Drawn to {}", icons.display());
    Ok(())
}
