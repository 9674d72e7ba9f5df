//! nushell, as a login shell that the tests ask for its environment: Debian has no package of it.

use std::env;
use std::path::PathBuf;

use crate::node::Node;
use crate::{Outcome, npm_package, project};

const VERSION: &str = "0.115.1";

/// Its executable, installed on first need.
pub fn ensure(node: &Node) -> Outcome<PathBuf> {
    let folder = project::tools().join(format!("nushell-{VERSION}"));
    let os = if env::consts::OS == "macos" { "darwin" } else { env::consts::OS };
    let arch = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let package = format!("@nushell/{os}-{arch}");
    let executable =
        folder.join("node_modules").join(&package).join(format!("bin/nu{}", env::consts::EXE_SUFFIX));
    if !executable.is_file() {
        npm_package::install(node, &folder, &format!("{package}@{VERSION}"))
            .map_err(|reason| format!("nushell {VERSION} could not be installed: {reason}"))?;
    }
    Ok(executable)
}
