//! The run token in a process's environment. macOS has a way of its own (`macos`).
//!
//! On Linux an empty environment proves nothing: while a process executes a program, `/proc/<pid>/environ` is empty from the
//! moment the old memory is gone until the new stack is set up. `spawn` returns in that window, because the kernel
//! closes its close-on-exec pipe first. Linux 6.18, two busy cores: 23 of 5,000 new processes were read as empty.

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
    /// The process has ended, belongs to another user, or has no token.
    None,
    Token(Vec<u8>),
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
            Look::None => return None,
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
    // Read before the environment: if memory for it is set at this point, an empty environment is final.
    let before = Stat::of(pid);
    match super::proc_bytes(&format!("/proc/{pid}/environ")) {
        Err(_) => Look::None,
        Ok(environment) if !environment.is_empty() => token_in(&environment).map_or(Look::None, Look::Token),
        Ok(_) => match before {
            Some(stat) if !stat.is_dead && !stat.is_kernel_thread && !stat.has_environment => Look::Executing,
            _ => Look::None,
        },
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
        let mut n_empty = 0;
        for round in 0..1_000 {
            let child = started(Command::new("cat").env(Launch::RUN_TOKEN, "run.1"));
            n_empty +=
                usize::from(std::fs::read(format!("/proc/{}/environ", child.id())).unwrap().is_empty());
            let found = of(child.id());
            end(child);
            assert_eq!(found.as_deref(), Some(&b"run.1"[..]), "round {round}, {n_empty} were read as empty");
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
        while Stat::of(child.id()).is_some_and(|stat| !stat.has_environment) && begun.elapsed() < EXEC_TIMEOUT
        {
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
