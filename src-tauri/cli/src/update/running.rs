//! Processes that run from the AppImage: the app above all. Its next helper would start from the new file, and speak
//! another version.

use deskbell_engine::disk;
use deskbell_engine::process::guard::Guard;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Maximum number of processes, and maximum size of an environment and of a command line in bytes.
const MOST: usize = 100_000;
const LONGEST: u64 = 4 << 20;

/// The processes of this AppImage, without this one, servers and guards. Servers are asked what they do; a guard ends
/// with its app. The environment of another user's process cannot be read.
pub fn of_image(image: &Path) -> Vec<u32> {
    let listed = disk::list(Path::new("/proc"), MOST).unwrap_or_default();
    let pids = listed.paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok());
    pids.filter(|pid| *pid != std::process::id() && runs(*pid, image)).collect()
}

fn runs(pid: u32, image: &Path) -> bool {
    let read = |name: &str| disk::read_start(Path::new(&format!("/proc/{pid}/{name}")), LONGEST);
    let Ok(environment) = read("environ") else { return false };
    let mut variables = environment.split(|byte| *byte == 0);
    let Some(of) = variables.find_map(|variable| variable.strip_prefix(b"APPIMAGE=")) else { return false };
    let of = Path::new(OsStr::from_bytes(of));
    if of != image && dunce::canonicalize(of).ok().as_deref() != Some(image) {
        return false;
    }
    // The runtime, which mounts the files for the program.
    if std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program == image) {
        return false;
    }
    let line = read("cmdline").unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).skip(1).take(2).collect();
    let is_guard = words.first() == Some(&Guard::ARGUMENT.as_bytes());
    !is_guard && words != [&b"relay"[..], b"--serve"]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    #[test]
    fn a_process_is_found_by_its_image() {
        let image = Path::new("/opt/a b/Deskbell.AppImage");
        let start = |of: &str, line: &[&str]| {
            let mut command = std::process::Command::new("sh");
            // Its own process waits: a shell that replaced itself would have another command line.
            command.args(["-c", "echo runs; read wait; :"]).args(line).env("APPIMAGE", of);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            // Before its first line it may have the environment of the test.
            let mut first = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
            assert_eq!(first, "runs\n");
            child
        };
        let mut app = start("/opt/a b/Deskbell.AppImage", &[]);
        let mut other = start("/opt/Other.AppImage", &[]);
        let found = of_image(image);
        for child in [&mut app, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found, [app.id()]);
        assert_eq!(of_image(image), [0_u32; 0]);
    }
}
