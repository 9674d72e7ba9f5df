//! `cargo xtask walk`: goes from the README to a first answer in a new Debian, by the commands that the documents have.
//!
//! It has what the README's section “Install” demands, and nothing else. Each step is a sentence of a document, which
//! the failure of the step quotes, and each window leaves a picture in `target/walk`. The answer is one of the real
//! Claude Code; a stand-in for its model runs on this computer, so that no account is needed. `cargo xtask test`, the
//! README's second command, is no part of it: it takes much longer, and runs for each change anyway.

mod documents;
mod model;
mod network;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{command, read, run};
use crate::display::VirtualDisplay;
use crate::packages::Need;
use crate::root::CleanRoot;
use crate::{Outcome, demo, project, system};
use documents::Document;
use model::{ANSWER, Model};

/// The release of Debian: the oldest that is supported.
const RELEASE: &str = "bookworm";
/// The user there, who may use `sudo` as on a desktop.
const USER: &str = "newcomer";
const CLONE: &str = "/home/newcomer/deskbell";
/// Where this machine's Rust is there.
const RUST: &str = "/opt/rust";
/// What a Debian for desktops has, and the C compiler that Rust links with.
const PACKAGES: [&str; 3] = ["sudo", "gcc", "libc6-dev"];

/// A document, and a sentence in it without the targets of its links.
type Sentence = (&'static str, &'static str);

const README: &str = "README.md";
const GUIDE_INSTALL: &str = "docs/guide/install.md";
const GUIDE_COMMANDS: &str = "docs/guide/command-line.md";
const GUIDE_SESSION: &str = "docs/guide/first-session.md";

const NEEDED: Sentence = (README, "You need Linux, Rust 1.95 or newer with the C compiler it links with,");
const APT: Sentence = (README, "on Debian and its relatives by apt, with `sudo`;");
const BUILT: Sentence = (README, "The built program is `target/debug/deskbell`.");
const RUN: Sentence = (
    README,
    "On a machine without a display, `run` plays the demo conversation on a virtual one and prints the path of the screenshot.",
);
const DEMO: Sentence =
    (README, "The demo agent is built in, needs no account and no network, and changes nothing.");
const NOT_FOUND: Sentence = (README, "If it is not found, the window lists the places that were searched.");
const INSTALL: Sentence = (GUIDE_INSTALL, "Install it with one of the commands that the window shows.");
const DOCTOR: Sentence =
    (GUIDE_INSTALL, "`deskbell doctor` says which `claude` is found, and whether it is ready.");
const TRUST: Sentence = (GUIDE_SESSION, "*Trust this folder* loads them as they are shown");
const PROMPTED: Sentence = (
    GUIDE_SESSION,
    "Write a prompt and press Enter. The agent starts, and its answer appears while it is written.",
);

/// The sentences that the walk follows.
const SENTENCES: [Sentence; 10] =
    [NEEDED, APT, BUILT, RUN, DEMO, NOT_FOUND, INSTALL, DOCTOR, TRUST, PROMPTED];

/// The line of `cargo xtask run` that names its picture.
const PICTURE: &str = "A picture of it lies at ";
/// The prompt to Claude Code.
const PROMPT: &str = "Say hello";
/// The focus goes backwards from the end of the window to the first answer of the trust page, which is checked later.
const KEYS_TO_TRUST: usize = 3;
/// A button that allows something has to be visible for 0.7 s before it can be pressed, and looks the same then.
const ARMED: Duration = Duration::from_secs(2);
/// Timeout for a turn, on a slow machine.
const LIMIT: Duration = Duration::from_secs(120);
/// The lines of a failed command that are shown.
const LAST_LINES: usize = 40;

/// Walks from the README to a first answer.
pub fn walk() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("the walk makes a new Debian, on Linux".to_owned());
    }
    system::ensure(&[Need::Display, Need::Walk])?;
    if let Some(obstacle) = CleanRoot::obstacle() {
        return Err(obstacle.to_owned());
    }
    let mut walk = Walk::start()?;
    let walked = walk.go();
    println!("\n==== Steps ====");
    for (step, took) in &walk.took {
        println!("{:>6.1} s  {step}", took.as_secs_f32());
    }
    walked?;
    println!("The pictures and the output of the commands are in {}", walk.kept.display());
    Ok(())
}

struct Walk {
    root: CleanRoot,
    /// An empty folder of the user, and one for the demo: a window opens on the session that its folder had last.
    folder: String,
    demo_folder: String,
    /// The whole environment of the user.
    variables: Vec<(String, String)>,
    /// The folder of this checkout with the pictures.
    kept: PathBuf,
    took: Vec<(String, Duration)>,
}

impl Walk {
    /// Makes the system with the prerequisites and the clone.
    fn start() -> Outcome<Self> {
        let started_at = Instant::now();
        let kept = project::target().join("walk");
        let error = |error| format!("could not make {}: {error}", kept.display());
        if kept.exists() {
            fs::remove_dir_all(&kept).map_err(error)?;
        }
        fs::create_dir_all(&kept).map_err(error)?;

        let mut root = CleanRoot::make(RELEASE)?;
        let folder = root.add_user(USER, "project")?;
        let demo_folder = format!("/home/{USER}/demo");
        run(root.as_user(USER).args(["mkdir", &demo_folder]))?;
        let network = network::give_to(&root, USER)?;
        run(root.apt().args(["--no-install-recommends", "install"]).args(PACKAGES))?;
        let rule = root.path("/etc/sudoers.d").join(USER);
        fs::write(&rule, format!("{USER} ALL=(ALL) NOPASSWD: ALL\n"))
            .map_err(|error| format!("could not write {}: {error}", rule.display()))?;
        root.bind(&rust()?, RUST)?;
        clone(&root)?;

        let own = [
            ("HOME", format!("/home/{USER}")),
            ("USER", USER.to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("PATH", format!("{RUST}/bin:/usr/local/bin:/usr/bin:/bin")),
        ];
        let variables =
            own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(network).collect();
        let took = vec![("a new Debian with a clone".to_owned(), started_at.elapsed())];
        Ok(Self { root, folder, demo_folder, variables, kept, took })
    }

    fn go(&mut self) -> Outcome {
        // All of them before the first step, which takes minutes.
        for (name, sentence) in SENTENCES {
            self.document(name)?.says(sentence)?;
        }
        let readme = self.document(README)?;
        let opens = built(&readme.command("deskbell", &self.folder)?);

        self.step(RUN, |walk| {
            let output = walk.terminal(&readme.command("cargo xtask run", &walk.demo_folder)?, "run")?;
            let picture = output.lines().find_map(|line| line.strip_prefix(PICTURE));
            let picture = walk.root.path(picture.ok_or("no path of a screenshot was printed")?);
            fs::copy(&picture, walk.kept.join("run.png"))
                .map(drop)
                .map_err(|error| format!("there was no screenshot: {error}"))
        })?;
        // Not earlier: the virtual display in there makes its socket in the same folder.
        self.root.mount_displays()?;

        self.step(DEMO, |walk| {
            let command = readme.command("target/debug/deskbell --demo", &walk.demo_folder)?;
            walk.window(&command, &[], "demo", |display, log| {
                display.settle()?;
                display.type_text(demo::PROMPT)?;
                display.press("Return")?;
                wait_for_text(log, "permission requested")
            })?;
            // Its window would come back with the next one, and hide a part of it.
            let data = format!("/home/{USER}/.local/share/deskbell");
            read(walk.root.as_user(USER).args(["rm", "--recursive", &data])).map(drop)
        })?;

        self.step(NOT_FOUND, |walk| walk.window(&opens, &[], "not-found", |display, _| display.settle()))?;

        self.step(INSTALL, |walk| {
            let commands = walk.document(GUIDE_INSTALL)?.commands("npm")?;
            commands.iter().try_for_each(|command| walk.terminal(command, "npm").map(drop))
        })?;

        let model = Model::start()?;
        self.step(DOCTOR, |walk| {
            let doctor = walk.document(GUIDE_COMMANDS)?.command("deskbell doctor", &walk.folder)?;
            let variables = model.variables().map(|(name, value)| format!("{name}={value}"));
            let report =
                walk.terminal(&format!("env {} {}", variables.join(" "), built(&doctor)), "doctor")?;
            let line = |name: &str| report.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            let (agent, ready) = (line("Agent "), line("Ready "));
            println!("{agent}\n{}\n{ready}", line("Version "));
            let is_ready = agent.contains("/claude") && ready.ends_with(" yes");
            if is_ready { Ok(()) } else { Err("Claude Code is not ready".to_owned()) }
        })?;

        self.step(PROMPTED, |walk| walk.first_answer(&opens, &model))
    }

    /// A document of the clone.
    fn document(&self, name: &'static str) -> Outcome<Document> {
        Document::read(&self.root.path(CLONE), name)
    }

    /// The first session with Claude Code: the decision about the folder, a prompt, and the answer.
    fn first_answer(&self, opens: &str, model: &Model) -> Outcome {
        self.window(opens, &model.variables(), "first-answer", |display, log| {
            display.settle()?;
            let question = display.page()?;
            for _ in 0..KEYS_TO_TRUST {
                display.press("shift+Tab")?;
            }
            display.save(&self.kept.join("trust.png"))?;
            // Enter does not press a button that allows something.
            thread::sleep(ARMED);
            display.press("space")?;
            display.turn_from(&question)?;
            let empty = display.page()?;
            display.type_text(PROMPT)?;
            display.press("Return")?;
            model.wait_for_prompt(LIMIT)?;
            wait_for_text(log, "turn ended")?;
            display.turn_from(&empty)
        })?;
        let trust = self.terminal(&built(&format!("deskbell trust {}", self.folder)), "trust")?;
        if !trust.contains("  trusted") {
            return Err(format!("the folder was not trusted by the keys: {trust}"));
        }
        let search = built(&format!("deskbell sessions search hello --project={} --json", self.folder));
        let found = self.terminal(&search, "sessions")?;
        // The found word is a part of its own.
        let has_answer = ANSWER.strip_prefix("Hello").is_some_and(|rest| found.contains(rest));
        if has_answer { Ok(()) } else { Err(format!("the answer was not stored: {found}")) }
    }

    /// Does what a sentence of a document promises.
    fn step(&mut self, promise: Sentence, act: impl FnOnce(&Self) -> Outcome) -> Outcome {
        let (document, sentence) = promise;
        println!("\n==== {document}: “{sentence}” ====");
        let started_at = Instant::now();
        let done = act(self);
        let result = if done.is_ok() { "" } else { "FAILED: " };
        self.took.push((format!("{result}{document}: “{sentence}”"), started_at.elapsed()));
        done.map_err(|reason| format!("{document} says “{sentence}”, but: {reason}"))
    }

    /// Runs a line in the user's terminal, in the clone, and returns its output, which is kept as well.
    fn terminal(&self, line: &str, name: &str) -> Outcome<String> {
        println!("$ {line}");
        let log = self.kept.join(name).with_extension("log");
        let error = |error| format!("could not write {}: {error}", log.display());
        let output = File::options().create(true).append(true).open(&log).map_err(error)?;
        let mut shell = self.root.as_user(USER);
        shell.env_clear().envs(self.variables()).args(["env", &chdir(), "sh", "-c", line]);
        shell.stdin(Stdio::null()).stdout(output.try_clone().map_err(error)?).stderr(output);
        let status = shell.status().map_err(|error| format!("could not start a shell: {error}"))?;
        let text = fs::read_to_string(&log).map_err(|error| format!("could not read the output: {error}"))?;
        if status.success() {
            return Ok(text);
        }
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        Err(format!("`{line}` failed ({status}):\n{}", last.join("\n")))
    }

    /// Starts a program with a window in the same way, acts on it with its log at hand, and keeps a picture.
    fn window(
        &self,
        line: &str,
        variables: &[(&str, String)],
        name: &str,
        act: impl FnOnce(&VirtualDisplay, &Path) -> Outcome,
    ) -> Outcome {
        println!("$ {line}");
        let mut app: Command = self.root.with_window(USER);
        app.env_clear().envs(self.variables()).envs(variables.iter().map(|(name, value)| (name, value)));
        // So that the log says when a turn ends.
        app.env("DESKBELL_LOG", "info");
        app.args(["env", &chdir()]).args(line.split_whitespace());
        let picture = self.kept.join(name).with_extension("png");
        demo::show(&mut app, &picture, |display, _| act(display, &picture.with_extension("log")))
    }

    fn variables(&self) -> impl Iterator<Item = (&String, &String)> {
        self.variables.iter().map(|(name, value)| (name, value))
    }
}

/// The Rust of this machine: it cannot be installed everywhere, and is no part of the project.
fn rust() -> Outcome<PathBuf> {
    let folder = PathBuf::from(read(command("rustc").args(["--print", "sysroot"]))?);
    // A distribution's is among its other programs.
    if folder == Path::new("/usr") || !folder.join("bin/cargo").is_file() {
        return Err(format!("{} is no toolchain with a folder of its own, as rustup has", folder.display()));
    }
    Ok(folder)
}

/// Clones the commit that is checked out.
fn clone(root: &CleanRoot) -> Outcome {
    if !read(command("git").args(["status", "--porcelain"]))?.is_empty() {
        println!("What is not committed is no part of the walk");
    }
    let source = format!("file://{}", project::root().display());
    run(command("git").args(["clone", "--quiet", &source]).arg(root.path(CLONE)))?;
    run(root.command("chown").args(["--recursive", &format!("{USER}:{USER}"), CLONE]))
}

fn chdir() -> String {
    format!("--chdir={CLONE}")
}

/// A command of an installed app with the built program, as the README says.
fn built(line: &str) -> String {
    format!("target/debug/{line}")
}

/// Waits until a file contains a text.
fn wait_for_text(file: &Path, text: &str) -> Outcome {
    let deadline = Instant::now() + LIMIT;
    while !fs::read_to_string(file).is_ok_and(|written| written.contains(text)) {
        if Instant::now() > deadline {
            return Err(format!("{} had no “{text}” within {} s", file.display(), LIMIT.as_secs()));
        }
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_have_the_sentences_and_the_commands_of_the_walk() {
        for (name, sentence) in SENTENCES {
            assert_eq!(Document::read(&project::root(), name).unwrap().says(sentence), Ok(()));
        }
        for (name, command) in [
            (README, "cargo xtask run"),
            (README, "target/debug/deskbell --demo"),
            (README, "deskbell"),
            (GUIDE_INSTALL, "npm"),
            (GUIDE_COMMANDS, "deskbell doctor"),
        ] {
            assert!(Document::read(&project::root(), name).unwrap().commands(command).is_ok(), "{command}");
        }
        let readme = Document::read(&project::root(), README).unwrap();
        assert_eq!(readme.command("deskbell", "/home/me").unwrap(), "deskbell /home/me");
    }
}
