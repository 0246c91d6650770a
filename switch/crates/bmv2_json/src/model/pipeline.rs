//! Pipelines: tables, action profiles, conditionals.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Next, SourceInfo};
use crate::expr::Expr;

#[derive(Debug, Deserialize)]
pub struct Pipeline {
    pub name: String,
    pub init_table: Next,
    pub tables: Vec<Table>,
    #[serde(default)]
    pub action_profiles: Vec<Profile>,
    #[serde(default)]
    pub conditionals: Vec<Conditional>,
    #[serde(default)]
    pub action_calls: Vec<ActionCall>,
}

#[derive(Debug, Deserialize)]
pub struct Table {
    pub name: String,
    pub key: Vec<Key>,
    #[serde(rename = "type", default = "simple")]
    pub kind: String,
    #[serde(default)]
    pub action_profile: Option<String>,
    #[serde(default)]
    pub max_size: u64,
    #[serde(default)]
    pub with_counters: bool,
    #[serde(default)]
    pub support_timeout: bool,
    #[serde(default)]
    pub direct_meters: Option<String>,
    pub action_ids: Vec<u32>,
    #[serde(default)]
    pub base_default_next: Next,
    pub next_tables: BTreeMap<String, Next>,
    #[serde(default)]
    pub default_entry: Option<DefaultEntry>,
    #[serde(default)]
    pub entries: Vec<Entry>,
    #[serde(default)]
    pub source_info: SourceInfo,
}

fn simple() -> String {
    "simple".to_owned()
}

#[derive(Debug, Deserialize)]
pub struct Key {
    pub match_type: String,
    /// A field, or the name of a header that is to be valid.
    pub target: Value,
    #[serde(default)]
    pub mask: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct DefaultEntry {
    pub action_id: u32,
    #[serde(default)]
    pub action_const: bool,
    #[serde(default)]
    pub action_data: Vec<String>,
    #[serde(default)]
    pub action_entry_const: bool,
}

#[derive(Debug, Deserialize)]
pub struct Entry {
    pub match_key: Vec<EntryKey>,
    pub action_entry: DefaultEntry,
    #[serde(default)]
    pub priority: u32,
}

#[derive(Debug, Deserialize)]
pub struct EntryKey {
    /// A hexstr, or a boolean of match type `valid`.
    #[serde(default)]
    pub key: Value,
    #[serde(default)]
    pub mask: Option<String>,
    #[serde(default)]
    pub prefix_length: Option<u32>,
    #[serde(default)]
    pub start: Option<String>,
    #[serde(default)]
    pub end: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Profile {
    pub name: String,
    pub max_size: u64,
    #[serde(default)]
    pub selector: Option<Selector>,
}

#[derive(Debug, Deserialize)]
pub struct Selector {
    pub algo: String,
    pub input: Vec<Expr>,
}

#[derive(Debug, Deserialize)]
pub struct Conditional {
    pub name: String,
    pub expression: Expr,
    #[serde(default)]
    pub true_next: Next,
    #[serde(default)]
    pub false_next: Next,
    #[serde(default)]
    pub source_info: SourceInfo,
}

#[derive(Debug, Deserialize)]
pub struct ActionCall {
    pub name: String,
    pub action_id: u32,
    #[serde(default)]
    pub next_node: Next,
}
