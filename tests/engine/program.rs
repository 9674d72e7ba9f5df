//! Programs for the tests: the demo agent's binary, the app, and agents in a few lines of shell.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The demo agent, next to the directory of this test.
pub fn demo_agent() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("deskbell-demo-agent");
    assert!(
        program.is_file(),
        "{} is not there: run `cargo build -p deskbell-demo-agent` first",
        program.display()
    );
    program
}

/// Makes a shell agent a program of its own. Another process writes it, because a program cannot be run while it is
/// open for writing anywhere, and a test that forks at that moment would keep it open.
pub fn install_shell_agent(path: &Path, script: &str) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"cat > "$0" && chmod 755 "$0""#]).arg(path).stdin(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    write!(shell.stdin.take().unwrap(), "#!/bin/sh\n{SHELL_AGENT}\n{script}\n").unwrap();
    assert!(shell.wait().unwrap().success());
}

/// Functions for every shell agent. The first request of a session is always `initialize`, under this id.
pub const SHELL_AGENT: &str = r#"
ready() { printf '%s\n' '{"type":"control_response","response":{"subtype":"success","request_id":"deskbell-1","response":{}}}'; }
hear() { IFS= read -r heard; }
say() { printf '%s\n' "{\"type\":\"assistant\",\"message\":{\"id\":\"$1\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}}"; }
result() { printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"done"}'; }
until_end_of_input() { cat > /dev/null; }
"#;
