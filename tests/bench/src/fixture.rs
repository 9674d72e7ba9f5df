//! Output of an agent, made from a seed: the same in every run.

use serde_json::json;

/// Repeatable random numbers (SplitMix64).
pub struct Seed(pub u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            high >> 32,
            high & 0xffff,
            high >> 20 & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        )
    }

    fn words(&mut self, n: usize) -> String {
        const WORDS: [&str; 12] = [
            "the", "session", "waits", "for", "*its*", "agent", "and", "`keeps`", "every", "prompt", "in",
            "order",
        ];
        let words = (0..n).map(|_| WORDS[(self.next() % WORDS.len() as u64) as usize]);
        words.map(|word| format!("{word} ")).collect()
    }
}

/// The contents of a fixture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Replies that stream in pieces: lines of about 440 bytes.
    Small,
    /// Whole replies of 1 MB per line.
    Large,
}

impl Kind {
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "small" => Some(Self::Small),
            "large" => Some(Self::Large),
            _ => None,
        }
    }
}

/// This number of lines.
pub fn lines(kind: Kind, n: usize) -> Vec<u8> {
    let mut seed = Seed(7);
    let mut out = Vec::new();
    match kind {
        Kind::Small => (0..n).for_each(|idx| small(&mut seed, idx, &mut out)),
        Kind::Large => (0..n).for_each(|idx| {
            let text: String = (0..3_000).map(|_| seed.words(60) + "\n\n").collect::<String>();
            let mut end = 1_000_000.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let message = json!({"id": format!("msg_{idx}"), "role": "assistant", "content": [{"type": "text", "text": text[..end]}]});
            push(&json!({"type": "assistant", "message": message, "session_id": "s", "uuid": seed.uuid()}), &mut out);
        }),
    }
    out
}

/// Lines of one reply between its first and its last.
const REPLY: usize = 200;

fn small(seed: &mut Seed, idx: usize, out: &mut Vec<u8>) {
    let reply = idx / REPLY;
    let event = match idx % REPLY {
        0 => {
            json!({"type": "message_start", "message": {"id": format!("msg_{reply}"), "role": "assistant", "content": []}})
        }
        1 => {
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        }
        last if last == REPLY - 1 => json!({"type": "message_stop"}),
        place => {
            let text = if place % 20 == 0 { "\n\n".to_owned() } else { seed.words(3) };
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        }
    };
    let padding = "0123456789abcdef".repeat(9);
    push(
        &json!({"type": "stream_event", "event": event, "session_id": seed.uuid(), "parent_tool_use_id": null, "uuid": seed.uuid(), "trace": padding}),
        out,
    );
}

fn push(line: &serde_json::Value, out: &mut Vec<u8>) {
    out.extend_from_slice(line.to_string().as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_is_the_same_in_every_run_and_of_the_size_it_says() {
        let small = lines(Kind::Small, 1_000);
        assert_eq!(small, lines(Kind::Small, 1_000));
        assert!((400_000..480_000).contains(&small.len()), "{}", small.len());
        let large = lines(Kind::Large, 1);
        assert!((1_000_000..1_100_000).contains(&large.len()), "{}", large.len());
    }
}
