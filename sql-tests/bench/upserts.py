#!/usr/bin/env python3
"""Reads a table of 100 upsert commits of 10,000 keys, of which half exist, beside a fresh copy of the same rows, in both
format versions and both upsert modes, and fails if the read takes more than twice as long.

usage: upserts.py CALVE [COMMITS [KEYS [BASE]]]      CALVE is a release build; BASE: rows before the upserts, 0

Without a base the table has a row that was replaced for every row of the copy, and twice as many rows are read.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

READ = "SELECT COUNT(*), SUM(n), MAX(s) FROM {}"


def run(calve, warehouse, script):
    """Runs a script in the warehouse; the seconds of its last statement, by the clock, and that statement's rows."""
    head = f"""CREATE CATALOG ice WITH ('type'='iceberg', 'catalog-type'='hadoop', 'warehouse'='{warehouse}');
    USE CATALOG ice; CREATE DATABASE IF NOT EXISTS db; USE db; SET 'execution.runtime-mode'='batch';"""
    path = pathlib.Path(warehouse).parent / "script.sql"
    path.write_text(head + script)
    started = time.monotonic()
    done = subprocess.run([calve, "--output", "jsonl", "-f", path], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    last = json.loads(done.stdout.splitlines()[-1])
    if done.returncode != 0:
        sys.exit(f"{last}\n{done.stderr}")
    return seconds, last.get("rows")


def numbers(name, rows):
    return f"""CREATE TEMPORARY TABLE {name} (i BIGINT) WITH ('connector'='datagen', 'number-of-rows'='{rows}',
    'fields.i.kind'='sequence', 'fields.i.start'='1', 'fields.i.end'='{rows}');"""


def measure(calve, warehouse, table):
    """The least time of five reads, without what starting takes, and the rows."""
    start = min(run(calve, warehouse, "SELECT 1;")[0] for _ in range(3))
    reads = [run(calve, warehouse, READ.format(table) + ";") for _ in range(5)]
    return max(min(seconds for seconds, _ in reads) - start, 0.001), reads[0][1]


def main():
    calve = sys.argv[1]
    commits = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    keys = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    base = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    failed = False
    for version in (2, 3):
        for mode in ("equality", "position"):
            with tempfile.TemporaryDirectory() as folder:
                warehouse = f"{folder}/w"
                script = f"""CREATE TABLE t (id BIGINT, n BIGINT, s STRING, PRIMARY KEY (id) NOT ENFORCED)
                WITH ('format-version'='{version}', 'write.upsert.enabled'='true', 'calve.upsert.mode'='{mode}');"""
                if base:
                    script += numbers("base", base) + """INSERT INTO t /*+ OPTIONS('upsert-enabled'='false') */
                    SELECT i - 1, i, CAST(i AS STRING) FROM base;"""
                for commit in range(commits):
                    there = base + commit * keys // 2
                    script += numbers(f"g{commit}", keys) + f"""INSERT INTO t SELECT
                    CASE WHEN MOD(i, 2) = 0 THEN {there} + i / 2 - 1 ELSE MOD(i * 7919 + {commit} * 104729, {max(there, keys // 2)}) END,
                    i + {commit}, CAST(i * {commit + 1} AS STRING) FROM g{commit};"""
                written, _ = run(calve, warehouse, script)
                run(calve, warehouse, f"""CREATE TABLE copy (id BIGINT, n BIGINT, s STRING)
                WITH ('format-version'='{version}'); INSERT INTO copy SELECT * FROM t;""")
                upserted, rows = measure(calve, warehouse, "t")
                fresh, same = measure(calve, warehouse, "copy")
                good = rows == same and upserted <= 2 * fresh
                failed |= not good
                print(f"v{version} {mode}: {commits} commits in {written:.1f} s; read {upserted:.3f} s, a fresh copy "
                      f"{fresh:.3f} s: {upserted / fresh:.1f} times{'' if rows == same else ', OTHER ROWS'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
