//! The list of background tasks: the output of a command is followed, and the command is stopped.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Result, ensure};
use deskbell_tests::window::SHORT;
use serde_json::{Value, json};

use crate::stage::Stage;

const TASK: &str = "Builds the lighthouse";
const LIST: &str = "Changes and tasks";
const OUTPUT: &str = "Output so far";

/// A call that became a command in the background, in the lines of Claude Code 2.1.329.
fn begun(output: &Path) -> [Value; 4] {
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash",
        "input": {"command": "make lighthouse", "description": TASK, "run_in_background": true}});
    let said = format!(
        "Command running in background with ID: b1. Output is being written to: {}. You will be notified.",
        output.display()
    );
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": said, "is_error": false});
    [
        json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [call]}}),
        json!({"type": "system", "subtype": "task_started", "task_id": "b1", "tool_use_id": "t1",
            "description": TASK, "is_backgrounded": true, "task_type": "local_bash"}),
        json!({"type": "user", "message": {"role": "user", "content": [result]},
            "tool_use_result": {"backgroundTaskId": "b1"}}),
        running(true),
    ]
}

fn running(is_running: bool) -> Value {
    let task = json!({"task_id": "b1", "task_type": "local_bash", "description": TASK});
    let tasks: Vec<Value> = is_running.then_some(task).into_iter().collect();
    json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})
}

/// The report that a task was stopped.
fn ended(output: &Path) -> [Value; 2] {
    let report = json!({"type": "system", "subtype": "task_notification", "task_id": "b1", "tool_use_id": "t1",
        "status": "stopped", "output_file": output, "summary": "Background command stopped"});
    [report, running(false)]
}

/// A script of the demo agent that writes these lines.
fn lines(file: &Path, lines: &[Value]) -> Result<String> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(file, text)?;
    Ok(format!("LINES {}", file.display()))
}

pub async fn the_output_of_a_task_grows_and_the_task_is_stopped() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("background", async |stage| {
            let window = &stage.window;
            let scratch = stage.desktop.scratch();
            let output = scratch.join("claude-1000/p/s/tasks/b1.output");
            fs::create_dir_all(scratch.join("claude-1000/p/s/tasks"))?;
            fs::write(&output, "step 1\n")?;
            let begin = lines(&scratch.join("begun.ndjson"), &begun(&output))?;
            window.paste_prompt(&format!("{begin}\nSAY It is being built.")).await?;
            window.wait_said("It is being built.", SHORT).await?;
            // A session with work in the background is not idle, but can be prompted.
            if !window.has("complementary", LIST).await? {
                window.key("ctrl+j").await?;
            }
            window.wait_text("complementary", LIST, "In the background 1", SHORT).await?;
            window.click("button", &format!("Output {TASK}")).await?;
            window.wait_text("group", OUTPUT, "step 1", SHORT).await?;
            writeln!(OpenOptions::new().append(true).open(&output)?, "step 2")?;
            window.wait_text("group", OUTPUT, "step 2", SHORT).await?;
            window.drawn().await?;
            window.screenshot("background").await?;

            // By keyboard: the stop is the next but one stop of Tab.
            window.tab_to("Stop").await?;
            stage.pointer.key("Return").await?;
            window.find("button", &format!("Stopping {TASK}")).await?;
            window.screenshot("background-stopping").await?;
            let over = lines(&scratch.join("ended.ndjson"), &ended(&output))?;
            window.paste_prompt(&format!("{over}\nSAY It was stopped.")).await?;
            window.wait_said("It was stopped.", SHORT).await?;
            window.gone("group", OUTPUT).await?;
            ensure!(!window.all_text().await?.contains("In the background"), "the task is still listed");
            window.wait_idle(SHORT).await?;
            window.screenshot("background-stopped").await.map(drop)
        })
        .await
}
