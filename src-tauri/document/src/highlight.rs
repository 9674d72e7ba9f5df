//! Syntax highlighting: turns code into tokens by meaning, not by appearance.
//!
//! It works line by line, so a stream processes each line once. A huge line, a huge block and an unknown language stay
//! plain.

use cpu_time::ThreadTime;
use std::collections::VecDeque;
use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use syntect::parsing::{BasicScopeStackOp, Scope, ScopeStack, SyntaxReference};

use super::source::{code_lines, normalise};
use super::syntax::{Parser, SYNTAXES};
use deskbell_api::{Block, CodeLine, Token, TokenStyle};

/// Above these sizes a line, or the rest of a block, stays plain. Minified files and logs are not worth seconds of
/// work.
const LINE_BYTES: usize = 4 * 1024;
const BLOCK_LINES: usize = 20_000;
const BLOCK_BYTES: usize = 256 * 1024;
/// Maximum length of a run of blanks or of one repeated character: patterns retry such a run from each of its
/// positions.
const RUN: usize = 256;
/// Lower limit for a line that is still being written, because it is highlighted again whenever its length has doubled.
pub const UNFINISHED_BYTES: usize = 512;
/// Only code that is made to be slow needs this much processor time. It is a safeguard; normally the other limits
/// apply. It is the thread's own time, so a busy machine does not lose colours.
const BLOCK_TIME: Duration = Duration::from_secs(3);

/// Highlights a whole text. `language` is a name or a file extension, as in a fence's info string.
pub fn highlight(language: Option<&str>, text: &str) -> Vec<CodeLine> {
    let mut highlighter = Highlighter::new(language);
    code_lines(&normalise(text)).map(|line| highlighter.line(line)).collect()
}

/// The lines of a text without colours.
pub fn plain(text: &str) -> Vec<CodeLine> {
    code_lines(&normalise(text)).map(plain_line).collect()
}

/// The language of a file by its name, as a token that [`highlight`] knows.
pub fn language_of_path(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let by_name = match name {
        "Cargo.lock" | "poetry.lock" | "uv.lock" => Some("toml"),
        "package-lock.json" | ".babelrc" | ".eslintrc" | ".prettierrc" => Some("json"),
        _ => None,
    };
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let syntax = by_name
        .or_else(|| alias(&extension.to_ascii_lowercase()))
        .and_then(|token| SYNTAXES.find_syntax_by_token(token))
        .or_else(|| SYNTAXES.find_syntax_by_extension(name))
        .or_else(|| {
            (!extension.is_empty()).then(|| SYNTAXES.find_syntax_by_extension(extension)).flatten()
        })?;
    Some(match syntax.name.as_str() {
        "Plain Text" => return None,
        "Bourne Again Shell (bash)" | "Shell-Unix-Generic" => "bash".to_owned(),
        "TypeScriptReact" => "tsx".to_owned(),
        name => name.to_lowercase(),
    })
}

/// A code block of a new parse that reuses one of the previous parse: index of the old block and number of equal lines.
pub(super) type Carried = Option<(usize, usize)>;

/// Creates the lines of code blocks and reuses the colours of known blocks. New code is plain: its colours arrive
/// later, through [`Painting`](super::colour::Painting).
#[derive(Default)]
pub(super) struct Highlights<'k> {
    /// Known code blocks that are not used yet, in document order.
    known: VecDeque<(Option<&'k str>, &'k [CodeLine])>,
    /// Total number of known code blocks.
    n_known: usize,
    /// For each new code block: what it reused.
    pub carried: Vec<Carried>,
}

impl<'k> Highlights<'k> {
    /// Adds the code blocks of `blocks` as known, in order. Recursion is bounded by the depth of documents.
    pub fn know(&mut self, blocks: &'k [Block]) {
        for block in blocks {
            match block {
                Block::Code { language, lines } => {
                    self.known.push_back((language.as_deref(), lines));
                    self.n_known += 1;
                }
                Block::Quote { blocks } | Block::Footnote { blocks, .. } => self.know(blocks),
                Block::List { items, .. } => items.iter().for_each(|item| self.know(&item.blocks)),
                Block::Paragraph { .. } | Block::Heading { .. } | Block::Table { .. } | Block::Rule => {}
            }
        }
    }

    /// Total number of known code blocks.
    pub fn n_known(&self) -> usize {
        self.n_known
    }

    pub fn lines(&mut self, language: Option<&str>, text: &str) -> Vec<CodeLine> {
        // The next known block comes first; a later one matches only if blocks were added or removed in between.
        let candidates =
            || self.known.iter().take(4).enumerate().filter(|(_, (known, _))| *known == language);
        let same = candidates().find(|(_, (_, lines))| is_text_of_lines(lines, text));
        // A block that grew has the same lines except the last.
        let grown = || candidates().find(|(_, (_, lines))| grew_to(lines, text));
        let Some(at) = same.or_else(grown).map(|(at, _)| at) else {
            self.carried.push(None);
            return code_lines(text).map(plain_line).collect();
        };
        let nr = self.n_known - self.known.len() + at;
        let known = self.known.drain(..=at).next_back().map_or(&[][..], |(_, lines)| lines);
        let n_same = n_common(known, text);
        self.carried.push(Some((nr, n_same)));
        let mut known = known.iter();
        let lines = code_lines(text).map(|line| {
            let grown = known.next().and_then(|known| with_rest(known, line));
            grown.unwrap_or_else(|| plain_line(line))
        });
        lines.collect()
    }
}

/// Number of equal lines at the beginning.
fn n_common(lines: &[CodeLine], text: &str) -> usize {
    lines.iter().zip(code_lines(text)).take_while(|(line, text)| is_text_of(line, text)).count()
}

/// Whether the text starts with these lines; the last one may be longer in the text.
fn grew_to(lines: &[CodeLine], text: &str) -> bool {
    let mut texts = code_lines(text);
    lines.iter().enumerate().all(|(nr, line)| {
        let is_last = nr + 1 == lines.len();
        texts.next().is_some_and(|text| is_text_of(line, text) || is_last && with_rest(line, text).is_some())
    })
}

/// A line that grew from `known`: its colours stay, the rest is plain. `None` if `text` does not start with it.
pub(super) fn with_rest(known: &CodeLine, text: &str) -> Option<CodeLine> {
    let mut rest = text;
    for token in &known.tokens {
        rest = rest.strip_prefix(token.text.as_str())?;
    }
    let mut line = known.clone();
    if !rest.is_empty() {
        push_token(&mut line.tokens, rest, TokenStyle::Plain);
    }
    Some(line)
}

fn is_text_of_lines(lines: &[CodeLine], text: &str) -> bool {
    let mut texts = code_lines(text);
    lines.iter().all(|line| texts.next().is_some_and(|text| is_text_of(line, text))) && texts.next().is_none()
}

pub(super) fn is_text_of(line: &CodeLine, mut text: &str) -> bool {
    for token in &line.tokens {
        match text.strip_prefix(token.text.as_str()) {
            Some(rest) => text = rest,
            None => return false,
        }
    }
    text.is_empty()
}

/// Highlights one block, line by line.
#[derive(Clone)]
pub(super) struct Highlighter {
    /// `None`: everything is plain from here on.
    state: Option<State>,
    n_lines: usize,
    n_bytes: usize,
    spent: Duration,
}

#[derive(Clone)]
struct State {
    parser: Parser,
    scopes: ScopeStack,
    /// The style for each depth of the scope stack.
    styles: Vec<TokenStyle>,
}

impl Highlighter {
    pub fn new(language: Option<&str>) -> Self {
        let parser = language.and_then(syntax_of).and_then(Parser::new);
        let state = parser.map(|parser| State { parser, scopes: ScopeStack::new(), styles: Vec::new() });
        Self { state, n_lines: 0, n_bytes: 0, spent: Duration::ZERO }
    }

    /// A highlighter that leaves everything plain.
    pub fn plain() -> Self {
        Self::new(None)
    }

    /// Whether everything stays plain from here on.
    pub fn is_plain(&self) -> bool {
        self.state.is_none()
    }

    /// Highlights the next line, given without its line end.
    pub fn line(&mut self, line: &str) -> CodeLine {
        self.n_lines += 1;
        self.n_bytes += line.len();
        if self.n_lines > BLOCK_LINES || self.n_bytes > BLOCK_BYTES || self.spent > BLOCK_TIME {
            self.state = None;
        }
        let Some(state) = self.state.as_mut().filter(|_| is_worth_it(line)) else { return plain_line(line) };
        let started_at = ThreadTime::now();
        let left = BLOCK_TIME.saturating_sub(self.spent);
        // Reading the thread's time is a system call. No more of it passes than of the time of the clock.
        let by_clock = Instant::now();
        let tokens = state.tokens(line, &mut || by_clock.elapsed() > left && started_at.elapsed() > left);
        self.spent += started_at.elapsed();
        match tokens {
            Some(tokens) => CodeLine { tokens },
            None => {
                self.state = None;
                plain_line(line)
            }
        }
    }

    /// Like [`Highlighter::line`], for an incomplete line. Does not advance the state, so the line can be highlighted
    /// again.
    pub fn unfinished_line(&mut self, line: &str) -> CodeLine {
        if line.len() > UNFINISHED_BYTES || self.spent > BLOCK_TIME {
            return plain_line(line);
        }
        let mut once = Self { state: self.state.clone(), ..*self };
        let line = once.line(line);
        self.spent = once.spent;
        line
    }
}

impl fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Highlighter").field("n_lines", &self.n_lines).finish_non_exhaustive()
    }
}

fn is_worth_it(line: &str) -> bool {
    line.len() <= LINE_BYTES
        && (line.len() <= RUN || !line.as_bytes().chunk_by(|a, b| a == b).any(|run| run.len() > RUN))
}

impl State {
    /// `None` if the parser gives up on this line.
    fn tokens(&mut self, line: &str, is_time_up: &mut dyn FnMut() -> bool) -> Option<Vec<Token>> {
        let terminated = format!("{line}\n");
        let operations = self.parser.line(&terminated, is_time_up).ok()?;
        let mut tokens = Vec::new();
        let mut from = 0;
        for (at, operation) in &operations {
            let at = (*at).min(line.len());
            if at > from {
                push_token(&mut tokens, &line[from..at], self.style());
                from = at;
            }
            let styles = &mut self.styles;
            let follow = |operation: BasicScopeStackOp, _: &[Scope]| match operation {
                BasicScopeStackOp::Push(scope) => {
                    let around = styles.last().copied().unwrap_or_default();
                    styles.push(style_of(scope).unwrap_or(around));
                }
                BasicScopeStackOp::Pop => drop(styles.pop()),
            };
            self.scopes.apply_with_hook(operation, follow).ok()?;
        }
        if from < line.len() {
            push_token(&mut tokens, &line[from..], self.style());
        }
        Some(tokens)
    }

    fn style(&self) -> TokenStyle {
        self.styles.last().copied().unwrap_or_default()
    }
}

/// Appends to the last token if the style is the same. Blanks are added to the previous token.
pub(super) fn push_token(tokens: &mut Vec<Token>, text: &str, style: TokenStyle) {
    match tokens.last_mut() {
        Some(last) if last.style == style => last.text.push_str(text),
        Some(last) if text.bytes().all(|byte| byte == b' ') => last.text.push_str(text),
        _ => tokens.push(Token { text: text.to_owned(), style }),
    }
}

pub(super) fn plain_line(line: &str) -> CodeLine {
    if line.is_empty() {
        return CodeLine::default();
    }
    CodeLine { tokens: vec![Token { text: line.to_owned(), style: TokenStyle::Plain }] }
}

fn syntax_of(language: &str) -> Option<&'static SyntaxReference> {
    let language = language.to_ascii_lowercase();
    let syntax = SYNTAXES.find_syntax_by_token(alias(&language).unwrap_or(&language))?;
    (syntax.name != "Plain Text").then_some(syntax)
}

/// Common names that the syntax definitions do not know.
fn alias(language: &str) -> Option<&'static str> {
    Some(match language {
        "rust" | "rs" => "rs",
        "golang" => "go",
        "javascript" | "js" | "jsx" | "mjs" | "cjs" | "node" => "js",
        "typescript" | "ts" | "mts" | "cts" => "ts",
        "tsx" => "tsx",
        "python" | "py" | "python3" | "py3" | "pyi" => "py",
        "c" => "c",
        "cpp" | "c++" | "cxx" | "cc" | "hpp" | "hh" | "h" => "cpp",
        "csharp" | "c#" => "cs",
        "objc" => "m",
        "shell" | "sh" | "bash" | "zsh" | "fish" | "console" | "shellsession" | "shell-session"
        | "terminal" | "bats" => "sh",
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" | "geojson" | "webmanifest" => "json",
        "yaml" | "yml" => "yaml",
        "markdown" | "md" | "mdx" => "md",
        "patch" | "diff" | "udiff" => "diff",
        "html" | "htm" | "xhtml" => "html",
        "docker" | "containerfile" => "dockerfile",
        "make" | "mk" => "makefile",
        "postgres" | "postgresql" | "mysql" | "sqlite" | "psql" | "plsql" => "sql",
        "kotlin" => "kt",
        "ruby" => "rb",
        "terraform" | "hcl" => "tf",
        "protobuf" => "proto",
        "elixir" => "ex",
        "haskell" => "hs",
        "ini" | "cfg" | "conf" | "editorconfig" | "gitconfig" => "ini",
        "svg" | "xsl" | "plist" => "xml",
        _ => return None,
    })
}

/// Styles by scope, more specific scopes first. The innermost scope with an entry decides.
static STYLES: LazyLock<Vec<(Scope, TokenStyle)>> = LazyLock::new(|| {
    use TokenStyle::{Bold, Comment, Function, Green, Keyword, Number, Plain, Red, String, Type};
    [
        ("comment", Comment),
        ("punctuation.definition.comment", Comment),
        ("constant.character", String),
        ("constant.other.placeholder", String),
        ("string", String),
        ("constant.numeric", Number),
        ("constant.language", Keyword),
        ("constant.other.color", Number),
        ("entity.name.function", Function),
        ("entity.name.macro", Function),
        ("support.function", Function),
        ("support.macro", Function),
        ("variable.function", Function),
        ("entity.name.tag", Keyword),
        ("entity.name.section", Keyword),
        ("entity.name.type", Type),
        ("entity.name.class", Type),
        ("entity.name.struct", Type),
        ("entity.name.enum", Type),
        ("entity.name.union", Type),
        ("entity.name.trait", Type),
        ("entity.name.impl", Type),
        ("entity.name.interface", Type),
        ("entity.name.namespace", Type),
        ("entity.other.inherited-class", Type),
        ("entity.other.attribute-name", Type),
        ("support.type", Type),
        ("support.class", Type),
        ("meta.annotation", Type),
        ("storage.type.string", String),
        ("storage.type.keyword", Keyword),
        ("storage.type.primitive", Type),
        ("storage.type.go", Type),
        ("storage.type.sql", Type),
        ("storage", Keyword),
        ("keyword.other.unit", Number),
        ("keyword.operator.word", Keyword),
        ("keyword.operator.logical.python", Keyword),
        ("keyword.operator.logical.sql", Keyword),
        ("keyword.operator.new", Keyword),
        ("keyword.operator", Plain),
        ("keyword", Keyword),
        ("variable.language", Keyword),
        ("markup.inserted", Green),
        ("markup.deleted", Red),
        ("markup.heading", Keyword),
        ("markup.bold", Bold),
        ("markup.raw", String),
        ("markup.underline.link", String),
        ("meta.diff.range", Type),
        ("meta.diff.header", Comment),
    ]
    .into_iter()
    .filter_map(|(scope, style)| Some((Scope::new(scope).ok()?, style)))
    .collect()
});

fn style_of(scope: Scope) -> Option<TokenStyle> {
    STYLES.iter().find(|(prefix, _)| prefix.is_prefix_of(scope)).map(|(_, style)| *style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact;

    #[track_caller]
    fn check(language: &str, text: &str, expected: &str) {
        assert_eq!(compact::lines(&highlight(Some(language), text)), expected);
    }

    #[test]
    fn tokens() {
        check(
            "rust",
            "fn a(b: &B) -> Option<C> { \"c\\n\".len() + 1 } // d",
            "keyword‹fn ›function‹a›(b: &B) -> type‹Option›<C> { string‹\"c\\n\"›.function‹len›() + number‹1 ›} comment‹// d›",
        );
        check(
            "ts",
            "export const a: Foo = await b(`x`, 0x1f);",
            "keyword‹export const ›a: type‹Foo ›= keyword‹await ›function‹b›(string‹`x`›, number‹0x1f›);",
        );
        check(
            "python",
            "class A(B):\n    def f(self): return not None  # x",
            "keyword‹class ›type‹A›(type‹B›):⏎    keyword‹def ›function‹f›(self): keyword‹return not None  ›comment‹# x›",
        );
        check("go", "func (a *B) c() error {", "keyword‹func ›(a *type‹B›) function‹c›() type‹error ›{");
        check("json", "{\"a\": [1, true]}", "{string‹\"a\"›: [number‹1›, keyword‹true›]}");
        check(
            "bash",
            "if [ -f \"$1\" ]; then echo 'x'; fi # c",
            "keyword‹if ›function‹[ ›-f string‹\"$1\" ›function‹]›; keyword‹then ›function‹echo ›string‹'x'›; keyword‹fi ›comment‹# c›",
        );
        check("diff", "-old\n+new\n same", "red‹-old›⏎green‹+new›⏎ same");
        check("toml", "[a]\nb = \"c\"", "[a]⏎keyword‹b ›= string‹\"c\"›");
        check("html", "<p class=\"a\">b</p>", "<keyword‹p ›type‹class›=string‹\"a\"›>b</keyword‹p›>");
        check(
            "sql",
            "SELECT a FROM b WHERE c = 1;",
            "keyword‹SELECT› a keyword‹FROM› b keyword‹WHERE› c = number‹1›;",
        );
    }

    #[test]
    fn strings_and_comments_go_on_over_lines() {
        check("rust", "/* a\nb */ c", "comment‹/* a›⏎comment‹b */› c");
    }

    #[test]
    fn unknown_languages_and_none_stay_plain() {
        assert_eq!(compact::lines(&highlight(Some("nonsense"), "fn a() {}\n")), "fn a() {}");
        assert_eq!(compact::lines(&highlight(None, "fn a() {}\r\n\r\n")), "fn a() {}⏎");
        assert_eq!(compact::lines(&highlight(Some("text"), "fn a() {}")), "fn a() {}");
    }

    #[test]
    fn every_usual_name_of_a_language_is_known() {
        for name in [
            "rust",
            "rs",
            "ts",
            "tsx",
            "typescript",
            "js",
            "jsx",
            "javascript",
            "py",
            "python",
            "go",
            "golang",
            "c",
            "cpp",
            "c++",
            "java",
            "sh",
            "bash",
            "shell",
            "zsh",
            "console",
            "json",
            "jsonc",
            "yaml",
            "yml",
            "toml",
            "html",
            "css",
            "scss",
            "sql",
            "diff",
            "patch",
            "md",
            "markdown",
            "Rust",
            "JSON",
            "dockerfile",
            "makefile",
            "xml",
            "svelte",
            "vue",
            "kotlin",
            "swift",
            "ruby",
            "php",
            "csharp",
            "lua",
            "ini",
            "proto",
            "graphql",
            "elixir",
            "haskell",
            "zig",
            "nix",
            "terraform",
        ] {
            assert!(syntax_of(name).is_some(), "{name}");
        }
    }

    #[test]
    fn too_much_stays_plain() {
        let long = format!("let a = 1; {}", " ".repeat(LINE_BYTES));
        let lines = highlight(Some("rust"), &format!("{long}\nlet a = 1;\n"));
        assert_eq!(lines[0].tokens.len(), 1);
        assert!(lines[1].tokens.len() > 1);

        let lines = highlight(Some("json"), &"1\n".repeat(BLOCK_LINES + 1));
        assert_eq!(lines[BLOCK_LINES - 1].tokens[0].style, TokenStyle::Number);
        assert_eq!(lines[BLOCK_LINES].tokens[0].style, TokenStyle::Plain);
    }

    #[test]
    fn the_language_of_a_path() {
        let check = |path: &str, expected: Option<&str>| {
            let language = language_of_path(path);
            assert_eq!(language.as_deref(), expected, "{path}");
            if let Some(language) = language {
                assert!(syntax_of(&language).is_some(), "{path}: {language} is not known");
            }
        };
        check("/a/src/main.rs", Some("rust"));
        check("C:\\a\\x.TSX", Some("tsx"));
        check("a.ts", Some("typescript"));
        check("a.mjs", Some("javascript"));
        check("Cargo.lock", Some("toml"));
        check("Dockerfile", Some("dockerfile"));
        check("Makefile", Some("makefile"));
        check(".bashrc", Some("bash"));
        check("a.h", Some("c++"));
        check("notes.md", Some("markdown"));
        check("a.unknown", None);
        check("LICENSE", None);
        check("a.txt", None);
        check("", None);
    }

    #[test]
    fn colours_of_known_code_are_taken_over() {
        let mut blocks = crate::markdown("```rust\nlet a;\n```\n\n- ```rust\n  let b;\n  ```\n");
        crate::colour_all(&mut blocks);
        let mut highlights = Highlights::default();
        highlights.know(&blocks);
        assert_eq!(compact::lines(&highlights.lines(Some("rust"), "let b;\n")), "keyword‹let› b;");
        assert_eq!(compact::lines(&highlights.lines(Some("rust"), "let b;\n")), "let b;");
        assert_eq!(highlights.carried, [Some((1, 1)), None]);
        let mut highlights = Highlights::default();
        highlights.know(&blocks);
        let grown = highlights.lines(Some("rust"), "let a; // 1\nlet b;\n");
        assert_eq!(compact::lines(&grown), "keyword‹let› a; // 1⏎let b;");
        assert_eq!(highlights.carried, [Some((0, 0))]);
    }
}
