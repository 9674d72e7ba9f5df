//! The contract of notification daemons, kept by the app's notifier: a click, each button, a dismissal, a replacement, a
//! withdrawal, 200 notifications, and a daemon that starts again. Nothing is left open at the end.

mod daemons;
mod xfce;

use std::future::Future;

use anyhow::{Context, Result, bail, ensure};
use deskbell_notifications::{CLICK, DesktopNotification, NotificationAnswer, Notifier, SessionBus};
use deskbell_tests::suite::{Test, test};
use deskbell_tests::window::{Desktop, Holdings, SHORT, eventually};
use tokio::sync::mpsc;

use crate::last_runs;
use daemons::{Daemon, Kind};

/// How many notifications are shown one after the other.
const MANY: u32 = 200;

pub fn all() -> Vec<Test> {
    let one = |kind: Kind| {
        let name = format!("notifications::{}", kind.name());
        // It counts the descriptors and threads of its process.
        test(name, move || keeps_the_contract(kind)).needing(kind.requirement()).alone()
    };
    Kind::ALL.map(one).into_iter().collect()
}

/// The notifier with a number as the subject of each notification, and the user at the daemon.
struct Stage {
    notifier: Notifier<u32>,
    answers: mpsc::UnboundedReceiver<NotificationAnswer<u32>>,
    daemon: Daemon,
}

async fn keeps_the_contract(kind: Kind) -> Result<()> {
    let (desktop, daemon) = Daemon::start(kind).await?;
    let (answered, answers) = mpsc::unbounded_channel();
    let bus = SessionBus::At(desktop.bus().address().to_owned());
    let (notifier, carry_out) = Notifier::new(bus, move |answer| {
        // The test may have ended.
        let _ = answered.send(answer);
    });
    let carry_out = tokio::spawn(carry_out);
    let mut stage = Stage { notifier, answers, daemon };
    let kept = stage.keeps_all(&desktop).await;
    carry_out.abort();
    kept.with_context(|| format!("with {}", kind.name()))?;
    match stage.daemon.version()? {
        Some(version) => last_runs::kept(kind.name(), &version),
        None => Ok(()),
    }
}

async fn step<T>(what: &str, step: impl Future<Output = Result<T>>) -> Result<T> {
    step.await.with_context(|| what.to_owned())
}

impl Stage {
    async fn keeps_all(&mut self, desktop: &Desktop) -> Result<()> {
        // The connection is opened with the first notification, and stays.
        step("a click", self.is_answered(CLICK)).await?;
        let before = held(desktop).await?;
        for button in ["deny", "review"] {
            step(&format!("the button “{button}”"), self.is_answered(button)).await?;
        }
        if self.daemon.has_tokens() {
            step("a token", self.passes_a_token_on()).await?;
        }
        step("a dismissal", self.is_dismissed()).await?;
        step("a replacement", self.is_replaced()).await?;
        step("a withdrawal", self.is_withdrawn()).await?;
        step("many", self.shows_many()).await?;
        step("a daemon that starts again", self.outlives_the_daemon(desktop)).await?;
        // What belongs to ended connections goes a moment later.
        let mut after = held(desktop).await?;
        let settled = eventually("nothing is left open", SHORT, async || {
            after = held(desktop).await?;
            Ok(after.is_like(&before).then_some(()))
        });
        settled.await.with_context(|| format!("before: {before:?}, after: {after:?}"))?;
        self.notifier.show("last", notification("Last"), 99);
        self.shows(1).await?;
        ensure!(self.notifier.end(SHORT), "the end waits for the daemon");
        self.shows(0).await
    }

    async fn is_answered(&mut self, action: &str) -> Result<()> {
        self.notifier.show("a", notification("Answered"), 1);
        self.shows(1).await?;
        self.daemon.act(action).await?;
        let answer = self.answer().await?;
        ensure!((answer.subject, answer.action.as_str()) == (1, action), "{answer:?}");
        ensure!(!self.notifier.has("a"), "it waits for a second answer");
        self.shows(0).await
    }

    async fn passes_a_token_on(&mut self) -> Result<()> {
        self.notifier.show("a", notification("With a token"), 1);
        self.shows(1).await?;
        self.daemon.click_with_token("token").await?;
        let answer = self.answer().await?;
        ensure!(answer.activation_token.as_deref() == Some("token"), "{answer:?}");
        self.shows(0).await
    }

    async fn is_dismissed(&mut self) -> Result<()> {
        self.notifier.show("a", notification("Dismissed"), 1);
        self.shows(1).await?;
        self.daemon.dismiss().await?;
        self.shows(0).await?;
        eventually("the notifier notices it", SHORT, async || Ok((!self.notifier.has("a")).then_some(())))
            .await?;
        self.hears_nothing()
    }

    async fn is_replaced(&mut self) -> Result<()> {
        self.notifier.show("a", notification("Before"), 1);
        self.notifier.show("b", notification("Beside"), 2);
        self.shows(2).await?;
        self.notifier.withdraw("b");
        self.shows(1).await?;
        self.notifier.show("a", notification("After"), 3);
        self.notifier.show("a", notification("At last"), 4);
        // Calls keep their order.
        self.notifier.show("b", notification("Behind"), 5);
        self.shows(2).await?;
        self.notifier.withdraw("b");
        self.shows(1).await?;
        self.daemon.act(CLICK).await?;
        let answer = self.answer().await?;
        ensure!(answer.subject == 4, "{answer:?}");
        self.shows(0).await
    }

    async fn is_withdrawn(&mut self) -> Result<()> {
        self.notifier.show("a", notification("Withdrawn"), 1);
        self.shows(1).await?;
        self.notifier.withdraw("a");
        self.shows(0).await?;
        self.notifier.show("a", notification("Never seen"), 2);
        self.notifier.withdraw("a");
        self.notifier.show("b", notification("Behind"), 3);
        self.notifier.show("c", notification("Behind that"), 4);
        self.shows(2).await?;
        self.notifier.withdraw("b");
        self.notifier.withdraw("c");
        self.shows(0).await?;
        self.hears_nothing()
    }

    /// Many more than a day has, each closed in another way.
    async fn shows_many(&mut self) -> Result<()> {
        for n in 0..MANY {
            self.notifier.show("a", notification(&format!("Number {n}")), n);
            self.shows(1).await.with_context(|| format!("number {n}"))?;
            match n % 3 {
                0 => self.daemon.dismiss().await?,
                1 => self.notifier.withdraw("a"),
                _ => {
                    self.daemon.act(CLICK).await?;
                    let answer = self.answer().await.with_context(|| format!("number {n}"))?;
                    ensure!(answer.subject == n, "number {n}: {answer:?}");
                }
            }
            self.shows(0).await.with_context(|| format!("after number {n}"))?;
        }
        Ok(())
    }

    async fn outlives_the_daemon(&mut self, desktop: &Desktop) -> Result<()> {
        self.notifier.show("a", notification("Lost"), 1);
        self.shows(1).await?;
        self.daemon.stop().await?;
        eventually("the notifier forgets what went with the daemon", SHORT, async || {
            Ok((!self.notifier.has("a")).then_some(()))
        })
        .await?;
        self.notifier.show("a", notification("Without a daemon"), 2);
        eventually("the notification fails", SHORT, async || Ok((!self.notifier.has("a")).then_some(())))
            .await?;
        self.daemon.start_again(desktop).await?;
        self.is_answered(CLICK).await
    }

    async fn answer(&mut self) -> Result<NotificationAnswer<u32>> {
        let answer = tokio::time::timeout(SHORT, self.answers.recv()).await.context("no answer")?;
        answer.context("the notifier has ended")
    }

    fn hears_nothing(&mut self) -> Result<()> {
        match self.answers.try_recv() {
            Ok(answer) => bail!("an answer that the user did not give: {answer:?}"),
            Err(_) => Ok(()),
        }
    }

    /// Waits until that many notifications are displayed.
    async fn shows(&self, n: usize) -> Result<()> {
        let mut last = 0;
        let displayed = eventually("so many notifications are displayed", SHORT, async || {
            last = self.daemon.n_displayed().await?;
            Ok((last == n).then_some(()))
        });
        displayed.await.with_context(|| format!("{last} are displayed, not {n}"))
    }
}

/// The holdings of this process.
async fn held(desktop: &Desktop) -> Result<Holdings> {
    Holdings::of(std::process::id(), desktop.bus()).await
}

fn notification(summary: &str) -> DesktopNotification {
    DesktopNotification {
        summary: summary.to_owned(),
        body: "Runs <make> & more".to_owned(),
        urgency: deskbell_engine::api::BellUrgency::Critical,
        has_sound: false,
        buttons: vec![("deny", "Deny"), ("review", "Review…")],
    }
}
