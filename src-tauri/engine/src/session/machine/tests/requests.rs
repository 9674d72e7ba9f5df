//! A permission request gets one answer.

use super::life::live_from_ready;

#[test]
fn a_request_gets_one_answer() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("ask r", "show r"),
        ("ask q", "show q"),
        ("ask r", ""),
        ("ask-unknown u", "reply u error"),
        ("ask-malformed m", "Warning; reply m deny"),
        ("deny q", "reply q deny; q denied"),
        ("allow q", "refuse NoSuchRequest"),
        ("cancel q", ""),
        ("cancel r", "r withdrawn"),
        ("allow r", "refuse NoSuchRequest"),
    ]);
}
