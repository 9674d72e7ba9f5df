//! Links in the agent's text: they open only on a click, only to the web, to mail and to files of the folder, and the page
//! stays.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use deskbell_tests::window::{Desktop, Launch, Manners, SHORT, eventually};
use serde_json::json;

use crate::stage::{PROJECT, Stage};

pub async fn a_link_opens_outside_and_only_what_may() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    // The link opener of this desktop only records the links.
    let programs = desktop.scratch().join("programs");
    let opened = desktop.scratch().join("opened");
    fs::create_dir(&programs)?;
    let opener = programs.join("xdg-open");
    fs::write(&opener, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", opened.display()))?;
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755))?;
    let path = std::env::var("PATH").context("a PATH")?;
    let launch = Launch::demo(&folder).env("PATH", format!("{}:{path}", programs.display()));
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play("links", async |stage| {
            let window = &stage.window;
            window
                .prompt(
                    "SAY [docs](https://example.com/a?b) [github.com](http://github.com@evil.example/c) \
                     [Ann](mailto:ann@example.org) [file](file:///etc/passwd) [script](javascript:alert(1)) \
                     [path](src/lib.rs) end.",
                )
                .await?;
            window.wait_said("end.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // A link whose text names another host shows its destination; a link that must not be opened is plain
            // text.
            let names = window.names("link").await?;
            ensure!(names == ["docs", "github.com(evil.example)", "Ann"], "{names:?}");
            let address = window.run("return location.href;", Vec::new()).await?;
            for (name, url) in [
                ("docs", "https://example.com/a?b"),
                ("github.com(evil.example)", "http://github.com@evil.example/c"),
                ("Ann", "mailto:ann@example.org"),
            ] {
                let title = window.attribute("link", name, "title").await?.unwrap_or_default();
                ensure!(title.ends_with(&format!(" — {url}")), "{title}");
                window.point_at("link", name).await?;
                eventually(&format!("{url} is opened"), SHORT, async || {
                    let opened = fs::read_to_string(&opened).unwrap_or_default();
                    Ok((opened.lines().last() == Some(url)).then_some(()))
                })
                .await?;
            }

            // Every other navigation is refused, by page or script.
            for (command, arguments) in [
                ("open_link", json!({ "url": "file:///etc/passwd" })),
                ("open_link", json!({ "url": "javascript:alert(1)" })),
                ("reveal_path", json!({ "path": "/etc/passwd" })),
                ("reveal_path", json!({ "path": "../.." })),
                ("open_in_editor", json!({ "path": "/etc/passwd", "line": 1 })),
                ("open_in_editor", json!({ "path": "../..", "line": null })),
            ] {
                let answer = window.invoke(command, arguments.clone()).await?;
                ensure!(answer.is_err_and(|error| error["code"] == "badCommand"), "{command} {arguments}");
            }
            // The editor of the settings gets the path as one argument, whatever the name is.
            let name = "-a $(touch x)\nb";
            fs::write(stage.folder.join(name), "")?;
            let editor = json!({ "program": programs.join("xdg-open"), "args": ["+{line}", "{file}"] });
            stage.set_program("editor", editor).await?;
            let answer = window.invoke("open_in_editor", json!({ "path": name, "line": 7 })).await?;
            ensure!(answer.is_ok(), "{answer:?}");
            let expected = format!("+7\n{}\n", stage.folder.canonicalize()?.join(name).display());
            eventually("the file is in the editor", SHORT, async || {
                Ok(fs::read_to_string(&opened)?.ends_with(&expected).then_some(()))
            })
            .await?;
            ensure!(!stage.folder.join("x").exists(), "a shell read the name");
            fs::write(&opened, fs::read_to_string(&opened)?.replace(&expected, ""))?;

            let script = "location.href = 'https://example.com/'; return window.open('https://example.com/') === null;";
            ensure!(window.run(script, Vec::new()).await? == true, "a new window was opened");
            window.drawn().await?;
            ensure!(window.run("return location.href;", Vec::new()).await? == address, "the page went away");
            ensure!(stage.app.count().await? == 1, "there is another window");
            ensure!(fs::read_to_string(&opened)?.lines().count() == 3, "{}", fs::read_to_string(&opened)?);
            Ok(())
        })
        .await
}

pub async fn a_path_in_an_answer_opens_the_file_at_its_line() -> Result<()> {
    let furnish = |folder: &Path| {
        fs::create_dir(folder.join("src"))?;
        let lines: String = (1..=300).map(|nr| format!("let amount = {nr};\n")).collect();
        fs::write(folder.join("src/money.rs"), lines)?;
        fs::write(folder.join("src/a b.md"), "# Notes\n")?;
        let beside = folder.parent().context("a folder around it")?;
        fs::write(beside.join("secret.rs"), "secret")?;
        symlink(beside.join("secret.rs"), folder.join("linked.rs"))?;
        Ok(())
    };
    let stage = Stage::with_folder(Manners::Polite, furnish, |launch| launch).await?;
    stage
        .play("file links", async |stage| {
            let window = &stage.window;
            window
                .prompt(
                    "SAY `src/money.rs:200` [notes](src/a%20b.md) [out](../secret.rs) `linked.rs` `/etc/passwd` \
                     `src/gone.rs:3` [share](//192.0.2.1/a.rs) end.",
                )
                .await?;
            window.wait_said("end.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.find("link", "src/money.rs:200").await?;
            let names = window.names("link").await?;
            ensure!(names == ["src/money.rs:200", "notes"], "{names:?}");

            window.point_at("link", "src/money.rs:200").await?;
            window.find("dialog", "src/money.rs").await?;
            window.wait_text("group", "Lines of money.rs", "200 let amount = 200;", SHORT).await?;
            let in_view = "const line = document.querySelector('[aria-current=location]');
                const pane = line.closest('[role=group]').getBoundingClientRect();
                const { top, bottom } = line.getBoundingClientRect();
                return line.innerText.includes('= 200;') && top >= pane.top && bottom <= pane.bottom;";
            eventually("the line is in view", SHORT, async || {
                Ok((window.run(in_view, Vec::new()).await? == true).then_some(()))
            })
            .await?;
            window.key("ctrl+f").await?;
            window.wait_focus("textbox “Find in this file”").await?;
            window.type_at("= 299", Duration::ZERO).await?;
            window.wait_text("dialog", "src/money.rs", "1 of 1 line", SHORT).await?;
            window.key("Escape").await?;
            window.gone("dialog", "src/money.rs").await?;

            // By keyboard, as every link.
            window.run("document.querySelector('[role=log]').focus();", Vec::new()).await?;
            window.tab_to("link “notes”").await?;
            window.key("Return").await?;
            window.wait_text("group", "Lines of a b.md", "# Notes", SHORT).await?;
            window.key("Escape").await?;
            window.gone("dialog", "src/a b.md").await?;
            window.wait_focus("link “notes”").await?;
            let editor = stage.desktop.scratch().join("editor");
            let opened = stage.desktop.scratch().join("edited");
            fs::write(&editor, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", opened.display()))?;
            fs::set_permissions(&editor, fs::Permissions::from_mode(0o755))?;
            stage.set_program("editor", json!({ "program": editor, "args": ["+{line}"] })).await?;
            window.key("ctrl+Return").await?;
            let file = stage.folder.canonicalize()?.join("src/a b.md");
            eventually("the file is in the editor", SHORT, async || {
                let opened = fs::read_to_string(&opened).unwrap_or_default();
                Ok((opened == format!("+1\n{}\n", file.display())).then_some(()))
            })
            .await?;

            let session = stage.session_ids()?.pop().context("a session")?;
            let ask = |query| window.invoke("ask", json!({ "sessionId": session, "query": query }));
            for path in ["../secret.rs", "linked.rs", "/etc/passwd", "//192.0.2.1/a.rs", "src", "src/gone.rs"] {
                let text = json!({ "type": "fileText", "path": path, "line": 1 });
                let error = ask(text).await?.err().with_context(|| path.to_owned())?;
                ensure!(error["code"] == "refused", "{path}: {error}");
                let named = json!({ "type": "namedFiles", "paths": [path] });
                ensure!(ask(named).await? == Ok(json!([null])), "{path}");
            }
            Ok(())
        })
        .await
}
