//! Turns that no prompt began: jobs and wake-ups that the agent planned, monitors, and why each turn began.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use deskbell_tests::window::SHORT;
use serde_json::{Value, json};

use crate::reports::lines;
use crate::stage::Stage;

const LIST: &str = "Changes and tasks";

/// A call and its result, in the lines of Claude Code 2.1.329.
fn call(name: &str, input: &Value, structured: &Value) -> [Value; 2] {
    let call = json!({"type": "tool_use", "id": name, "name": name, "input": input});
    let result = json!({"type": "tool_result", "tool_use_id": name, "content": "ok", "is_error": false});
    [
        json!({"type": "assistant", "message": {"id": name, "role": "assistant", "content": [call]}}),
        json!({"type": "user", "message": {"role": "user", "content": [result]}, "tool_use_result": structured}),
    ]
}

pub async fn planned_turns_and_monitors_are_listed_and_each_turn_says_what_began_it() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("planned", async |stage| {
            let window = &stage.window;
            let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
            let job = json!({"cron": "7 3 * * *", "prompt": "SAY good morning", "recurring": true});
            let planned = json!({"id": "2838e6a7", "humanSchedule": "Every day at 3:07 AM", "recurring": true,
                "durable": false, "nextFireAt": now + 3_600_000});
            let wake_up = json!({"delaySeconds": 3600, "reason": "the build is slow", "prompt": "SAY up"});
            let waits =
                json!({"scheduledFor": now + 3_600_000, "clampedDelaySeconds": 3600, "wasClamped": false});
            let watch =
                json!({"command": "tail -f tide.log", "description": "the tide", "persistent": false});
            let watches = json!({"taskId": "b1", "timeoutMs": 60_000, "persistent": false});
            let task = json!({"task_id": "b1", "task_type": "local_bash", "description": "the tide"});
            let tasks = json!({"type": "system", "subtype": "background_tasks_changed", "tasks": [task]});
            let all = [
                &call("CronCreate", &job, &planned)[..],
                &call("ScheduleWakeup", &wake_up, &waits),
                &call("Monitor", &watch, &watches),
                &[tasks],
            ];
            let begin = lines(stage, "planned", &all.concat())?;
            let end = lines(
                stage,
                "ended",
                &[
                    json!({"type": "system", "subtype": "task_notification", "task_id": "b1",
                        "tool_use_id": "Monitor", "status": "completed", "summary": "Monitor ended"}),
                    json!({"type": "system", "subtype": "background_tasks_changed", "tasks": []}),
                ],
            )?;
            window.paste_prompt(&format!("{begin}\nSAY Planned.\nMONITORED High water.")).await?;
            window.wait_said("Planned.", SHORT).await?;
            for words in [
                "Scheduled a job: SAY good morning",
                "Planned a wake-up: the build is slow",
                "Watching in the background: the tide",
                "The monitor “the tide” started this turn",
            ] {
                window.wait_text("log", "Conversation", words, SHORT).await?;
            }
            window.wait_said("High water.", SHORT).await?;
            if !window.has("complementary", LIST).await? {
                window.key("ctrl+j").await?;
            }
            let listed = window.wait_text("complementary", LIST, "Scheduled 2", SHORT).await?;
            for words in [
                "SAY good morning",
                "Every day at 3:07 AM · in 59 min",
                "SAY up",
                "In the background 1",
                "Monitor ·",
            ] {
                ensure!(listed.contains(words), "“{words}” is not listed: {listed}");
            }
            stage.desktop.screenshot("planned").await?;

            let turns = "SCHEDULED schedule_wakeup Good morning.\nSCHEDULED loop_wakeup I woke up.";
            window.paste_prompt(&format!("{end}\nSAY Low water.\n{turns}")).await?;
            window.wait_said("I woke up.", SHORT).await?;
            for words in [
                "A scheduled job started this turn Good morning.",
                "A wake-up that the agent planned started this turn I woke up.",
            ] {
                window.wait_text("log", "Conversation", words, SHORT).await?;
            }
            // The wake-up is over; the job runs again.
            window.wait_text("complementary", LIST, "Scheduled 1", SHORT).await?;
            ensure!(
                !window.text("complementary", LIST).await?.contains("In the background"),
                "it is still listed"
            );
            stage.desktop.screenshot("planned-began").await.map(drop)
        })
        .await
}
