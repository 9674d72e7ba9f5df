//! The run token in a process's environment. macOS has a way of its own (`macos`).
//!
//! On Linux `/proc/<pid>/environ` of a process that is executing a program proves nothing without a token (seen with Linux
//! 6.18 beside busy processes):
//!
//! - While a child of this process still has the memory of this process, it shows this process's environment. `posix_spawn`
//!   may return that early.
//! - From the moment the old memory is gone until the new stack is set up, it is empty: 23 of 5,000 new processes. A spawn with
//!   fork returns in that window, because the kernel closes its close-on-exec pipe first.
//! - While the kernel counts the variables, the environment has an address already, and is still empty.

#[cfg(any(target_os = "macos", test))]
mod macos;

#[cfg(target_os = "linux")]
use super::identity::Stat;
use crate::launch::Launch;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
pub(super) use super::pids;
#[cfg(target_os = "macos")]
pub(super) use macos::{look, pids};

/// Wait this long for a process that is executing a program. The window lasts microseconds, and was once longer than 250 ms
/// on two cores with four busy processes each.
pub(super) const EXEC_TIMEOUT: Duration = Duration::from_secs(1);
/// Nothing reports the end of the window, so it is polled.
pub(super) const POLL: Duration = Duration::from_micros(200);

/// Result of one read of a process's environment.
pub(super) enum Look {
    /// The process has no token, or belongs to another user.
    None,
    Token(Vec<u8>),
    /// The process has ended, and its environment with it. Only Linux says so.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux says so"))]
    Ended,
    /// The process is executing a program; its environment is not available yet. Only Linux says so.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux says so"))]
    Executing,
}

/// The run token of a process; `None` if it has none.
pub fn of(pid: u32) -> Option<Vec<u8>> {
    let deadline = Instant::now() + EXEC_TIMEOUT;
    loop {
        match look(pid) {
            Look::Token(token) => return Some(token),
            Look::None | Look::Ended => return None,
            Look::Executing if Instant::now() >= deadline => {
                tracing::warn!(
                    pid,
                    "a process has been executing a program for too long to read its run token"
                );
                return None;
            }
            Look::Executing => std::thread::sleep(POLL),
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) fn look(pid: u32) -> Look {
    // Read before the environment, which is final if the process has its program at this point.
    let before = Stat::of(pid);
    let environment = super::proc_bytes(&format!("/proc/{pid}/environ")).unwrap_or_default();
    if let Some(token) = token_in(&environment) {
        return Look::Token(token);
    }
    // Without an environment it may also have ended since.
    let is_ended = || Stat::of(pid).is_none_or(|stat| stat.is_dead);
    match before {
        Some(stat) if stat.is_executing() => Look::Executing,
        _ if environment.is_empty() && is_ended() => Look::Ended,
        _ => Look::None,
    }
}

fn token_in(environment: &[u8]) -> Option<Vec<u8>> {
    let mut variables = environment.split(|byte| *byte == 0);
    let value = |variable: &[u8]| {
        variable.strip_prefix(Launch::RUN_TOKEN.as_bytes())?.strip_prefix(b"=").map(Vec::from)
    };
    variables.find_map(value)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn started(command: &mut Command) -> Child {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_has_its_token_from_its_first_moment() {
        // The kernel takes longer to count many variables.
        let many: Vec<(String, &str)> = (0..1_000).map(|nr| (format!("VARIABLE_{nr}"), "value")).collect();
        let mut n_executing = 0;
        for round in 0..1_000 {
            let child =
                started(Command::new("cat").envs(many.iter().cloned()).env(Launch::RUN_TOKEN, "run.1"));
            let begun = Instant::now();
            // Without pauses, so that each part of the start is seen.
            let found = loop {
                match look(child.id()) {
                    Look::Executing if begun.elapsed() < EXEC_TIMEOUT => n_executing += 1,
                    Look::Executing | Look::Ended | Look::None => break None,
                    Look::Token(token) => break Some(token),
                }
            };
            end(child);
            assert_eq!(found.as_deref(), Some(&b"run.1"[..]), "round {round}, {n_executing} reads too early");
        }
    }

    #[test]
    fn a_sweep_right_after_a_start_ends_what_was_started() {
        for round in 0..300 {
            let token = format!("{}.{round}", uuid::Uuid::new_v4());
            let mut child = started(Command::new("cat").env(Launch::RUN_TOKEN, &token));
            let n_swept = super::super::system::kill_tagged(&token);
            let ended = child.try_wait().unwrap().is_some() || n_swept > 0;
            end(child);
            assert!(ended, "round {round}: the process was missed");
        }
    }

    #[test]
    fn a_process_without_environment_is_not_waited_for() {
        let child = started(Command::new("cat").env_clear());
        let begun = Instant::now();
        while Stat::of(child.id()).is_some_and(|stat| stat.is_executing()) && begun.elapsed() < EXEC_TIMEOUT {
            std::thread::yield_now();
        }
        let begun = Instant::now();
        assert_eq!(of(child.id()), None);
        let took = begun.elapsed();
        end(child);
        assert!(took < EXEC_TIMEOUT, "{took:?}");
    }

    #[test]
    fn only_the_whole_name_counts() {
        let mark = Launch::RUN_TOKEN;
        let other = format!("X{mark}=a\0{mark}X=b\0A={mark}=c\0{mark}=run.7=x\0");
        assert_eq!(token_in(other.as_bytes()), Some(b"run.7=x".to_vec()));
        assert_eq!(token_in(b"A=1\0"), None);
    }
}
