//! Money and tokens over the whole life of a session: another model, `/clear`, a crash, a restart of the app, a resumed
//! conversation, a fork and a second process. The sum over the turns is always what the agent reports, in picodollars.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use deskbell_engine::launch::Fork;
use deskbell_engine::store::SavedSession;
use deskbell_engine::store::Store;
use deskbell_tests::real_cli::process;
use serde_json::Value;

/// Picodollars of an exact decimal number.
fn pico(cost: &str) -> u64 {
    let (whole, part) = cost.split_once('.').unwrap_or((cost, ""));
    format!("{whole}{part:0<12}").parse().unwrap()
}

/// Money in picodollars, and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    cost: u64,
    tokens: [u64; 4],
}

impl Sum {
    fn of(cost: u64, tokens: Tokens) -> Self {
        Self { cost, tokens: [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write] }
    }

    fn add(&mut self, other: Self) {
        self.cost += other.cost;
        self.tokens.iter_mut().zip(other.tokens).for_each(|(sum, n)| *sum += n);
    }
}

/// Runs these turns. Returns what they report that they spent.
async fn turns(life: &mut Life, texts: &[&str]) -> Sum {
    let mut sum = Sum::default();
    for text in texts {
        let turn = life.turn(text).await;
        let cost = (turn.cost_usd.unwrap() * 1e12).round() as u64;
        sum.add(Sum::of(cost, turn.tokens.unwrap()));
    }
    sum
}

/// The sum of the session by model.
async fn told(life: &Life) -> Sum {
    let mut sum = Sum::default();
    for model in life.snapshot().await.session.usage.by_model {
        sum.add(Sum::of(pico(&model.cost), model.tokens));
    }
    sum
}

/// Closes the session. Returns its setup, and the counters that its agent wrote into the conversation's file.
async fn closed(life: Life) -> (Setup, Sum) {
    let id = life.snapshot().await.session.agent_session_id.unwrap();
    let setup = life.close().await;
    let mut file = None;
    for folder in std::fs::read_dir(setup.folder.path().join("config/projects")).unwrap() {
        let path = folder.unwrap().path().join(format!("{id}.jsonl"));
        file = file.or(path.is_file().then_some(path));
    }
    let text = std::fs::read_to_string(file.unwrap()).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let state = lines.rfind(|line| line["type"] == "cost-state").unwrap();
    let mut sum = Sum::default();
    for usage in state["modelUsage"].as_object().unwrap().values() {
        let cost = (usage["costUSD"].as_f64().unwrap() * 1e12).round() as u64;
        let tokens = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
        sum.add(Sum { cost, tokens: tokens.map(|key| usage[key].as_u64().unwrap()) });
    }
    (setup, sum)
}

/// What the app saved of the session.
fn saved(setup: &Setup) -> SavedSession {
    let store = Store::open(setup.folder.path().join("store")).unwrap();
    store.load().unwrap().records.remove(0).memory
}

#[tokio::test(flavor = "multi_thread")]
async fn the_turns_add_up_to_the_last_digit_over_a_whole_life() {
    let mut life = Setup::demo().open().await;
    let mut sum = turns(&mut life, &["SAY one", "SAY two"]).await;
    life.command(Command::SetModel { model: "haiku".to_owned() }).await.unwrap();
    sum.add(turns(&mut life, &["SAY three", "/clear", "SAY four"]).await);
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    life.exit().await;
    sum.add(turns(&mut life, &["SAY five"]).await);

    // The app starts again.
    let mut setup = life.close().await;
    setup.memory = saved(&setup);
    let mut life = setup.open().await;
    sum.add(turns(&mut life, &["SAY six"]).await);
    let usage = life.snapshot().await.session.usage;
    assert!(usage.by_model.len() >= 2, "{usage:?}");
    assert_eq!(usage.output_tokens, sum.tokens[1], "{usage:?}");
    assert!(sum.cost > 0 && sum.tokens[..2].iter().all(|n| *n > 0), "{sum:?}");
    assert_eq!(told(&life).await, sum);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_from_elsewhere_has_its_past_and_bills_no_turn_for_it() {
    let mut life = Setup::demo().open().await;
    let mut sum = turns(&mut life, &["SAY one", "SAY two"]).await;
    let (mut setup, agent) = closed(life).await;
    assert_eq!(agent, sum);

    // Only the id is known, as with `relay --resume`.
    let agent_session_id = saved(&setup).agent_session_id;
    setup.memory = SavedSession { agent_session_id, resumable: true, ..SavedSession::default() };
    let mut life = setup.open().await;
    sum.add(turns(&mut life, &["SAY three"]).await);
    assert_eq!(told(&life).await, sum);
    assert_eq!(closed(life).await.1, sum);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_costs_what_its_own_turns_cost() {
    let mut life = Setup::demo().open().await;
    let past = turns(&mut life, &["SAY one", "SAY two"]).await;
    let mut setup = life.close().await;

    let of = saved(&setup).agent_session_id.unwrap();
    setup.memory = SavedSession { fork: Some(Fork { of, until: None }), ..SavedSession::default() };
    let mut life = setup.open().await;
    let mut own = turns(&mut life, &["SAY three"]).await;
    assert_eq!(told(&life).await, own);
    let (mut setup, mut agent) = closed(life).await;
    own.add(past);
    assert_eq!(agent, own, "the agent's counter has the past of the original");

    // Resumed by its own id after a restart.
    setup.memory = saved(&setup);
    let mut life = setup.open().await;
    let more = turns(&mut life, &["SAY four"]).await;
    agent.add(more);
    let of_session = told(&life).await;
    assert_eq!((of_session.cost + past.cost, closed(life).await.1), (agent.cost, agent));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_spent_in_the_conversation_is_counted_once() {
    let mut life = Setup::demo().open().await;
    let mut sum = turns(&mut life, &["SAY one", "SAY two and a half", "/clear", "SAY three"]).await;
    let mut setup = life.close().await;
    let first = saved(&setup);

    let agent_session_id = first.agent_session_id.clone();
    setup.memory = SavedSession { agent_session_id, resumable: true, ..SavedSession::default() };
    let mut other = setup.open().await;
    sum.add(turns(&mut other, &["SAY four"]).await);
    let mut setup = other.close().await;

    setup.memory = first;
    let mut life = setup.open().await;
    sum.add(turns(&mut life, &["SAY five"]).await);
    assert_eq!(told(&life).await, sum);
    life.close().await;
}
