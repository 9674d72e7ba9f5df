//! The environment of a process on macOS: `KERN_PROCARGS2`, which `ps -E` reads too. macOS leaves the environment of its own
//! programs out (those of `/bin` and `/usr/bin`), so a process of these has no token that could be read; it is ended with its
//! process group. It was compiled, and not run.

#[cfg(target_os = "macos")]
use super::{Look, token_in};

/// What the system gives, at most: arguments and environment of a process have 1 MiB together (`KERN_ARGMAX`).
#[cfg(target_os = "macos")]
const MOST: usize = (1 << 20) + (64 << 10);

/// A process that has ended, that another user has or that is just executing a program has none.
#[cfg(target_os = "macos")]
pub fn look(pid: u32) -> Look {
    let mut bytes = vec![0; MOST];
    let mut length = bytes.len();
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid as libc::c_int];
    // SAFETY: the name has three parts, and the buffer has the length that is given; the call writes how much it used.
    let failed = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            3,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    } != 0;
    if failed {
        return Look::None;
    }
    let environment = bytes.get(..length).and_then(environment_in);
    environment.and_then(token_in).map_or(Look::None, Look::Token)
}

/// Ids of all processes, unordered.
#[cfg(target_os = "macos")]
pub fn pids() -> Vec<u32> {
    // Processes can be started between the two calls.
    const MORE: usize = 256;
    // SAFETY: without a buffer it only returns how many processes there are.
    let n = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let mut pids = vec![0 as libc::pid_t; usize::try_from(n).unwrap_or_default() + MORE];
    let size = libc::c_int::try_from(size_of_val(pids.as_slice())).unwrap_or(libc::c_int::MAX);
    // SAFETY: the buffer has the size that is given.
    let n = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(n).unwrap_or_default());
    pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).collect()
}

/// The environment in what the system gives: the number of arguments, the path of the program with zeros after it, the
/// arguments, and the environment, each text with a zero at its end. An argument is never taken for a variable.
fn environment_in(bytes: &[u8]) -> Option<&[u8]> {
    let (n_arguments, rest) = bytes.split_first_chunk::<4>()?;
    let mut rest = after_text(rest)?;
    let padding = rest.iter().take_while(|byte| **byte == 0).count();
    rest = rest.get(padding..)?;
    for _ in 0..u32::from_ne_bytes(*n_arguments) {
        rest = after_text(rest)?;
    }
    Some(rest)
}

fn after_text(bytes: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(0, bytes)?;
    bytes.get(end + 1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(n_arguments: u32, text: &str) -> Vec<u8> {
        [&n_arguments.to_ne_bytes()[..], text.as_bytes()].concat()
    }

    #[test]
    fn the_environment_begins_after_the_arguments() {
        let bytes =
            given(3, "/usr/local/bin/node\0\0\0\0node\0--flag\0DESKBELL_RUN=argument\0A=1\0B=2\0\0ptr=0x1\0");
        assert_eq!(environment_in(&bytes), Some(&b"A=1\0B=2\0\0ptr=0x1\0"[..]));
        assert_eq!(environment_in(&given(1, "/a\0\0\0\0a\0")), Some(&b""[..]), "it is left out");
        // An empty argument is one.
        assert_eq!(environment_in(&given(2, "/a\0a\0\0A=1\0")), Some(&b"A=1\0"[..]));
    }

    #[test]
    fn what_is_cut_off_has_no_environment() {
        let bytes = given(2, "/a\0\0a\0b\0A=1\0");
        for length in 0..bytes.len() {
            let environment = environment_in(&bytes[..length]);
            assert!(environment.is_none_or(|found| b"A=1\0".starts_with(found)), "{length}: {environment:?}");
        }
        assert_eq!(environment_in(&given(u32::MAX, "/a\0a\0A=1\0")), None);
    }
}
