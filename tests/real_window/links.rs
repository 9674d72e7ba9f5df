//! Links in the agent's text: they open only on a click, only to the web and to mail, and the page stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;

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
            let set = window.invoke("set_setting", json!({ "key": "editor", "value": editor })).await?;
            ensure!(set.is_ok(), "{set:?}");
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
