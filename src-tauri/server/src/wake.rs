//! Wake-ups of the computer, seen by two clocks: the wall clock goes on while the computer sleeps, and the monotonic
//! clock does not. And changes of its network, seen by its routes.

/// A difference of the clocks that grew by less, in milliseconds, is an adjustment of the wall clock.
const SLEPT_MS: u64 = 5_000;

/// Compares the clocks at each call.
#[derive(Debug, Default)]
pub struct WakeWatch {
    /// The wall clock minus the monotonic clock, at the last call.
    offset: Option<u64>,
}

impl WakeWatch {
    /// How long the computer slept since the last call; `None` if it did not. All times are in milliseconds. A wall clock
    /// that was set forward by more than 5 s counts as a sleep, too.
    pub fn slept(&mut self, monotonic: u64, wall: u64) -> Option<u64> {
        let offset = wall.saturating_sub(monotonic);
        let before = self.offset.replace(offset)?;
        offset.checked_sub(before).filter(|slept| *slept >= SLEPT_MS)
    }
}

/// Compares the routes of the computer at each call.
#[derive(Debug, Default)]
pub struct NetworkWatch {
    routes: Option<Vec<String>>,
}

impl NetworkWatch {
    /// Whether there are routes that the last call did not have. `table` is `/proc/net/route` or one like it: a line for
    /// each route, with its interface, destination and gateway first. What is counted in later columns is left out. A
    /// network that only went away is no reason to try again.
    pub fn changed(&mut self, table: &str) -> bool {
        let route = |line: &str| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        let routes: Vec<String> = table.lines().skip(1).map(route).collect();
        let is_new = |before: &Vec<String>| routes.iter().any(|route| !before.contains(route));
        let changed = self.routes.as_ref().is_some_and(is_new);
        self.routes = Some(routes);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_route_is_a_change_of_the_network() {
        const HEAD: &str = "Iface Destination Gateway Flags RefCnt Use\n";
        let mut watch = NetworkWatch::default();
        let mut changed = |routes: &str| watch.changed(&format!("{HEAD}{routes}"));
        let home = "wlan0 00000000 0101A8C0 0003 0 0\nwlan0 0001A8C0 00000000 0001 0 0\n";
        assert!(!changed(home), "there is nothing to compare with");
        assert!(!changed(&home.replace("0003 0 0", "0003 5 7")), "these are counters");
        assert!(!changed(""), "the network went away");
        assert!(changed(home), "and came back");
        assert!(!changed(home));
        assert!(changed("wlan0 00000000 0100000A 0003 0 0\n"), "another one");
        assert!(changed(&format!("{home}tun0 0000000A 00000000 0001 0 0\n")), "a VPN");
        assert!(!watch.changed(""), "where there is no table");
    }

    #[test]
    fn only_a_wall_clock_that_went_on_alone_is_a_sleep() {
        let mut watch = WakeWatch::default();
        assert_eq!(watch.slept(10, 1_000_010), None, "there is nothing to compare with");
        assert_eq!(watch.slept(90_010, 1_090_010), None, "time passed");
        assert_eq!(watch.slept(91_010, 1_093_010), None, "the wall clock was adjusted");
        assert_eq!(watch.slept(92_010, 1_099_010), Some(5_000));
        assert_eq!(watch.slept(93_010, 1_100_010), None, "the same sleep is reported once");
        assert_eq!(watch.slept(94_010, 5), None, "the wall clock was set back");
        assert_eq!(watch.slept(95_010, 5), None);
    }
}
