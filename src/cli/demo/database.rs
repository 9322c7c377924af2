//! The demo shop's database: the demo's one door to SQLite. Owns its tables; what may run on them is not its business.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

const SEED: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
    INSERT INTO customers VALUES (1, 'Ada', 'London'), (2, 'Grace', 'New York'), (3, 'Katherine', 'Hampton');
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, cents INTEGER NOT NULL, status TEXT NOT NULL);
    INSERT INTO orders VALUES (1001, 1, 4200, 'paid'), (1002, 2, 1999, 'cancelled'), (1003, 3, 7650, 'open'),
                              (1004, 1, 1250, 'open'), (1005, 2, 9900, 'cancelled');
    CREATE TABLE sessions (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, idle_days INTEGER NOT NULL);
    INSERT INTO sessions VALUES (1, 1, 1), (2, 2, 4), (3, 3, 41), (4, 1, 130), (5, 2, 402);
";

const TABLES: [&str; 3] = ["customers", "orders", "sessions"];

/// SQLite's own words on what went wrong.
#[derive(Debug, thiserror::Error)]
#[error("SQLite says: {0}")]
pub(super) struct ShopError(#[from] rusqlite::Error);

/// The shop's database file. Opened anew for every question, so that others see each effect at once.
#[derive(Debug)]
pub(super) struct Shop {
    file: PathBuf,
}

impl Shop {
    /// Makes the file with its three small tables.
    pub(super) fn create(file: &Path) -> Result<(), ShopError> {
        Ok(Connection::open(file)?.execute_batch(SEED)?)
    }

    /// Takes a file that [`Self::create`] made.
    pub(super) fn at(file: PathBuf) -> Self {
        Self { file }
    }

    /// Runs one statement and returns its rows as objects. It trusts its caller to have sent a SELECT, as many real
    /// servers do: a DELETE runs just as well.
    pub(super) fn rows(&self, statement: &str) -> Result<Vec<Value>, ShopError> {
        let shop = self.open()?;
        let mut prepared = shop.prepare(statement)?;
        let names: Vec<String> = prepared.column_names().map(Into::into).collect();
        let mut found = prepared.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let mut object = Map::new();
            for (at, name) in names.iter().enumerate() {
                object.insert(name.clone(), json(row.get_ref(at)?));
            }
            rows.push(Value::Object(object));
        }
        Ok(rows)
    }

    /// Runs one statement that returns no rows; how many it changed.
    pub(super) fn change(&self, statement: &str) -> Result<usize, ShopError> {
        Ok(self.open()?.execute(statement, [])?)
    }

    /// Removes sessions idle for more than so many days; how many.
    pub(super) fn remove_sessions(&self, idle_days: u64) -> Result<usize, ShopError> {
        let days = i64::try_from(idle_days).unwrap_or(i64::MAX);
        Ok(self.open()?.execute("DELETE FROM sessions WHERE idle_days > ?1", [days])?)
    }

    /// Every table with its rows as text, for comparing before and after.
    pub(super) fn contents(&self) -> Result<Vec<(&'static str, Vec<String>)>, ShopError> {
        TABLES
            .into_iter()
            .map(|table| {
                let rows = self.rows(&format!("SELECT * FROM {table} ORDER BY id"))?;
                Ok((table, rows.iter().map(Value::to_string).collect()))
            })
            .collect()
    }

    fn open(&self) -> Result<Connection, rusqlite::Error> {
        Connection::open_with_flags(&self.file, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }
}

fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()).into(),
    }
}
