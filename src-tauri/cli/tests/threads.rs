//! A relay and a server that get too few threads end with the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test makes and reads files of its own")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Far longer than needed, so that only a hang reaches it.
const DEADLINE: Duration = Duration::from_secs(30);

/// A user without processes. The system does not limit root.
const NOBODY: u32 = 65534;

#[test]
fn too_few_threads_are_an_error_in_words() {
    let root = tempfile::tempdir().unwrap();
    let (home, program) = (root.path().join("home"), root.path().join("deskbell-relay"));
    fs::create_dir(&home).unwrap();
    // The build may be in a folder that another user cannot read.
    fs::copy(env!("CARGO_BIN_EXE_deskbell-relay"), &program).unwrap();
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for args in [&["relay", "--agent=demo", "--project=."][..], &["relay", "--serve"]] {
        for limit in 1..=8 {
            let mut command = Command::new(if is_root { "setpriv" } else { "prlimit" });
            if is_root {
                let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
                command.args(ids).args(["--clear-groups", "prlimit"]);
            }
            command.arg(format!("--nproc={limit}")).arg(&program).args(args).current_dir(&home);
            command.env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin");
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // Open to the end: the relay does not end because its input does.
            let _input = child.stdin.take();
            let pid = child.id();
            let (send, ended) = mpsc::channel();
            thread::spawn(move || send.send(child.wait_with_output()));
            let Ok(output) = ended.recv_timeout(DEADLINE) else {
                Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
                panic!("{args:?} with {limit} threads does not end");
            };
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{args:?} with {limit} threads: {said}");
            assert!(said.starts_with("deskbell: Deskbell needs ") && said.contains("`ulimit -u`"), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}
