#!/usr/bin/env python3
"""Tables that calve overwrote, and tables in every layout and encoding it writes, hold the same rows for calve, for DuckDB
and for iceberg-datafusion, the table provider of Iceberg's Rust library.

usage: layout_with_readers.py CALVE
needs duckdb, duckdb-extension-iceberg and duckdb-extension-avro, all of one version; datafusion and the pyiceberg-core that
was built for its version
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import duckdb_with_iceberg

CALVE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/calve").resolve()

ROWS = ("SELECT id, CAST(MOD(id, 5) AS INT) AS p, CONCAT('text 😀 ', CAST(MOD(id * 7919, 1009) AS STRING)) AS s, "
        "CAST(id AS DOUBLE) / 3 AS d, TIMESTAMPADD(HOUR, -id, TIMESTAMP '1970-01-02 00:00:00') AS ts "
        "FROM (VALUES {values}) AS v (id)").format(values=", ".join(f"({i})" for i in range(300)))

COLUMNS = "id INT, p INT, s STRING, d DOUBLE, ts TIMESTAMP(6)"
KEYED = "id INT NOT NULL, p INT NOT NULL, s STRING, d DOUBLE, ts TIMESTAMP(6), PRIMARY KEY (id, p) NOT ENFORCED"

TABLES = {
    "overwritten": ("CREATE TABLE t (" + COLUMNS + ") PARTITIONED BY (p)",
                    ["INSERT INTO t " + ROWS, "INSERT OVERWRITE t SELECT * FROM t WHERE p < 2 AND id < 100",
                     "INSERT OVERWRITE t PARTITION (p = 3) SELECT id, s, d, ts FROM t WHERE p = 4"]),
    "emptied": ("CREATE TABLE t (" + COLUMNS + ")",
                ["INSERT INTO t " + ROWS, "INSERT OVERWRITE t SELECT * FROM t WHERE id = 7"]),
    "last": ("CREATE TABLE t (" + KEYED + ") PARTITIONED BY (p)",
             ["INSERT INTO t " + ROWS, "INSERT OVERWRITE t SELECT MOD(id, 10), p, s, d, ts FROM t"]),
    "hash": ("CREATE TABLE t (" + COLUMNS + ") PARTITIONED BY (p) WITH ('write.distribution-mode' = 'hash')",
             ["INSERT INTO t " + ROWS]),
    "range": ("CREATE TABLE t (" + COLUMNS + ") PARTITIONED BY (hours(ts)) WITH ('write.distribution-mode' = 'range')",
              ["INSERT INTO t " + ROWS]),
    "transforms": ("CREATE TABLE t (" + COLUMNS + ") PARTITIONED BY (bucket(4, id), days(ts)) WITH ('format-version' = '1')",
                   ["INSERT INTO t " + ROWS, "INSERT INTO t SELECT id + 300, p, s, d, ts FROM t WHERE p = 2"]),
    "spread": ("CREATE TABLE t (" + COLUMNS + ") PARTITIONED BY (truncate(6, s)) WITH ('write.object-storage.enabled' = 'true')",
               ["INSERT INTO t " + ROWS]),
    "encoded": ("CREATE TABLE t (" + COLUMNS + ") WITH ('write.parquet.page-version' = 'v2', 'write.parquet.page-row-limit' = '7', "
                "'write.parquet.dict-size-bytes' = '100', 'write.parquet.compression-codec' = 'snappy', "
                "'write.parquet.bloom-filter-enabled.column.s' = 'true', 'write.parquet.stats-enabled.column.id' = 'false', "
                "'write.metadata.metrics.default' = 'none')", ["INSERT INTO t " + ROWS]),
}

FILTERS = ["TRUE", "id = 7", "p = 3 AND d > 20", "s >= 'text 😀 5'", "ts < TIMESTAMP '1969-12-25 00:00:00'"]


def calve(folder, *statements):
    """Runs statements in the catalog; the rows of the last one."""
    catalog = (f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'file://{folder}'); "
               "CREATE DATABASE IF NOT EXISTS lake.db; USE lake.db; SET 'execution.runtime-mode' = 'batch'; ")
    script = catalog + ";\n".join(statements) + ";"
    done = subprocess.run([CALVE, "--output", "jsonl", "-e", script], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"calve failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]).get("rows")


def with_duckdb():
    """A function from a query of a table in a folder to its rows."""
    db = duckdb_with_iceberg.connect()
    return lambda folder, query: db.execute(query.format(t=f"iceberg_scan('{folder}/db/t')")).fetchall()


def with_datafusion():
    """The same for iceberg-datafusion."""
    from datafusion import SessionContext
    from pyiceberg_core.datafusion import IcebergDataFusionTable

    def rows(folder, query):
        current = (pathlib.Path(folder) / "db/t/metadata/version-hint.text").read_text().strip()
        context = SessionContext()
        metadata = f"file://{folder}/db/t/metadata/v{current}.metadata.json"
        context.register_table("t", IcebergDataFusionTable(["db", "t"], metadata, {}))
        batches = context.sql(query.format(t="t")).collect()
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    return rows


def main():
    readers = {"DuckDB": with_duckdb(), "iceberg-datafusion": with_datafusion()}
    failed = 0
    for name, (create, inserts) in TABLES.items():
        with tempfile.TemporaryDirectory() as folder:
            calve(folder, create, *inserts)
            for condition in FILTERS:
                columns = "CAST(id AS {text}), CAST(p AS {text}), s, CAST(CAST(d * 1000 AS BIGINT) AS {text})"
                want = sorted(calve(folder, f"SELECT {columns.format(text='STRING')} FROM t WHERE {condition}"))
                mine = columns.format(text="VARCHAR").replace("CAST(d * 1000", "CAST(trunc(d * 1000)")
                for reader, rows in readers.items():
                    got = sorted(list(row) for row in rows(folder, f"SELECT {mine} FROM {{t}} WHERE {condition}"))
                    good = got == want
                    failed += not good
                    print(f"{'ok' if good else 'NOT'}: {reader}: {name} WHERE {condition}: {len(got)} rows")
                    if not good:
                        print(f"  {reader} {got[:20]}\n  calve  {want[:20]}")
    sys.exit(1 if failed else 0)


main()
