//! The options of JSON.

use calve_types::{DataType, Error, LogicalType, Result};

use crate::options::Options;
use crate::text::TimestampFormat;

/// What becomes of an entry whose key is NULL when a map is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullKey {
    Fail,
    Drop,
    Literal,
}

/// The options of the format.
#[derive(Debug, Clone)]
pub(crate) struct JsonFormat {
    /// What its options begin with: `json`.
    pub name: &'static str,
    pub ignore_errors: bool,
    pub fail_on_missing: bool,
    pub timestamps: TimestampFormat,
    pub null_key: NullKey,
    pub null_key_literal: String,
    pub plain_decimals: bool,
    pub ignore_nulls: bool,
    /// `decode.json-parser.enabled`: numbers read as STRING keep their text; a MAP is read of an object only.
    pub json_parser: bool,
}

impl JsonFormat {
    /// The format of a table's options, which begin with `name`.
    ///
    /// # Errors
    /// Values that Flink refuses.
    pub fn new(options: &Options, name: &'static str) -> Result<Self> {
        let key = |option: &str| format!("{name}.{option}");
        let standard = key("timestamp-format.standard");
        let format = Self {
            name,
            ignore_errors: options.boolean(&key("ignore-parse-errors"))?,
            fail_on_missing: options.boolean(&key("fail-on-missing-field"))?,
            timestamps: match options.get(&standard) {
                None | Some("SQL") => TimestampFormat::Sql,
                Some("ISO-8601") => TimestampFormat::Iso,
                Some(other) => {
                    return Err(options.refuse(
                        "invalid-option",
                        format!("invalid value '{other}' for option '{standard}': expected one of SQL, ISO-8601"),
                        format!(
                            "Unsupported value '{other}' for timestamp-format.standard. Supported values are [SQL, \
                             ISO-8601]."
                        ),
                    ));
                }
            },
            null_key: NullKey::Fail,
            null_key_literal: options.get(&key("map-null-key.literal")).unwrap_or("null").to_owned(),
            plain_decimals: options.boolean(&key("encode.decimal-as-plain-number"))?,
            ignore_nulls: options.boolean(&key("encode.ignore-null-fields"))?,
            json_parser: options.boolean_or(&key("decode.json-parser.enabled"), true)?,
        };
        if format.ignore_errors && format.fail_on_missing {
            return Err(options.refuse(
                "invalid-option",
                format!(
                    "options '{}' and '{}' exclude each other",
                    key("fail-on-missing-field"),
                    key("ignore-parse-errors")
                ),
                "fail-on-missing-field and ignore-parse-errors shouldn't both be true.",
            ));
        }
        Ok(format)
    }

    /// The format of values inside of messages about changes, which Flink reads with the older one of its two decoders.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_messages(options: &Options, name: &'static str) -> Result<Self> {
        Ok(Self { fail_on_missing: false, json_parser: false, ..Self::new(options, name)? })
    }

    /// The format of a table that is written.
    ///
    /// # Errors
    /// As [`Self::new`]; Flink looks at the mode of NULL keys only then.
    pub fn for_writing(options: &Options, name: &'static str) -> Result<Self> {
        let mut format = Self::new(options, name)?;
        let key = format!("{name}.map-null-key.mode");
        format.null_key = match options.get(&key) {
            None => NullKey::Fail,
            Some(mode) if mode.eq_ignore_ascii_case("FAIL") => NullKey::Fail,
            Some(mode) if mode.eq_ignore_ascii_case("DROP") => NullKey::Drop,
            Some(mode) if mode.eq_ignore_ascii_case("LITERAL") => NullKey::Literal,
            Some(mode) => {
                return Err(options.refuse(
                    "invalid-option",
                    format!("invalid value '{mode}' for option '{key}': expected one of LITERAL, FAIL, DROP"),
                    format!(
                        "Unsupported value '{mode}' for option map-null-key.mode. Supported values are [LITERAL, FAIL, \
                         DROP]."
                    ),
                ));
            }
        };
        Ok(format)
    }

    /// Whether the format has values of a column's type.
    ///
    /// # Errors
    /// `not-supported`, in Flink's words.
    pub fn check(name: &str, data_type: &DataType) -> Result<()> {
        use LogicalType as T;
        match &data_type.logical {
            T::Map(key, value) => {
                Self::check_key(name, &data_type.logical, key)?;
                Self::check(name, value)
            }
            T::Multiset(element) => Self::check_key(name, &data_type.logical, element),
            T::Array(element) => Self::check(name, element),
            T::Row(fields) => fields.iter().try_for_each(|f| Self::check(name, &f.data_type)),
            _ => Ok(()),
        }
    }

    fn check_key(name: &str, logical: &LogicalType, key: &DataType) -> Result<()> {
        if key.logical.is_character() {
            return Ok(());
        }
        Err(Error::unsupported(format!("column '{name}' of type {logical} in JSON"))
            .with_detail(format!("JSON format doesn't support non-string as key type of map. The type is: {logical}")))
    }
}
