//! What fills the context window, and the limits of the plan, from a real process.

use crate::life::Setup;
use deskbell_engine::api::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_reports_what_fills_its_context() {
    let mut life = Setup::faulty("").open().await;
    let refused = life.command(Command::ReadContext).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadCommand, "no process runs");
    life.turn("SAY hello").await;
    life.command(Command::ReadContext).await.unwrap();
    let session = life.facts("context", |session| session.context.report.is_some()).await;
    let report = session.context.report.expect("it was awaited");
    assert!(session.capabilities.context && !session.context.is_pending);
    assert_eq!(report.window_tokens, 1_000_000);
    let sum =
        |kind| report.categories.iter().filter(|one| one.kind == kind).map(|one| one.tokens).sum::<u64>();
    assert_eq!(sum(ContextKind::Used), report.total_tokens);
    assert_eq!(sum(ContextKind::Used) + sum(ContextKind::Reserved) + sum(ContextKind::Free), 1_000_000);
    assert!(report.categories.iter().any(|one| one.name == "Messages" && one.tokens > 0));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_report_its_context_is_asked_once() {
    let mut life = Setup::faulty("no-context").open().await;
    life.turn("SAY hello").await;
    life.command(Command::ReadContext).await.unwrap();
    let session = life.facts("the refusal", |session| session.context.problem.is_some()).await;
    assert!(!session.capabilities.context && session.context.report.is_none());
    assert_eq!(life.command(Command::ReadContext).await.unwrap_err().code, ErrorCode::BadCommand);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_kept_with_their_window_and_reset() {
    let mut life = Setup::faulty("").open().await;
    life.turn("RATE_LIMIT allowed\nSAY fine").await;
    let limits = life.snapshot().await.session.limits;
    let [limit] = &limits.windows[..] else { panic!("{limits:?}") };
    assert_eq!((limit.id.as_str(), limit.name.as_str()), ("five_hour", "five-hour limit"));
    assert_eq!((limit.status, limit.percent()), (LimitStatus::Allowed, Some(50)));
    assert!(limit.resets_at.is_some_and(|at| at > limit.reported_at));
    let overage = limits.overage.expect("the demo agent reports it");
    assert_eq!(overage.reason.as_deref(), Some("turned off for your organisation"));
    life.turn("RATE_LIMIT rejected").await;
    let limits = life.snapshot().await.session.limits;
    assert_eq!(limits.windows.len(), 1);
    assert_eq!(limits.windows[0].status, LimitStatus::Reached);
    life.close().await;
}
