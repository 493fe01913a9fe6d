//! No text makes the splitter or the parser panic or hang, and what they say of places lies in the text.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let lines = text.split('\n').count();
    for statement in calve_sql::split(text) {
        assert!(statement.line as usize <= lines);
        if let Err(error) = calve_sql::parse(&statement)
            && let Some(span) = error.span
        {
            assert!(span.start.line as usize <= lines, "{error:?}");
            assert!(span.start <= span.end, "{error:?}");
        }
    }
    drop(calve_sql::lexemes(text));
    calve_sql::is_complete(text);
});
