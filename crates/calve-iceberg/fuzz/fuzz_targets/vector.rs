#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| calve_iceberg::fuzzing::vector(bytes));
