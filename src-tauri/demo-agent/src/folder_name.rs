//! The name of the folder that holds the transcripts of a project.

/// The name of a project's folder: every UTF-16 unit that is not an ASCII letter or digit becomes `-`.
pub fn encode(cwd: &str) -> String {
    const LONGEST: usize = 200;
    let plain = |unit: u16| u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric());
    let name: String =
        cwd.encode_utf16().map(|unit| if plain(unit) { char::from(unit as u8) } else { '-' }).collect();
    if name.len() <= LONGEST {
        return name;
    }
    let hash = cwd.encode_utf16().fold(0_i32, |h, unit| h.wrapping_mul(31).wrapping_add(i32::from(unit)));
    format!("{}-{}", &name[..LONGEST], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_encoded_by_utf16_units() {
        assert_eq!(encode("/home/user/my_app.rs"), "-home-user-my-app-rs");
        assert_eq!(encode("/a/\u{1F980}"), "-a---");
        assert_eq!(encode(&"x".repeat(200)).len(), 200);
        let long = encode(&"x".repeat(201));
        assert!(long.starts_with(&format!("{}-", "x".repeat(200))));
    }
}
