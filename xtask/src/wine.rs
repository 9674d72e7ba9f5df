//! `cargo xtask wine`: builds the program without windows for Windows and runs it under Wine: a turn, the end of its
//! processes with it, the server on its named pipe, the unit tests of the crates that call the system, and those of the
//! permission dialog, on a virtual display.
//!
//! The window of the app needs WebView2, which Wine has not.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{command, find, read, run};
use crate::display::VirtualDisplay;
use crate::packages::Need;
use crate::process::{Guarded, Lines, marked};
use crate::scratch::Scratch;
use crate::systems::{self, WINDOWS};
use crate::{Outcome, system};
use serde_json::Value;

/// The crate with the dialog, and the dialog's unit tests.
const DIALOGS: &str = "deskbell-dialogs";
const DIALOG: &str = "permission::task_dialog";

/// The crates whose unit tests run there.
const TESTED: [&str; 2] = ["deskbell-server", "deskbell-disk"];

const PROGRAM: &str = "deskbell-relay";

/// Timeout for a line of the program, and for its processes to end. Wine starts some services first.
const LIMIT: Duration = Duration::from_secs(60);
const LOOKS_AGAIN: Duration = Duration::from_millis(50);

/// Rust's standard library takes random numbers from this function, which Wine 8.0 of Debian 12 lacks.
const RANDOM: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return SystemFunction036(buffer, (ULONG)length);
}
";

/// A check; its error is the reason why it failed.
type Check = fn(&Wine) -> Outcome;

/// Builds and runs everything.
pub fn wine() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("Wine is used on Linux".into());
    }
    system::ensure(&[Need::Build, Need::OtherSystems, Need::Wine, Need::Display])?;
    let toolchain = systems::toolchain()?;
    let build = |subcommand: &str| {
        let mut cargo = systems::cargo(&toolchain, subcommand, WINDOWS);
        cargo.args(["--package", "deskbell-cli", "--bin", PROGRAM]);
        cargo
    };
    run(&mut build("build"))?;
    let program = systems::folder().join(WINDOWS).join("debug").join(format!("{PROGRAM}.exe"));
    let wine = Wine::start(program)?;
    let checks: [(&str, Check); 4] = [
        ("The program starts", Wine::version),
        ("A turn of the demo agent", Wine::turn),
        ("No process outlives its relay", Wine::ends_with_it),
        ("Sessions outlive their client in the server on its named pipe", Wine::server),
    ];
    for (words, check) in checks {
        let began_at = Instant::now();
        check(&wine).map_err(|why| format!("{words}: {why}"))?;
        println!("{words}: passed in {:.1} s", began_at.elapsed().as_secs_f64());
    }
    let tests = |packages: &[&str]| {
        let mut tests = systems::cargo(&toolchain, "test", WINDOWS);
        tests.arg("--lib").env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", find("wine").unwrap_or_default());
        for package in packages {
            tests.args(["--package", package]);
        }
        wine.put_in(&mut tests);
        tests
    };
    run(&mut tests(&TESTED))?;
    run(tests(&[DIALOGS]).arg("--no-run"))?;
    wine.add_library(&systems::folder().join(WINDOWS).join("debug/WebView2Loader.dll"))?;
    let display = VirtualDisplay::start()?;
    run(tests(&[DIALOGS]).args(["--", DIALOG]).env("DISPLAY", display.name()))
}

/// A new Wine prefix. Its processes end when it is dropped.
struct Wine {
    program: PathBuf,
    scratch: Scratch,
}

impl Wine {
    fn start(program: PathBuf) -> Outcome<Self> {
        let wine = Self { program, scratch: Scratch::new()? };
        let mut boot = command("wine");
        wine.put_in(boot.args(["wineboot", "--init"]));
        run(boot.stdout(Stdio::null()).stderr(Stdio::null()))?;
        let source = wine.scratch.path().join("random.c");
        fs::write(&source, RANDOM)
            .map_err(|error| format!("could not write {}: {error}", source.display()))?;
        let library = wine.system()?.join("bcryptprimitives.dll");
        if !library.exists() {
            let mut compiler = command("x86_64-w64-mingw32-gcc");
            run(compiler.args(["-shared", "-o"]).arg(&library).arg(&source).arg("-ladvapi32"))?;
        }
        Ok(wine)
    }

    /// The folder of its libraries.
    fn system(&self) -> Outcome<PathBuf> {
        self.scratch.folder("prefix/drive_c/windows/system32")
    }

    /// Adds a library that a program is linked with.
    fn add_library(&self, library: &Path) -> Outcome {
        let copy = self.system()?.join(library.file_name().unwrap_or_default());
        fs::copy(library, copy).map_err(|error| format!("could not copy {}: {error}", library.display()))?;
        Ok(())
    }

    /// Makes the command run in this prefix: without a display, and without what Wine would download.
    fn put_in(&self, command: &mut Command) {
        command
            .env("WINEPREFIX", self.scratch.path().join("prefix"))
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "mscoree=;mshtml=;winemenubuilder.exe=")
            .env_remove("DISPLAY");
    }

    fn deskbell(&self, arguments: &[&str]) -> Command {
        let mut deskbell = command("wine");
        deskbell.arg(&self.program).args(arguments);
        self.put_in(&mut deskbell);
        deskbell
    }

    /// A folder as a program there names it: the root of this system is its drive Z.
    fn project(&self) -> Outcome<String> {
        let project = self.scratch.folder("project")?;
        Ok(format!("Z:{}", project.display().to_string().replace('/', r"\")))
    }

    /// Starts the program with pipes. What it says otherwise is in a file, because Wine gives each process the stderr of
    /// the one that started it.
    fn open(&self, arguments: &[&str]) -> Outcome<(Guarded, ChildStdin, Lines)> {
        let log = self.scratch.path().join("stderr");
        let log =
            fs::File::create(&log).map_err(|error| format!("could not write {}: {error}", log.display()))?;
        let mut deskbell = self.deskbell(arguments);
        let mut process = Guarded::spawn(deskbell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log))?;
        let (input, lines) = (process.input()?, process.lines()?);
        Ok((process, input, lines))
    }

    fn errors(&self) -> String {
        fs::read_to_string(self.scratch.path().join("stderr")).unwrap_or_default()
    }

    /// Waits for a line with all of these words.
    fn line(&self, lines: &mut Lines, words: &[&str]) -> Outcome<String> {
        let fits = |line: &str| words.iter().all(|word| line.contains(word));
        let found = lines.wait_for(Instant::now() + LIMIT, fits);
        found
            .map_err(|why| format!("no line with {words:?} ({why:?}): {:?}\n{}", lines.seen(), self.errors()))
    }

    /// The processes of the program, as their command lines: Linux has the name of their first thread, which is another.
    fn processes(&self) -> Vec<String> {
        let prefix = self.scratch.path().join("prefix").display().to_string();
        let found = marked("WINEPREFIX", &prefix);
        let pids = found.iter().filter_map(|process| process.split(' ').next());
        let lines = pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok());
        lines.filter(|line| line.contains(PROGRAM)).map(|line| line.replace('\0', " ")).collect()
    }

    /// Waits until there are none.
    fn no_process(&self) -> Outcome {
        let deadline = Instant::now() + LIMIT;
        while !self.processes().is_empty() {
            if Instant::now() >= deadline {
                return Err(format!("these still run: {:?}", self.processes()));
            }
            thread::sleep(LOOKS_AGAIN);
        }
        Ok(())
    }

    fn version(&self) -> Outcome {
        let version = read(&mut self.deskbell(&["--version"]))?;
        if version.contains(env!("CARGO_PKG_VERSION")) { Ok(()) } else { Err(format!("it says {version}")) }
    }

    fn turn(&self) -> Outcome {
        let project = format!("--project={}", self.project()?);
        let (_relay, mut input, mut lines) = self.open(&["relay", &project, "--agent=demo"])?;
        send(&mut input, r#"{"type":"prompt","text":"SAY hello"}"#)?;
        self.line(&mut lines, &["hello", r#""type":"itemAdded""#])?;
        self.line(&mut lines, &[r#""type":"turnEnded""#, r#""type":"done""#])?;
        if self.processes().is_empty() {
            return Err("its processes are not found".into());
        }
        drop(input);
        self.no_process()
    }

    /// The relay is killed in a turn. The job of its agent has no handle then, and ends the agent.
    fn ends_with_it(&self) -> Outcome {
        let project = format!("--project={}", self.project()?);
        let (mut relay, mut input, mut lines) = self.open(&["relay", &project, "--agent=demo"])?;
        send(&mut input, r#"{"type":"prompt","text":"SAY ready\nWAIT"}"#)?;
        self.line(&mut lines, &["ready", r#""type":"itemAdded""#])?;
        let running = self.processes();
        if running.len() < 2 {
            return Err(format!("only these run: {running:?}"));
        }
        relay.kill()?;
        self.no_process()
    }

    /// A session is opened by one client, which is killed in a turn, and found by the next one.
    fn server(&self) -> Outcome {
        let project = self.project()?.replace('\\', r"\\");
        let open =
            format!(r#"{{"type":"open","id":"1","session":{{"project":"{project}","agent":"demo"}}}}"#);
        let attach = ["relay", "--attach", "--idle=2"];
        let (mut first, mut input, mut lines) = self.open(&attach)?;
        send(&mut input, &open)?;
        let accepted = self.line(&mut lines, &[r#""type":"accepted""#, r#""id":"1""#])?;
        let answer: Value =
            serde_json::from_str(&accepted).map_err(|error| format!("{error}: {accepted}"))?;
        let session = answer["sessionId"].as_str().ok_or("the server named no session")?;
        let prompt = |id: &str, text: &str| {
            let command = format!(r#"{{"type":"prompt","text":"{text}"}}"#);
            format!(r#"{{"type":"command","id":"{id}","sessionId":"{session}","command":{command}}}"#)
        };
        let gate = self.scratch.path().join("project/gate");
        send(&mut input, &prompt("2", r"SAY ready\nUNTIL gate\nSAY went on"))?;
        self.line(&mut lines, &[r#""type":"accepted""#, r#""id":"2""#])?;
        first.kill()?;

        let listed = read(&mut self.deskbell(&["relay", "--list"]))?;
        if !listed.contains(session) || !listed.contains("working") {
            return Err(format!("the list has no session that works: {listed}"));
        }
        let (_second, mut input, mut lines) = self.open(&attach)?;
        send(&mut input, &format!(r#"{{"type":"attach","sessionId":"{session}","after":0}}"#))?;
        fs::write(&gate, "").map_err(|error| format!("could not write {}: {error}", gate.display()))?;
        // In the snapshot, or as an event after it.
        self.line(&mut lines, &[r#""text":"went on""#])?;
        drop(input);
        // It leaves when nothing runs and no client is there.
        self.no_process()
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        let mut end = command("wineserver");
        self.put_in(end.arg("--kill"));
        // What has ended already cannot be ended.
        let _ = end.stderr(Stdio::null()).status();
    }
}

fn send(input: &mut ChildStdin, line: &str) -> Outcome {
    writeln!(input, "{line}").map_err(|error| format!("could not write to the program: {error}"))
}
