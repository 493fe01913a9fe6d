//! The options of CSV.

use calve_types::{DataType, Error, LogicalType, Result};

use crate::options::Options;

/// The options of the format.
#[derive(Debug, Clone)]
pub(crate) struct CsvFormat {
    pub delimiter: char,
    /// `None` with `disable-quote-character`.
    pub quote: Option<char>,
    pub escape: Option<char>,
    pub comments: bool,
    pub array_delimiter: char,
    pub null_literal: Option<String>,
    pub ignore_errors: bool,
    /// Whether decimals are written as BigDecimal's `toString` does.
    pub scientific: bool,
}

impl CsvFormat {
    /// The format of a table's options.
    ///
    /// # Errors
    /// Values that Flink refuses.
    pub fn new(options: &Options) -> Result<Self> {
        let quote = options.character("csv.quote-character")?;
        let disabled = options.boolean("csv.disable-quote-character")?;
        if disabled && options.get("csv.quote-character").is_some() {
            return Err(options.refuse(
                "invalid-option",
                "options 'csv.quote-character' and 'csv.disable-quote-character' exclude each other",
                "Format cannot define a quote character and disabled quote character at the same time.",
            ));
        }
        let delimiter = options.unescaped_character("csv.field-delimiter")?;
        Ok(Self {
            delimiter: delimiter.unwrap_or(','),
            quote: if disabled { None } else { Some(quote.unwrap_or('"')) },
            escape: options.character("csv.escape-character")?,
            comments: options.boolean("csv.allow-comments")?,
            array_delimiter: options.character("csv.array-element-delimiter")?.unwrap_or(';'),
            null_literal: options.get("csv.null-literal").map(str::to_owned),
            ignore_errors: options.boolean("csv.ignore-parse-errors")?,
            scientific: options.boolean_or("csv.write-bigdecimal-in-scientific-notation", true)?,
        })
    }

    /// Whether the format has values of a column's type.
    ///
    /// # Errors
    /// `not-supported`, in Flink's words.
    pub fn check(name: &str, data_type: &DataType) -> Result<()> {
        use LogicalType as T;
        let nested = |inner: &LogicalType| match inner {
            T::Array(_) | T::Row(_) | T::Map(..) | T::Multiset(_) => Err(Error::unsupported(format!(
                "column '{name}' of type {} in CSV",
                data_type.logical
            ))
            .with_detail(format!(
                "Only simple types are supported in the second level nesting of fields '{name}' but was: {inner}"
            ))),
            _ => Ok(()),
        };
        match &data_type.logical {
            T::Array(element) => nested(&element.logical),
            T::Row(fields) => fields.iter().try_for_each(|f| nested(&f.data_type.logical)),
            T::Map(..) | T::Multiset(_) => {
                Err(Error::unsupported(format!("column '{name}' of type {} in CSV", data_type.logical))
                    .with_detail(format!("Unsupported type '{}' for field '{name}'.", data_type.logical)))
            }
            _ => Ok(()),
        }
    }
}
