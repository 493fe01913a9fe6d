//! Rows by key, with their values by column id: columns are renamed, dropped and added again as in Iceberg.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::StdRng;

/// The branch of every table.
pub const MAIN: &str = "main";

/// All of key columns, so that an upsert by equality may write to every partition.
pub const FIELDS: [&str; 6] = ["id", "k", "bucket(3, id)", "bucket(2, k)", "truncate(4, id)", "truncate(1, k)"];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Int,
    Long,
    Float,
    Double,
    Decimal(u8),
    Text,
}

impl Kind {
    pub fn sql(self) -> String {
        match self {
            Kind::Int => "INT".to_owned(),
            Kind::Long => "BIGINT".to_owned(),
            Kind::Float => "FLOAT".to_owned(),
            Kind::Double => "DOUBLE".to_owned(),
            Kind::Decimal(precision) => format!("DECIMAL({precision}, 2)"),
            Kind::Text => "STRING".to_owned(),
        }
    }

    /// The type itself, or one that its values fit into.
    pub fn wider(self) -> Kind {
        match self {
            Kind::Int => Kind::Long,
            Kind::Float => Kind::Double,
            Kind::Decimal(precision) if precision < 30 => Kind::Decimal(precision + 8),
            same => same,
        }
    }

    /// A value, as calve shows it: texts are equal if and only if the values are, also after the type is wider.
    pub fn value(self, random: &mut StdRng) -> String {
        let n: i32 = random.random_range(-9..=9);
        match self {
            Kind::Int => n.to_string(),
            Kind::Long => (i64::from(n) * [1, 3_000_000_000_i64][random.random_range(0..2_usize)]).to_string(),
            Kind::Float | Kind::Double => format!("{:?}", f64::from(n) / 4.0),
            Kind::Decimal(_) => format!("{:.2}", f64::from(n) / 4.0 + 20.0),
            Kind::Text => ["", "o'k", "é", "x", "y", "NULL"][random.random_range(0..6_usize)].to_owned(),
        }
    }

    pub fn literal(self, value: Option<&String>) -> String {
        match (self, value) {
            (kind, None) => format!("CAST(NULL AS {})", kind.sql()),
            (Kind::Text, Some(value)) => format!("'{}'", value.replace('\'', "''")),
            (kind, Some(value)) => format!("CAST({value} AS {})", kind.sql()),
        }
    }
}

/// A column keeps its id for life, whatever its name and type; 0 and 1 are the key's.
#[derive(Clone, Debug)]
pub struct Column {
    pub id: usize,
    pub name: String,
    pub kind: Kind,
}

pub type Key = (i32, String);

/// Values by column id, without those that are NULL, and the partition fields of the file that has the row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub values: BTreeMap<usize, String>,
    pub spec: Vec<String>,
}

pub type Rows = BTreeMap<Key, Row>;

#[derive(Clone, Debug, Default)]
pub struct Branch {
    pub rows: Rows,
    /// Copy-on-write may have moved rows out of files with other partition fields: the rows' `spec` is not certain.
    pub rewritten: bool,
}

pub fn cell(column: usize, key: &Key, row: &Row) -> Option<String> {
    match column {
        0 => Some(key.0.to_string()),
        1 => Some(key.1.clone()),
        id => row.values.get(&id).cloned(),
    }
}

pub fn hint(branch: &str, options: &str) -> String {
    match (branch == MAIN, options.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(" /*+ OPTIONS({options}) */"),
        (false, true) => format!(" /*+ OPTIONS('branch' = '{branch}') */"),
        (false, false) => format!(" /*+ OPTIONS('branch' = '{branch}', {options}) */"),
    }
}

/// Murmur3 of 32 bits, seed 0: the hash of Iceberg's buckets.
fn murmur3(bytes: &[u8]) -> u32 {
    let mixed = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut hash = 0_u32;
    for chunk in bytes.chunks(4) {
        let mut word = [0_u8; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        hash ^= mixed(u32::from_le_bytes(word));
        if chunk.len() == 4 {
            hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
        }
    }
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

pub fn partition(spec: &[String], key: &Key) -> Vec<String> {
    let (id, k) = key;
    let value = |field: &String| match field.as_str() {
        "id" => id.to_string(),
        "k" => k.clone(),
        "bucket(3, id)" => ((murmur3(&i64::from(*id).to_le_bytes()) & 0x7fff_ffff) % 3).to_string(),
        "bucket(2, k)" => ((murmur3(k.as_bytes()) & 0x7fff_ffff) % 2).to_string(),
        "truncate(4, id)" => (id - id.rem_euclid(4)).to_string(),
        "truncate(1, k)" => k.chars().take(1).collect(),
        other => panic!("{other}"),
    };
    spec.iter().map(value).collect()
}

#[test]
fn the_hash_is_that_of_icebergs_specification() {
    assert_eq!(murmur3(&34_i64.to_le_bytes()), 2_017_239_379);
    assert_eq!(murmur3(b"iceberg"), 1_210_000_089);
}
