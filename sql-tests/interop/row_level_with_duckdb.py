#!/usr/bin/env python3
"""Reads the tables that the model test of DELETE, UPDATE and MERGE left in target/row-level with DuckDB and compares the rows.

usage: row_level_with_duckdb.py [FOLDER]      needs duckdb, duckdb-extension-iceberg and duckdb-extension-avro, all of one version
"""
import pathlib
import sys

import duckdb_with_iceberg


def main():
    base = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/row-level").resolve()
    tables = sorted((p.parent for p in base.glob("*/expected.tsv")), key=lambda p: int(p.name))
    if not tables:
        sys.exit(f"no tables in {base}: run the model test of row-level changes first")
    db = duckdb_with_iceberg.connect()
    failed = 0
    for folder in tables:
        want = sorted(line.split("\t") for line in (folder / "expected.tsv").read_text().splitlines())
        rows = db.execute(f"SELECT * FROM iceberg_scan('{folder}/db/t')").fetchall()
        got = sorted(["\\N" if v is None else str(v) for v in row] for row in rows)
        good = got == want
        failed += not good
        print(f"{folder.name}: {len(got)} rows, {'as expected' if good else 'NOT as expected'}")
    print(f"{len(tables) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
