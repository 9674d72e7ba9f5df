//! Terminal output to lines: colours and weight are kept, other control sequences are dropped.
//!
//! Cursor movement, titles, hyperlinks, device strings and control characters are dropped. Carriage return and
//! backspace overwrite, so of a progress bar only the last state is left.

use vte::{Params, Parser, Perform};

use super::highlight::push_token;
use deskbell_api::{CodeLine, Token, TokenStyle};

/// Parses the output of a command.
pub fn terminal(text: &str) -> Vec<CodeLine> {
    let mut screen = Screen::default();
    Parser::new().advance(&mut screen, text.as_bytes());
    screen.finish()
}

/// Like [`terminal`], for a text in several pieces.
pub fn terminal_in_pieces(pieces: &[String]) -> Vec<CodeLine> {
    let (mut screen, mut parser) = (Screen::default(), Parser::new());
    pieces.iter().for_each(|piece| parser.advance(&mut screen, piece.as_bytes()));
    screen.finish()
}

#[derive(Default)]
struct Screen {
    lines: Vec<CodeLine>,
    line: Vec<Token>,
    look: Look,
    /// A carriage return was the last character: printing now overwrites the line, a line feed ends it unchanged.
    at_start: bool,
}

/// Current graphics state. A token has one style, and colour takes precedence over weight.
#[derive(Default)]
struct Look {
    colour: Option<TokenStyle>,
    bold: bool,
    dim: bool,
}

impl Look {
    fn style(&self) -> TokenStyle {
        match (self.colour, self.bold, self.dim) {
            (Some(TokenStyle::Plain) | None, true, _) => TokenStyle::Bold,
            (Some(TokenStyle::Plain) | None, false, true) => TokenStyle::Dim,
            (Some(colour), ..) => colour,
            (None, false, false) => TokenStyle::Plain,
        }
    }

    fn select(&mut self, params: &Params) {
        let mut params = params.iter();
        while let Some(param) = params.next() {
            match param {
                [] | [0, ..] => *self = Self::default(),
                [1, ..] => self.bold = true,
                [2, ..] => self.dim = true,
                [22, ..] => (self.bold, self.dim) = (false, false),
                [39, ..] => self.colour = None,
                // The form with a colour space between the kind and the numbers; usually it is empty.
                [38, 2, _, rgb @ ..] if rgb.len() >= 3 => {
                    self.colour = extended([2].into_iter().chain(rgb.iter().copied()))
                }
                [38, rest @ ..] if !rest.is_empty() => self.colour = extended(rest.iter().copied()),
                // The older form, in which the colour's numbers are separate parameters.
                [38] => self.colour = extended(params.by_ref().filter_map(|param| param.first().copied())),
                [48] => drop(extended(params.by_ref().filter_map(|param| param.first().copied()))),
                [58] => drop(extended(params.by_ref().filter_map(|param| param.first().copied()))),
                [code @ 30..=37, ..] => self.colour = Some(basic(code - 30)),
                [code @ 90..=97, ..] => self.colour = Some(basic(code - 90 + 8)),
                _ => {}
            }
        }
    }
}

/// Black and white would be invisible in one of the themes, so they are plain. Bright black is the usual grey.
fn basic(index: u16) -> TokenStyle {
    match index {
        1 | 9 => TokenStyle::Red,
        2 | 10 => TokenStyle::Green,
        3 | 11 => TokenStyle::Yellow,
        4 | 12 => TokenStyle::Blue,
        5 | 13 => TokenStyle::Magenta,
        6 | 14 => TokenStyle::Cyan,
        8 => TokenStyle::Dim,
        _ => TokenStyle::Plain,
    }
}

/// The nearest of our colours for `5;n` and `2;r;g;b`.
fn extended(mut numbers: impl Iterator<Item = u16>) -> Option<TokenStyle> {
    match numbers.next()? {
        5 => Some(match numbers.next()? {
            index @ 0..=15 => basic(index),
            index @ 16..=231 => {
                let index = index - 16;
                let level = |step: u16| if step == 0 { 0 } else { 55 + 40 * step };
                nearest(level(index / 36), level(index / 6 % 6), level(index % 6))
            }
            index @ 232..=255 => nearest_grey(8 + 10 * (index - 232)),
            _ => return None,
        }),
        2 => {
            let numbers: Vec<u16> = numbers.by_ref().take(3).collect();
            match numbers[..] {
                [red, green, blue] => Some(nearest(red, green, blue)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn nearest(red: u16, green: u16, blue: u16) -> TokenStyle {
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let spread = most - least;
    if spread < 40 {
        return nearest_grey(most);
    }
    // A component counts if it is closer to the strongest than to the weakest.
    let counts = |part: u16| part - least > spread / 2;
    match (counts(red), counts(green), counts(blue)) {
        (true, false, false) => TokenStyle::Red,
        (false, true, false) => TokenStyle::Green,
        (false, false, true) => TokenStyle::Blue,
        (true, true, _) => TokenStyle::Yellow,
        (true, false, true) => TokenStyle::Magenta,
        (false, true, true) => TokenStyle::Cyan,
        (false, false, false) => TokenStyle::Plain,
    }
}

fn nearest_grey(level: u16) -> TokenStyle {
    if (60..170).contains(&level) { TokenStyle::Dim } else { TokenStyle::Plain }
}

impl Screen {
    fn end_line(&mut self) {
        self.lines.push(CodeLine { tokens: std::mem::take(&mut self.line) });
        self.at_start = false;
    }

    fn backspace(&mut self) {
        if let Some(last) = self.line.last_mut() {
            last.text.pop();
            if last.text.is_empty() {
                self.line.pop();
            }
        }
    }

    fn finish(mut self) -> Vec<CodeLine> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.lines
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        // Delete, and C1 control characters encoded as UTF-8.
        if c.is_control() {
            return;
        }
        if std::mem::take(&mut self.at_start) {
            self.line.clear();
        }
        push_token(&mut self.line, c.encode_utf8(&mut [0; 4]), self.look.style());
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_line(),
            b'\r' => self.at_start = true,
            b'\t' => {
                if std::mem::take(&mut self.at_start) {
                    self.line.clear();
                }
                push_token(&mut self.line, "\t", self.look.style());
            }
            0x08 if !self.at_start => self.backspace(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if action == 'm' && intermediates.is_empty() && !ignore {
            self.look.select(params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::terminal;
    use crate::compact;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(compact::lines(&terminal(text)), expected);
    }

    #[test]
    fn lines() {
        check("one\ntwo\r\n\nfour", "one⏎two⏎⏎four");
        check("one\n", "one");
        check("", "");
        check("\n", "");
        assert_eq!(terminal("\n").len(), 1);
        check("a\tb", "a\tb");
    }

    #[test]
    fn colours_and_weight() {
        check(
            "\x1b[31mred\x1b[0m plain \x1b[1mbold\x1b[22m \x1b[2mdim",
            "red‹red ›plain bold‹bold ›dim‹dim›",
        );
        check("\x1b[1;32mok\x1b[m \x1b[92mbright\x1b[39m!", "green‹ok bright›!");
        check("\x1b[90mgrey\x1b[37mwhite\x1b[30mblack", "dim‹grey›whiteblack");
        check("\x1b[31ma\nb\x1b[0mc", "red‹a›⏎red‹b›c");
        check("\x1b[38;5;9ma\x1b[38;5;21mb\x1b[38;5;240mc\x1b[38;5;231md", "red‹a›blue‹b›dim‹c›d");
        check("\x1b[38;2;250;200;0;1ma\x1b[38:2::0:200:200mb", "yellow‹a›cyan‹b›");
        check("\x1b[31m\x1b[38;5;256ma\x1b[38;5;65535mb", "ab");
        check("\x1b[48;5;1ma\x1b[41mb\x1b[48;2;1;2;31mc", "abc");
        check("\x1b[4;7;9ma\x1b[?25m\x1b[>1mb", "ab");
    }

    #[test]
    fn what_only_a_terminal_can_do_is_dropped() {
        check("a\x1b[2Jb\x1b[10;5Hc\x1b[Kd\x1b7e", "abcde");
        check("\x1b]0;title\x07a\x1b]8;;https://e.org\x1b\\link\x1b]8;;\x1b\\", "alink");
        check("a\x1bPq#0\x1b\\b\x1b_c\x1b\\d\x1b^e\x1b\\f", "abdf");
        check("a\u{9b}31mb\u{85}c\x00\x07\x7f\x0e\u{90}d", "a31mbcd");
        check("a\x1b[31", "a");
    }

    #[test]
    fn what_is_overwritten_is_gone() {
        check("10%\r50%\r100%\ndone", "100%⏎done");
        check("10%\r", "10%");
        check("a\r\r\nb", "a⏎b");
        check("long line\r\tx", "\tx");
        check("abc\x08\x08X", "aX");
        check("_\x08a\x1b[31mb\x08\x08\x08c", "red‹c›");
    }
}
