//! The cost of an event in instructions, counted by callgrind, and in context switches. Instructions repeat within a
//! thousandth, however busy the machine; switches can only become fewer on a busy one, where events wait together.

use std::fs;

use crate::command::{command, find, read, run};
use crate::packages::Need;
use crate::scratch::Scratch;
use crate::{Outcome, project, system};

use super::{gates_program, path};

/// The maximum cost of an event as a multiple of the flat limit, for the reader alone and with the fold into items. They
/// are between the current results and the targets, see docs/performance.md.
struct Bound {
    kind: &'static str,
    /// Number of events that are counted. The first half is subtracted, together with everything before it.
    n: usize,
    reader: &'static str,
    most: f64,
}

const BOUNDS: [Bound; 3] = [
    Bound { kind: "small", n: 4_000, reader: "deskbell", most: 1.0 },
    Bound { kind: "small", n: 4_000, reader: "folded", most: 2.3 },
    Bound { kind: "large", n: 4, reader: "deskbell", most: 0.6 },
];

/// The maximum number of context switches per event of a whole session: how often one of our threads waits and is
/// woken. An event that arrives alone has to wake the session once, not a second thread.
struct Switches {
    pace: &'static str,
    n: usize,
    most: f64,
}

const SWITCHES: [Switches; 2] =
    [Switches { pace: "paced", n: 1_000, most: 1.5 }, Switches { pace: "flood", n: 20_000, most: 0.5 }];

/// Counts, prints the ratios, and fails if one is over its bound.
pub fn gate() -> Outcome {
    system::ensure(&[Need::Count])?;
    if find("valgrind").is_none() {
        return Err("valgrind was not found".to_owned());
    }
    run(&mut gates_program())?;
    let mut over = Vec::new();
    for Bound { kind, n, reader, most } in BOUNDS {
        let flat = instructions("flat", kind, n)?;
        let ours = instructions(reader, kind, n)?;
        let ratio = ours / flat;
        println!(
            "{kind} events, {reader}: {ours:.0} instructions, {ratio:.2} × the flat limit (at most {most})"
        );
        if ratio > most {
            over.push(format!(
                "{reader} of {kind} events costs {ratio:.2} × the flat limit, more than {most}"
            ));
        }
    }
    for Switches { pace, n, most } in SWITCHES {
        let text = read(command(path()).args(["switches", pace, &n.to_string()]))?;
        let switches: f64 = text.trim().parse().map_err(|_| format!("not a number of switches: {text}"))?;
        println!("{pace} events, a whole session: {switches:.2} context switches each (at most {most})");
        if switches > most {
            over.push(format!("{pace} events cost {switches:.2} context switches each, more than {most}"));
        }
    }
    if over.is_empty() { Ok(()) } else { Err(over.join("; ")) }
}

/// Instructions per event: the count for `n` events minus the count for half of them, without the cost of creating the
/// events.
fn instructions(reader: &str, kind: &str, n: usize) -> Outcome<f64> {
    let of = |reader: &str, n: usize| count(reader, kind, n);
    let (whole, half) = (of(reader, n)? - of("nothing", n)?, of(reader, n / 2)? - of("nothing", n / 2)?);
    Ok((whole - half) / (n - n / 2) as f64)
}

fn count(reader: &str, kind: &str, n: usize) -> Outcome<f64> {
    let scratch = Scratch::new()?;
    let out = scratch.path().join("out");
    let mut valgrind = command("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", out.display()));
    valgrind.arg(path()).args(["count", reader, kind, &n.to_string()]);
    read(&mut valgrind)?;
    let text = fs::read_to_string(&out).map_err(|error| format!("callgrind wrote nothing: {error}"))?;
    total(&text).ok_or_else(|| format!("callgrind reported no sum in {}", project::root().display()))
}

fn total(callgrind: &str) -> Option<f64> {
    let line =
        callgrind.lines().find_map(|line| line.strip_prefix("summary:").or(line.strip_prefix("totals:")))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_found() {
        assert_eq!(total("version: 1\nevents: Ir\nsummary: 1234\n\nfn=(0)\n"), Some(1234.0));
        assert_eq!(total("version: 1\n"), None);
    }
}
