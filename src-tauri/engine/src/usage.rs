//! What sessions cost, as a table: by session, day, model and project, from their ledgers.

use crate::api::{SessionId, Tokens, UsageRow, UsageView};
use crate::ledger::Tally;
use crate::store::{Record, SavedRecords};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

/// The column that the sums are made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// One row for each session, day and model.
    All,
    Session,
    Day,
    Model,
    Project,
}

impl By {
    /// The rows as CSV (RFC 4180), with the names of the columns first.
    pub fn csv(rows: &[UsageRow]) -> String {
        let mut text = "day,project,session,title,model,turns,cost_usd,input_tokens,output_tokens,\
                        cache_read_tokens,cache_write_tokens\r\n"
            .to_owned();
        for row in rows {
            let session = row.session_id.as_ref().map(SessionId::to_string);
            let words = [&row.day, &row.project, &session, &row.title, &row.model];
            let mut cells: Vec<String> =
                words.into_iter().map(|word| cell(word.as_deref().unwrap_or_default())).collect();
            cells.extend([row.turns.to_string(), row.cost.clone()]);
            let tokens = [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens];
            cells.extend(tokens.map(|n| n.to_string()));
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

impl std::str::FromStr for By {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "all" => Self::All,
            "session" => Self::Session,
            "day" => Self::Day,
            "model" => Self::Model,
            "project" => Self::Project,
            _ => return Err(name.escape_debug().take(60).collect()),
        })
    }
}

/// The columns that are not summed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    day: Option<String>,
    project: Option<String>,
    session_id: Option<String>,
    title: Option<String>,
    model: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    turns: u64,
    tally: Tally,
}

type Sums = BTreeMap<Key, Sum>;

impl SavedRecords {
    /// The usage page of one project, or of all.
    pub fn usage_page(&self, project: Option<&Path>) -> UsageView {
        view(&self.records, project, self.unreadable.len())
    }

    /// Sums of the sessions, of one project if it is given; sorted by day, project, session and model.
    pub fn usage_table(&self, project: Option<&Path>, by: By) -> Vec<UsageRow> {
        table(&self.records, project, by)
    }
}

fn table(records: &[Record], project: Option<&Path>, by: By) -> Vec<UsageRow> {
    sums(records, project, by).into_iter().map(row).collect()
}

fn sums(records: &[Record], project: Option<&Path>, by: By) -> Sums {
    let mut sums = Sums::new();
    let is_by = |column| by == By::All || by == column;
    for record in records.iter().filter(|record| project.is_none_or(|project| record.project == project)) {
        let session = Key {
            project: (is_by(By::Project) || by == By::Session).then(|| record.project.display().to_string()),
            session_id: is_by(By::Session).then(|| record.id.to_string()),
            title: record.memory.title.clone().filter(|_| is_by(By::Session)),
            ..Key::default()
        };
        let ledger = record.memory.ledger.clone().or_earlier(record.memory.cost_usd);
        for entry in ledger.entries() {
            let key = Key {
                day: entry.day.clone().filter(|_| is_by(By::Day)),
                model: is_by(By::Model).then(|| entry.model.clone()),
                ..session.clone()
            };
            let sum = sums.entry(key).or_default();
            sum.turns += entry.turns;
            sum.tally = sum.tally.plus(Tally { cost: entry.cost, tokens: entry.tokens });
        }
    }
    sums
}

fn row((key, sum): (Key, Sum)) -> UsageRow {
    let Tokens { input, output, cache_read, cache_write } = sum.tally.tokens;
    UsageRow {
        day: key.day,
        project: key.project,
        session_id: key.session_id.map(SessionId::new),
        title: key.title,
        model: key.model,
        turns: sum.turns,
        cost: sum.tally.cost.decimal(),
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
    }
}

/// Days of the usage page.
const MOST_DAYS: usize = 366;

/// Rows of each other list of the usage page.
const MOST_ROWS: usize = 200;

/// `n_unreadable`: session files that could not be read.
fn view(records: &[Record], project: Option<&Path>, n_unreadable: usize) -> UsageView {
    let most_expensive = |sums: Sums| -> Vec<UsageRow> {
        let mut sums: Vec<(Key, Sum)> = sums.into_iter().collect();
        sums.sort_by_key(|(_, sum)| Reverse(sum.tally.cost));
        sums.into_iter().take(MOST_ROWS).map(row).collect()
    };
    let by_model = sums(records, project, By::Model);
    let total = by_model.values().fold(Sum::default(), |total, sum| Sum {
        turns: total.turns + sum.turns,
        tally: total.tally.plus(sum.tally),
    });
    let mut days = table(records, project, By::Day);
    days.retain(|row| row.day.is_some());
    let days = days.split_off(days.len().saturating_sub(MOST_DAYS));
    let by_session = sums(records, project, By::Session);
    UsageView {
        total: row((Key::default(), total)),
        days,
        models: most_expensive(by_model),
        projects: most_expensive(sums(records, project, By::Project)),
        n_sessions: by_session.len() as u64,
        sessions: most_expensive(by_session),
        n_unreadable: n_unreadable as u64,
    }
}

/// One cell. A spreadsheet takes a text that begins with `=`, `+`, `-` or `@` for a formula, and an agent can give a
/// session its title: such a text gets an apostrophe.
fn cell(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let text = format!("{mark}{text}");
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::AgentKind;
    use crate::ledger::{Ledger, Money};
    use crate::store::SavedSession;

    fn record(id: &str, project: &str, turns: &[(&str, &str, f64)]) -> Record {
        let mut ledger = Ledger::default();
        for (day, model, dollars) in turns {
            let tokens = Tokens { input: 1, output: 2, cache_read: 3, cache_write: 4 };
            ledger.add_turn(day, model, Tally { cost: Money::from_dollars(*dollars).unwrap(), tokens });
        }
        let title = Some(format!("=title, {id}"));
        let memory = SavedSession { ledger, title, ..SavedSession::default() };
        let (id, project) = (SessionId::new(id), project.into());
        Record { id, project, agent: AgentKind::Demo, created_at: 0, changed_at: 0, memory }
    }

    fn records() -> [Record; 2] {
        let first =
            [("2026-11-21", "opus", 0.1), ("2026-11-22", "opus", 0.2), ("2026-11-22", "haiku", 0.000_000_4)];
        let second = [("2026-11-22", "opus", 0.3), ("2026-11-22", "opus", 0.4)];
        [record("a", "/x", &first), record("b", "/y", &second)]
    }

    /// A row as its columns, its cost, its turns and its tokens that were written to a cache.
    fn short(row: &UsageRow) -> String {
        let id = row.session_id.as_ref().map(SessionId::to_string);
        let names: Vec<&str> = [&row.project, &row.day, &id, &row.model]
            .into_iter()
            .filter_map(|name| name.as_deref())
            .collect();
        format!("{}: {} {} {}", names.join(" "), row.cost, row.turns, row.cache_write_tokens)
    }

    #[test]
    fn every_sum_has_every_digit() {
        let sums = |by| -> Vec<String> { table(&records(), None, by).iter().map(short).collect::<Vec<_>>() };
        assert_eq!(sums(By::Day), ["2026-11-21: 0.1 1 4", "2026-11-22: 0.9000004 4 16"]);
        assert_eq!(sums(By::Model), ["haiku: 0.0000004 1 4", "opus: 1 4 16"]);
        assert_eq!(sums(By::Project), ["/x: 0.3000004 3 12", "/y: 0.7 2 8"]);
        assert_eq!(sums(By::Session), ["/x a: 0.3000004 3 12", "/y b: 0.7 2 8"]);
        assert_eq!(sums(By::All).len(), 4);
    }

    #[test]
    fn a_session_of_an_earlier_version_has_its_cost_without_a_day() {
        let mut old = record("old", "/x", &[]);
        old.memory.cost_usd = 0.25;
        let [row] = table(&[old], None, By::All).try_into().unwrap();
        assert_eq!((row.day.clone(), short(&row)), (None, "/x old : 0.25 0 0".to_owned()));
    }

    #[test]
    fn the_page_has_the_total_and_the_most_expensive_first() {
        let page = view(&records(), None, 1);
        assert_eq!(short(&page.total), ": 1.0000004 5 20");
        let shown: Vec<String> = [&page.days, &page.models, &page.projects, &page.sessions]
            .into_iter()
            .flatten()
            .map(short)
            .collect();
        assert_eq!(
            shown,
            [
                "2026-11-21: 0.1 1 4",
                "2026-11-22: 0.9000004 4 16",
                "opus: 1 4 16",
                "haiku: 0.0000004 1 4",
                "/y: 0.7 2 8",
                "/x: 0.3000004 3 12",
                "/y b: 0.7 2 8",
                "/x a: 0.3000004 3 12"
            ]
        );
        assert_eq!((page.n_sessions, page.n_unreadable), (2, 1));
        assert_eq!(view(&records(), Some(Path::new("/x")), 0).total.cost, "0.3000004");
        assert_eq!(view(&[], None, 0), UsageView { total: row(Default::default()), ..UsageView::default() });
    }

    #[test]
    fn ten_thousand_sessions_make_a_short_page() {
        let records: Vec<Record> = (0..10_000_u32)
            .map(|nr| {
                let day = crate::ledger::day(u64::from(nr) * 86_400_000);
                record(&nr.to_string(), &format!("/{}", nr % 500), &[(&day, "opus", f64::from(nr) / 100.0)])
            })
            .collect();
        let page = view(&records, None, 0);
        assert_eq!((page.days.len(), page.projects.len(), page.sessions.len()), (MOST_DAYS, 200, 200));
        assert_eq!((page.n_sessions, page.total.cost.as_str()), (10_000, "499950"));
        assert_eq!(page.sessions[0].cost, "99.99");
        assert_eq!(page.days.last().unwrap().cost, "99.99", "the last days");
    }

    #[test]
    fn a_project_is_chosen_and_csv_is_plain_text() {
        let rows = table(&records(), Some(Path::new("/y")), By::All);
        let text = By::csv(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "2026-11-22,/y,b,\"'=title, b\",opus,2,0.7,2,4,6,8");
    }
}
