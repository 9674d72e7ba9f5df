//! Agent programs that misbehave, as small scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;

use super::app::app_program;
use super::desktop::Desktop;

/// A script that stands in for an agent program.
#[derive(Debug)]
pub struct AgentStub;

impl AgentStub {
    /// Writes what is no protocol, and then waits for ever.
    pub fn garbage(desktop: &Desktop) -> Result<PathBuf> {
        let script =
            "printf 'Segmentation fault (core dumped)\\n{\"type\":\\n\\377\\376\\n'\ncat >/dev/null\n";
        Self::script(desktop, "garbage-agent", script)
    }

    /// Ends at once with a word on its error output.
    pub fn exits(desktop: &Desktop) -> Result<PathBuf> {
        let script = "echo 'libshim.so.4: cannot open shared object file' >&2\nexit 127\n";
        Self::script(desktop, "exiting-agent", script)
    }

    /// A file that cannot be run at all.
    pub fn not_a_program(desktop: &Desktop) -> Result<PathBuf> {
        let file = desktop.scratch().join("not-a-program");
        fs::write(&file, "not a program\n")?;
        Ok(file)
    }

    /// The demo agent as if it were installed as Claude Code. Its arguments go to [`AgentStub::arguments`].
    pub fn telling(desktop: &Desktop) -> Result<PathBuf> {
        let (told, app) = (Self::told(desktop), app_program().canonicalize()?);
        let script = format!(
            "for argument in \"$@\"; do printf '%s\\n' \"$argument\"; done >> '{}'\nexec '{}' demo-agent \"$@\"\n",
            told.display(),
            app.display()
        );
        Self::script(desktop, "telling-agent", &script)
    }

    /// The arguments of every start of the telling agent, a line each; none before the first.
    pub fn arguments(desktop: &Desktop) -> String {
        fs::read_to_string(Self::told(desktop)).unwrap_or_default()
    }

    fn told(desktop: &Desktop) -> PathBuf {
        desktop.scratch().join("told-arguments")
    }

    fn script(desktop: &Desktop, name: &str, body: &str) -> Result<PathBuf> {
        let file = desktop.scratch().join(name);
        // A version is asked for before an agent is trusted to be one.
        let version = "if [ \"$1\" = --version ]; then echo '2.1.329 (Claude Code)'; exit 0; fi\n";
        fs::write(&file, format!("#!/bin/sh\n{version}{body}"))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        Ok(file)
    }
}
