//! The settings file survives a killed writer and a full disk. The writers are processes of their own: this test
//! program again, with one of its tests.

use deskbell_engine::api::Settings;
use deskbell_engine::settings::SettingsFile;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The folder that a writer writes in; without it the tests of writers do nothing.
const FOLDER: &str = "DESKBELL_TEST_SETTINGS";

/// Number of writers that are killed, and the threads that do it: a writer mostly waits for the disk.
const N_KILLED: u64 = 500;
const AT_ONCE: u64 = 5;

/// What the user has written; longer than a block of the disk.
fn text(zoom: u64) -> String {
    let notes: String = (0..2_000).map(|n| format!("  // note {n}\n")).collect();
    format!("{{\n{notes}  \"zoom\": {zoom}, \"mine\": [1, 2]\n}}\n")
}

fn writer(name: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The file is whole: with everything that the user wrote, and one of the values.
fn is_whole(file: &SettingsFile) -> u64 {
    let found = file.read(&Settings::default());
    assert_eq!(found.problems, []);
    let zoom = u64::from(found.settings.zoom);
    assert_eq!(fs::read_to_string(file.path()).unwrap(), text(zoom));
    zoom
}

/// Writes one value after the other until it is killed.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let file = SettingsFile::new(Path::new(&folder));
    for n in 0.. {
        file.set("zoom", &json!(50 + n % 150)).unwrap();
        println!("wrote");
    }
}

/// Kills the writers of these numbers, each in a later moment of its work, and checks the file after each.
fn kill_writers(numbers: impl Iterator<Item = u64>) {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    fs::write(file.path(), text(100)).unwrap();
    for n in numbers {
        let mut child = writer("settings::writes_until_it_is_killed", folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // After a different number of writes, at some point of the next one.
        for _ in 0..=n % 7 {
            lines
                .by_ref()
                .find(|line| line.as_ref().is_ok_and(|line| line.contains("wrote")))
                .unwrap()
                .unwrap();
        }
        for _ in 0..n * 40 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        is_whole(&file);
    }
    file.set("zoom", &json!(77)).unwrap();
    assert_eq!(is_whole(&file), 77);
    // Nothing of the killed writers is left.
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["settings.json", "settings.lock"]);
}

#[test]
fn a_writer_that_is_killed_leaves_a_whole_file_and_no_lock() {
    std::thread::scope(|threads| {
        for first in 0..AT_ONCE {
            threads.spawn(move || {
                kill_writers((first..N_KILLED).step_by(usize::try_from(AT_ONCE).unwrap()));
            });
        }
    });
}

/// Writes where no file may have more than 4 KiB, as on a full disk.
#[test]
fn writes_on_a_full_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let file = SettingsFile::new(Path::new(&folder));
    let error = file.set("zoom", &json!(150)).unwrap_err();
    println!("refused: {error}");
}

#[test]
fn a_full_disk_is_reported_and_the_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path());
    fs::write(file.path(), text(100)).unwrap();
    let program = std::env::current_exe().unwrap();
    // Without the signal the write fails, as it does on a full disk. The unit of the limit is 512 or 1024 bytes.
    let output = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact settings::writes_on_a_full_disk --nocapture")
        .arg(program)
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("refused: could not write"), "{output:?}");
    assert_eq!(is_whole(&file), 100);
    file.set("zoom", &json!(150)).unwrap();
    assert_eq!(is_whole(&file), 150);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
