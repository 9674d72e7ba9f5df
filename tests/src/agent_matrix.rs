//! The cases that the real programs of other agents are run through, and what each of them does in each case. The real
//! programs are compared with it (`tests/engine/real_agents.rs`), and the documentation has it as a table.

use deskbell_engine::acp::agents;

/// What an agent does in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Works,
    /// It works, in a way that its users should know.
    Differs(&'static str),
    /// The agent cannot. The words say what happens instead, and the user is shown that.
    Cannot(&'static str),
}

/// An agent, and the cases that do not simply work.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub id: &'static str,
    cells: &'static [(&'static str, Cell)],
}

pub const CASES: [&str; 11] = [
    "text",
    "thinking",
    "tool calls",
    "diff",
    "allow",
    "reject",
    "question",
    "cancel",
    "cancel while asking",
    "kill",
    "resume",
];

use Cell::{Cannot, Differs, Works};

const ENDS_THE_TURN: Cell = Differs("ends the turn");
const NO_TOOL: Cell = Cannot("it offers the model no tool for questions; the model asks in its answer");
/// Of Gemini CLI, after its process has ended.
const MAY_FORGET: Cell =
    Differs("it often does not find the conversation; the user reads that, and the prompt waits");

pub const MATRIX: [Row; 6] = [
    Row { id: "copilot", cells: &[("reject", ENDS_THE_TURN), ("question", NO_TOOL)] },
    Row {
        id: "codex",
        cells: &[
            ("reject", ENDS_THE_TURN),
            (
                "question",
                Cannot(
                    "its tool for questions is refused outside of its plan mode, and the model reads that",
                ),
            ),
        ],
    },
    Row { id: "gemini", cells: &[("question", NO_TOOL), ("kill", MAY_FORGET), ("resume", MAY_FORGET)] },
    Row { id: "opencode", cells: &[("reject", ENDS_THE_TURN), ("question", NO_TOOL)] },
    Row { id: "qwen", cells: &[("reject", ENDS_THE_TURN)] },
    Row { id: "claude-acp", cells: &[] },
];

impl Row {
    pub fn of(id: &str) -> Self {
        *MATRIX.iter().find(|row| row.id == id).expect("the agent has a row")
    }

    /// The cell of this case.
    pub fn cell(&self, case: &str) -> Cell {
        assert!(CASES.contains(&case), "{case} is no case");
        self.cells.iter().find(|(of, _)| *of == case).map_or(Works, |(_, cell)| *cell)
    }
}

/// The matrix as a table of the documentation: a line for each case.
pub fn table() -> String {
    let name = |row: &Row| agents::agent(row.id).expect("the agent is known").name;
    let head: Vec<&str> = MATRIX.iter().map(name).collect();
    let mut table = format!("| Case | {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len() + 1));
    for case in CASES {
        let cells: Vec<String> = MATRIX.iter().map(|row| words(row.cell(case))).collect();
        table.push_str(&format!("| {case} | {} |\n", cells.join(" | ")));
    }
    table
}

fn words(cell: Cell) -> String {
    match cell {
        Works => "works".to_owned(),
        Differs(how) => format!("works: {how}"),
        Cannot(why) => format!("**the agent cannot**: {why}"),
    }
}

#[test]
fn every_cell_is_that_of_a_case() {
    for Row { id, cells } in MATRIX {
        assert!(cells.iter().all(|(case, _)| CASES.contains(case)), "{id}: {cells:?}");
    }
}
