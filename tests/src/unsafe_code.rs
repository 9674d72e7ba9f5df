//! The files with unsafe code: calls of the operating system, and windows of its toolkits. Each place has a comment that
//! says why it is sound.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All of them. A crate that reads what an agent or a folder contains is not among them, and forbids it.
const FILES: &[&str] = &[
    // Windows and dialogs of GTK, AppKit and Win32.
    "src-tauri/dialogs/src/permission/alert.rs",
    "src-tauri/dialogs/src/permission/gtk.rs",
    "src-tauri/dialogs/src/permission/task_dialog.rs",
    "src-tauri/dialogs/src/permission/task_dialog/tests.rs",
    // A token for a window of Wayland.
    "src-tauri/desktop/src/activation.rs",
    // The jump list of Windows.
    "src-tauri/desktop/src/jump_list/native.rs",
    // A variable that WebKit reads before the first page.
    "src-tauri/desktop/src/webkit.rs",
    // The policies of threads.
    "src-tauri/desktop/src/webkit/real_time.rs",
    // Signals to processes, and what happens between fork and exec.
    "src-tauri/demo-agent/src/session.rs",
    "src-tauri/demo-agent/src/steps/faults.rs",
    "src-tauri/engine/src/host/local.rs",
    "src-tauri/engine/src/host/local/child.rs",
    "src-tauri/engine/src/host/local/token/macos.rs",
    "src-tauri/engine/src/host/local/unix.rs",
    "src-tauri/engine/src/host/local/vfork.rs",
    "src-tauri/engine/src/host/local/windows.rs",
    "src-tauri/engine/src/process/orphans.rs",
    "src-tauri/engine/src/user_command.rs",
    "xtask/src/process.rs",
    // The user's number and the name of the machine.
    "src-tauri/disk/src/read.rs",
    "src-tauri/server/src/socket/unix.rs",
    // Who owns a named pipe of Windows, and a server that leaves its terminal.
    "src-tauri/server/src/detach.rs",
    "src-tauri/server/src/socket/windows.rs",
    // Tests: named pipes, and whether they run as root.
    "src-tauri/disk/src/traps.rs",
    "src-tauri/engine/src/changes/hostile_tests.rs",
    "src-tauri/engine/src/changes/list_tests.rs",
    "src-tauri/engine/src/projects/folder_check.rs",
];

/// The crates that forbid it.
const FORBIDDEN: &[&str] = &["acp", "agent", "api", "claude", "document"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources can be read") {
        let path = entry.expect("a folder of sources can be read").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Whether a line of code, without its comment, has an unsafe block, function, implementation or import.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.split_once("unsafe ").is_some_and(|(before, after)| {
        let starts = ["{", "fn ", "impl ", "extern ", "trait "].iter().any(|next| after.starts_with(next));
        starts && !before.ends_with(|end: char| end.is_alphanumeric() || end == '_' || end == '"')
    })
}

#[test]
fn unsafe_code_is_in_the_files_of_the_list_and_explained() {
    let mut files = Vec::new();
    for folder in ["src-tauri", "xtask", "tests"] {
        sources(&root().join(folder), &mut files);
    }
    let mut found = BTreeSet::new();
    // This file has examples.
    for file in files.iter().filter(|file| !file.ends_with("tests/src/unsafe_code.rs")) {
        let text = fs::read_to_string(file).expect("a source is text");
        let lines: Vec<&str> = text.lines().collect();
        for (n, _) in lines.iter().enumerate().filter(|(_, line)| is_unsafe(line)) {
            let name =
                file.strip_prefix(root()).expect("it is below the root").to_string_lossy().into_owned();
            let before = &lines[n.saturating_sub(6)..n];
            let is_explained = before.iter().any(|line| line.trim_start().starts_with("// SAFETY:"));
            let is_import = lines[n].contains("unsafe extern ");
            assert!(is_explained || is_import, "{name}:{} does not say why it is sound", n + 1);
            found.insert(name);
        }
    }
    let listed: BTreeSet<String> = FILES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, listed);
}

#[test]
fn what_reads_untrusted_text_forbids_it() {
    for name in FORBIDDEN {
        let file = root().join("src-tauri").join(name).join("src/lib.rs");
        let text = fs::read_to_string(&file).expect("the crate has a library");
        assert!(text.contains("#![forbid(unsafe_code)]"), "{name} does not forbid unsafe code");
    }
}

#[test]
fn comments_and_names_are_no_unsafe_code() {
    assert!(is_unsafe("    unsafe { libc::kill(-pid, libc::SIGKILL) };"));
    assert!(is_unsafe("pub unsafe fn destroy(self) {"));
    assert!(!is_unsafe("    // an unsafe { block } is a fault"));
    assert!(!is_unsafe("let is_unsafe = unsafe_words(text);"));
}
