//! The command line of the server: `deskbell relay` with one of `--serve`, `--attach`, `--list`, `--stop`, `--remove`.

use super::{Problem, split};
use deskbell_engine::api::SessionId;
use std::ffi::OsString;
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

/// Parses the arguments after `relay`; `None` if they are not for a server.
pub fn parse(args: &[OsString]) -> Option<Result<ServerMode, Problem>> {
    let first = split(args.first()?);
    let known = ["--serve", "--attach", "--list", "--stop", "--remove"];
    known.contains(&first.0.as_str()).then(|| mode(first, &args[1..]))
}

fn mode((name, value): (String, Option<OsString>), rest: &[OsString]) -> Result<ServerMode, Problem> {
    let session = || match value.as_ref().map(|value| value.to_string_lossy().into_owned()) {
        Some(id) if !id.is_empty() => Ok(SessionId::new(id)),
        _ => Err(Problem::NoValue(name.clone())),
    };
    let mut idle = IDLE;
    let (mut detached, mut start, mut json) = (false, true, false);
    for arg in rest {
        let (option, value) = split(arg);
        match (name.as_str(), option.as_str()) {
            ("--serve" | "--attach", "--idle") => idle = seconds(value)?,
            ("--serve", "--detached") => detached = true,
            ("--attach", "--no-start") => start = false,
            ("--list", "--json") => json = true,
            _ => return Err(Problem::UnknownOption(option)),
        }
    }
    Ok(match name.as_str() {
        "--serve" => ServerMode::Serve(ServeOptions { idle, detached }),
        "--attach" => {
            let session = if value.is_some() { Some(session()?) } else { None };
            ServerMode::Attach(AttachOptions { session, start, idle })
        }
        "--list" => ServerMode::List { json },
        "--stop" => {
            let id = session()?;
            ServerMode::Stop(if id.as_str() == "all" { Which::All } else { Which::One(id) })
        }
        _ => ServerMode::Remove(session()?),
    })
}

fn seconds(value: Option<OsString>) -> Result<Duration, Problem> {
    let value = value.ok_or(Problem::NoValue("--idle".to_owned()))?;
    let value = value.to_string_lossy();
    let seconds = value.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| Problem::BadIdle(value.escape_debug().take(60).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Option<Result<ServerMode, Problem>> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn each_mode_takes_its_own_options() {
        let serve = |idle, detached| Some(Ok(ServerMode::Serve(ServeOptions { idle, detached })));
        let attach = |session: Option<&str>, start| {
            let session = session.map(SessionId::new);
            Some(Ok(ServerMode::Attach(AttachOptions { session, start, idle: IDLE })))
        };
        assert_eq!(parsed(&[]), None);
        assert_eq!(parsed(&["--project=/"]), None);
        assert_eq!(parsed(&["--serve"]), serve(IDLE, false));
        assert_eq!(parsed(&["--serve", "--idle=0.5", "--detached"]), serve(Duration::from_millis(500), true));
        assert_eq!(parsed(&["--attach"]), attach(None, true));
        assert_eq!(parsed(&["--attach=x", "--no-start"]), attach(Some("x"), false));
        assert_eq!(parsed(&["--list", "--json"]), Some(Ok(ServerMode::List { json: true })));
        assert_eq!(parsed(&["--stop=all"]), Some(Ok(ServerMode::Stop(Which::All))));
        assert_eq!(parsed(&["--stop=x"]), Some(Ok(ServerMode::Stop(Which::One(SessionId::new("x"))))));
        assert_eq!(parsed(&["--remove=x"]), Some(Ok(ServerMode::Remove(SessionId::new("x")))));
    }

    #[test]
    fn what_is_missing_or_does_not_belong_is_named() {
        let no_value = |name: &str| Some(Err(Problem::NoValue(name.to_owned())));
        let unknown = |name: &str| Some(Err(Problem::UnknownOption(name.to_owned())));
        assert_eq!(parsed(&["--stop"]), no_value("--stop"));
        assert_eq!(parsed(&["--remove="]), no_value("--remove"));
        assert_eq!(parsed(&["--attach="]), no_value("--attach"));
        assert_eq!(parsed(&["--serve", "--idle"]), no_value("--idle"));
        assert_eq!(parsed(&["--serve", "--no-start"]), unknown("--no-start"));
        assert_eq!(parsed(&["--list", "--idle=1"]), unknown("--idle"));
        for idle in ["x", "-1", "inf", "1e300"] {
            assert_eq!(
                parsed(&["--serve", &format!("--idle={idle}")]),
                Some(Err(Problem::BadIdle(idle.into())))
            );
        }
    }
}
