//! The changes page: what happened to the working tree, and nothing that git's configuration runs.

use anyhow::{Context, Result, ensure};
use deskbell_tests::real_cli::World;
use deskbell_tests::window::{Desktop, LONG, Manners, SHORT, Window, eventually};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::stage::Stage;
use crate::{rewind, survival};

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let own = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"];
    let output = Command::new("git").args(own).args(args).current_dir(folder).output()?;
    ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A repository with a commit, whose configuration runs `canary` when its index is read.
fn repository(folder: &Path) -> Result<()> {
    fs::write(folder.join("beam.txt"), "slow\nturning\n")?;
    git(folder, &["init", "--quiet"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message=x"])?;
    let canary = folder.join(".git/canary");
    fs::write(&canary, "#!/bin/sh\n: >\"$(dirname \"$0\")/ran\"\n")?;
    fs::set_permissions(&canary, fs::Permissions::from_mode(0o755))?;
    git(folder, &["config", "core.fsmonitor", canary.to_str().context("the path is text")?])?;
    git(folder, &["ls-files", "--stage"])?;
    // It runs with plain git.
    Ok(fs::remove_file(folder.join(".git/ran"))?)
}

pub async fn a_file_that_a_command_changed_is_shown_with_its_diff() -> Result<()> {
    let stage = Stage::with_folder(Manners::Polite, repository, |launch| launch).await?;
    stage
        .play("changes", async |stage| {
            let window = &stage.window;
            window.prompt("TOOL Bash {\"command\":\"sed -i s/slow/fast/ beam.txt\"}\nSAY Turned.").await?;
            window.find("button", "Deny").await?;
            // The demo agent only says that it ran the command.
            fs::write(stage.folder.join("beam.txt"), "fast\nturning\n")?;
            fs::write(stage.folder.join("lamp.txt"), "new\n")?;
            window.click("button", "Deny").await?;
            window.wait_said("Turned.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.key("ctrl+shift+j").await?;
            window.wait_shows("2 files · +2 −1 since", SHORT).await?;
            window.find("group", "Changes in beam.txt").await?;
            window.find("group", "Changes in lamp.txt").await?;
            stage.desktop.screenshot("changes").await?;
            window.click("checkbox", "Side by side").await?;
            window.find("group", "Changes in beam.txt, side by side").await?;
            stage.desktop.screenshot("changes-side-by-side").await?;
            ensure!(!stage.folder.join(".git/ran").exists(), "the repository's file system monitor ran");
            Ok(())
        })
        .await
}

/// The app with two changed files, and a session that has had its first turn.
async fn changed() -> Result<Stage> {
    let furnish = |folder: &Path| {
        let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        fs::write(folder.join("lines.txt"), &lines)?;
        repository(folder)?;
        fs::write(folder.join("lines.txt"), lines.replace("line 2\n", "second\n").replace("line 25\n", ""))?;
        Ok(fs::write(folder.join("lamp.txt"), "new\n")?)
    };
    Stage::with_folder(Manners::Polite, furnish, |launch| launch).await
}

/// The lines of the first part.
const LINES: &str = "Lines of lines.txt, line 2";

/// Opens the page of changes, after the first turn.
async fn open_page(window: &Window) -> Result<()> {
    window.key("ctrl+shift+j").await?;
    window.wait_shows("2 files · +2 −2 since", SHORT).await?;
    window.find("listbox", LINES).await?;
    // The diff of the first file is drawn when the second has its place.
    window.find("group", "Changes in lamp.txt").await.map(drop)
}

/// The place of a line's number on the screen, once it is the same twice in a row.
async fn number(stage: &Stage, row: usize) -> Result<(i32, i32)> {
    const PLACE: &str =
        "const lines = document.querySelector('[role=listbox][aria-label=\"Lines of lines.txt, line 2\"]');
        const box = lines.querySelectorAll('[data-row] .gutter')[arguments[0]].getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];";
    let mut last = None;
    let (x, y): (f64, f64) = eventually("a settled list of lines", SHORT, async || {
        let place = serde_json::from_value(stage.window.run(PLACE, vec![row.into()]).await?)?;
        let settled = last.replace(place) == Some(place);
        Ok(settled.then_some(place))
    })
    .await?;
    let frame = stage.pointer.extents(stage.window.frame()).await?;
    Ok((frame.x + x.round() as i32, frame.y + y.round() as i32))
}

pub async fn comments_by_mouse_and_keyboard_outlive_the_app_and_are_one_prompt() -> Result<()> {
    let stage = changed().await?;
    stage
        .play("comments", async |stage| {
            stage.window.prompt("SAY Ready.").await?;
            stage.window.wait_said("Ready.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            open_page(&stage.window).await?;
            // With the mouse: from the second line to the third.
            let (from, to) = (number(stage, 1).await?, number(stage, 2).await?);
            let [x, y, to_x, to_y] = [from.0, from.1, to.0, to.1].map(|n| n.to_string());
            let drag = ["mousemove", &x, &y, "mousedown", "1", "mousemove", &to_x, &to_y, "mouseup", "1"];
            stage.pointer.many(&drag).await?;
            stage.window.find("textbox", "Comment on lines.txt, line 2").await?;
            stage.pointer.type_text("Why second?").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_shows("1 comment · kept until sent", SHORT).await?;
            // With the keyboard: the focus is in the lines again.
            stage.window.wait_focus(LINES).await?;
            stage.pointer.key("End").await?;
            stage.pointer.key("Return").await?;
            stage.pointer.type_text("And the end?").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_shows("2 comments · kept until sent", SHORT).await?;
            stage.window.screenshot("changes-comments").await?;
            stage.pointer.key("Escape").await?;
            stage.pointer.key("Escape").await?;
            stage.window.gone("dialog", "Changes").await?;

            stage.restart().await?;
            stage.window.wait_said("Ready.", SHORT).await?;
            open_page(&stage.window).await?;
            stage.window.wait_shows("2 comments · kept until sent", SHORT).await?;
            stage.window.click("button", "Send comments").await?;
            stage.window.gone("button", "Send comments").await?;
            stage.pointer.key("Escape").await?;
            let said = stage.window.wait_text("log", "Conversation", "And the end?", LONG).await?;
            ensure!(said.contains("Why second?") && said.contains("Comments on the changes"), "{said}");
            Ok(())
        })
        .await
}

pub async fn a_patch_is_copied_and_a_part_and_a_file_are_reverted_and_come_back() -> Result<()> {
    let stage = changed().await?;
    stage
        .play("reverts", async |stage| {
            let (window, folder) = (&stage.window, &stage.folder);
            let [lines, lamp] = ["lines.txt", "lamp.txt"].map(|name| folder.join(name));
            let before = fs::read_to_string(&lines)?;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            open_page(window).await?;
            window.click("button", "Copy patch").await?;
            window.wait_shows("Copied a patch of 2 files.", SHORT).await?;

            // The commit box is above the end of the page until that is scrolled.
            const TO_BUTTON: &str = "document.querySelector(`[aria-label=\"${arguments[0]}\"]`)
                .scrollIntoView({ block: 'nearest' });";
            let revert = "Revert removed line 25 of lines.txt…";
            window.run(TO_BUTTON, vec![revert.into()]).await?;
            window.click("button", revert).await?;
            window.find("dialog", "Revert a part of lines.txt?").await?;
            stage.desktop.screenshot("changes-revert-part").await?;
            ensure!(fs::read_to_string(&lines)? == before, "it was reverted before the answer");
            window.click("button", "Revert this part").await?;
            window.wait_shows("Reverted lines.txt.", SHORT).await?;
            let part = fs::read_to_string(&lines)?;
            ensure!(part.contains("second\n") && part.contains("line 25\n"), "{part}");
            window.click("button", "Undo revert").await?;
            window.gone("button", "Undo revert").await?;
            // It moves the files below it.
            window.wait_shows("Brought the change of lines.txt back.", SHORT).await?;
            ensure!(fs::read_to_string(&lines)? == before, "the undo is not exact");

            // A file that changes while the question is open is not touched.
            window.click("button", "Revert lamp.txt…").await?;
            window.find("dialog", "Revert lamp.txt?").await?;
            fs::write(&lamp, "newer\n")?;
            window.click("button", "Revert file").await?;
            window.wait_shows("The file has changed since it was shown", SHORT).await?;
            ensure!(fs::read_to_string(&lamp)? == "newer\n");
            window.click("button", "Revert lamp.txt…").await?;
            window.click("button", "Revert file").await?;
            window.wait_shows("Reverted lamp.txt.", SHORT).await?;
            ensure!(!lamp.exists());
            stage.desktop.screenshot("changes-reverted").await?;
            window.click("button", "Undo revert").await?;
            eventually("the file is back", SHORT, async || {
                Ok(fs::read(&lamp).is_ok_and(|bytes| bytes == b"newer\n").then_some(()))
            })
            .await?;
            ensure!(!folder.join(".git/ran").exists(), "the repository's file system monitor ran");

            // The patch is still on the clipboard, and git takes it.
            stage.pointer.key("Escape").await?;
            window.gone("dialog", "Changes").await?;
            window.click("textbox", "Prompt").await?;
            window.key("ctrl+v").await?;
            let patch = eventually("the patch in the prompt box", SHORT, async || {
                let text = window.value("Prompt").await?;
                Ok(text.contains("+++ b/lines.txt").then_some(text))
            })
            .await?;
            git(folder, &["config", "--unset", "core.fsmonitor"])?;
            git(folder, &["checkout", "--quiet", "--", "lines.txt"])?;
            fs::remove_file(&lamp)?;
            fs::write(folder.join(".git/patch"), patch.trim_end().to_owned() + "\n")?;
            git(folder, &["apply", ".git/patch"])?;
            ensure!(fs::read_to_string(&lines)? == before && fs::read_to_string(&lamp)? == "new\n");
            Ok(())
        })
        .await
}

/// The one change that is shown, and what is compared with.
async fn compared(window: &Window, base: &str, removed: &str) -> Result<()> {
    window.wait_shows(ONE_LINE, SHORT).await?;
    window.wait_shows(&format!("compared with its copies from {base}."), SHORT).await?;
    window.wait_text("group", "Changes in a.txt", removed, SHORT).await.map(drop)
}

const ONE_LINE: &str = "1 file · +1 −1.";

/// Claude Code edits a file in a folder without git. Its own copies are compared: those from before its first edit, and
/// those from before the last prompt.
async fn edits(stage: &Stage) -> Result<()> {
    let (window, file) = (&stage.window, stage.folder.join("a.txt"));
    ensure!(!stage.folder.join(".git").exists());
    window.click("button", "Open restricted").await?;
    window.find("textbox", "Prompt").await?;
    let path = file.display();
    for (old, new) in [("one", "two"), ("two", "three")] {
        window.prompt(&format!("READ {path}\nEDIT {path} {old} => {new}\nSAY now {new}")).await?;
        window.wait_said(&format!("now {new}"), LONG).await?;
        window.wait_idle(LONG).await?;
    }
    ensure!(fs::read_to_string(&file)? == "three\n");
    // What a command made is no edit of the agent.
    fs::write(stage.folder.join("by-a-command.txt"), "x\n")?;
    window.key("ctrl+shift+j").await?;
    compared(window, "before its first edit", "one").await?;
    ensure!(!window.has("button", "Copy patch").await?, "git would be needed for a patch");
    stage.desktop.screenshot("changes-without-git").await?;
    window.tab_to("combobox “Compare with”").await?;
    stage.pointer.key("End").await?;
    compared(window, "the last prompt", "two").await?;
    stage.pointer.key("Escape").await?;
    window.gone("dialog", "Changes").await
}

pub async fn without_git_the_edits_of_the_agent_are_shown() -> Result<()> {
    let world = World::new().await?;
    let stage = rewind::editing(&world, Desktop::start().await?).await?;
    stage.play("changes-without-git", async |stage| edits(stage).await).await
}

/// The copies are read by the server of the session.
pub async fn without_git_the_edits_of_a_session_that_keeps_running_are_shown() -> Result<()> {
    let world = World::new().await?;
    let desktop = Desktop::start().await?;
    survival::keep_running(&desktop)?;
    let stage = rewind::editing(&world, desktop).await?;
    stage
        .play("changes-in-a-server", async |stage| {
            edits(stage).await?;
            stage.window.wait_shows("Keeps running", SHORT).await?;
            survival::end_server(stage).await
        })
        .await
}

/// What the last commits of a folder are, the newest first.
fn subjects(folder: &Path) -> Result<String> {
    let log = ["-c", "core.fsmonitor=false", "log", "--format=%s", "--name-only"];
    let output = Command::new("git").args(log).current_dir(folder).output()?;
    Ok(String::from_utf8(output.stdout)?.replace("\n\n", "\n"))
}

/// The app with two changed files in a repository that knows its user.
async fn committable(hook: Option<&str>) -> Result<Stage> {
    let furnish = |folder: &Path| {
        fs::write(folder.join("beam.txt"), "slow\nturning\n")?;
        git(folder, &["init", "--quiet", "--initial-branch=main"])?;
        git(folder, &["config", "user.name", "A"])?;
        git(folder, &["config", "user.email", "a@b"])?;
        git(folder, &["add", "--all"])?;
        git(folder, &["commit", "--quiet", "--message=x"])?;
        fs::write(folder.join("beam.txt"), "fast\nturning\n")?;
        fs::write(folder.join("lamp.txt"), "new\n")?;
        git(folder, &["add", "lamp.txt"])?;
        let Some(script) = hook else { return Ok(()) };
        let hooks = folder.join(".git/hooks");
        fs::create_dir_all(&hooks)?;
        fs::write(hooks.join("pre-commit"), format!("#!/bin/sh\n{script}\n"))?;
        Ok(fs::set_permissions(hooks.join("pre-commit"), fs::Permissions::from_mode(0o755))?)
    };
    let stage = Stage::with_folder(Manners::Polite, furnish, |launch| launch).await?;
    stage.window.prompt("SAY Ready.").await?;
    stage.window.wait_said("Ready.", SHORT).await?;
    stage.window.wait_idle(SHORT).await?;
    Ok(stage)
}

const RUNS: &str = "Run programs of this repository?";

/// The folder is not trusted: only the native dialog lets its hook run.
pub async fn a_commit_by_mouse_runs_a_hook_only_after_the_dialog() -> Result<()> {
    const HOOK: &str = "echo checked; : >.git/ran; test ! -e .git/refuse";
    let stage = committable(Some(HOOK)).await?;
    stage
        .play("commit", async |stage| {
            let (window, folder) = (&stage.window, &stage.folder);
            let ran = folder.join(".git/ran");
            fs::write(folder.join(".git/refuse"), "")?;
            let dialogs = stage.dialogs().await?;
            window.key("ctrl+shift+j").await?;
            window.wait_shows("Deskbell asks in a dialog before it runs pre-commit.", SHORT).await?;
            // What is staged is chosen.
            window.find("button", "Commit 1 file").await?;
            window.click("checkbox", "Commit beam.txt").await?;
            window.click("textbox", "Commit message").await?;
            stage.pointer.type_text("Turn faster").await?;
            stage.desktop.screenshot("commit").await?;
            window.click("button", "Commit 2 files").await?;
            let dialog = dialogs.with(RUNS).await?;
            ensure!(dialog.text().await.contains("pre-commit"), "the hook is not named");
            stage.desktop.screenshot("commit-dialog").await?;
            dialog.press("Cancel").await?;
            dialog.gone().await?;
            window.wait_shows("You did not confirm the programs in the dialog", SHORT).await?;
            ensure!(!ran.exists() && subjects(folder)? == "x\nbeam.txt\n", "it ran without an answer");

            // The hook refuses: the message and the choice stay.
            window.click("button", "Commit 2 files").await?;
            dialogs.with(RUNS).await?.press("Run and commit").await?;
            window.wait_shows("Git or a hook refused the commit.", LONG).await?;
            window.wait_shows("checked", SHORT).await?;
            ensure!(ran.exists() && subjects(folder)? == "x\nbeam.txt\n", "it was committed");
            ensure!(window.value("Commit message").await? == "Turn faster");
            stage.desktop.screenshot("commit-refused").await?;

            fs::remove_file(folder.join(".git/refuse"))?;
            window.click("button", "Commit 2 files").await?;
            dialogs.with(RUNS).await?.press("Run and commit").await?;
            window.wait_shows("Committed 2 files on main.", LONG).await?;
            ensure!(
                subjects(folder)? == "Turn faster\nbeam.txt\nlamp.txt\nx\nbeam.txt\n",
                "{}",
                subjects(folder)?
            );
            stage.desktop.screenshot("commit-done").await?;
            window.click("button", "Undo commit").await?;
            window.wait_shows("The commit is undone. Its changes are staged.", SHORT).await?;
            ensure!(subjects(folder)? == "x\nbeam.txt\n");
            window.find("button", "Commit 2 files").await.map(drop)
        })
        .await
}

pub async fn a_message_outlives_the_app_and_a_commit_is_made_by_keyboard() -> Result<()> {
    let stage = committable(None).await?;
    stage
        .play("commit-keyboard", async |stage| {
            stage.window.key("ctrl+shift+l").await?;
            stage.window.wait_focus("textbox “Commit message”").await?;
            stage.pointer.type_text("Light a lamp").await?;
            stage.window.wait_typed("Commit message", "Light a lamp").await?;
            stage.restart().await?;
            let window = &stage.window;
            window.wait_said("Ready.", SHORT).await?;
            window.key("ctrl+shift+l").await?;
            window.wait_focus("textbox “Commit message”").await?;
            ensure!(window.value("Commit message").await? == "Light a lamp");
            stage.pointer.key("Return").await?;
            stage.pointer.key("Return").await?;
            stage.pointer.type_text("It is new.").await?;
            window.tab_to("checkbox “Sign off”").await?;
            stage.pointer.key("space").await?;
            window.tab_to("textbox “Commit message”").await?;
            stage.pointer.key("ctrl+Return").await?;
            window.wait_shows("Committed 1 file on main.", LONG).await?;
            let said =
                Command::new("git").args(["log", "-1", "--format=%B"]).current_dir(&stage.folder).output()?;
            let said = String::from_utf8(said.stdout)?;
            ensure!(said.trim() == "Light a lamp\n\nIt is new.\n\nSigned-off-by: A <a@b>", "{said}");
            ensure!(subjects(&stage.folder)?.starts_with("Light a lamp\nlamp.txt\nx\n"));
            window.tab_to("button “Undo commit”").await?;
            stage.pointer.key("Return").await?;
            window.wait_shows("The commit is undone. Its changes are staged.", SHORT).await?;
            ensure!(subjects(&stage.folder)? == "x\nbeam.txt\n");
            window.wait_typed("Commit message", "Light a lamp\n\nIt is new.").await
        })
        .await
}
