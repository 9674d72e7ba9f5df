//! The processes of a run, found by a mark in their environment, which every descendant inherits.

use std::path::PathBuf;
use std::{fs, io};

use rustix::process::{Pid, Signal, getpriority_process, kill_process};

/// The policies for real-time work, as `/proc` shows them.
const SCHED_FIFO: &str = "1";
const SCHED_RR: &str = "2";

/// A process as `/proc` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    /// Its program file; empty if that cannot be read.
    pub program: PathBuf,
    /// Its command line, the arguments separated by spaces.
    pub command_line: String,
}

impl Process {
    /// Its memory in KiB; what it shares with others counts in part. 0 if it has ended.
    pub fn memory(&self) -> u64 {
        self.kibibytes("Pss:")
    }

    /// Its memory in KiB with all that it shares, so that the ends of others do not change it. 0 if it has ended.
    pub fn resident_memory(&self) -> u64 {
        self.kibibytes("Rss:")
    }

    fn kibibytes(&self, what: &str) -> u64 {
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix(what));
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or_default()
    }

    /// Its niceness, from -20 to 19.
    pub fn niceness(&self) -> io::Result<i32> {
        Ok(getpriority_process(Some(self.id()))?)
    }

    /// The names of its threads, and whether each has a policy for real-time work.
    pub fn threads(&self) -> io::Result<Vec<(String, bool)>> {
        let mut threads = Vec::new();
        for thread in fs::read_dir(format!("/proc/{}/task", self.pid))? {
            let folder = thread?.path();
            // It may end meanwhile.
            let Ok(stat) = fs::read_to_string(folder.join("stat")) else { continue };
            let Some((name, fields)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") "))
            else {
                return Err(io::Error::other(format!("unexpected: {stat}")));
            };
            // proc_pid_stat(5): the policy is field 41, and `fields` begins with field 3.
            let policy = fields.split(' ').nth(38).unwrap_or_default();
            threads.push((name.to_owned(), [SCHED_FIFO, SCHED_RR].contains(&policy)));
        }
        Ok(threads)
    }

    /// Sends it SIGTERM.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Sends it SIGHUP, as the end of the desktop's session does.
    pub fn hang_up(&self) -> io::Result<()> {
        self.signal(Signal::HUP)
    }

    /// Sends it SIGKILL.
    pub fn kill(&self) -> io::Result<()> {
        self.signal(Signal::KILL)
    }

    /// Stops the process, so that it hangs until it is continued.
    pub fn stop(&self) -> io::Result<()> {
        self.signal(Signal::STOP)
    }

    /// Continues it.
    pub fn resume(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(self.id(), signal)?)
    }

    fn id(&self) -> Pid {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw).expect("a process has a pid")
    }
}

/// Every living process whose environment has `name=value`.
pub fn processes_with(name: &str, value: &str) -> Vec<Process> {
    let mark = format!("{name}={value}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| read(pid, &mark))
        .collect()
}

fn read(pid: u32, mark: &str) -> Option<Process> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|&byte| byte == 0).find(|entry| *entry == mark.as_bytes())?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses can contain spaces and parentheses: the fields begin after the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let command_line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let command_line = command_line
        .split(|&byte| byte == 0)
        .filter(|argument| !argument.is_empty())
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect::<Vec<_>>()
        .join(" ");
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    Some(Process { pid, parent, program, command_line })
}
