//! Starting a program as `vfork` does: until it executes the program, the child uses the memory of this process.
//!
//! The standard library forks as soon as something is to be done between fork and exec, here the parent-death signal. A fork
//! copies the tables of all memory, and no other thread may change them meanwhile: 46 ms of a processor in an app with 1 GB
//! (Linux 6.18), and a window that waits. `posix_spawn` of the C library has the same flags for `clone`, but sets no such
//! signal.

use super::child;
use crate::api::Priority;
use crate::host::Program;
use libc::{c_char, c_int, c_void};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::runtime::Handle;

/// For the few calls between `clone` and `execve`, in bytes.
const STACK: usize = 64 * 1024;

pub struct Started {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub child: Child,
}

/// A process that this one started; `None` once it is reaped. Dropped before its end, it is killed.
pub struct Child(Option<Living>);

struct Living {
    pid: Pid,
    /// Readable at its end.
    pidfd: AsyncFd<OwnedFd>,
}

impl Living {
    async fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            let mut ended = self.pidfd.ready(Interest::READABLE).await?;
            match waitpid(Some(self.pid), WaitOptions::NOHANG)? {
                Some((_, status)) => return Ok(ExitStatus::from_raw(status.as_raw())),
                None => ended.clear_ready(),
            }
        }
    }
}

impl Child {
    /// Its number, until it is reaped.
    pub fn id(&self) -> Option<u32> {
        self.0.as_ref().map(|living| living.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Waits for the end and reaps the process. To be called once.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let living = self.0.as_ref().ok_or_else(|| io::Error::other("the process was reaped"))?;
        let status = living.wait().await?;
        self.0 = None;
        Ok(status)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(living) = self.0.take() else { return };
        if let Err(error) = kill_process(living.pid, Signal::KILL) {
            tracing::warn!(%error, pid = ?living.pid, "could not kill a process");
        }
        // Without a runtime this process is about to end.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = living.wait().await {
                    tracing::warn!(%error, pid = ?living.pid, "could not reap a process");
                }
            });
        }
    }
}

/// What the child needs, in the memory of this process.
struct Plan {
    path: CString,
    folder: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// What becomes its standard input, output and error; each is more than 2.
    pipes: [RawFd; 3],
    parent: u32,
    is_low: bool,
    /// What failed, by the number of the system; 0 for nothing.
    failed: AtomicI32,
}

/// Starts a program with an absolute path, in a runtime. If this fails, the caller starts it in the usual way, for its errors and
/// for scripts without an interpreter.
pub fn start(program: &Program) -> io::Result<Started> {
    if !program.path.is_absolute() {
        return Err(io::Error::other("only an absolute path is executed"));
    }
    let [(stdin, own_stdin), (stdout, own_stdout), (stderr, own_stderr)] = pipes()?;
    let texts = |texts: &[&OsStr]| -> io::Result<CString> {
        let bytes: Vec<u8> = texts.iter().flat_map(|text| text.as_bytes()).copied().collect();
        CString::new(bytes).map_err(|_| io::Error::other("a zero in a text for the program"))
    };
    let path = texts(&[program.path.as_os_str()])?;
    let arguments = program.args.iter().map(|argument| texts(&[argument])).collect::<io::Result<Vec<_>>>()?;
    let environment = program.environment.iter().map(|(name, value)| texts(&[name, OsStr::new("="), value]));
    let environment = environment.collect::<io::Result<Vec<_>>>()?;
    let ended = |texts: &[CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let plan = Plan {
        arguments: [path.as_ptr()].into_iter().chain(ended(&arguments)).collect(),
        environment: ended(&environment),
        folder: texts(&[program.folder.as_os_str()])?,
        path,
        pipes: [&stdin, &stdout, &stderr].map(AsRawFd::as_raw_fd),
        parent: std::process::id(),
        is_low: program.priority == Priority::Low,
        failed: AtomicI32::new(0),
    };
    let pid = clone(&plan)?;
    let failed = plan.failed.load(Ordering::Relaxed);
    let living = match pidfd_open(pid, PidfdFlags::empty()) {
        // SAFETY: an `OwnedFd` always has the same descriptor, which is open as long as it lives.
        Ok(pidfd) if failed == 0 => unsafe {
            AsyncFd::register_with_interest(pidfd, Interest::READABLE).map_err(io::Error::from)
        },
        Ok(_) => Err(io::Error::from_raw_os_error(failed)),
        Err(error) => Err(error.into()),
    };
    let living = match living {
        Ok(pidfd) => Living { pid, pidfd },
        Err(error) => {
            // It has exited already, unless it cannot be watched.
            kill_process(pid, Signal::KILL)?;
            waitpid(Some(pid), WaitOptions::empty())?;
            return Err(error);
        }
    };
    Ok(Started {
        stdin: ChildStdin::from_std(own_stdin.into())?,
        stdout: ChildStdout::from_std(own_stdout.into())?,
        stderr: ChildStderr::from_std(own_stderr.into())?,
        child: Child(Some(living)),
    })
}

/// Three pipes: the end of the child, and that of this process. All are closed when a program is executed.
fn pipes() -> io::Result<[(OwnedFd, OwnedFd); 3]> {
    // `dup2` to the number that it has already would leave it closed when the program is executed.
    let apart = |fd: OwnedFd| -> io::Result<OwnedFd> { Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?) };
    let [stdin, stdout, stderr] = [io::pipe()?, io::pipe()?, io::pipe()?];
    Ok([
        (apart(stdin.0.into())?, stdin.1.into()),
        (apart(stdout.1.into())?, stdout.0.into()),
        (apart(stderr.1.into())?, stderr.0.into()),
    ])
}

/// Starts the child, and waits until it has executed the program or ended.
fn clone(plan: &Plan) -> io::Result<Pid> {
    let mut stack: Vec<u128> = vec![0; STACK / size_of::<u128>()];
    // SAFETY: sigset_t is a number of bits, for which zero is valid.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: the sets live until the calls return. A handler of this process must not run in the child, in this memory.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
    }
    // SAFETY: CLONE_VFORK keeps this thread, and so `plan` and `stack`, until the child no longer uses this memory. It runs on a
    // stack of its own, which grows down, and only makes system calls.
    let pid = unsafe {
        libc::clone(
            run,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            std::ptr::from_ref(plan).cast_mut().cast(),
        )
    };
    let error = io::Error::last_os_error();
    // SAFETY: the set was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut()) };
    Pid::from_raw(pid).filter(|_| pid > 0).ok_or(error)
}

/// The child.
extern "C" fn run(plan: *mut c_void) -> c_int {
    // SAFETY: `clone` passes a plan, which outlives this call.
    let plan = unsafe { &*plan.cast::<Plan>() };
    let error = execute(plan);
    plan.failed.store(error.raw_os_error().unwrap_or(libc::EINVAL), Ordering::Relaxed);
    // SAFETY: unlike `exit`, it runs no handler of the parent.
    unsafe { libc::_exit(127) }
}

/// Executes the program; returns only if that fails. It must not allocate: the memory is that of the parent, and nothing would
/// free it.
fn execute(plan: &Plan) -> io::Error {
    let last = io::Error::last_os_error;
    // SAFETY: all are system calls, which touch only local memory and the plan. The strings end with zero, the lists with null.
    unsafe {
        // The handlers are those of the parent. What is ignored stays ignored, except what Rust itself ignores.
        for signal in 1..=64 {
            let mut action: libc::sigaction = std::mem::zeroed();
            let is_known = libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0;
            let is_handled = ![libc::SIG_IGN, libc::SIG_DFL].contains(&action.sa_sigaction);
            if is_known && (is_handled || signal == libc::SIGPIPE) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        if libc::setpgid(0, 0) != 0 {
            return last();
        }
        if plan.is_low
            && let Err(error) = child::lower_priority()
        {
            return error;
        }
        if let Err(error) = child::die_with_parent(plan.parent) {
            return error;
        }
        if libc::chdir(plan.folder.as_ptr()) != 0 {
            return last();
        }
        for (own, pipe) in (0..).zip(plan.pipes) {
            if libc::dup2(pipe, own) == -1 {
                return last();
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, null_mut());
        libc::execve(plan.path.as_ptr(), plan.arguments.as_ptr(), plan.environment.as_ptr());
    }
    last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn program(path: impl AsRef<Path>, args: &[&str]) -> Program {
        Program {
            path: path.as_ref().to_owned(),
            args: args.iter().map(Into::into).collect(),
            folder: "/usr".into(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("KEY".into(), "a value = ü".into())],
            priority: Priority::Normal,
        }
    }

    /// All that a shell prints, and how it ends.
    async fn said(script: &str, input: &str) -> (String, String, ExitStatus) {
        let mut started = start(&program("/bin/sh", &["-c", script, "name", "an argument", ""])).unwrap();
        started.stdin.write_all(input.as_bytes()).await.unwrap();
        drop(started.stdin);
        let (mut out, mut err) = (String::new(), String::new());
        started.stdout.read_to_string(&mut out).await.unwrap();
        started.stderr.read_to_string(&mut err).await.unwrap();
        (out, err, started.child.wait().await.unwrap())
    }

    #[tokio::test]
    async fn a_program_gets_what_it_was_started_with() {
        let script = r#"cat; echo "$#:$1:$2:$KEY:$HOME:$PWD"; echo to the user >&2; exit 7"#;
        let (out, err, status) = said(script, "given\n").await;
        assert_eq!(out, "given\n2:an argument::a value = ü::/usr\n");
        assert_eq!((err.as_str(), status.code()), ("to the user\n", Some(7)));
    }

    #[tokio::test]
    async fn it_has_a_group_of_its_own_and_the_usual_signals() {
        let mut started = start(&program("/bin/cat", &["/proc/self/status"])).unwrap();
        let mut status = String::new();
        started.stdout.read_to_string(&mut status).await.unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_else(|| panic!("{name}: {status}")).trim()
        };
        assert_eq!(field("NSpgid"), started.child.id().unwrap().to_string());
        assert_eq!(u64::from_str_radix(field("SigBlk"), 16), Ok(0));
        // Rust ignores it in its own process.
        let ignored = u64::from_str_radix(field("SigIgn"), 16).unwrap();
        assert_eq!(ignored & (1 << (libc::SIGPIPE - 1)), 0, "{status}");
    }

    #[tokio::test]
    async fn it_has_the_files_that_it_would_have_otherwise() {
        let mut started = start(&program("/bin/ls", &["/proc/self/fd"])).unwrap();
        let mut files = String::new();
        started.stdout.read_to_string(&mut files).await.unwrap();
        let usual = std::process::Command::new("/bin/ls").arg("/proc/self/fd").output().unwrap();
        assert_eq!(files, String::from_utf8(usual.stdout).unwrap());
    }

    #[tokio::test]
    async fn what_cannot_be_executed_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        fs::write(&file, "echo without an interpreter").unwrap();
        let error = |program: &Program| start(program).map(|_| ()).unwrap_err().raw_os_error();
        assert_eq!(error(&program(&file, &[])), Some(libc::EACCES));
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(error(&program(&file, &[])), Some(libc::ENOEXEC));
        assert_eq!(error(&program(folder.path().join("none"), &[])), Some(libc::ENOENT));
        let lost = Program { folder: folder.path().join("none"), ..program("/bin/sh", &[]) };
        assert_eq!(error(&lost), Some(libc::ENOENT));
        assert!(start(&program("sh", &[])).is_err(), "another folder may have it");
        assert!(start(&program("/bin/sh", &["a\0b"])).is_err());
    }

    #[tokio::test]
    async fn it_is_killed_when_it_is_dropped() {
        let mut started = start(&program("/bin/sh", &["-c", "echo ready; exec sleep 600"])).unwrap();
        started.stdout.read_exact(&mut [0; 6]).await.unwrap();
        let pidfd = pidfd_open(started.child.0.as_ref().unwrap().pid, PidfdFlags::empty()).unwrap();
        drop(started);
        // SAFETY: an `OwnedFd` always has the same descriptor, which is open as long as it lives.
        let ended = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE).unwrap() };
        drop(ended.readable().await.unwrap());
    }
}
