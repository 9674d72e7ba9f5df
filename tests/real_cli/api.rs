//! API failures as the user sees them: the kind of the turn's end, its words, and the notices before it.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Delivery, Outcome, PromptId};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::Value;

/// The time until the mock's limit resets.
const RESETS_IN_MS: u64 = 3 * 60 * 60 * 1000;

/// Milliseconds since the epoch.
fn now() -> Result<u64> {
    Ok(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}

/// A world in which the CLI gives up early.
async fn impatient() -> Result<World> {
    Ok(World::new().await?.with_env("CLAUDE_CODE_MAX_RETRIES", "2"))
}

/// Sends a prompt and returns its turn, which must end in this way; the session must report the same.
async fn failed(relay: &mut Relay, prompt: &str, expected: Outcome) -> Result<String> {
    relay.prompt(prompt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == expected, "{prompt}: {turn}");
    let words = turn["words"].as_str().context("an end has words")?.to_owned();
    ensure!(!words.trim().is_empty() && !words.contains("ede_diagnostic"), "{prompt}: {turn}");
    let says_so = |session: &Value| {
        session["status"]["type"] == "failed" && session["status"]["message"] == words.as_str()
    };
    relay.session_where("the session that failed", says_so).await?;
    let prompts: Vec<Value> =
        relay.items().into_iter().filter(|item| item["body"]["type"] == "prompt").collect();
    let last = prompts.last().context("the prompt is an item")?;
    ensure!(last["body"]["state"] == "failed", "{last}");
    Ok(words)
}

/// After any failure the session continues.
async fn goes_on(mut relay: Relay) -> Result<()> {
    relay.turn("SAY well again").await?;
    relay.session_where("a completed session", |session| session["status"]["type"] == "completed").await?;
    relay.close().await
}

pub async fn a_lasting_failure_tells_each_try_and_then_the_status() -> Result<()> {
    for (status, kind) in [(500, "server error"), (529, "overloaded")] {
        let world = impatient().await?;
        let mut relay = Relay::spawn(&world, &[])?;
        let prompt = format!("FAIL {status}");
        let words = failed(&mut relay, &prompt, Outcome::ApiError { status: Some(status) }).await?;
        ensure!(words.contains(&status.to_string()), "{words}");
        // One notice, whose count grows.
        let notices = relay.notices();
        let [notice] = &notices[..] else { anyhow::bail!("{notices:?}") };
        let starts = format!("warning: The API answered {status} ({kind}); tried again ");
        ensure!(notice.starts_with(&starts) && notice.ends_with("2 times"), "{notice}");
        goes_on(relay).await?;
    }
    Ok(())
}

pub async fn a_rate_limit_is_named() -> Result<()> {
    let world = impatient().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    failed(&mut relay, "FAIL 429 no-retry", Outcome::RateLimited).await?;
    ensure!(relay.notices().is_empty(), "{:?}", relay.notices());
    goes_on(relay).await
}

pub async fn a_used_up_allowance_says_when_it_resets() -> Result<()> {
    let world = impatient().await?.with_subscription();
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("LIMIT allowed\nSAY fine").await?;
    ensure!(relay.notices().is_empty(), "{:?}", relay.notices());
    let before = now()?;
    relay.turn("LIMIT allowed_warning\nSAY still fine").await?;
    ensure!(relay.notices() == ["warning: 92 % of the five-hour limit is used"], "{:?}", relay.notices());
    let limit = relay.session()?["limits"]["windows"][0].clone();
    ensure!(limit["id"] == "five_hour" && limit["used"] == 0.92 && limit["status"] == "near", "{limit}");
    failed(&mut relay, "LIMIT rejected\nFAIL 429 no-retry", Outcome::RateLimited).await?;
    let told = relay.notices().iter().any(|notice| notice == "error: The five-hour limit is reached");
    ensure!(told, "{:?}", relay.notices());
    // In whole seconds on the wire.
    let (first, last) = (before + RESETS_IN_MS - 1000, now()? + RESETS_IN_MS);
    let until = relay.notices_until();
    ensure!(
        until.len() == 2 && until.iter().all(|at| (first..=last).contains(at)),
        "{until:?} since {before}"
    );
    // The session goes on by itself when the limit has reset, if the user wants that.
    let text = "SAY I go on".to_owned();
    relay.send(&Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::AtReset }).await?;
    let waits = |session: &Value| session["queue"][0]["sendsAt"].is_u64();
    let session = relay.session_where("a prompt that waits for the reset", waits).await?;
    let prompt = &session["queue"][0];
    let sends_at = prompt["sendsAt"].as_u64().context("a time")?;
    ensure!((first..=last + 30_000).contains(&sends_at) && prompt["held"] == true, "{prompt}");
    ensure!(session["status"]["type"] == "failed", "{session}");
    let prompt_id = PromptId::new(prompt["id"].as_str().context("an id")?);
    relay.send(&Command::Resend { prompt_id }).await?;
    relay.turn_end().await?;
    ensure!(relay.answers().last().is_some_and(|answer| answer == "I go on"), "{:?}", relay.answers());
    relay.close().await
}

pub async fn an_api_that_is_down_is_told_as_unreachable() -> Result<()> {
    let world = impatient().await?.without_api()?;
    let mut relay = Relay::spawn(&world, &[])?;
    failed(&mut relay, "SAY nobody hears this", Outcome::ApiError { status: None }).await?;
    let notices = relay.notices();
    let [notice] = &notices[..] else { anyhow::bail!("{notices:?}") };
    ensure!(notice.starts_with("warning: The API could not be reached; tried again "), "{notice}");
    relay.close().await
}

pub async fn a_connection_that_always_breaks_is_told_as_unreachable() -> Result<()> {
    let world = impatient().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    failed(&mut relay, "TIMES 9 DROP\nSAY not reached", Outcome::ApiError { status: None }).await?;
    let notices = relay.notices();
    ensure!(notices.len() == 1 && notices[0].contains("The API could not be reached"), "{notices:?}");
    goes_on(relay).await
}

pub async fn a_refused_key_is_no_login() -> Result<()> {
    let world = impatient().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    for (prompt, status) in [("FAIL 401 no-retry", 401), ("FAIL 403", 403)] {
        failed(&mut relay, prompt, Outcome::ApiError { status: Some(status) }).await?;
    }
    goes_on(relay).await
}

pub async fn without_a_login_nothing_is_sent_and_it_is_said() -> Result<()> {
    let world = World::new().await?.without_login();
    let mut relay = Relay::spawn(&world, &[])?;
    let words = failed(&mut relay, "SAY hello", Outcome::NotLoggedIn).await?;
    ensure!(words.contains("Not logged in"), "{words}");
    ensure!(world.api.messages().is_empty(), "a message was sent without a key");
    relay.close().await
}

pub async fn an_unknown_model_is_named() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--model=claude-no-such"])?;
    let words = failed(&mut relay, "SAY hello", Outcome::UnknownModel).await?;
    ensure!(words.contains("claude-no-such"), "{words}");
    relay.close().await
}

pub async fn a_conversation_that_does_not_fit_says_what_to_do() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    // Longer than any model's window, so that the CLI sends no request.
    let prompt = format!("SAY too much\n{}", "word ".repeat(2_000_000));
    let words = failed(&mut relay, &prompt, Outcome::ContextExceeded).await?;
    ensure!(words.contains("compact") && words.contains("new session"), "{words}");
    relay.close().await
}

pub async fn a_conversation_that_the_api_finds_too_long_says_what_to_do() -> Result<()> {
    let world = impatient().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let prompt = "FAIL 400 | prompt is too long: 210000 tokens > 200000 maximum";
    let words = failed(&mut relay, prompt, Outcome::ContextExceeded).await?;
    ensure!(words.contains("compact") && words.contains("new session"), "{words}");
    goes_on(relay).await
}

#[cfg(unix)]
pub async fn the_limit_of_turns_is_named() -> Result<()> {
    let world = World::new().await?.with_arguments(&["--max-turns=1"])?;
    std::fs::write(world.file("a.txt"), "hello")?;
    let mut relay = Relay::spawn(&world, &[])?;
    let prompt = format!("READ {}\nSAY not reached", world.file("a.txt").display());
    let words = failed(&mut relay, &prompt, Outcome::MaxTurns).await?;
    ensure!(words == "The turn limit is reached", "{words}");
    goes_on(relay).await
}

#[cfg(unix)]
pub async fn a_used_up_budget_is_named() -> Result<()> {
    let world = World::new().await?.with_arguments(&["--max-budget-usd=0.000001"])?;
    std::fs::write(world.file("a.txt"), "hello")?;
    let mut relay = Relay::spawn(&world, &[])?;
    let prompt = format!("READ {}\nSAY not reached", world.file("a.txt").display());
    let words = failed(&mut relay, &prompt, Outcome::BudgetExhausted).await?;
    ensure!(words == "The budget is used up", "{words}");
    relay.close().await
}

/// The model may be thinking or gone; this cannot be known, so the turn is shown as working until the user ends it.
pub async fn an_api_that_hangs_leaves_the_user_in_charge() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("HANG").await?;
    world.api.wait_for_prompt("HANG", DEADLINE).await?;
    relay.session_where("a working session", |session| session["status"]["type"] == "working").await?;
    relay.send(&Command::Interrupt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted && turn["words"] == "Interrupted", "{turn}");
    goes_on(relay).await
}

pub async fn a_retry_can_be_interrupted() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("FAIL 500").await?;
    let retries = |event: &Value| {
        event["item"]["body"]["text"].as_str().is_some_and(|text| text.contains("trying again"))
    };
    relay.next_event("the first retry", DEADLINE, retries).await?;
    relay.send(&Command::Interrupt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    goes_on(relay).await
}
