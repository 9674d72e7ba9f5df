//! The date of a package: that of its source, so that two builds of one source are equal.

use std::env;
use std::process::Command;

use crate::Outcome;
use crate::command::{command, read};

/// Seconds since 1970: `SOURCE_DATE_EPOCH`, or the time of the last commit.
pub fn source_date() -> Outcome<u64> {
    let text = match env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => read(command("git").args(["log", "-1", "--format=%ct"]))
            .map_err(|error| format!("no SOURCE_DATE_EPOCH, and no commit with a date: {error}"))?,
    };
    text.parse().map_err(|_| format!("SOURCE_DATE_EPOCH is no number of seconds: {text}"))
}

/// Gives the command the date of the source.
pub fn dated(command: &mut Command, seconds: u64) -> &mut Command {
    command.env("SOURCE_DATE_EPOCH", seconds.to_string()).env("TZ", "UTC").env("LC_ALL", "C.UTF-8")
}

/// `2026-11-22`, in UTC.
pub fn iso(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `Sun, 22 Nov 2026 14:38:13 +0000`, as Debian's changelogs have it.
pub fn rfc_2822(seconds: u64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    // 1970 began on a Thursday.
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{}, {day:02} {} {year} {:02}:{:02}:{:02} +0000",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize - 1],
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Year, month and day of a day since 1970, counted in eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_that_of_its_second() {
        for (seconds, day, whole) in [
            (0, "1970-01-01", "Thu, 01 Jan 1970 00:00:00 +0000"),
            (951_782_400, "2000-02-29", "Tue, 29 Feb 2000 00:00:00 +0000"),
            (1_795_358_293, "2026-11-22", "Sun, 22 Nov 2026 14:38:13 +0000"),
            (4_102_444_799, "2099-12-31", "Thu, 31 Dec 2099 23:59:59 +0000"),
        ] {
            assert_eq!((iso(seconds).as_str(), rfc_2822(seconds).as_str()), (day, whole));
        }
    }
}
