//! The TCP ports on which processes with a run token listen (Linux).

use super::{pids, proc_text, token};
use crate::disk;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Open files of a process that are looked at.
const MOST_OPEN: usize = 100_000;

/// `st` of a listening socket in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The addresses on which the processes with this run token listen now.
pub fn of(run_token: &str) -> BTreeSet<SocketAddr> {
    let is_ours = |pid: &u32| token::of(*pid).is_some_and(|token| token == run_token.as_bytes());
    pids().into_iter().filter(is_ours).flat_map(of_process).collect()
}

fn of_process(pid: u32) -> Vec<SocketAddr> {
    let inodes = sockets(pid);
    if inodes.is_empty() {
        return Vec::new();
    }
    // The tables of the process: it may be in a network namespace of its own.
    let tables = ["tcp", "tcp6"].map(|table| proc_text(&format!("/proc/{pid}/net/{table}")));
    let lines = tables.iter().flatten().flat_map(|table| table.lines());
    lines.filter_map(listening).filter(|(_, inode)| inodes.contains(inode)).map(|(at, _)| at).collect()
}

/// The inodes of the sockets that a process has open. A process that ended has none.
fn sockets(pid: u32) -> BTreeSet<u64> {
    let open = disk::list(Path::new(&format!("/proc/{pid}/fd")), MOST_OPEN).unwrap_or_default();
    let inode = |fd: &PathBuf| {
        let link = std::fs::read_link(fd).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
    };
    open.paths.iter().filter_map(inode).collect()
}

/// The address and the inode of a line of the table, if the socket listens.
fn listening(line: &str) -> Option<(SocketAddr, u64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    (*state == LISTENS).then_some(())?;
    let (ip, port) = local.split_once(':')?;
    Some((SocketAddr::new(address(ip)?, u16::from_str_radix(port, 16).ok()?), inode.parse().ok()?))
}

/// An address as the kernel prints it: words of 32 bits in the order of the machine.
fn address(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hex.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let mut bytes = [0; 16];
            for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(at)?);
            }
            Some(IpAddr::V6(Ipv6Addr::from(bytes)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_ports_of_this_process_are_found_until_they_are_closed() {
        let four = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bound = vec![four.local_addr().unwrap()];
        // Not every machine has IPv6.
        let six = TcpListener::bind("[::1]:0").ok();
        bound.extend(six.as_ref().map(|six| six.local_addr().unwrap()));
        let found = of_process(std::process::id());
        assert!(bound.iter().all(|at| found.contains(at)), "{bound:?} are not in {found:?}");
        drop((four, six));
        let found = of_process(std::process::id());
        assert!(!bound.iter().any(|at| found.contains(at)), "{bound:?} are closed, but in {found:?}");
    }

    #[test]
    fn only_sockets_that_listen_are_ports() {
        let line = |local: &str, state: &str| {
            format!(
                "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0"
            )
        };
        let listens = listening(&line("0100007F:1000", LISTENS));
        assert_eq!(listens, Some(("127.0.0.1:4096".parse().unwrap(), 4711)));
        let all = listening(&line("00000000000000000000000000000000:0050", LISTENS));
        assert_eq!(all, Some(("[::]:80".parse().unwrap(), 4711)));
        let own = listening(&line("00000000000000000000000001000000:0050", LISTENS));
        assert_eq!(own, Some(("[::1]:80".parse().unwrap(), 4711)));
        assert_eq!(listening(&line("0100007F:1000", "01")), None, "a connection");
        for broken in [
            "",
            "  sl  local_address rem_address   st",
            &line("0100007F", LISTENS),
            &line("01:1000", LISTENS),
        ] {
            assert_eq!(listening(broken), None, "{broken}");
        }
    }
}
