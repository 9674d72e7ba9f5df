//! `deskbell update` with the real curl and a server that speaks TLS on loopback: what is installed, and what is not.
//! Needs curl, openssl and python3.

// Only a debug build takes the place of updates from the environment.
#![cfg(all(target_os = "linux", debug_assertions))]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test makes and reads files of its own")]

use minisign::KeyPair;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskbell-relay");
const CURRENT: &str = env!("CARGO_PKG_VERSION");
const OLD: &[u8] = b"the old AppImage";
/// No usual mode, so that it is seen to be kept.
const MODE: u32 = 0o751;
const DEADLINE: Duration = Duration::from_secs(60);

/// A change of the command, such as another variable.
type Change<'a> = &'a dyn Fn(&mut Command);

/// A computer with an AppImage, and a server with updates.
struct World {
    root: tempfile::TempDir,
    keys: KeyPair,
    port: u16,
    server: Child,
    /// The names of the files that are asked for, as it happens.
    asked: mpsc::Receiver<String>,
    _stdin: ChildStdin,
    new: Vec<u8>,
}

impl World {
    /// `None` where a tool is missing.
    fn new() -> Option<Self> {
        for tool in ["curl", "openssl", "python3"] {
            if Command::new(tool).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
            {
                assert!(std::env::var_os("CI").is_none(), "{tool} is not installed");
                eprintln!("skipped: {tool} is not installed");
                return None;
            }
        }
        let root = tempfile::tempdir().unwrap();
        for folder in ["bin", "served", "data"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        let path = |name: &str| root.path().join(name);
        std::fs::write(path("bin/Deskbell.AppImage"), OLD).unwrap();
        std::fs::set_permissions(path("bin/Deskbell.AppImage"), PermissionsExt::from_mode(MODE)).unwrap();
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout"])
            .arg(path("key.pem"))
            .arg("-out")
            .arg(path("ca.pem"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut server = Command::new("python3")
            .arg("-c")
            .arg(include_str!("update/server.py"))
            .args([path("served"), path("ca.pem"), path("key.pem"), path("requests")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        let (sender, asked) = mpsc::channel();
        // It ends with the server, or with the world.
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|name| sender.send(name)));
        let stdin = server.stdin.take().unwrap();
        let new: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let keys = KeyPair::generate_unencrypted_keypair().unwrap();
        let world = Self { root, keys, port, server, asked, _stdin: stdin, new };
        world.serve("deskbell.AppImage", &world.new);
        world.publish(&world.list("99.0.0"));
        Some(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn image(&self) -> PathBuf {
        self.path("bin/Deskbell.AppImage")
    }

    fn url(&self) -> String {
        format!("https://127.0.0.1:{}/updates", self.port)
    }

    fn serve(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path("served").join(name), bytes).unwrap();
    }

    /// How the server sends a file from now on; empty as it is.
    fn send(&self, name: &str, how: &str) {
        self.serve(&format!("{name}.how"), how.as_bytes());
    }

    /// A list with the new file.
    fn list(&self, version: &str) -> Value {
        let sum: String = Sha256::digest(&self.new).iter().map(|byte| format!("{byte:02x}")).collect();
        let file = json!({"name": "deskbell.AppImage", "size": self.new.len(), "sha256": sum, "later": 1});
        json!({"version": version, "files": {kind(): file, "windows-x86_64.msi": {"name": "x", "size": 1, "sha256": ""}}})
    }

    fn signature(&self, bytes: &[u8]) -> String {
        minisign::sign(Some(&self.keys.pk), &self.keys.sk, bytes, None, None).unwrap().into_string()
    }

    /// Puts a signed list on the server.
    fn publish(&self, list: &Value) {
        let bytes = list.to_string();
        self.serve("latest.json", bytes.as_bytes());
        self.serve("latest.json.minisig", self.signature(bytes.as_bytes()).as_bytes());
    }

    /// `deskbell` as it runs in the AppImage, with nothing else of this environment.
    fn deskbell(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("APPIMAGE", self.image())
            .env("APPDIR", Path::new(PROGRAM).parent().unwrap())
            .env("CURL_CA_BUNDLE", self.path("ca.pem"))
            .env("DESKBELL_TEST_UPDATE_URL", self.url())
            .env("DESKBELL_TEST_UPDATE_KEY", self.keys.pk.to_base64())
            .stdin(Stdio::null());
        command
    }

    /// The exit code and the report of an update.
    fn update(&self) -> (i32, Value) {
        self.update_with(&[], |_| {})
    }

    fn update_with(&self, args: &[&str], change: impl FnOnce(&mut Command)) -> (i32, Value) {
        let mut command = self.deskbell(&[&["update", "--json"][..], args].concat());
        change(&mut command);
        let output = command.output().unwrap();
        let report = serde_json::from_slice(&output.stdout);
        (output.status.code().unwrap(), report.unwrap_or_else(|error| panic!("{error}: {output:?}")))
    }

    /// Updates, which fails with these words, and changes nothing.
    fn fails(&self, words: &str, change: impl FnOnce(&mut Command)) {
        let (code, report) = self.update_with(&[], change);
        assert_eq!((code, &report["state"]), (1, &json!("failed")), "{words}: {report}");
        let why = report["why"].as_str().unwrap();
        assert!(why.contains(words) && why.ends_with('.') && !why.contains('\n'), "{words}: {why}");
        self.is_untouched();
    }

    fn is_untouched(&self) {
        self.has(OLD);
    }

    /// The AppImage has this content and its mode, and nothing else is in its folder.
    fn has(&self, content: &[u8]) {
        assert!(std::fs::read(self.image()).unwrap() == content, "another content");
        assert_eq!(std::fs::metadata(self.image()).unwrap().permissions().mode() & 0o7777, MODE);
        let names: Vec<_> =
            std::fs::read_dir(self.path("bin")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["Deskbell.AppImage"]);
    }

    /// The names of the files that were asked for.
    fn requests(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("requests")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until a file is asked for. A request of another file is skipped.
    fn waits_for_request(&self, name: &str) {
        while self.asked.recv_timeout(DEADLINE).expect("the file is asked for") != name {}
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn kind() -> String {
    format!("linux-{}.AppImage", std::env::consts::ARCH)
}

/// A program in a folder of its own that writes its arguments to a file and fails.
fn fake_curl(world: &World) -> PathBuf {
    let folder = world.path("fake");
    std::fs::create_dir_all(&folder).unwrap();
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\nexit 7\n", world.path("arguments").display());
    std::fs::write(folder.join("curl"), script).unwrap();
    std::fs::set_permissions(folder.join("curl"), PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn a_newer_version_replaces_the_image_byte_for_byte() {
    let Some(world) = World::new() else { return };
    let report =
        |state: &str, why: &str| json!({"current": CURRENT, "newest": "99.0.0", "state": state, "why": why});
    let found = format!("Deskbell 99.0.0 is newer than this {CURRENT}. `deskbell update` installs it.");
    assert_eq!(world.update_with(&["--check"], |_| {}), (0, report("newer", &found)));
    world.is_untouched();
    assert_eq!(world.requests(), ["latest.json", "latest.json.minisig"]);

    let installed =
        format!("Deskbell 99.0.0 is installed as {}. The next start runs it.", world.image().display());
    assert_eq!(world.update(), (0, report("installed", &installed)));
    world.has(&world.new);

    // The sentence alone, and over an address that moved to another one of TLS.
    std::fs::write(world.image(), OLD).unwrap();
    world.serve("moved", &world.new);
    world.send("deskbell.AppImage", &format!("redirect {}/moved", world.url()));
    let output = world.deskbell(&["update"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), installed + "\n");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    world.has(&world.new);
}

#[test]
fn no_version_is_replaced_by_itself_or_an_older_one() {
    let Some(world) = World::new() else { return };
    for version in [CURRENT, "0.0.9", "0.0.0"] {
        world.publish(&world.list(version));
        let why = format!("Deskbell {CURRENT} is the newest version.");
        let report = json!({"current": CURRENT, "newest": CURRENT, "state": "newest", "why": why});
        assert_eq!(world.update(), (0, report), "{version}");
        world.is_untouched();
    }
    for version in ["", "99", "99.0.0-beta", "v99.0.0", "99.0.0/../1.0.0"] {
        world.publish(&world.list(version));
        world.fails("names no version", |_| {});
    }
    assert!(!world.requests().contains(&"deskbell.AppImage".to_owned()));
}

#[test]
fn what_is_not_signed_is_not_installed() {
    let Some(world) = World::new() else { return };
    let is_not_signed = |world: &World| world.fails("is not signed with the key of this build", |_| {});
    let other = KeyPair::generate_unencrypted_keypair().unwrap();
    world.fails("is not signed with the key of this build", |command| {
        command.env("DESKBELL_TEST_UPDATE_KEY", other.pk.to_base64());
    });
    world.fails("is no key of minisign", |command| {
        command.env("DESKBELL_TEST_UPDATE_KEY", "RWQ");
    });
    let list = world.list("99.0.0").to_string();
    for changed in [list.replace("99.0.0", "98.0.0"), list.clone() + "\n", String::new()] {
        world.serve("latest.json", changed.as_bytes());
        is_not_signed(&world);
    }
    world.serve("latest.json", list.as_bytes());
    let good = world.signature(list.as_bytes());
    let other =
        minisign::sign(Some(&other.pk), &other.sk, list.as_bytes(), None, None).unwrap().into_string();
    let of_other_file = world.signature(&world.new);
    let other_comment = good.replace("timestamp:", "timestamp:1");
    assert_ne!(other_comment, good);
    for signature in
        ["", "\n\n\n\n", "untrusted comment: x", &other, &of_other_file, &other_comment, &good[..99]]
    {
        world.serve("latest.json.minisig", signature.as_bytes());
        is_not_signed(&world);
    }
    world.serve("latest.json.minisig", &[0xff; 300]);
    is_not_signed(&world);
    std::fs::remove_file(world.path("served/latest.json.minisig")).unwrap();
    world.fails("The requested URL returned error: 404", |_| {});
    assert!(!world.requests().contains(&"deskbell.AppImage".to_owned()));

    world.publish(&json!([1]));
    world.fails("cannot be read", |_| {});
}

#[test]
fn a_file_that_is_not_the_listed_one_is_not_installed() {
    let Some(world) = World::new() else { return };
    let list = world.list("99.0.0");
    let with = |field: &str, value: Value| {
        let mut list = list.clone();
        list["files"][kind()][field] = value;
        world.publish(&list);
    };
    with("sha256", json!("0".repeat(64)));
    world.fails("has another checksum than the signed list says", |_| {});
    with("size", json!(world.new.len() + 1));
    world.fails("bytes instead of", |_| {});
    // The server announces more, or does not announce how much it sends.
    with("size", json!(world.new.len() - 1));
    world.fails("could not be downloaded", |_| {});
    world.send("deskbell.AppImage", "endless");
    world.fails("could not be downloaded", |_| {});
    world.publish(&list);
    world.send("deskbell.AppImage", "truncated");
    world.fails("could not be downloaded", |_| {});
    world.send("deskbell.AppImage", "");

    let before = world.requests().len();
    for name in ["", ".", "../x", "a/b", "/etc/passwd", "a\nb", "-o", "a b", "?a", "\u{202e}"] {
        with("name", json!(name));
        world.fails("has a wrong entry", |_| {});
    }
    with("size", json!(1_u64 << 40));
    world.fails("has a wrong entry", |_| {});
    with("size", json!(-1));
    world.fails("cannot be read", |_| {});
    let mut without = list.clone();
    without["files"] = json!({});
    world.publish(&without);
    assert_eq!(world.update().0, 2);
    assert!(!world.requests()[before..].iter().any(|name| !name.starts_with("latest.json")));

    world.serve("latest.json", &vec![b' '; (64 << 10) + 1]);
    world.fails("could not be downloaded", |_| {});
    world.send("latest.json", "endless");
    world.fails("could not be downloaded", |_| {});
    world.is_untouched();
}

#[test]
fn nothing_is_asked_without_tls() {
    let Some(world) = World::new() else { return };
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    plain.set_nonblocking(true).unwrap();
    let address = format!("http://{}/latest.json", plain.local_addr().unwrap());
    world.fails("is no plain https address", |command| {
        command.env("DESKBELL_TEST_UPDATE_URL", &address);
    });
    for name in ["latest.json", "latest.json.minisig", "deskbell.AppImage"] {
        world.send(name, &format!("redirect {address}"));
        world.fails("could not be downloaded", |_| {});
        world.send(name, "redirect file:///etc/hostname");
        world.fails("could not be downloaded", |_| {});
        world.send(name, &format!("redirect {}/{name}", world.url()));
        world.fails("could not be downloaded", |_| {});
        world.send(name, "");
    }
    assert!(plain.accept().is_err(), "the server without TLS was asked");

    // A certificate that no authority has signed; also if the user's file of curl turns that check off.
    std::fs::write(world.path(".curlrc"), "insecure\n").unwrap();
    let n_requests = world.requests().len();
    world.fails("certificate", |command| {
        command.env_remove("CURL_CA_BUNDLE");
    });
    assert_eq!(world.requests().len(), n_requests);

    // The user's proxy is used.
    plain.set_nonblocking(false).unwrap();
    let proxy = format!("http://{}", plain.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let mut connection = plain.accept().unwrap().0;
        let mut bytes = [0; 8];
        connection.read_exact(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    world.fails("could not be downloaded", |command| {
        command.env("https_proxy", proxy);
    });
    assert_eq!(asked.join().unwrap(), "CONNECT ");
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let Some(world) = World::new() else { return };
    for (name, how) in [("latest.json", "silent"), ("deskbell.AppImage", "stopped")] {
        world.send(name, how);
        let began_at = Instant::now();
        world.fails("could not be downloaded", |command| {
            command.env("DESKBELL_TEST_UPDATE_SECONDS", "2");
        });
        assert!(began_at.elapsed() < DEADLINE);
        world.send(name, "");
    }
}

#[test]
fn an_update_that_is_killed_or_cannot_be_written_leaves_the_old_image() {
    let Some(world) = World::new() else { return };
    world.send("deskbell.AppImage", "stopped");
    let mut update = world.deskbell(&["update"]).spawn().unwrap();
    world.waits_for_request("deskbell.AppImage");
    // A second one at the same time.
    let (code, report) = world.update();
    assert_eq!((code, &report["state"]), (1, &json!("refused")));
    assert_eq!(report["why"], "Deskbell was not updated, because another update runs.");
    update.kill().unwrap();
    update.wait().unwrap();
    world.is_untouched();
    world.send("deskbell.AppImage", "");

    // A limit of file sizes fails in the middle of the file, as a full disk does.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh", PROGRAM, "update"]);
    let like = world.deskbell(&[]);
    limited.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("is as it was, because the new file could not be written: File too large"),
        "{error}"
    );
    world.is_untouched();

    assert_eq!(world.update().0, 0);
    world.has(&world.new);
}

#[test]
fn an_installed_deskbell_starts_no_curl() {
    let Some(world) = World::new() else { return };
    let fake = fake_curl(&world);
    let mut path = fake.into_os_string();
    path.push(":/usr/bin:/bin");
    let elsewhere = world.path("bin");
    let cases: [(&str, Change<'_>); 5] = [
        ("no AppImage", &|command| _ = command.env_remove("APPIMAGE")),
        ("no AppImage", &|command| _ = command.env_remove("APPDIR")),
        ("no AppImage", &|command| _ = command.env("APPDIR", &elsewhere)),
        ("no place", &|command| _ = command.env("DESKBELL_TEST_UPDATE_URL", "")),
        ("no place", &|command| _ = command.env("DESKBELL_TEST_UPDATE_KEY", "")),
    ];
    for (words, change) in cases {
        for args in [&[][..], &["--check"]] {
            let (code, report) = world.update_with(args, |command| {
                command.env("PATH", &path);
                change(command);
            });
            assert_eq!((code, &report["state"], &report["newest"]), (2, &json!("unavailable"), &Value::Null));
            assert!(report["why"].as_str().unwrap().contains(words), "{report}");
        }
    }
    assert!(!world.path("arguments").exists());

    // With everything there it is started, with the address as its only argument that is not always the same.
    world.fails("because curl failed", |command| _ = command.env("PATH", &path));
    let arguments = std::fs::read_to_string(world.path("arguments")).unwrap();
    let url = format!("{}/latest.json", world.url());
    let expected = [
        "--disable --proto =https --proto-redir =https --tlsv1.2 --globoff --fail --silent --show-error --location",
        "--max-redirs 5 --connect-timeout 30 --max-time 60 --speed-limit 1 --speed-time 60 --max-filesize 65536",
        &format!("--url {url}"),
    ];
    assert_eq!(arguments.lines().collect::<Vec<_>>().join(" "), expected.join(" "));
    world.fails("The program curl, which downloads updates, was not found.", |command| {
        command.env("PATH", world.path("bin"));
    });
}

#[test]
fn nothing_is_replaced_while_something_works_or_waits() {
    let Some(world) = World::new() else { return };
    let is_refused = |words: &str| {
        let (code, report) = world.update();
        assert_eq!((code, &report["state"], &report["newest"]), (1, &json!("refused"), &json!("99.0.0")));
        assert!(report["why"].as_str().unwrap().contains(words), "{words}: {report}");
        world.is_untouched();
        assert!(!world.requests().contains(&"deskbell.AppImage".to_owned()));
        assert_eq!(world.update_with(&["--check"], |_| {}).0, 0);
    };
    let mut app = Command::new("sh")
        .args(["-c", "echo runs; read wait; :"])
        .env("APPIMAGE", world.image())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It has its environment from before its first line.
    let mut first = String::new();
    BufReader::new(app.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "runs\n");
    is_refused(&format!("because it runs (process {})", app.id()));
    app.kill().unwrap();
    app.wait().unwrap();

    let project = world.path("project");
    std::fs::create_dir(&project).unwrap();
    let mut client = world
        .deskbell(&["relay", "--attach", "--idle=60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to_server = client.stdin.take().unwrap();
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut send = |line: Value| writeln!(to_server, "{line}").unwrap();
    let session = json!({"project": project, "agent": "demo", "trust": true});
    send(json!({"type": "open", "id": "1", "session": session}));
    let mut answer_to = |id: &str| {
        let answer = lines.find_map(|line| {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
            (line["id"] == id).then_some(line)
        });
        answer.unwrap()
    };
    let id = answer_to("1")["sessionId"].clone();
    let prompt = json!({"type": "prompt", "text": "WAIT"});
    send(json!({"type": "command", "id": "2", "sessionId": id, "command": prompt}));
    assert_eq!(answer_to("2")["type"], "accepted");
    drop(to_server);
    client.kill().unwrap();
    client.wait().unwrap();
    is_refused("because 1 session works or waits. Let it finish, or run `deskbell sessions stop --all`");

    let stopped = world.deskbell(&["sessions", "stop", "--all"]).status().unwrap();
    assert!(stopped.success());
    // The server itself is idle, and it and its guard run from the old file.
    assert_eq!(world.update().1["state"], "installed");
    world.has(&world.new);
    let output = world.deskbell(&["sessions", "running"]).output().unwrap();
    let served = String::from_utf8(output.stdout).unwrap();
    let pid = served.split(", process ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    assert!(Command::new("kill").arg(OsStr::new(pid)).status().unwrap().success());
}
