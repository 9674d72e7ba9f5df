//! What the app has saved after ordinary use: for its user alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use deskbell_tests::window::SHORT;
use serde_json::json;

use crate::stage::Stage;

/// All files and folders in this folder, itself included.
fn all_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at += 1;
        if path.symlink_metadata()?.is_dir() {
            for entry in fs::read_dir(&path)? {
                found.push(entry?.path());
            }
        }
    }
    Ok(found)
}

pub async fn everything_is_for_the_user_alone() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("saved", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Kept.").await?;
            window.wait_said("Kept.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // A setting, a mark, a draft and a recording, next to the session, the project and the window's place.
            let zoomed = window.invoke("set_setting", json!({ "key": "zoom", "value": 110 })).await?;
            ensure!(zoomed.is_ok(), "the setting was refused: {zoomed:?}");
            let (session, _) = crate::isolation::connect(window).await?;
            let marked = window.invoke("mark_session", json!({ "id": session, "mark": "pinned" })).await?;
            ensure!(marked.is_ok(), "the mark was refused: {marked:?}");
            let recorded = window.invoke("record_session", json!({ "sessionId": session })).await?;
            ensure!(recorded.is_ok(), "the recording was refused: {recorded:?}");
            window.reload().await?;
            window.wait_said("Kept.", SHORT).await?;
            window.type_into("Prompt", "A draft").await?;
            stage.restart().await?;
            stage.window.wait_said("Kept.", SHORT).await?;
            stage.end().await?;

            let home = stage.desktop.home();
            let mut n_files = 0;
            for folder in [".config/deskbell", ".local/share/deskbell", ".local/state/deskbell"] {
                let folder = home.join(folder);
                if !folder.exists() {
                    continue;
                }
                // What the demo agent writes is its own, and closed by the folder above.
                let demo = folder.join("demo");
                for path in all_in(&folder)?.iter().filter(|path| !path.starts_with(&demo)) {
                    let metadata = path.symlink_metadata()?;
                    let mode = metadata.permissions().mode() & 0o777;
                    n_files += usize::from(metadata.is_file());
                    ensure!(mode & 0o077 == 0, "others may use {} ({mode:o})", path.display());
                }
            }
            ensure!(n_files >= 6, "only {n_files} files were found");
            Ok(())
        })
        .await
}
