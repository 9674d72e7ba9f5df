use std::time::{Duration, Instant};

use syntect::parsing::ParseState;

use super::*;
use fastrand::Rng;

/// Lines that took longer than they should, each after the name of its grammar.
const FOUND: &str = include_str!("found.txt");
/// Number of generated lines per grammar. The full test uses `DESKBELL_SYNTAX_LINES=10000`; `DESKBELL_SYNTAX_SEED` sets
/// the seed.
const LINES: usize = 40;
/// Maximum time for a line. Machines differ, so it is a hundred times that of the slowest line.
const LONG: Duration = Duration::from_secs(20);

/// Building blocks of code, of most languages at once.
const PARTS: &[&str] = &[
    " ",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "a",
    "x",
    "foo",
    "Bar",
    "_b1",
    "0",
    "1",
    "0x1f",
    "1.5e3",
    "/*",
    "*/",
    "//",
    "///",
    "#",
    "--",
    "{-",
    "-}",
    "(*",
    "*)",
    "<!--",
    "-->",
    "<?php",
    "?>",
    "<%",
    "%>",
    "<",
    ">",
    "</",
    "/>",
    "<a",
    "</a>",
    "<script>",
    "</script>",
    "<style>",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "\\",
    "\\\"",
    "\\'",
    "\\n",
    "$",
    "${",
    "$(",
    "#{",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "{{",
    "}}",
    "{%",
    "%}",
    "=",
    "==",
    "=>",
    "->",
    "<-",
    "<<",
    "<<EOF",
    "<<~A",
    "<<'E'",
    "EOF",
    ":",
    "::",
    ":=",
    ";",
    ",",
    ".",
    "..",
    "?",
    "!",
    "@",
    "%",
    "%w(",
    "&",
    "&&",
    "|",
    "||",
    "^",
    "~",
    "+",
    "-",
    "*",
    "/",
    "/a/",
    "/[",
    "r\"",
    "r#\"",
    "b'",
    "f\"",
    "u8",
    "async ",
    "await ",
    "function ",
    "fn ",
    "def ",
    "class ",
    "enum ",
    "struct ",
    "interface ",
    "type ",
    "let ",
    "const ",
    "var ",
    "if ",
    "else",
    "elif ",
    "end",
    "for ",
    "while ",
    "do",
    "begin",
    "case ",
    "match ",
    "switch ",
    "return ",
    "import ",
    "from ",
    "use ",
    "export ",
    "default ",
    "new ",
    "public ",
    "static ",
    "void ",
    "int ",
    "string",
    "true",
    "null",
    "nil",
    "None",
    "self",
    "this",
    "select ",
    "from ",
    "where ",
    "SELECT ",
    "BEGIN",
    "END",
    "module ",
    "namespace ",
    "template<",
    "#include <",
    "#define ",
    "#if ",
    "@media ",
    "!important",
    "url(",
    "- ",
    "* ",
    "> ",
    "# ",
    "```",
    "```js",
    "~~~",
    "---",
    "===",
    "|-|",
    "[a](",
    "![",
    "**",
    "__",
    "é",
    "漢",
    "🙂",
    "\u{202e}",
    "=begin",
    "=pod",
    "=cut",
    "__END__",
    "%{",
    "s/a/b/",
    "tr/",
    "q(",
    "qw/",
    "\\begin{",
    "\\end{",
    "$$",
    "\\[",
];

/// A line of up to 14 parts, often without its last characters, as while it streams.
fn line(chance: &mut Rng) -> String {
    let n_parts = chance.usize(1..=14);
    let mut line: String = (0..n_parts).filter_map(|_| chance.choice(PARTS)).copied().collect();
    for _ in 0..chance.usize(..3) {
        line.pop();
    }
    line
}

/// Parses lines and compares with syntect's own parser, which is called only for lines that it finishes.
struct Both<'a> {
    syntax: &'a SyntaxReference,
    ours: Parser,
    /// `None` after a line that syntect would not finish.
    theirs: Option<ParseState>,
}

impl<'a> Both<'a> {
    fn new(syntax: &'a SyntaxReference) -> Self {
        let ours = Parser::new(syntax).unwrap_or_else(|| panic!("{} has no start", syntax.name));
        Self { syntax, ours, theirs: Some(ParseState::new(syntax)) }
    }

    /// Parses a line. `Err` if the parser gave up on it. Also returns the time taken.
    fn line(&mut self, line: &str) -> (Result<(), GivenUp>, Duration) {
        let text = format!("{line}\n");
        let n_loops = self.ours.n_loops;
        let started_at = Instant::now();
        let operations = self.ours.line(&text, &mut || false);
        let took = started_at.elapsed();
        let operations = match operations {
            Ok(operations) => operations,
            Err(given_up) => return (Err(given_up), took),
        };
        if self.ours.n_loops > n_loops {
            self.theirs = None;
        }
        if let Some(theirs) = &mut self.theirs {
            let expected = theirs.parse_line(&text, &SYNTAXES).unwrap();
            assert_eq!(operations, expected, "{}: {line:?}", self.syntax.name);
        }
        (Ok(()), took)
    }
}

#[test]
fn lines_that_looped_end() {
    for found in FOUND.lines() {
        let (name, line) = found.split_once('\t').unwrap();
        let syntax = SYNTAXES.find_syntax_by_name(name).unwrap_or_else(|| panic!("no grammar {name}"));
        let mut both = Both::new(syntax);
        for line in [line, "let a = 1;"] {
            assert_eq!(both.line(line).0, Ok(()), "{found}");
        }
        // Every prefix of the line, as it streams.
        for (at, _) in line.char_indices() {
            assert_eq!(Both::new(syntax).line(&line[..at]).0, Ok(()), "{found}: {at} bytes of it");
        }
    }
}

/// Every grammar, with lines of random parts cut anywhere.
#[test]
fn every_grammar_ends_and_agrees_with_syntect() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let n_lines = variable("DESKBELL_SYNTAX_LINES").unwrap_or(LINES);
    let seed = variable("DESKBELL_SYNTAX_SEED").unwrap_or(1) as u64;
    let (mut n_looped, mut given_up, mut slowest) = (0, Vec::new(), (Duration::ZERO, String::new()));
    for (nr, syntax) in SYNTAXES.syntaxes().iter().enumerate() {
        let mut chance = Rng::with_seed(seed ^ (nr as u64) << 32);
        let mut both = Both::new(syntax);
        for _ in 0..n_lines {
            // Each text has a few lines, so that states continue across line ends.
            if chance.u8(..6) == 0 {
                both = Both::new(syntax);
            }
            let line = line(&mut chance);
            let n_loops = both.ours.n_loops;
            let (outcome, took) = both.line(&line);
            let input = format!("seed {seed}, {}\t{line}", syntax.name);
            assert!(took < LONG, "{input} took {took:?}");
            if took > slowest.0 {
                slowest = (took, input.clone());
            }
            n_looped += usize::from(both.ours.n_loops > n_loops);
            if outcome.is_err() {
                given_up.push(format!("{input}: {outcome:?}"));
                both = Both::new(syntax);
            }
        }
    }
    let n_grammars = SYNTAXES.syntaxes().len();
    println!(
        "{n_grammars} grammars, {n_lines} lines each from seed {seed}: {n_looped} looped, slowest {slowest:?}"
    );
    assert!(given_up.is_empty(), "{} lines were given up:\n{}", given_up.len(), given_up.join("\n"));
}

#[test]
fn the_work_for_a_line_is_limited() {
    let syntax = SYNTAXES.find_syntax_by_token("rs").unwrap();
    let mut n_asked = 0;
    let mut out_of_time = || {
        n_asked += 1;
        n_asked > 3
    };
    let given_up = Parser::new(syntax).unwrap().line("let a = b(1); // c\n", &mut out_of_time);
    assert_eq!(given_up, Err(GivenUp::OutOfTime));
    assert_eq!(n_asked, 4, "it went on after its time was up");
}
