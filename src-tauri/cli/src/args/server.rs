//! The command line of the server: `deskbell relay` with one of `--serve`, `--attach`, `--list`, `--stop`, `--remove`.

use super::values::{seconds, session};
use deskbell_engine::api::SessionId;
use std::time::Duration;

/// Idle time after which a server leaves, unless `--idle` says otherwise.
pub const IDLE: Duration = Duration::from_secs(10 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerMode {
    Serve(ServeOptions),
    Attach(AttachOptions),
    List {
        json: bool,
    },
    Stop(Which),
    Remove(SessionId),
    /// Shows a session in the terminal.
    Terminal(SessionId),
}

impl ServerMode {
    /// The group of the options that choose one.
    pub const GROUP: &str = "server";
    pub const OPTIONS: [&str; 5] = ["serve", "attach", "list", "stop", "remove"];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    pub idle: Duration,
    /// Leaves the terminal that it was started from.
    pub detached: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachOptions {
    /// Follows this session, as a relay of it. Without it, the client speaks the server's protocol.
    pub session: Option<SessionId>,
    /// Starts a server if none is running.
    pub start: bool,
    pub idle: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    One(SessionId),
}

/// The options of the server and its clients. clap does not require what conflicts with another argument, so those that
/// require one mode also exclude the others.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct ServerArgs {
    #[command(flatten)]
    mode: ServerModeArgs,
    /// With --serve and --attach: the server leaves after this idle time, 600 by default
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with_all = ["session", "list", "stop", "remove"])]
    idle: Option<Duration>,
    /// With --serve: leave the terminal that the server was started from
    #[arg(long, requires = "serve", conflicts_with_all = ["attach", "list", "stop", "remove"])]
    detached: bool,
    /// With --attach: start no server
    #[arg(long, requires = "attach", conflicts_with_all = ["serve", "list", "stop", "remove"])]
    no_start: bool,
    /// With --list: print one JSON object per session
    #[arg(long, requires = "list", conflicts_with_all = ["serve", "attach", "stop", "remove"])]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[group(id = ServerMode::GROUP, multiple = false)]
struct ServerModeArgs {
    /// Run sessions that outlive their clients: a server for you alone, which leaves when it is idle
    #[arg(long)]
    serve: bool,
    /// Connect to the server, or start one; with a session, follow it as a relay of it
    #[arg(long, value_name = "SESSION", value_parser = session, num_args = 0..=1, require_equals = true)]
    attach: Option<Option<SessionId>>,
    /// List the sessions of your servers, and those that are saved while no server runs
    #[arg(long)]
    list: bool,
    /// End the agent of a session, or of all, with everything that it started
    #[arg(long, value_name = "SESSION|all", value_parser = session)]
    stop: Option<SessionId>,
    /// End a session and remove it from its server; the agent's own transcript stays
    #[arg(long, value_name = "SESSION", value_parser = session)]
    remove: Option<SessionId>,
}

impl ServerArgs {
    /// `None` if the arguments are those of a session.
    pub fn mode(&self) -> Option<ServerMode> {
        let idle = self.idle.unwrap_or(IDLE);
        let ServerModeArgs { serve, attach, list, stop, remove } = &self.mode;
        if let Some(session) = attach {
            let (session, start) = (session.clone(), !self.no_start);
            return Some(ServerMode::Attach(AttachOptions { session, start, idle }));
        }
        if let Some(id) = stop {
            let which = if id.as_str() == "all" { Which::All } else { Which::One(id.clone()) };
            return Some(ServerMode::Stop(which));
        }
        match (serve, list) {
            (true, _) => Some(ServerMode::Serve(ServeOptions { idle, detached: self.detached })),
            (_, true) => Some(ServerMode::List { json: self.json }),
            _ => remove.clone().map(ServerMode::Remove),
        }
    }
}
