//! The installed program without windows: it runs where nothing else is, and `deskbell on` finds it.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::kind::Kind;
use super::relay;
use super::target::Target;
use super::tree::Tree;
use crate::command::{command, read, run};
use crate::scratch::Scratch;
use crate::{Outcome, project, system};

/// A turn of the demo agent.
const PROMPT: &str = r#"{"type":"prompt","text":"SAY hello"}"#;

/// What is mounted here is unmounted with the namespace of the shell.
const ALONE: &str = r#"mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
printf '%s\n' "$2" | env -i HOME=/home PATH="$PATH" chroot "$1" "/$0" relay --project=/project --agent=demo"#;

/// A program in the place of ssh: its last argument runs here, in another home and with nothing of ours on the PATH.
const SSH: &str = "#!/bin/sh\nfor command; do :; done\n\
                   exec env -i HOME=\"$FAR\" PATH=\"$FAR/bin:/usr/bin:/bin\" /bin/sh -c \"$command\"\n";

/// Programs for another processor are given to an emulator, for this command alone. Linux has had these rules for each
/// user namespace since 6.7.
const EMULATED: &str = r#"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf %s "$0" > /proc/sys/fs/binfmt_misc/register
exec "$@""#;

/// Checks the one in this folder of programs, with the program that copies it to other machines.
pub fn check(programs: &Path, app: impl AsRef<OsStr>) -> Outcome {
    let program = programs.join(Kind::Relay.name());
    let own = Target::own();
    relay::check(&program, &own)?;
    alone(&program)?;
    found_by_on(&programs.join("..").join(own.far_program()), app.as_ref(), &own, command("env"))
}

/// Runs the program of the tarball that was built last for a processor: here, or by an emulator.
pub fn check_tarball(target: &Target) -> Outcome {
    let scratch = Scratch::new()?;
    check_build(&relay::unpack(target, scratch.path())?, &relay::compile_for_debugging()?, target)
}

/// Checks a build for a processor, laid out as the packages do it, with a program of this machine that copies it. Another
/// processor is emulated; where that cannot be done, only its headers are checked, and an unattended run fails.
fn check_build(program: &Path, near: &Path, target: &Target) -> Outcome {
    let scratch = Scratch::new()?;
    let root = scratch.folder("root")?;
    if target.is_own() {
        let programs = Tree::of_relay(root, program)?.path().join("usr/bin");
        return check(&programs, near);
    }
    relay::check(program, target)?;
    let tree = Tree::of_relay(root, near)?;
    tree.add_relay_of(target, program)?;
    let Some(rule) = target.emulator().and_then(|emulator| target.rule(&emulator)) else {
        let missing = format!("no turn was played: there is no emulator of {} here", target.name());
        if project::is_ci() {
            return Err(missing);
        }
        println!("{missing}");
        return Ok(());
    };
    let mut emulated = command("unshare");
    emulated.args(["--map-root-user", "--mount", "sh", "-e", "-c", EMULATED]).arg(rule);
    let usr = tree.path().join("usr");
    found_by_on(
        &usr.join(target.far_program()),
        usr.join("bin").join(Kind::Relay.name()).as_ref(),
        target,
        emulated,
    )
}

/// Checks that `deskbell on` finds the one of the debug build, laid out as the packages do it. It is not linked statically:
/// that would compile most crates again.
pub fn check_debug_build() -> Outcome {
    let (scratch, own) = (Scratch::new()?, Target::own());
    let program = project::debug_app().with_file_name(Kind::Relay.name());
    let usr = Tree::of_relay(scratch.folder("root")?, &program)?.path().join("usr");
    let near = usr.join("bin").join(Kind::Relay.name());
    found_by_on(&usr.join(own.far_program()), near.as_ref(), &own, command("env"))
}

/// It plays a turn of the demo agent in a root that has no other file but those of the kernel.
fn alone(program: &Path) -> Outcome {
    if !system::is_root() {
        println!("Not run in an empty root: only root can");
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let root = scratch.folder("root")?;
    for folder in ["dev", "proc", "project", "home", "tmp"] {
        scratch.folder(&format!("root/{folder}"))?;
    }
    let name = Kind::Relay.name();
    fs::copy(program, root.join(name)).map_err(|error| format!("could not copy {name}: {error}"))?;
    let mut relay = command("unshare");
    relay.args(["--mount", "sh", "-e", "-c", ALONE, name]).arg(&root).arg(PROMPT);
    ends_a_turn(&read(&mut relay)?)?;
    println!("{name} played a turn in an empty root");
    Ok(())
}

/// `deskbell on` copies it to another machine with this processor, and runs a turn there. `on` is the command that runs
/// it.
fn found_by_on(shipped: &Path, app: &OsStr, target: &Target, mut on: Command) -> Outcome {
    let scratch = Scratch::new()?;
    let (bin, far) = (scratch.folder("bin")?, scratch.folder("far")?);
    let project = scratch.folder("far/project")?;
    fs::write(bin.join("ssh"), SSH).map_err(|error| format!("could not write a program: {error}"))?;
    run(Command::new("chmod").arg("755").arg(bin.join("ssh")))?;
    let path = std::env::var("PATH").unwrap_or_default();
    if !target.is_own() {
        let uname = format!(
            "#!/bin/sh\ncase $1 in -m) echo {} ;; *) exec /bin/uname \"$@\" ;; esac\n",
            target.processor()
        );
        let programs = scratch.folder("far/bin")?;
        fs::write(programs.join("uname"), uname)
            .map_err(|error| format!("could not write a program: {error}"))?;
        run(Command::new("chmod").arg("755").arg(programs.join("uname")))?;
    }
    on.args(["sh", "-c", "printf '%s\\n' \"$0\" | \"$@\"", PROMPT])
        .arg(app)
        .args(["on", "box", "relay", "--agent=demo"])
        .arg(format!("--project={}", project.display()))
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("FAR", &far);
    ends_a_turn(&read(&mut on)?)?;
    let copies = read(command("find").arg(far.join(".local/share/deskbell/relay")).args(["-type", "f"]))?;
    run(command("cmp").arg(shipped).arg(&copies))?;
    println!("`deskbell on` copied {}, and played a turn with it", shipped.display());
    Ok(())
}

/// Fails unless the events have the end of a turn that went well.
pub fn ends_a_turn(events: &str) -> Outcome {
    let is_end = |line: &str| line.contains(r#""type":"turnEnded""#) && line.contains(r#""type":"done""#);
    if events.lines().any(is_end) {
        Ok(())
    } else {
        Err(format!("the demo agent's turn did not end: {events}"))
    }
}
