//! Agent programs that misbehave, as small scripts.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::app::app_program;
use super::desktop::Desktop;

/// A script in place of an agent program.
#[derive(Debug)]
pub struct AgentStub;

impl AgentStub {
    /// Writes a line that is not protocol, and then waits forever.
    pub fn garbage(desktop: &Desktop) -> Result<PathBuf> {
        let script =
            "printf 'Segmentation fault (core dumped)\\n{\"type\":\\n\\377\\376\\n'\ncat >/dev/null\n";
        Self::script(desktop, "garbage-agent", script)
    }

    /// Exits at once with a message on stderr.
    pub fn exits(desktop: &Desktop) -> Result<PathBuf> {
        let script = "echo 'libshim.so.4: cannot open shared object file' >&2\nexit 127\n";
        Self::script(desktop, "exiting-agent", script)
    }

    /// A file that cannot be executed.
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

    /// The arguments of every start of the agent that logs them, one line each; empty before the first.
    pub fn arguments(desktop: &Desktop) -> String {
        fs::read_to_string(Self::told(desktop)).unwrap_or_default()
    }

    /// An agent that requests permission again and again and withdraws each request after a while, mostly before a
    /// button is armed. The requests and their times are in [`AgentStub::asked`], the lines that it received in
    /// [`AgentStub::heard`].
    pub fn asking_on_and_on(desktop: &Desktop) -> Result<PathBuf> {
        let (asked, heard) = (Self::asked_file(desktop), Self::heard_file(desktop));
        let script = format!(
            r#"IFS= read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{{"type":"control_response","response":{{"subtype":"success","request_id":"%s","response":{{}}}}}}\n' "$id"
(
  n=0
  while :; do
    n=$((n + 1))
    case $((n % 5)) in 0) life=2.5;; 1) life=0.1;; 2) life=0.3;; 3) life=0.5;; *) life=1.4;; esac
    printf 'r%s %s\n' "$$-$n" "$(date +%s%N)" >> '{asked}'
    printf '{{"type":"control_request","request_id":"r%s","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{{"command":"touch %s.txt"}}}}}}\n' "$$-$n" "$n"
    sleep "$life"
    printf '{{"type":"control_cancel_request","request_id":"r%s"}}\n' "$$-$n"
    sleep 0.1
  done
) &
asking=$!
cat >> '{heard}'
kill "$asking"
"#,
            asked = asked.display(),
            heard = heard.display(),
        );
        Self::script(desktop, "asking-agent", &script)
    }

    /// Starts, and then reads nothing and ignores every signal that can be ignored.
    pub fn ignoring(desktop: &Desktop) -> Result<PathBuf> {
        let script = r#"trap '' HUP INT TERM
IFS= read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$id"
while :; do sleep 1000; done
"#;
        Self::script(desktop, "ignoring-agent", script)
    }

    /// Every request of the repeatedly asking agent, with its time since 1970.
    pub fn asked(desktop: &Desktop) -> BTreeMap<String, Duration> {
        let text = fs::read_to_string(Self::asked_file(desktop)).unwrap_or_default();
        let asked = text.lines().filter_map(|line| {
            let (id, at) = line.split_once(' ')?;
            Some((id.to_owned(), Duration::from_nanos(at.parse().ok()?)))
        });
        asked.collect()
    }

    /// The lines that it received after the first.
    pub fn heard(desktop: &Desktop) -> String {
        fs::read_to_string(Self::heard_file(desktop)).unwrap_or_default()
    }

    fn asked_file(desktop: &Desktop) -> PathBuf {
        desktop.scratch().join("asked")
    }

    fn heard_file(desktop: &Desktop) -> PathBuf {
        desktop.scratch().join("heard")
    }

    fn told(desktop: &Desktop) -> PathBuf {
        desktop.scratch().join("told-arguments")
    }

    fn script(desktop: &Desktop, name: &str, body: &str) -> Result<PathBuf> {
        let file = desktop.scratch().join(name);
        // Deskbell asks for a version before it accepts a program as an agent, and for the login before the first prompt.
        let answers = "if [ \"$1\" = --version ]; then echo '2.1.329 (Claude Code)'; exit 0; fi\n\
            if [ \"$1\" = auth ]; then echo '{\"loggedIn\": true}'; exit 0; fi\n";
        fs::write(&file, format!("#!/bin/sh\n{answers}{body}"))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        Ok(file)
    }
}
