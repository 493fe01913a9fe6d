//! JSON functions.
//!
//! Their clauses (`RETURNING`, `ON EMPTY`, `NULL ON NULL` ...) come as further arguments, which [`JsonRead`] and
//! [`JsonBuild`] describe; a plain `JSON_VALUE(text, path)` needs none.

mod eval;
mod filter;
mod number;
mod path;
mod read;
mod scan;
mod signature;
mod variant;
mod write;

use crate::function::{ScalarFunction, Syntax};

pub(crate) use scan::{key_order, push_quoted, split_member};

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("JSON_VALUE", signature::infer_value, read::value).forms(&[
        "JSON_VALUE(json_doc, path [RETURNING type] [{NULL | ERROR | DEFAULT value} ON EMPTY] [{NULL | ERROR | DEFAULT \
         value} ON ERROR])",
    ]),
    ScalarFunction::kernel("JSON_QUERY", signature::infer_query, read::query),
    ScalarFunction::kernel("JSON_EXISTS", signature::infer_exists, read::exists),
    ScalarFunction::kernel("IS JSON", signature::infer_is_json, read::is_json).syntax(Syntax::Postfix),
    ScalarFunction::kernel("IS NOT JSON", signature::infer_is_json, read::is_json).syntax(Syntax::Postfix),
    ScalarFunction::kernel("JSON_STRING", signature::infer_string, write::string),
    ScalarFunction::kernel("JSON_OBJECT", signature::infer_object, write::object),
    ScalarFunction::kernel("JSON_ARRAY", signature::infer_array, write::array),
    ScalarFunction::kernel("JSON", signature::infer_json, write::canonical),
    ScalarFunction::kernel("PARSE_JSON", variant::infer_parse, variant::parse),
    ScalarFunction::kernel("TRY_PARSE_JSON", variant::infer_try_parse, variant::parse),
    ScalarFunction::kernel("JSON_QUOTE", signature::infer_text, write::quote),
    ScalarFunction::kernel("JSON_UNQUOTE", signature::infer_text, read::unquote),
];

/// Clauses of JSON_VALUE, JSON_QUERY and JSON_EXISTS as the text of a symbol, their third argument: words separated by
/// commas, `wrapper,on empty,on error`. Of JSON_VALUE and JSON_QUERY a NULL of the type after RETURNING is the fourth;
/// of JSON_VALUE the values after DEFAULT for ON EMPTY and ON ERROR are the fifth and the sixth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonRead<'a> {
    /// `WITHOUT`, `CONDITIONAL` or `UNCONDITIONAL`.
    pub wrapper: &'a str,
    /// `NULL`, `ERROR`, `EMPTY ARRAY`, `EMPTY OBJECT` or `DEFAULT`.
    pub on_empty: &'a str,
    /// As `on_empty`, or `TRUE`, `FALSE` and `UNKNOWN` of JSON_EXISTS.
    pub on_error: &'a str,
}

impl<'a> JsonRead<'a> {
    /// The text of the symbol.
    pub fn symbol(self) -> String {
        [self.wrapper, self.on_empty, self.on_error].join(",")
    }

    fn parse(text: &'a str) -> Option<Self> {
        let mut words = text.split(',');
        Some(Self { wrapper: words.next()?, on_empty: words.next()?, on_error: words.next()? })
    }
}

/// Clauses of JSON_OBJECT and JSON_ARRAY as the text of a symbol, their first argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonBuild {
    /// `ABSENT ON NULL`: a NULL is left out; else it is written as `null`.
    pub absent_on_null: bool,
    /// For each value whether it is JSON already, a call of JSON_OBJECT, JSON_ARRAY or JSON.
    pub raw: Vec<bool>,
}

impl JsonBuild {
    /// The text of the symbol: `ABSENT` or `NULL`, then a letter for each value.
    pub fn symbol(&self) -> String {
        let word = if self.absent_on_null { "ABSENT " } else { "NULL " };
        word.chars().chain(self.raw.iter().map(|raw| if *raw { 'r' } else { 'v' })).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let (word, letters) = text.split_once(' ')?;
        Some(Self { absent_on_null: word == "ABSENT", raw: letters.chars().map(|c| c == 'r').collect() })
    }
}

#[cfg(test)]
mod tests;
