#!/usr/bin/env python3
"""Reads the tables that the upsert model test left in target/model with DuckDB and compares the rows.

usage: read_with_duckdb.py [FOLDER]      needs duckdb, duckdb-extension-iceberg and duckdb-extension-avro, all of one version
"""
import pathlib
import sys

import duckdb_with_iceberg


def main():
    base = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/model").resolve()
    tables = sorted(p.parent for p in base.glob("*/expected.tsv"))
    if not tables:
        sys.exit(f"no tables in {base}: run the upsert model test first")
    db = duckdb_with_iceberg.connect()
    failed = 0
    for folder in tables:
        want = [tuple(None if v == "\\N" else v for v in line.split("\t"))
                for line in (folder / "expected.tsv").read_text().splitlines()]
        rows = db.execute(f"SELECT id, p, n, s FROM iceberg_scan('{folder}/db/t') ORDER BY id, p").fetchall()
        got = [(str(i), p, str(n), s) for i, p, n, s in rows]
        good = got == want
        failed += not good
        print(f"{folder.name}: {len(got)} rows, {'as expected' if good else 'NOT as expected'}")
    print(f"{len(tables) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
