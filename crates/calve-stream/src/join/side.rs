//! The rows of one side of a join.

use std::collections::{BTreeMap, HashMap};

use crate::op::Op;
use crate::rows::{self, Bytes};

/// The rows that are there, by key; equal rows are one entry.
#[derive(Debug, Default)]
pub(super) struct Side {
    keys: HashMap<Bytes, Bucket>,
    next: u64,
    size: usize,
}

#[derive(Debug, Default)]
struct Bucket {
    /// In the order of arrival.
    entries: BTreeMap<u64, Entry>,
    /// Where a row is; not kept while there are few.
    index: Option<HashMap<Bytes, u64>>,
}

/// A row that may be there several times.
#[derive(Debug)]
pub(super) struct Entry {
    pub row: Bytes,
    /// How often it is there; from 1.
    pub count: u64,
    /// How many rows of the other side are its partners.
    pub partners: u64,
}

/// Entries that are searched without an index.
const FEW: usize = 16;

impl Bucket {
    fn find(&self, row: &[u8]) -> Option<u64> {
        match &self.index {
            Some(index) => index.get(row).copied(),
            None => self.entries.iter().find(|(_, e)| e.row.as_ref() == row).map(|(number, _)| *number),
        }
    }
}

impl Side {
    /// The numbers of the rows with that key, in the order of arrival.
    pub fn numbers(&self, key: &[u8]) -> Vec<u64> {
        self.keys.get(key).map(|bucket| bucket.entries.keys().copied().collect()).unwrap_or_default()
    }

    /// A row by its number.
    pub fn get(&self, key: &[u8], number: u64) -> Option<&Entry> {
        self.keys.get(key)?.entries.get(&number)
    }

    /// A row by its number.
    pub fn row(&self, key: &[u8], number: u64) -> Option<&Bytes> {
        Some(&self.get(key, number)?.row)
    }

    /// A row by its number, to change how many partners it has.
    pub fn get_mut(&mut self, key: &[u8], number: u64) -> Option<&mut Entry> {
        self.keys.get_mut(key)?.entries.get_mut(&number)
    }

    /// Adds a row with so many partners, or takes one back.
    pub fn change(&mut self, op: Op, key: &[u8], row: &[u8], partners: u64) {
        if op.adds() { self.add(key, row, partners) } else { self.take_back(key, row) }
    }

    fn add(&mut self, key: &[u8], row: &[u8], partners: u64) {
        if !self.keys.contains_key(key) {
            self.size += key.len() + rows::ENTRY;
            self.keys.insert(key.into(), Bucket::default());
        }
        let Some(bucket) = self.keys.get_mut(key) else { return };
        if let Some(entry) = bucket.find(row).and_then(|number| bucket.entries.get_mut(&number)) {
            entry.count = entry.count.saturating_add(1);
            entry.partners = partners;
            return;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        bucket.entries.insert(number, Entry { row: row.into(), count: 1, partners });
        self.size += row.len() + rows::ENTRY;
        match &mut bucket.index {
            Some(index) => {
                index.insert(row.into(), number);
                self.size += row.len() + rows::ENTRY;
            }
            None if bucket.entries.len() > FEW => {
                let index = bucket.entries.iter().map(|(number, e)| (e.row.clone(), *number)).collect();
                self.size += bucket.entries.values().map(|e| e.row.len() + rows::ENTRY).sum::<usize>();
                bucket.index = Some(index);
            }
            None => {}
        }
    }

    fn take_back(&mut self, key: &[u8], row: &[u8]) {
        let Some(bucket) = self.keys.get_mut(key) else { return };
        let Some(number) = bucket.find(row) else { return };
        let Some(entry) = bucket.entries.get_mut(&number) else { return };
        if entry.count > 1 {
            entry.count -= 1;
            return;
        }
        bucket.entries.remove(&number);
        let mut freed = row.len() + rows::ENTRY;
        if let Some(index) = &mut bucket.index {
            index.remove(row);
            freed += row.len() + rows::ENTRY;
        }
        if bucket.entries.is_empty() {
            self.keys.remove(key);
            freed += key.len() + rows::ENTRY;
        }
        self.size = self.size.saturating_sub(freed);
    }

    /// The bytes of the rows.
    pub fn size(&self) -> usize {
        self.size
    }
}
