//! A query that is printed is a query, and prints as the same text.

#![no_main]

use calve_sql::{Query, Statement, parse_one, print};

fn query(text: &str) -> Option<Query> {
    match parse_one(text) {
        Ok(Statement::Query(query)) => Some(query),
        _ => None,
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Some(first) = query(text) else { return };
    let printed = print::query(&first);
    match parse_one(&printed) {
        Ok(Statement::Query(second)) => assert_eq!(print::query(&second), printed),
        other => panic!("{text}\nis printed as\n{printed}\nwhich is {other:?}"),
    }
});
