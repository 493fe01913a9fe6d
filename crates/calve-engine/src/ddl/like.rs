//! CREATE TABLE LIKE: what is taken over from the other table, by the rules of Flink's `MergeTableLikeUtil`.

use std::collections::BTreeMap;

use calve_planner::catalog::ColumnKind;
use calve_sql::{CreateTable, LikeFeature, LikeMode, TableLike};
use calve_types::{Error, Result, Span};

use crate::catalogs::object::TableDef;

/// How each feature is taken over.
pub(super) struct Strategies {
    place: Span,
    constraints: LikeMode,
    distribution: LikeMode,
    generated: LikeMode,
    metadata: LikeMode,
    options: LikeMode,
    partitions: LikeMode,
    watermarks: LikeMode,
}

impl Strategies {
    /// The strategies of a LIKE clause: what it says, then what it says of ALL, then Flink's defaults.
    ///
    /// # Errors
    /// `invalid-like` for a feature given twice, and for OVERWRITING what cannot be overwritten.
    pub fn of(like: &TableLike) -> Result<Self> {
        let invalid =
            |message: String, detail: String| Error::new("invalid-like", message).with_detail(detail).at(like.span);
        for (i, (mode, feature)) in like.options.iter().enumerate() {
            let name = feature_name(*feature);
            if like.options.iter().skip(i + 1).any(|(_, other)| other == feature) {
                return Err(invalid(
                    format!("{name} is given twice in the LIKE clause"),
                    "Each like option feature can be declared only once.".to_owned(),
                ));
            }
            use LikeFeature::{All, Constraints, Distribution, Partitions};
            if *mode == LikeMode::Overwriting && matches!(feature, All | Constraints | Distribution | Partitions) {
                return Err(invalid(
                    format!("{name} cannot be overwritten in a LIKE clause"),
                    format!("Illegal merging strategy 'OVERWRITING' for '{name}' option."),
                ));
            }
        }
        let given = |feature| like.options.iter().find(|(_, f)| *f == feature).map(|(mode, _)| *mode);
        let all = given(LikeFeature::All);
        let mode = |feature, default| given(feature).or(all).unwrap_or(default);
        Ok(Self {
            place: like.span,
            constraints: mode(LikeFeature::Constraints, LikeMode::Including),
            distribution: mode(LikeFeature::Distribution, LikeMode::Including),
            generated: mode(LikeFeature::Generated, LikeMode::Including),
            metadata: mode(LikeFeature::Metadata, LikeMode::Including),
            options: mode(LikeFeature::Options, LikeMode::Overwriting),
            partitions: mode(LikeFeature::Partitions, LikeMode::Including),
            watermarks: mode(LikeFeature::Watermarks, LikeMode::Including),
        })
    }

    /// Whether a computed column replaces one of the other table.
    pub fn replaces_computed(&self) -> bool {
        self.generated == LikeMode::Overwriting
    }

    /// Whether a metadata column replaces one of the other table.
    pub fn replaces_metadata(&self) -> bool {
        self.metadata == LikeMode::Overwriting
    }

    /// What the new table begins with.
    ///
    /// # Errors
    /// `invalid-like` where the statement gives what the other table has too.
    pub fn base(&self, mut table: TableDef, create: &CreateTable) -> Result<TableDef> {
        table.columns.retain(|c| match c.column.kind {
            ColumnKind::Physical => true,
            ColumnKind::Computed(_) => self.generated != LikeMode::Excluding,
            ColumnKind::Metadata { .. } => self.metadata != LikeMode::Excluding,
        });
        if self.constraints != LikeMode::Including {
            table.primary_key = None;
        }
        if table.primary_key.is_some() && create.primary_key.is_some() {
            return Err(self.conflict("a primary key", "The base table already has a primary key.", "CONSTRAINTS"));
        }
        if self.watermarks == LikeMode::Excluding {
            table.watermark = None;
        }
        if let (Some(old), Some(new)) = (&table.watermark, &create.watermark) {
            if old.column != new.column.parts {
                return Err(Error::new(
                    "invalid-like",
                    "a table has one watermark, and the other table has one already",
                )
                .with_detail("Multiple watermark definitions are not supported yet.")
                .with_hint("add EXCLUDING WATERMARKS")
                .at(self.place));
            }
            if self.watermarks != LikeMode::Overwriting {
                let column = old.column.join(".");
                return Err(Error::new(
                    "invalid-like",
                    format!("the other table has a watermark for column '{column}'"),
                )
                .with_detail(format!(
                    "There already exists a watermark spec for column '{column}' in the base table. You might want \
                         to specify EXCLUDING WATERMARKS or OVERWRITING WATERMARKS."
                ))
                .with_hint("add EXCLUDING WATERMARKS or OVERWRITING WATERMARKS")
                .at(self.place));
            }
        }
        // what the statement does not give is taken over even if it is excluded, as in Flink
        if !table.partition_keys.is_empty()
            && !create.partitioned_by.is_empty()
            && self.partitions != LikeMode::Excluding
        {
            return Err(self.conflict("partitions", "The base table already has partitions defined.", "PARTITIONS"));
        }
        if table.distribution.is_some() && create.distribution.is_some() && self.distribution != LikeMode::Excluding {
            return Err(self.conflict(
                "a distribution",
                "The base table already has a distribution defined.",
                "DISTRIBUTION",
            ));
        }
        table.comment = None;
        table.partitions.clear();
        Ok(table)
    }

    /// The options of the new table.
    ///
    /// # Errors
    /// `invalid-like` for an option that both have, with INCLUDING OPTIONS.
    pub fn options(
        &self,
        base: BTreeMap<String, String>,
        own: BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>> {
        if self.options == LikeMode::Excluding {
            return Ok(own);
        }
        let mut merged = base;
        for (key, value) in own {
            if self.options != LikeMode::Overwriting
                && let Some(old) = merged.get(&key)
            {
                return Err(Error::new("invalid-like", format!("the other table has the option '{key}' too"))
                    .with_detail(format!(
                        "There already exists an option ['{key}' -> '{old}']  in the base table. You might want to \
                         specify EXCLUDING OPTIONS or OVERWRITING OPTIONS."
                    ))
                    .with_hint("add EXCLUDING OPTIONS or OVERWRITING OPTIONS")
                    .at(self.place));
            }
            merged.insert(key, value);
        }
        Ok(merged)
    }

    fn conflict(&self, what: &str, flink: &str, feature: &str) -> Error {
        Error::new("invalid-like", format!("the other table has {what} already"))
            .with_detail(format!("{flink} You might want to specify EXCLUDING {feature}."))
            .with_hint(format!("add EXCLUDING {feature}"))
            .at(self.place)
    }
}

fn feature_name(feature: LikeFeature) -> &'static str {
    match feature {
        LikeFeature::All => "ALL",
        LikeFeature::Constraints => "CONSTRAINTS",
        LikeFeature::Distribution => "DISTRIBUTION",
        LikeFeature::Generated => "GENERATED",
        LikeFeature::Metadata => "METADATA",
        LikeFeature::Options => "OPTIONS",
        LikeFeature::Partitions => "PARTITIONS",
        LikeFeature::Watermarks => "WATERMARKS",
    }
}
