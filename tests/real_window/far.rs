//! A project on another machine: opened from the start page, decided about, prompted and stopped, and found again after
//! the connection was lost or the app was killed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{
    App, Desktop, LONG, Launch, Manners, Notification, Notifications, Pointer, SHORT, Window, app_program,
    eventually,
};
use serde_json::json;

use crate::projects::start_again;
use crate::trust::trust;
use crate::worktrees::{git, pick};

const HOOK: &str = "touch ran-at-session-start";
const TITLE: &str = "windmill (box)";

/// This machine as another one: a home of its own, and a program in the place of ssh that leads to it.
struct Far {
    desktop: Desktop,
    home: PathBuf,
    bin: PathBuf,
    app: App,
    launch: Launch,
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("a folder")?)?;
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

/// A conversation that a terminal on that machine began with this prompt.
fn store(home: &Path, project: &Path, prompt: &str) -> Result<()> {
    const ID: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789aa";
    let line = json!({
        "type": "user", "uuid": "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ac", "parentUuid": null, "sessionId": ID,
        "isSidechain": false, "cwd": project, "timestamp": "2026-01-02T03:04:05.000Z",
        "message": { "role": "user", "content": prompt },
    });
    let name = project.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    put(&home.join(".claude/projects").join(name).join(format!("{ID}.jsonl")), &format!("{line}\n"))
}

const PASSWORD: &str = "correct-horse-9f31c";

/// What ssh asks of a user who has no key: whether it is the right machine, and then a password.
const ASKS: &str = r#"refuse() { echo "$1" >&2; exit 255; }
case "$*" in *BatchMode=yes*) refuse 'Host key verification failed.' ;; esac
answer=$("$SSH_ASKPASS" "The authenticity of host 'box (192.0.2.1)' can't be established.
ED25519 key fingerprint is SHA256:7xYbqJvG3ZQ0m1YQ0cH5d0sQyLx8bq2N1oU9cV4tR6E.
This key is not known by any other names.
Are you sure you want to continue connecting (yes/no/[fingerprint])? ") || exit 255
test "$answer" = yes || refuse 'Host key verification failed.'
answer=$("$SSH_ASKPASS" "me@box's password: ") || exit 255
test "$answer" = correct-horse-9f31c || refuse 'me@box: Permission denied (password).'
unset answer"#;

/// Runs its last argument there, with the login shell of a user who is greeted. While the file `down` exists there is no
/// way to the machine, and while `asks` exists it asks: until the first right answer, if that file has the word `once`.
fn ssh(bin: &Path, home: &Path) -> String {
    format!(
        "#!/bin/sh\nfor command; do :; done\nprintf '%s\\n' \"$@\" \"askpass=$SSH_ASKPASS_REQUIRE\" >> '{bin}/arguments'\n\
         if test -e '{bin}/down'; then echo 'ssh: connect to host box port 22: Connection refused' >&2; exit 255; fi\n\
         if test -e '{bin}/asks'; then\n{ASKS}\nif grep -q once '{bin}/asks'; then rm '{bin}/asks'; fi\nfi\n\
         cd '{home}' || exit 1\nexport command\n\
         exec env -i PATH=/usr/bin:/bin HOME='{home}' ${{TEST_SHELL:+SHELL=\"$TEST_SHELL\"}} DESKBELL_DEMO_SPEED=0 TEST_APP_RUN=\"$TEST_APP_RUN\" \
         command=\"$command\" /bin/sh -c 'echo Welcome; exec /bin/sh -c \"$command\"'\n",
        bin = bin.display(),
        home = home.display(),
    )
}

impl Far {
    async fn new() -> Result<Self> {
        let desktop = Desktop::start().await?;
        let (home, bin) = (desktop.scratch().join("far-home"), desktop.scratch().join("near-bin"));
        let hook = format!(
            r#"{{ "hooks": {{ "SessionStart": [{{ "hooks": [{{ "type": "command", "command": "{HOOK}" }}] }}] }} }}"#
        );
        put(&home.join("code/windmill/.claude/settings.json"), &hook)?;
        put(&home.join("code/windmill/src/tide-there.rs"), "fn tide() {}\n")?;
        let git = std::process::Command::new("git")
            .args(["init", "-q"])
            .arg(home.join("code/windmill"))
            .status()?;
        ensure!(git.success(), "no repository was made");
        // The agent there is found in its home, and is not that of this machine.
        let agent =
            format!("#!/bin/sh\nexec '{}' demo-agent \"$@\"\n", app_program().canonicalize()?.display());
        put(&home.join(".local/bin/claude"), &agent)?;
        put(&bin.join("ssh"), &ssh(&bin, &home))?;
        put(&desktop.home().join(".ssh/config"), "Host box\n  HostName 192.0.2.1\nHost *.example\n")?;
        let path = desktop.env().get(std::ffi::OsStr::new("PATH")).cloned().unwrap_or_default();
        let path = format!("{}:{}", bin.display(), path.to_string_lossy());
        let launch = Launch::folder(Path::new("--open")).env("PATH", path);
        let app = App::start(&desktop, &launch).await?;
        Ok(Self { desktop, home, bin, app, launch })
    }

    async fn play(mut self, name: &str, test: impl AsyncFnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Err(error) = test(&mut self).await else { return Ok(()) };
        let picture = self.desktop.screenshot(&format!("failed-{name}")).await?;
        Err(error.context(format!("picture: {}; the app wrote:\n{}", picture.display(), self.app.log())))
    }

    /// Opens the project from the start page: the host is chosen, the folder is found by looking around there.
    async fn open(&self) -> Result<Window> {
        let page = self.app.window("Open a project").await?;
        page.click("button", "Open on another machine…").await?;
        page.click("button", "box").await?;
        page.click("button", "Browse").await?;
        page.click("button", "code").await?;
        page.click("button", "windmill").await?;
        page.drawn().await?;
        page.screenshot("far-folder").await?;
        eventually("the folder is chosen", SHORT, async || {
            Ok(page.value("Folder on that machine").await?.ends_with("code/windmill").then_some(()))
        })
        .await?;
        page.point_at("button", "Open").await?;
        self.app.window(TITLE).await
    }

    /// The project, opened without its settings.
    async fn open_restricted(&self) -> Result<Window> {
        let window = self.open().await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        window.click("button", "Open restricted").await?;
        window.gone("button", "Open restricted").await?;
        Ok(window)
    }

    /// Stops the only agent there, by the command palette of its window.
    async fn stop_agent(&self, window: &Window) -> Result<()> {
        window.key("ctrl+k").await?;
        Pointer::on(&self.desktop).type_text("Stop the agent").await?;
        window.key("Return").await?;
        eventually("the agent there is stopped", LONG, async || {
            let all = self.desktop.app_processes();
            Ok((!all.iter().any(|process| process.command_line.contains("demo-agent -p"))).then_some(()))
        })
        .await
    }

    /// Ends the connection to the server there, as a lost network does.
    fn cut(&self) -> Result<()> {
        let all = self.desktop.app_processes();
        let attached = all.iter().find(|process| process.command_line.contains("relay --attach"));
        Ok(attached.context("the window is connected")?.kill()?)
    }

    /// The number of connections by ssh that were tried.
    fn n_attempts(&self) -> Result<usize> {
        let arguments = fs::read_to_string(self.bin.join("arguments"))?;
        Ok(arguments.lines().filter(|line| *line == "-T").count())
    }

    /// Closes the app by its last window. The server there goes on.
    async fn close(&self, window: &Window) -> Result<()> {
        self.app.close(window.frame()).await?;
        eventually("the app is gone", LONG, async || {
            let all = self.app.processes(&self.desktop);
            Ok((!all.iter().any(|process| process.command_line.contains("WebKit"))).then_some(()))
        })
        .await
    }

    /// Ends the server there, and waits until nothing is left.
    async fn end(&self, window: &Window) -> Result<()> {
        self.close(window).await?;
        let all = self.desktop.app_processes();
        let server = all.iter().find(|process| process.command_line.contains("--serve"));
        server.context("the sessions there go on")?.terminate()?;
        self.app.ended(&self.desktop, LONG).await
    }
}

/// On the page of changes there, with the keyboard only: a line gets a comment, a patch is copied, and a new file is reverted and comes back.
async fn changes_by_keyboard(far: &Far, window: &Window) -> Result<()> {
    const FILE: &str = "tide-there.rs";
    let keys = Pointer::on(&far.desktop);
    let file = far.home.join("code/windmill/src").join(FILE);
    window.tab_to("Lines of src/tide-there.rs").await?;
    keys.key("End").await?;
    keys.key("Return").await?;
    keys.type_text("Which tide?").await?;
    keys.key("Return").await?;
    window.wait_shows("1 comment · kept until sent", SHORT).await?;
    window.wait_focus("Lines of src/tide-there.rs").await?;
    window.tab_to("Copy patch").await?;
    keys.key("Return").await?;
    window.wait_shows("Copied a patch of", LONG).await?;
    window.wait_focus("Copy patch").await?;

    window.tab_to(&format!("Revert {FILE}…")).await?;
    keys.key("Return").await?;
    window.find("dialog", &format!("Revert {FILE}?")).await?;
    ensure!(file.exists(), "it was deleted before the answer");
    far.desktop.screenshot("far-changes-revert").await?;
    window.tab_to("Revert file").await?;
    keys.key("Return").await?;
    eventually("the file is deleted there", LONG, async || Ok((!file.exists()).then_some(()))).await?;
    // The page has drawn the list again, and has placed the focus.
    window.wait_shows("Reverted src/tide-there.rs.", LONG).await?;
    window.drawn().await?;
    window.tab_to("Undo revert").await?;
    keys.key("Return").await?;
    eventually("the file is back", LONG, async || Ok(file.exists().then_some(()))).await?;
    ensure!(fs::read_to_string(&file)? == "fn tide() {}\n");
    window.gone("button", "Undo revert").await?;
    keys.key("Escape").await?;
    window.gone("dialog", "Changes").await?;
    window.wait_focus("textbox “Prompt”").await
}

pub async fn a_project_there_is_opened_trusted_prompted_and_stopped() -> Result<()> {
    let far = Far::new().await?;
    let project_there = far.home.join("code/windmill").canonicalize()?;
    store(&far.home, &project_there, "a foghorn in the mist")?;
    far.play("far", async |far| {
        let window = far.open().await?;
        // The folder is judged there, and nothing starts before the answer.
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        window.wait_shows(HOOK, SHORT).await?;
        let created = window.invoke("create_session", json!({ "agent": "claude" })).await?;
        ensure!(created.err().context("a session was begun")?["code"] == "notTrusted");
        trust(&window).await?;
        window.prompt("SAY Far away.").await?;
        window.wait_said("Far away.", LONG).await?;
        window.wait_idle(SHORT).await?;
        window.screenshot("far-session").await?;

        // A request is answered in its card.
        window.prompt("TOOL Bash {\"command\": \"touch a.txt\"}\nSAY Allowed.").await?;
        window.wait_shows("touch a.txt", LONG).await?;
        eventually("the button is armed", LONG, async || {
            let armed = window.attribute("button", "Allow once", "aria-disabled").await?;
            Ok((armed.as_deref() == Some("false")).then_some(()))
        })
        .await?;
        window.click("button", "Allow once").await?;
        window.wait_said("Allowed.", LONG).await?;

        // The names after @ are those of the files there.
        window.type_into("Prompt", "look at @tide").await?;
        window.wait_shows("tide-there.rs", LONG).await?;
        window.screenshot("far-files").await?;
        let found = window.invoke("find_files", json!({ "query": "tide" })).await?;
        let found = found.map_err(|error| anyhow::anyhow!("{error}"))?;
        ensure!(
            found["files"] == json!([{ "path": "src/tide-there.rs", "matched": [4, 5, 6, 7] }]),
            "{found}"
        );
        window.key("Escape").await?;
        window.key("ctrl+a").await?;
        window.key("BackSpace").await?;

        // The changes page has those of the folder there.
        window.key("ctrl+shift+j").await?;
        window.wait_shows("These files are on box, and are read, compared and reverted there.", LONG).await?;
        window.wait_shows("tide-there.rs", LONG).await?;
        window.screenshot("far-changes").await?;
        changes_by_keyboard(far, &window).await?;

        // The search and the history are those of the agent there: what a terminal began there is listed.
        window.wait_text("navigation", "Sessions", "a foghorn in the mist", LONG).await?;
        window.key("ctrl+shift+f").await?;
        window.find("combobox", "Search in sessions").await?;
        Pointer::on(&far.desktop).type_text("foghorn").await?;
        eventually("a result", LONG, async || {
            let names = window.names("option").await?;
            Ok(names.iter().any(|name| name.contains("a foghorn in the mist")).then_some(()))
        })
        .await?;
        window.drawn().await?;
        window.screenshot("far-search").await?;
        window.key("Escape").await?;
        let unknown = json!({ "agentSessionId": "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab" });
        let refused = window.invoke("open_stored", unknown).await?.err().context("no such conversation")?;
        ensure!(refused["code"] == "noSuchSession", "{refused}");

        // An editor of this machine connects there itself.
        put(
            &far.bin.join("code"),
            &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", far.bin.join("edited").display()),
        )?;
        let edit = json!({ "path": "src/tide-there.rs", "line": 7 });
        window.invoke("open_in_editor", edit).await?.map_err(|error| anyhow::anyhow!("{error}"))?;
        let edited = fs::read_to_string(far.bin.join("edited"))?;
        let file = format!("{}/src/tide-there.rs:7", project_there.display());
        ensure!(edited == format!("--remote\nssh-remote+box\n--goto\n{file}\n"), "{edited}");
        let outside = json!({ "path": "../../.bashrc", "line": null });
        ensure!(window.invoke("open_in_editor", outside).await?.is_err(), "outside of the project");

        // Files of this machine are never read for it, although the folder exists here under the same name.
        ensure!(project_there.is_dir());
        for (command, arguments) in
            [("reveal_path", json!({ "path": ".claude/settings.json" })), ("usage", json!({ "all": false }))]
        {
            let answered = window.invoke(command, arguments).await?;
            let refused = answered.err().with_context(|| format!("{command} was answered"))?;
            ensure!(refused["code"] == "refused", "{command}: {refused}");
        }
        let arguments = fs::read_to_string(far.bin.join("arguments"))?;
        let count = |line: &str| arguments.lines().filter(|found| found.starts_with(line)).count();
        // `-G` only prints the configuration.
        let n_safe = count("-oBatchMode=yes") + count("askpass=force") + count("-G");
        ensure!(n_safe > 0 && n_safe == count("askpass="), "ssh may ask on a terminal: {arguments}");

        // Stopping reaches the agent there.
        window.prompt("SAY Going on.\nWAIT").await?;
        window.wait_said("Going on.", LONG).await?;
        window.click("button", "Stop").await?;
        window.wait_idle(LONG).await?;
        far.end(&window).await
    })
    .await
}

/// Gemini CLI on that machine, with the demo agent in its place, and a profile of it whose variable is a secret.
fn offer_agents(far: &Far) -> Result<()> {
    let agent = format!(
        "#!/bin/sh\nif test \"$1\" = --version; then echo 0.61.0; exit; fi\n\
         echo \"$LAB_KEY\" >> '{bin}/keys'\nexec '{}' demo-agent \"$@\"\n",
        app_program().canonicalize()?.display(),
        bin = far.bin.display(),
    );
    put(&far.home.join(".local/bin/gemini"), &agent)?;
    let profile = json!({
        "name": "Lab", "agent": "gemini", "environment": [{ "name": "LAB_KEY", "value": SECRET_THERE }],
    });
    let settings = json!({ "agent": { "profiles": [profile] } });
    put(&far.home.join(".config/deskbell/settings.json"), &settings.to_string())
}

const SECRET_THERE: &str = "a-secret-of-that-machine";

/// The agents and profiles of that machine begin sessions there, each after a decision of its own about the folder.
pub async fn another_agent_and_a_profile_of_that_machine_begin_sessions_there() -> Result<()> {
    let far = Far::new().await?;
    offer_agents(&far)?;
    far.play("far-agents", async |far| {
        let window = far.open_restricted().await?;
        let listed =
            window.invoke("machine_agents", json!({})).await?.map_err(|error| anyhow::anyhow!("{error}"))?;
        ensure!(!listed.to_string().contains(SECRET_THERE), "a value left its machine: {listed}");

        window.key("ctrl+shift+n").await?;
        window.wait_shows("You cannot change the agent later.", LONG).await?;
        window.find("list", "Agents on box").await?;
        window.wait_shows("sets LAB_KEY", SHORT).await?;
        window.drawn().await?;
        window.screenshot("far-agents").await?;
        window.click("button", "Gemini CLI").await?;
        window.wait_shows("Do you trust windmill (box) with Gemini CLI?", LONG).await?;
        ensure!(!far.bin.join("keys").exists(), "it started before the decision");
        window.drawn().await?;
        window.screenshot("far-agent-trust").await?;
        window.click("button", "Open restricted").await?;
        window.prompt("SAY Far and other.").await?;
        window.wait_said("Far and other.", LONG).await?;
        window.wait_idle(SHORT).await?;
        let of_agent = |all: Vec<deskbell_tests::window::Process>| {
            all.into_iter().filter(|process| process.command_line.contains("demo-agent --")).count()
        };
        ensure!(of_agent(far.desktop.app_processes()) == 1, "one agent runs there");

        // The same prompt to another agent there, whose session is shown beside this one.
        window.right_click_at("region", "Your prompt").await?;
        window.click("menuitem", "Ask another agent…").await?;
        window.wait_shows("It gets the same prompt in a new session", LONG).await?;
        window.click("button", "Demo agent (ACP)").await?;
        window.find("textbox", "Prompt of the second session").await?;
        eventually("both sessions have the answer", LONG, async || {
            let articles = window.names("article").await?;
            Ok((articles.iter().filter(|name| *name == "Answer").count() == 2).then_some(()))
        })
        .await?;
        window.screenshot("far-beside").await?;
        window.key("shift+F8").await?;
        window.gone("textbox", "Prompt of the second session").await?;

        // The decision counts for the profile too: it is about the same agent and folder.
        window.key("ctrl+shift+n").await?;
        window.wait_shows("You cannot change the agent later.", LONG).await?;
        window.click("button", "Lab").await?;
        window.gone("dialog", "New session with…").await?;
        window.prompt("SAY With the profile.").await?;
        window.wait_said("With the profile.", LONG).await?;
        window.wait_idle(SHORT).await?;
        window.screenshot("far-profile").await?;
        let keys = fs::read_to_string(far.bin.join("keys"))?;
        ensure!(keys.lines().any(|key| key == SECRET_THERE), "the profile counts there: {keys:?}");

        // The decision is changed from the session, and is kept there.
        window.click("button", "Restricted: folder trust").await?;
        window.wait_shows("windmill (box) is restricted for Gemini CLI", LONG).await?;
        window.click("button", "Trust this folder").await?;
        window.gone("button", "Restricted: folder trust").await?;
        window.prompt("SAY Trusted there.").await?;
        window.wait_said("Trusted there.", LONG).await?;
        window.wait_idle(SHORT).await?;

        // A name that the machine does not have is refused by it, and nothing begins.
        let refused = window.invoke("create_session_with_profile", json!({ "profile": "Nowhere" })).await?;
        let refused = refused.err().context("a profile that is not there was used")?;
        ensure!(refused.to_string().contains("no profile"), "{refused}");
        far.end(&window).await
    })
    .await
}

/// Claude Code there, which writes down how a terminal starts it, and a terminal here that only runs its command.
fn offer_terminal(far: &Far) -> Result<PathBuf> {
    let (terminal, said) = (far.bin.join("terminal"), far.bin.join("said"));
    let agent = format!(
        "#!/bin/sh\ncase \"$1\" in --resume=*|auth) pwd > '{said}.part'; printf '%s\\n' \"$@\" >> '{said}.part'\n\
         mv '{said}.part' '{said}'; exit ;; esac\nexec '{program}' demo-agent \"$@\"\n",
        said = said.display(),
        program = app_program().canonicalize()?.display(),
    );
    put(&far.home.join(".local/bin/claude"), &agent)?;
    // Only a login shell finds it.
    put(&far.home.join(".profile"), "PATH=\"$HOME/.local/bin:$PATH\"\n")?;
    put(&terminal, "#!/bin/sh\nexport TEST_SHELL=/bin/bash\nexec \"$@\"\n")?;
    let settings = json!({ "terminal": { "program": terminal, "args": [] } });
    put(&far.desktop.home().join(".config/deskbell/settings.json"), &settings.to_string())?;
    Ok(said)
}

/// A terminal of this computer runs the login and the conversation there, in the folder, as the user would.
pub async fn a_terminal_logs_in_and_continues_the_conversation_there() -> Result<()> {
    let far = Far::new().await?;
    let project_there = far.home.join("code/windmill").canonicalize()?;
    let said = offer_terminal(&far)?;
    far.play("far-terminal", async |far| {
        let window = far.open().await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        trust(&window).await?;
        window.prompt("SAY Far away.").await?;
        window.wait_said("Far away.", LONG).await?;
        window.wait_idle(SHORT).await?;
        let arguments = async || {
            let written = eventually("the agent there was started by a terminal", LONG, async || {
                Ok(said.exists().then(|| fs::read_to_string(&said)).transpose()?)
            });
            let written = written.await?;
            fs::remove_file(&said)?;
            let lines: Vec<String> = written.lines().map(str::to_owned).collect();
            anyhow::Ok((PathBuf::from(&lines[0]), lines[1..].to_vec()))
        };
        window.type_into("Prompt", "/login").await?;
        window.key("Return").await?;
        window.wait_shows("the login runs on box.", SHORT).await?;
        window.drawn().await?;
        far.desktop.screenshot("far-login").await?;
        window.click("button", "Open terminal").await?;
        // No settings of the project count for a login.
        let (folder, logged_in) = arguments().await?;
        ensure!(
            folder == far.home.canonicalize()? && logged_in == ["auth", "login"],
            "{folder:?}: {logged_in:?}"
        );
        window.click("button", "Cancel").await?;

        // Two programs in one conversation lose each other's messages, so the agent is stopped first.
        far.stop_agent(&window).await?;
        window.key("ctrl+k").await?;
        Pointer::on(&far.desktop).type_text("Open this session in a terminal").await?;
        window.key("Return").await?;
        let (folder, resumed) = arguments().await?;
        ensure!(folder == project_there, "in another folder: {folder:?}");
        let id = resumed.first().and_then(|one| one.strip_prefix("--resume=")).context("it continues one")?;
        ensure!(resumed.len() == 1 && id.len() == 36, "{resumed:?}");
        far.end(&window).await
    })
    .await
}

/// A worktree there is made and opened, kept while a session runs in it, and removed; its branch stays.
pub async fn a_worktree_there_is_made_opened_kept_and_removed() -> Result<()> {
    let far = Far::new().await?;
    let folder = far.home.join("code/windmill").canonicalize()?;
    git(&folder, &["checkout", "--quiet", "-B", "main"])?;
    git(&folder, &["add", "--all"])?;
    git(&folder, &["commit", "--quiet", "--message=x"])?;
    far.play("far-worktrees", async |far| {
        let root = folder.with_file_name("windmill-fix-beam");
        let window = far.open_restricted().await?;
        pick(&window, "In a worktree…").await?;
        window.wait_shows("A new branch from main", LONG).await?;
        window.click("textbox", "Branch").await?;
        window.key("ctrl+a").await?;
        Pointer::on(&far.desktop).type_text("main").await?;
        window.wait_shows("the branch main is checked out in", LONG).await?;
        window.key("ctrl+a").await?;
        Pointer::on(&far.desktop).type_text("fix/beam").await?;
        window.wait_shows(&root.to_string_lossy(), LONG).await?;
        far.desktop.screenshot("far-new-worktree").await?;
        window.key("Return").await?;

        // It is a project of that machine, with a trust decision of its own.
        let other = far.app.window("windmill-fix-beam (box)").await?;
        other.wait_shows("Do you trust windmill-fix-beam (box)?", LONG).await?;
        ensure!(git(&root, &["branch", "--show-current"])?.trim() == "fix/beam");
        other.click("button", "Open restricted").await?;
        other.prompt("CWD").await?;
        other.wait_said(&root.to_string_lossy(), LONG).await?;
        other.wait_idle(SHORT).await?;

        pick(&window, "Worktrees…").await?;
        window.wait_shows("1 session runs", LONG).await?;
        far.desktop.screenshot("far-worktrees").await?;
        window.click("button", "Remove…").await?;
        window
            .wait_text("dialog", "This worktree cannot be removed now", "a session runs in it", LONG)
            .await?;
        window.key("Escape").await?;
        far.stop_agent(&other).await?;
        far.app.close(other.frame()).await?;
        eventually("its window is closed", LONG, async || {
            let windows = Pointer::on(&far.desktop).windows("windmill-fix-beam").await?;
            Ok(windows.is_empty().then_some(()))
        })
        .await?;
        // The list is read again with the focus, and its buttons move then.
        window.wait_without("dialog", "Worktrees", "window open").await?;
        window.wait_without("dialog", "Worktrees", "1 session runs").await?;
        window.click("button", "Remove…").await?;
        window.wait_shows("The branch fix/beam stays with all its commits", LONG).await?;
        window.click("button", "Remove worktree").await?;
        window.wait_shows("The branch fix/beam is still there.", LONG).await?;
        ensure!(!root.exists(), "its folder is gone");
        ensure!(git(&folder, &["log", "--format=%s", "fix/beam"])?.starts_with("x\n"));
        window.key("Escape").await?;
        far.end(&window).await
    })
    .await
}

/// ssh asks in the window, whether it is the start page or a project's.
pub async fn what_ssh_asks_is_answered_in_the_window() -> Result<()> {
    let far = Far::new().await?;
    far.play("far-asks", async |far| {
        let asks = far.bin.join("asks");
        fs::write(&asks, "")?;
        let page = far.app.window("Open a project").await?;
        page.click("button", "Open on another machine…").await?;
        page.click("button", "box").await?;

        // No is the default, and says why there is no connection.
        page.click("button", "Browse").await?;
        page.wait_shows("Is this really box?", LONG).await?;
        page.wait_shows("SHA256:7xYbqJvG3ZQ0m1YQ0cH5d0sQyLx8bq2N1oU9cV4tR6E", SHORT).await?;
        page.drawn().await?;
        page.screenshot("far-host-key").await?;
        page.click("button", "No").await?;
        page.wait_shows("Host key verification failed.", LONG).await?;

        page.click("button", "Browse").await?;
        page.click("button", "Yes, this is box").await?;
        page.wait_shows("me@box's password:", LONG).await?;
        page.type_into("Answer", PASSWORD).await?;
        page.drawn().await?;
        page.screenshot("far-password").await?;
        page.click("button", "Answer").await?;
        page.click("button", "code").await?;
        page.wait_shows("Is this really box?", LONG).await?;
        fs::remove_file(&asks)?;
        page.click("button", "No").await?;
        page.wait_shows("Host key verification failed.", LONG).await?;

        page.click("button", "code").await?;
        page.click("button", "windmill").await?;
        eventually("the folder is chosen", SHORT, async || {
            Ok(page.value("Folder on that machine").await?.ends_with("code/windmill").then_some(()))
        })
        .await?;
        page.point_at("button", "Open").await?;
        let window = far.app.window(TITLE).await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;

        // In the window of the project. Its next connection is the shared one, which asks nothing.
        fs::write(&asks, "once")?;
        window.invoke("retry_far", json!({})).await?.map_err(|error| anyhow::anyhow!("{error}"))?;
        window.wait_shows("Is this really box?", LONG).await?;
        window.drawn().await?;
        window.screenshot("far-host-key-in-project").await?;
        window.click("button", "Yes, this is box").await?;
        window.type_into("Answer", PASSWORD).await?;
        window.key("Return").await?;
        window.gone("textbox", "Answer").await?;
        window.click("button", "Open restricted").await?;
        window.prompt("SAY Far away.").await?;
        window.wait_said("Far away.", LONG).await?;

        ensure!(!far.app.log().contains(PASSWORD), "the password is in the log");
        let kept = files_with(far.desktop.scratch(), PASSWORD)?;
        ensure!(kept == [far.bin.join("ssh")], "the password is in {kept:?}");
        far.end(&window).await
    })
    .await
}

/// The files in a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = fs::read(entry.path())?;
                let has = bytes.windows(text.len()).any(|part| part == text.as_bytes());
                found.extend(has.then(|| entry.path()));
            }
        }
    }
    Ok(found)
}

pub async fn a_turn_there_survives_the_connection() -> Result<()> {
    let far = Far::new().await?;
    far.play("far-again", async |far| {
        let window = far.open().await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        window.click("button", "Open restricted").await?;
        window.prompt("SLOW 100 150 wave").await?;
        window.wait_said("wave5 ", LONG).await?;
        fs::write(far.bin.join("down"), "")?;
        far.cut()?;
        window.wait_shows("Reconnecting", LONG).await?;
        fs::remove_file(far.bin.join("down"))?;
        window.wait_said("wave149", LONG).await.context("nothing was lost")?;
        window.wait_idle(LONG).await?;
        far.end(&window).await
    })
    .await
}

/// The app is killed while an agent works there, and finds its session again. The machine is away at first.
pub async fn a_turn_there_survives_the_app() -> Result<()> {
    let far = Far::new().await?;
    far.play("far-restart", async |far| {
        let window = far.open().await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        window.click("button", "Open restricted").await?;
        window.prompt("SLOW 100 150 wave").await?;
        window.wait_said("wave5 ", LONG).await?;

        far.app.process(&far.desktop)?.kill()?;
        eventually("the app has ended", LONG, async || {
            let all = far.app.processes(&far.desktop);
            let is_left = |line: &str| line.contains("WebKit") || line.contains("relay --attach");
            Ok((!all.iter().any(|process| is_left(&process.command_line))).then_some(()))
        })
        .await?;
        fs::write(far.bin.join("down"), "")?;
        far.app = App::start(&far.desktop, &far.launch.again()).await?;
        let window = far.app.window(TITLE).await?;
        window.wait_shows("box cannot be reached.", LONG).await?;
        window.wait_shows("Connection refused", SHORT).await?;
        far.desktop.screenshot("far-unreachable").await?;
        fs::remove_file(far.bin.join("down"))?;
        window.click("button", "Connect again").await?;
        window.wait_said("wave149", LONG).await.context("the session is there again")?;
        window.wait_idle(LONG).await?;
        far.end(&window).await
    })
    .await
}

/// A connection that is lost for long is said, but only while something works or waits there.
pub async fn a_lost_connection_rings_only_if_something_waits() -> Result<()> {
    let far = Far::new().await?;
    far.play("far-lost", async |far| {
        let notifications = Notifications::on(&far.desktop, Manners::Polite).await?;
        let is_lost = |seen: &Notification| seen.summary == "The connection to box is lost";
        let is_shown =
            || notifications.all().iter().rev().find(|seen| is_lost(seen)).is_some_and(|seen| seen.open);
        let window = far.open().await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        window.click("button", "Open restricted").await?;
        window.prompt("SAY Nothing to do.").await?;
        window.wait_said("Nothing to do.", LONG).await?;
        window.wait_idle(LONG).await?;
        let pointer = Pointer::on(&far.desktop);

        // With nothing to do: the attempt that this waits for is made after the time in which it would be said.
        pointer.minimise(window.frame()).await?;
        fs::write(far.bin.join("down"), "")?;
        let n_before = far.n_attempts()?;
        far.cut()?;
        eventually(
            "five more attempts",
            LONG,
            async || Ok((far.n_attempts()? >= n_before + 5).then_some(())),
        )
        .await?;
        ensure!(notifications.all().iter().all(|seen| !is_lost(seen)), "{:#?}", notifications.all());
        fs::remove_file(far.bin.join("down"))?;
        pointer.activate(window.frame()).await?;
        window.click("button", "Reconnect now").await?;
        window.prompt("SLOW 100 400 wave").await?;
        window.wait_said("wave5 ", LONG).await?;

        // While it works: said, and withdrawn when the connection is back.
        pointer.minimise(window.frame()).await?;
        fs::write(far.bin.join("down"), "")?;
        far.cut()?;
        let seen = notifications.wait_for(is_lost, LONG).await?;
        ensure!(seen.body.contains("was working or waiting for you there, and may continue"), "{seen:?}");
        fs::remove_file(far.bin.join("down"))?;
        notifications.click(seen.id).await?;
        pointer.wait_active(window.frame()).await?;
        window.click("button", "Reconnect now").await?;
        window.wait_said("wave30 ", LONG).await?;
        eventually("it is withdrawn", SHORT, async || Ok((!is_shown()).then_some(()))).await?;
        window.click("button", "Stop").await?;
        window.wait_idle(LONG).await?;
        far.end(&window).await
    })
    .await
}

/// Starts the app again without the project's window, and opens the board by keyboard. Nothing is connected.
async fn start_with_board(far: &mut Far, window: &Window) -> Result<Window> {
    // The last window would open again with the app.
    start_again(&far.desktop, &far.launch).await?;
    let page = far.app.window("Open a project").await?;
    far.app.close(window.frame()).await?;
    eventually("the window is closed", LONG, async || Ok((far.app.count().await? == 1).then_some(())))
        .await?;
    far.close(&page).await?;
    far.app = App::start(&far.desktop, &far.launch).await?;
    let page = far.app.window("Open a project").await?;
    let n_before = far.n_attempts()?;
    page.tab_to("Board of all projects").await?;
    Pointer::on(&far.desktop).key("Return").await?;
    let board = far.app.window("All projects").await?;
    board.wait_shows("Not connected, last used", LONG).await?;
    ensure!(far.n_attempts()? == n_before, "the board connects to no machine by itself");
    Ok(board)
}

/// A machine that this run of the app is not connected to: the board asks it when the user wants that, through what ssh
/// asks, opens the session that waits there, and stops it.
pub async fn a_machine_that_is_not_connected_is_asked_and_stopped_from_the_board() -> Result<()> {
    let far = Far::new().await?;
    far.play("far-board", async |far| {
        let window = far.open().await?;
        window.wait_shows("Do you trust windmill (box)?", LONG).await?;
        window.click("button", "Open restricted").await?;
        window.prompt("TOOL Bash {\"command\": \"touch asked.txt\"}").await?;
        window.wait_shows("touch asked.txt", LONG).await?;

        // By mouse. Cancelled, it says why nothing is listed.
        let asks = far.bin.join("asks");
        fs::write(&asks, "")?;
        let board = start_with_board(far, &window).await?;
        let pointer = Pointer::on(&far.desktop);
        board.point_at("button", "Other machines").await?;
        board.point_at("button", "List sessions on box").await?;
        board.wait_shows("Is this really box?", LONG).await?;
        board.point_at("button", "No").await?;
        board.wait_shows("Host key verification failed.", LONG).await?;
        board.point_at("button", "List sessions on box").await?;
        board.point_at("button", "Yes, this is box").await?;
        board.type_into("Answer", PASSWORD).await?;
        board.drawn().await?;
        board.screenshot("far-board-password").await?;
        board.key("Return").await?;
        board.wait_shows("1 session runs or waits there", LONG).await?;
        board.wait_text("list", "Sessions on box", "Needs input", SHORT).await?;
        fs::remove_file(&asks)?;
        board.drawn().await?;
        board.screenshot("far-board").await?;
        let attached = |line: &str| line.contains("relay --attach");
        let all = far.desktop.app_processes();
        let is_kept = all.iter().any(|process| attached(&process.command_line));
        ensure!(!is_kept, "a connection was kept: {all:#?}");

        // The session is opened in the window of its project, by keyboard.
        board.tab_to("Needs input").await?;
        pointer.key("Return").await?;
        let window = far.app.window(TITLE).await?;
        window.wait_shows("touch asked.txt", LONG).await?;
        far.app.close(board.frame()).await?;

        // In the next run by keyboard: listed, and stopped after a question that Escape closes.
        let board = start_with_board(far, &window).await?;
        board.tab_to("Other machines").await?;
        pointer.key("Return").await?;
        board.tab_to("List sessions on box").await?;
        pointer.key("Return").await?;
        board.wait_shows("1 session runs or waits there", LONG).await?;
        board.tab_to("Stop all on box…").await?;
        pointer.key("Return").await?;
        board.wait_focus("Cancel").await?;
        board.screenshot("far-board-stop").await?;
        pointer.key("Escape").await?;
        board.wait_focus("List sessions on box").await?;
        let agents = || {
            let all = far.desktop.app_processes();
            all.iter().filter(|process| process.command_line.contains("demo-agent")).count()
        };
        ensure!(agents() == 1, "it was stopped before the answer");
        board.tab_to("Stop all on box…").await?;
        pointer.key("Return").await?;
        board.tab_to("Stop all").await?;
        pointer.key("Return").await?;
        board.wait_shows("nothing runs or waits there, 1 other does not.", LONG).await?;
        board.wait_focus("List sessions on box").await?;
        ensure!(agents() == 0, "an agent still runs there");

        // A machine that no project is on is typed, and stays on the board.
        board.tab_to("Add a machine…").await?;
        pointer.key("Return").await?;
        board.find("button", "box").await?;
        board.screenshot("far-board-another").await?;
        pointer.type_text("spare").await?;
        pointer.key("Return").await?;
        board.wait_focus("List sessions on spare").await?;
        board.wait_text("list", "Machines", "spare Not connected, last used", LONG).await?;
        far.app.close(board.frame()).await?;
        let page = far.app.window("Open a project").await?;
        page.tab_to("Board of all projects").await?;
        pointer.key("Return").await?;
        let board = far.app.window("All projects").await?;
        board.wait_text("list", "Links", "spare Not connected, last used", LONG).await?;
        far.app.close(board.frame()).await?;
        far.end(&far.app.window("Open a project").await?).await
    })
    .await
}
