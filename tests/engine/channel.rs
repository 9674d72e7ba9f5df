//! Permission audit: an agent that does not ask where it must is reported for as long as it lives.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;

const TOUCH: &str = r#"TOOL Bash {"command": "touch a.txt"}"#;
const WRITE: &str = r#"TOOL Write {"file_path": "a.txt", "content": "x"}"#;

async fn fault(life: &Life) -> Option<MissedPrompt> {
    life.snapshot().await.session.missed_prompt
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_runs_what_it_must_ask_for_is_found_out() {
    for (call, words, subject) in [
        (TOUCH, "The agent ran a command without asking.", "touch a.txt"),
        (WRITE, "The agent changed a file without asking.", "a.txt"),
    ] {
        let mut life = Setup::faulty("never-asks").open().await;
        life.turn("TOOL Read {\"file_path\": \"a.txt\"}\nSAY read").await;
        assert_eq!(fault(&life).await, None, "reading needs no answer");
        life.turn(&format!("{call}\nSAY done")).await;
        let found = fault(&life).await.expect("a fault");
        assert_eq!((found.kind, found.words.as_str()), (MissedPromptKind::Unasked, words));
        assert_eq!(found.subject.as_deref(), Some(subject));
        assert_eq!(life.notices().await, [format!("{words}\n{subject}")]);
        life.turn("SAY still there").await;
        assert!(fault(&life).await.is_some(), "it shows for as long as the agent lives");
        life.command(Command::Stop).await.unwrap();
        life.exit().await;
        assert_eq!(fault(&life).await, None, "and no longer");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_ask_is_found_out_with_its_first_turn() {
    let mut life = Setup::faulty("cannot-ask").open().await;
    life.turn("SAY hello").await;
    assert_eq!(fault(&life).await.map(|fault| fault.kind), Some(MissedPromptKind::CannotAsk));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_asks_is_not_accused() {
    for faults in ["", "old"] {
        let mut life = Setup::faulty(faults).open().await;
        life.prompt(&format!("{TOUCH}\n{TOUCH}\n{WRITE}\nSAY done")).await;
        let request = life.request().await;
        let suggestion = request.suggestions[0].raw.clone();
        let decision = Decision::AllowAlways { suggestion };
        let answer = Command::Decide { request_id: request.id, shown: Some(request.shown), decision };
        life.command(answer).await.unwrap();
        // The rule allows the same command; the write needs a request.
        let request = life.request().await;
        assert_eq!(request.tool, "Write");
        let decision = Decision::AllowOnce { updated_input: None };
        let answer = Command::Decide { request_id: request.id, shown: Some(request.shown), decision };
        life.command(answer).await.unwrap();
        life.turn_end().await;
        assert_eq!(fault(&life).await, None, "{faults}");

        life.command(Command::SetMode { mode: PermissionMode::AcceptEdits }).await.unwrap();
        life.turn(&format!("{WRITE}\nSAY done")).await;
        assert_eq!(fault(&life).await, None, "the mode lets it through: {faults}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_begun_without_asking_is_not_accused_and_ends_with_its_process() {
    let mut life = Setup::demo().open().await;
    life.session().start_without_asking().await.unwrap();
    life.turn(&format!("{TOUCH}\n{WRITE}\nSAY done")).await;
    let session = life.snapshot().await.session;
    assert_eq!((session.mode.as_str(), session.missed_prompt), ("bypassPermissions", None));
    life.command(Command::Stop).await.unwrap();
    life.exit().await;
    life.prompt(&format!("{TOUCH}\nSAY asked")).await;
    let request = life.request().await;
    assert_eq!(request.subject, "touch a.txt");
    assert!(life.notices().await.iter().any(|words| words.contains("asks again")));
    assert_eq!(life.snapshot().await.session.mode, "default");
    life.command(Command::Interrupt).await.unwrap();
    life.turn_end().await;

    // The user can choose this again for the same session, with its conversation; but not while it runs.
    let refused = life.session().start_without_asking().await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadCommand);
    life.command(Command::Stop).await.unwrap();
    life.exit().await;
    life.session().start_without_asking().await.unwrap();
    life.turn(&format!("{TOUCH}\nRECALL")).await;
    let session = life.snapshot().await.session;
    assert_eq!((session.mode.as_str(), session.missed_prompt), ("bypassPermissions", None));
    assert!(life.answers().await.iter().any(|answer| answer.contains("SAY asked")));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_in_force_are_listed_with_where_they_come_from() {
    for (faults, basis) in [("", RulesBasis::Agent), ("old", RulesBasis::Settings)] {
        let mut life = Setup::faulty(faults).open().await;
        life.prompt(&format!("{TOUCH}\nSAY done")).await;
        let request = life.request().await;
        let decision = Decision::AllowAlways { suggestion: request.suggestions[0].raw.clone() };
        let answer = Command::Decide { request_id: request.id, shown: Some(request.shown), decision };
        life.command(answer).await.unwrap();
        life.turn_end().await;
        life.command(Command::ListRules).await.unwrap();
        let session = life.facts("rules", |session| session.rules.is_some()).await;
        let rules = session.rules.expect("they were told");
        assert_eq!(rules.basis, basis);
        let given = Rule {
            effect: RuleEffect::Allow,
            rule: "Bash(touch a.txt)".to_owned(),
            origin: RuleOrigin::Session,
        };
        assert!(rules.rules.contains(&given), "{:?}", rules.rules);

        // It is asked about again once the user takes it back.
        let suspend = Command::SuspendRules { rules: vec![given.rule.clone()], suspended: true };
        life.command(suspend).await.unwrap();
        let is_gone =
            |session: &Session| session.rules.as_ref().is_some_and(|rules| !rules.rules.contains(&given));
        life.facts("rules without it", is_gone).await;
        life.prompt(&format!("{TOUCH}\nSAY done")).await;
        assert_eq!(life.request().await.subject, "touch a.txt");
        life.close().await;
    }
}

/// The demo agent acts on nothing real and shows what permission requests are like: it must not look like an agent that
/// does not ask.
#[tokio::test(flavor = "multi_thread")]
async fn the_demonstration_accuses_nobody() {
    let mut life = Setup::demo().env("DESKBELL_DEMO_SPEED", "0").open().await;
    life.prompt("Viewport me what you can do").await;
    life.request().await;
    assert_eq!(fault(&life).await, None);
    life.close().await;
}
