//! npm's starters on Windows: `claude.cmd` next to the folder of packages.
//!
//! A batch file runs through `cmd.exe`, which would read prompts and paths as code. So it is never run: the program
//! that it names is found, and run itself.

use std::path::{Path, PathBuf};

/// The program that a starter of npm in `folder` names; `None` if it starts something else than a program of its own,
/// for example Node with a script.
pub fn program_of(starter: &str, folder: &Path) -> Option<PathBuf> {
    // "%dp0%\node_modules\@anthropic-ai\claude-code\bin\claude.exe"   %*
    let quoted = starter.split('"').skip(1).step_by(2);
    let below =
        quoted.filter_map(|text| text.strip_prefix(r"%dp0%\").or_else(|| text.strip_prefix(r"%~dp0\")));
    let mut programs = below.filter(|text| {
        let name = text.rsplit('\\').next().unwrap_or_default().to_ascii_lowercase();
        name.ends_with(".exe") && name != "node.exe"
    });
    let parts = programs.next()?.split('\\');
    let is_plain = |part: &str| !part.is_empty() && part != ".." && !part.contains([':', '/', '%']);
    parts.clone().all(is_plain).then(|| parts.fold(folder.to_owned(), |path, part| path.join(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As npm 11 writes it.
    const STARTER: &str = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\n\
        CALL :find_dp0\r\n\"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe\"   %*\r\n";

    /// The same for a package that is a script.
    const SCRIPT: &str = "IF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \
        \"_prog=node\"\r\n)\r\nendLocal & \"%_prog%\"  \"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\cli.js\" %*";

    #[test]
    fn a_starter_names_its_program() {
        let folder = Path::new("npm");
        let program: PathBuf =
            ["npm", "node_modules", "@anthropic-ai", "claude-code", "bin", "claude.exe"].iter().collect();
        assert_eq!(program_of(STARTER, folder), Some(program));
    }

    #[test]
    fn a_starter_of_a_script_or_of_a_path_outside_names_none() {
        for starter in [
            SCRIPT,
            "",
            "claude.exe",
            "\"C:\\claude.exe\" %*",
            "\"%dp0%\\..\\claude.exe\" %*",
            "\"%dp0%\\%x%\\claude.exe\" %*",
            "\"%dp0%\\a\\\\claude.exe\" %*",
        ] {
            assert_eq!(program_of(starter, Path::new("npm")), None, "{starter}");
        }
    }
}
