#!/usr/bin/env python3
"""A table that calve wrote, altered and wrote again holds the same rows for calve and for DuckDB.

usage: evolved_with_duckdb.py CALVE      needs duckdb, duckdb-extension-iceberg and duckdb-extension-avro, all of one version
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import duckdb_with_iceberg

CALVE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/calve").resolve()

STEPS = [
    "CREATE TABLE t (id INT NOT NULL, f FLOAT, d DECIMAL(5, 2), name STRING, gone INT, p INT, ts TIMESTAMP(6), "
    "r ROW<x INT, y STRING>, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH ('write.upsert.enabled' = 'true')",
    "INSERT INTO t SELECT 1, CAST(1.5 AS FLOAT), CAST(1.25 AS DECIMAL(5, 2)), 'a', 7, 1, TIMESTAMP '2024-01-01 10:00:00', ROW(1, 'x')",
    "INSERT INTO t SELECT 2, CAST(2.5 AS FLOAT), CAST(2.25 AS DECIMAL(5, 2)), 'b', 8, 2, TIMESTAMP '2024-01-02 10:00:00', ROW(2, 'y')",
    "ALTER TABLE t ADD (born DATE FIRST, tag STRING AFTER id)",
    "ALTER TABLE t MODIFY (id BIGINT NOT NULL, f DOUBLE, d DECIMAL(20, 2) AFTER id, p BIGINT NOT NULL)",
    "ALTER TABLE t RENAME name TO label",
    "ALTER TABLE t DROP gone",
    "ALTER TABLE t ADD gone STRING",
    "INSERT INTO t SELECT DATE '2024-05-05', CAST(1 AS BIGINT), CAST(100000.25 AS DECIMAL(20, 2)), 'tag', 3.5E0, 'A', "
    "CAST(1 AS BIGINT), TIMESTAMP '2024-01-03 10:00:00', ROW(3, 'z'), 'here'",
    "ALTER TABLE t ADD PARTITION FIELD bucket(2, id)",
    "INSERT INTO t SELECT DATE '2024-06-06', 5000000000, CAST(3 AS DECIMAL(20, 2)), 'new', 4.5E0, 'c', 5000000001, "
    "TIMESTAMP '2024-01-04 10:00:00', ROW(4, 'w'), 'there'",
]


def calve(folder, sql):
    """Runs statements in the catalog; the rows of the last one."""
    catalog = (f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{folder}'); "
               "CREATE DATABASE IF NOT EXISTS lake.db; USE lake.db; SET 'execution.runtime-mode' = 'batch'; ")
    done = subprocess.run([CALVE, "--output", "jsonl", "-e", catalog + sql], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"calve failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]).get("rows")


def main():
    db = duckdb_with_iceberg.connect()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            calve(folder, step)
            if not step.startswith(("INSERT", "ALTER")):
                continue
            names = [row[0] for row in calve(folder, "DESCRIBE t")]
            columns = ", ".join(f"CAST({n} AS {{text}}) AS {n}" for n in names if n != "r")
            want = sorted(calve(folder, f"SELECT {columns.format(text='STRING')} FROM t"), key=str)
            rows = db.execute(f"SELECT {columns.format(text='VARCHAR')} FROM iceberg_scan('{folder}/db/t')").fetchall()
            # the two print timestamps with and without their zeros
            trim = lambda v: v.rstrip("0").rstrip(".") if v and v[:2] == "20" and "." in v else v
            got, want = [sorted([[trim(v) for v in row] for row in rs], key=str) for rs in (rows, want)]
            good = got == want
            failed += not good
            print(f"{'ok' if good else 'NOT'}: {step[:60]}: {len(got)} rows")
            if not good:
                print(f"  duckdb {got}\n  calve  {want}")
    sys.exit(1 if failed else 0)


main()
