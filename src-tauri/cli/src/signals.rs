//! The signals that end a process.

/// Waits for SIGTERM, SIGINT or SIGHUP; on Windows Ctrl+C.
pub async fn received() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        let any = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_select(any.collect()).await;
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits for the first of several futures; never completes if there are none.
#[cfg(unix)]
async fn futures_select<F: Future + Unpin>(mut futures: Vec<F>) {
    std::future::poll_fn(|context| {
        let ready = futures.iter_mut().any(|future| std::pin::Pin::new(future).poll(context).is_ready());
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
