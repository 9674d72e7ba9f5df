//! The log on stderr. Its level is `DESKBELL_LOG`, or else the setting.

use deskbell_engine::api::LogLevel;
use std::sync::OnceLock;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

/// Changes the level; unset if the environment decides it.
static FILTER: OnceLock<Handle<EnvFilter, Registry>> = OnceLock::new();

/// Begins to log.
pub fn begin() {
    let given = EnvFilter::try_from_env("DESKBELL_LOG").ok();
    let is_given = given.is_some();
    let (filter, handle) = reload::Layer::new(given.unwrap_or_else(|| filter(LogLevel::Warn)));
    tracing_subscriber::registry().with(filter).with(fmt::layer().with_writer(std::io::stderr)).init();
    if !is_given && FILTER.set(handle).is_err() {
        tracing::debug!("the log was begun twice");
    }
}

/// Applies the setting.
pub fn set_level(level: LogLevel) {
    let Some(handle) = FILTER.get() else { return };
    if let Err(error) = handle.reload(filter(level)) {
        tracing::warn!(%error, "could not change the level of the log");
    }
}

fn filter(level: LogLevel) -> EnvFilter {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    EnvFilter::default().add_directive(level.into())
}
