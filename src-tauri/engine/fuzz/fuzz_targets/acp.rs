#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| deskbell_acp::fuzzed::acp(data));
