//! The query language of the search: words, "phrases", `tool:`, `file:`, `after:` and `before:`.
//!
//! Every word has to be in one item. A quotation mark inside a phrase is written `\"`. An unfinished query is valid,
//! because results appear while the user types: a phrase without its end is a phrase, and a filter without a value
//! filters nothing.

use time::{Date, Duration, Month, OffsetDateTime, UtcOffset};

/// Maximum number of characters of a query.
pub const LONGEST_QUERY: usize = 1_000;

/// Maximum number of words and phrases.
const MOST_WORDS: usize = 16;

/// A parsed query. Texts are compared without case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases. All of them have to be in one item.
    pub words: Vec<String>,
    /// Parts of a tool's name; one of them has to fit.
    pub tools: Vec<String>,
    /// Parts of a path that a tool call names; one of them has to fit.
    pub files: Vec<String>,
    /// Only items from this time on, in milliseconds since the epoch.
    pub after: Option<u64>,
    /// Only items before this time.
    pub before: Option<u64>,
}

/// A query that is not searched. The text completes the search panel's line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryProblem {
    #[error("Type a word to search for.")]
    Empty,
    #[error("The query is too long: at most {LONGEST_QUERY} characters and {MOST_WORDS} words.")]
    TooLong,
    #[error(
        "“{0}” is not a date. Use a date such as 2026-11-22, 2026-11, today, yesterday, or an age such as 7d."
    )]
    BadDate(String),
}

/// The time zone and the present of the user, for dates in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Today {
    /// Milliseconds since the epoch.
    pub now: u64,
    /// Difference between local time and UTC, east is positive.
    pub utc_offset_minutes: i32,
}

impl Today {
    /// A time, in milliseconds since the epoch, as text: `2026-11-22 14:30 UTC`.
    pub fn utc(at: u64) -> String {
        let Ok(at) = OffsetDateTime::from_unix_timestamp_nanos(i128::from(at) * 1_000_000) else {
            // After the year 9999.
            return "at an unknown time".to_owned();
        };
        let (date, hour, minute) = (at.date(), at.hour(), at.minute());
        format!("{}-{:02}-{:02} {hour:02}:{minute:02} UTC", date.year(), u8::from(date.month()), date.day())
    }
}

impl Query {
    /// Parses a query.
    pub fn parse(text: &str, today: Today) -> Result<Self, QueryProblem> {
        if text.chars().count() > LONGEST_QUERY {
            return Err(QueryProblem::TooLong);
        }
        let mut query = Self::default();
        for token in tokens(text) {
            let Token { filter, value } = token;
            if value.is_empty() {
                continue;
            }
            match filter {
                None => query.words.push(value),
                Some(Filter::Tool) => query.tools.push(value),
                Some(Filter::File) => query.files.push(value),
                Some(Filter::After) => query.after = Some(moment(&value, today)?),
                Some(Filter::Before) => query.before = Some(moment(&value, today)?),
            }
        }
        if query.words.len() + query.tools.len() + query.files.len() > MOST_WORDS {
            return Err(QueryProblem::TooLong);
        }
        if query.words.is_empty() && query.tools.is_empty() && query.files.is_empty() {
            return Err(QueryProblem::Empty);
        }
        Ok(query)
    }

    /// Whether only tool calls fit.
    pub fn wants_calls(&self) -> bool {
        !self.tools.is_empty() || !self.files.is_empty()
    }

    /// Whether the filters allow a call of this tool that names these files.
    pub(super) fn allows(&self, tool: &str, files: &[String]) -> bool {
        let has = |text: &str, part: &String| text.to_lowercase().contains(&part.to_lowercase());
        let tool_fits = self.tools.is_empty() || self.tools.iter().any(|part| has(tool, part));
        let file_fits = self.files.is_empty()
            || files.iter().any(|file| self.files.iter().any(|part| has(&file.replace('\\', "/"), part)));
        tool_fits && file_fits
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    Tool,
    File,
    After,
    Before,
}

const FILTERS: [(&str, Filter); 4] = [
    ("tool:", Filter::Tool),
    ("file:", Filter::File),
    ("after:", Filter::After),
    ("before:", Filter::Before),
];

struct Token {
    filter: Option<Filter>,
    value: String,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let has = |name: &str| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let named = FILTERS.iter().find(|(name, _)| has(name));
        let filter = named.map(|(_, filter)| *filter);
        let value = &rest[named.map_or(0, |(name, _)| name.len())..];
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => phrase(quoted),
            None => {
                let end = value.find(char::is_whitespace).unwrap_or(value.len());
                (value[..end].to_owned(), &value[end..])
            }
        };
        tokens.push(Token { filter, value });
        rest = behind.trim_start();
    }
    tokens
}

/// Reads a phrase after its first quotation mark; returns it and the text after it. A lone mark is searched itself.
fn phrase(text: &str) -> (String, &str) {
    if text.trim().is_empty() {
        return ("\"".to_owned(), "");
    }
    let mut value = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some((_, next @ ('"' | '\\')))) => {
                value.push(*next);
                chars.next();
            }
            ('"', _) => return (value.trim().to_owned(), &text[at + 1..]),
            _ => value.push(c),
        }
    }
    (value.trim().to_owned(), "")
}

/// The beginning of a day, month or year, or a moment.
fn moment(text: &str, today: Today) -> Result<u64, QueryProblem> {
    let bad = || QueryProblem::BadDate(text.to_owned());
    let offset =
        UtcOffset::from_whole_seconds(today.utc_offset_minutes.saturating_mul(60)).map_err(|_| bad())?;
    let now = i128::from(today.now) * 1_000_000;
    let now = OffsetDateTime::from_unix_timestamp_nanos(now).map_err(|_| bad())?;
    // In the user's time zone it may be after the year 9999.
    let now = now.checked_to_offset(offset).ok_or_else(bad)?;
    let at = at(text, now).ok_or_else(bad)?;
    u64::try_from(at.unix_timestamp_nanos() / 1_000_000).map_err(|_| bad())
}

fn at(text: &str, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let midnight = |date: Date| date.midnight().assume_offset(now.offset());
    match text.to_ascii_lowercase().as_str() {
        "today" => return Some(midnight(now.date())),
        "yesterday" => return now.date().previous_day().map(midnight),
        age if age.ends_with(['h', 'd', 'w']) => {
            let count: u32 = age[..age.len() - 1].parse().ok()?;
            let hours = match age.as_bytes().last() {
                Some(b'h') => 1,
                Some(b'd') => 24,
                _ => 24 * 7,
            };
            return now.checked_sub(Duration::hours(i64::from(count) * hours));
        }
        _ => {}
    }
    if text.contains('T') {
        return OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).ok();
    }
    let mut parts = text.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<u16>().ok()).flatten()
    };
    let year = number(4)?;
    let is_whole = |n: usize| text.len() == [4, 7, 10][n];
    let month = if is_whole(0) { 1 } else { number(2)? };
    let day = if is_whole(0) || is_whole(1) { 1 } else { number(2)? };
    if parts.next().is_some() {
        return None;
    }
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(i32::from(year), month, u8::try_from(day).ok()?).ok().map(midnight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-11-22 14:30 UTC.
    const TODAY: Today = Today { now: 1_795_357_800_000, utc_offset_minutes: 0 };
    const DAY: u64 = 24 * 60 * 60 * 1000;

    fn parse(text: &str) -> Result<Query, QueryProblem> {
        Query::parse(text, TODAY)
    }

    #[test]
    fn words_phrases_and_filters_are_separated() {
        let words = |list: &[&str]| Query { words: strings(list), ..Query::default() };
        fn strings(list: &[&str]) -> Vec<String> {
            list.iter().map(|text| (*text).to_owned()).collect()
        }
        let table = [
            ("fix the login", words(&["fix", "the", "login"])),
            ("  fix\tlogin \n", words(&["fix", "login"])),
            (r#""fix the" login"#, words(&["fix the", "login"])),
            // As it is typed.
            (r#""fix the"#, words(&["fix the"])),
            (r#"""#, words(&["\""])),
            (r#"a """#, words(&["a"])),
            (r#""say \"hi\" \\ \n""#, words(&[r#"say "hi" \ \n"#])),
            (r#"say"hi""#, words(&[r#"say"hi""#])),
            ("http://a?b=c", words(&["http://a?b=c"])),
            ("tools: a", words(&["tools:", "a"])),
            (r#""tool:Bash""#, words(&["tool:Bash"])),
            ("ü 界 😀", words(&["ü", "界", "😀"])),
            ("tool:Bash x", Query { tools: strings(&["Bash"]), ..words(&["x"]) }),
            ("TOOL:a tool:b", Query { tools: strings(&["a", "b"]), ..Query::default() }),
            ("tool: x before:", words(&["x"])),
            (r#"file:"my file.rs""#, Query { files: strings(&["my file.rs"]), ..Query::default() }),
            ("x file:src/a.rs", Query { files: strings(&["src/a.rs"]), ..words(&["x"]) }),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn dates_are_days_of_the_user() {
        let midnight = 1_795_305_600_000;
        let after = |text: &str| parse(&format!("x after:{text}")).unwrap().after.unwrap();
        assert_eq!(after("2026-11-22"), midnight);
        assert_eq!(after("today"), midnight);
        assert_eq!(after("Yesterday"), midnight - DAY);
        assert_eq!(after("2026-11"), midnight - 21 * DAY);
        assert_eq!(after("2026"), 1_767_225_600_000);
        assert_eq!(after("7d"), TODAY.now - 7 * DAY);
        assert_eq!(after("2w"), TODAY.now - 14 * DAY);
        assert_eq!(after("12h"), TODAY.now - DAY / 2);
        assert_eq!(after("2026-11-22T01:00:00+01:00"), midnight);
        let east = Today { utc_offset_minutes: 120, ..TODAY };
        let before = Query::parse("x before:2026-11-22", east).unwrap().before;
        assert_eq!(before, Some(midnight - DAY / 12));
        for bad in
            ["x", "2026-13", "2026-02-30", "2026-1-1", "26", "2026-11-22-1", "-1d", "99999999999d", "d"]
        {
            let problem = parse(&format!("x before:{bad}")).unwrap_err();
            assert_eq!(problem, QueryProblem::BadDate(bad.to_owned()));
        }
    }

    #[test]
    fn a_query_without_words_is_not_searched() {
        for text in ["", "  ", "after:2026", "tool:", r#""""#] {
            assert_eq!(parse(text), Err(QueryProblem::Empty), "{text}");
        }
        assert_eq!(parse(&"a ".repeat(MOST_WORDS + 1)), Err(QueryProblem::TooLong));
        assert_eq!(parse(&"a".repeat(LONGEST_QUERY + 1)), Err(QueryProblem::TooLong));
    }

    #[test]
    fn a_clock_beyond_all_dates_is_a_bad_date() {
        // 9999-12-31, 23:59:59 UTC.
        let now = 253_402_300_799_000;
        for (utc_offset_minutes, is_date) in [(0, true), (-60, true), (60, false)] {
            let parsed = Query::parse("x after:today", Today { now, utc_offset_minutes });
            assert_eq!(parsed.is_ok(), is_date, "{utc_offset_minutes}");
        }
        assert!(Query::parse("x after:1h", Today { now: u64::MAX, utc_offset_minutes: 0 }).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_query_or_a_problem(
            text in r#"([a-zü "\\:]|tool:|file:|after:|before:|[0-9-]|\PC){0,40}"#,
            now in any::<u64>(),
            utc_offset_minutes in any::<i32>(),
        ) {
            let today = Today { now, utc_offset_minutes };
            if let Ok(query) = Query::parse(&text, today) {
                prop_assert!(query.words.iter().chain(&query.tools).chain(&query.files).all(|word| !word.is_empty()));
            }
        }
    }
}
