#!/usr/bin/env python3
"""Makes the data of the benchmark with DuckDB, the same for the same number of rows, and the answers of the jobs.

usage: data.py FOLDER ROWS [BATCHES]      ROWS: a multiple of 1,000; BATCHES: how many upserts to tell the answer of, 1

events/*.parquet: ROWS rows in ten files. upsert.parquet: a tenth as many keys in no order, half of them in events.
overwrite.parquet: the rows of events with MOD(id, 500) < 10, with other amounts. expected.json: count, sum(amount) and
sum(id) after each job.

Batch n of upserts is upsert.parquet with other keys, and with n added to the amounts: see jobs/upsert-batch.sql.
"""

import json
import os
import pathlib
import sys

import duckdb

EVENTS = ["click", "view", "purchase", "refund", "login", "logout", "search", "share"]
REGIONS = "us-east us-west eu-west eu-north ap-south ap-east sa-east af-south me-central ca-central".split()
PARTITIONS, OVERWRITTEN = 500, 10
ANSWER = "SELECT CAST(count(*) AS VARCHAR), CAST(sum(amount) AS VARCHAR), CAST(sum(id) AS VARCHAR) FROM "
AS_PARQUET = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072)"


def rows(key, first, end, salt):
    """A query for rows whose columns depend on their number `i` and the salt alone; `key` is an expression of `i`."""

    def pick(values, factor):
        return f"{values}[1 + CAST(hash(i * {factor} + {salt}) % {len(values)} AS INTEGER)]"

    start = "TIMESTAMP '2024-01-01 00:00:00'"
    return f"""SELECT CAST({key} AS BIGINT) AS id,
      'user_' || CAST(hash(i * 7 + {salt}) % 500000 AS VARCHAR) AS user_name,
      {pick(EVENTS, 13)} AS event_type,
      CAST(CAST(hash(i * 17 + {salt}) % 10000000 AS BIGINT) / 100.0 AS DECIMAL(18, 2)) AS amount,
      {start} + to_microseconds(CAST(i * 3153600 + CAST(hash(i * 19 + {salt}) % 1000000 AS BIGINT) AS BIGINT)) AS ts,
      CAST({start} + to_microseconds(CAST(i * 3153600 AS BIGINT)) AS DATE) AS event_date,
      {pick(REGIONS, 23)} AS region,
      md5(CAST(i * 29 + {salt} AS VARCHAR)) || substr(md5(CAST(i * 31 + {salt} AS VARCHAR)), 1, 8) AS payload
    FROM range({first}, {end}) AS numbers(i)"""


def write(db, query, path):
    """Writes a file that is there as a whole or not at all."""
    db.execute(f"COPY ({query}) TO '{path}.new' {AS_PARQUET}")
    os.replace(f"{path}.new", path)


def generate(db, folder, count):
    (folder / "events").mkdir(parents=True, exist_ok=True)
    step, keys = count // 10, count // 10
    for part in range(10):
        path = folder / "events" / f"part-{part}.parquet"
        if not path.exists():
            write(db, rows("i", part * step, (part + 1) * step, 1), path)
    if not (folder / "upsert.parquet").exists():
        key = f"CASE WHEN i < {keys // 2} THEN i * 20 ELSE {count} + i - {keys // 2} END"
        write(db, f"SELECT * FROM ({rows(key, 0, keys, 777)}) ORDER BY hash(id)", folder / "upsert.parquet")
    if not (folder / "overwrite.parquet").exists():
        other = "* REPLACE (CAST(amount + 1 AS DECIMAL(18, 2)) AS amount)"
        events = f"read_parquet('{folder}/events/*.parquet')"
        write(db, f"SELECT {other} FROM {events} WHERE id % {PARTITIONS} < {OVERWRITTEN}", folder / "overwrite.parquet")


def answers(db, folder, count, batches):
    """The answers by job, those that were computed before from their file."""
    path = folder / "expected.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    events, upsert = f"read_parquet('{folder}/events/*.parquet')", f"read_parquet('{folder}/upsert.parquet')"
    if "append" not in known:
        known["append"] = known["partitions"] = db.execute(ANSWER + events).fetchone()
        known["overwrite"] = (
            db.execute(f"""{ANSWER} (SELECT id, amount FROM {events} WHERE id % {PARTITIONS} >= {OVERWRITTEN}
          UNION ALL SELECT id, amount FROM read_parquet('{folder}/overwrite.parquet'))""").fetchone()
        )
    for number in [1, batches]:
        if f"upsert{number}" not in known:
            db.execute(f"""CREATE OR REPLACE TEMP TABLE changes AS
              SELECT CASE WHEN id < {count} THEN (id + batch) % {count} ELSE id + batch * {count // 20} END AS id,
                arg_max(amount + batch, batch) AS amount
              FROM {upsert}, range({number}) AS batches(batch) GROUP BY ALL""")
            known[f"upsert{number}"] = db.execute(f"""{ANSWER} (SELECT id, amount FROM {events}
              WHERE id NOT IN (SELECT id FROM changes) UNION ALL SELECT id, amount FROM changes)""").fetchone()
    path.write_text(json.dumps(known, indent=1))


def main():
    if len(sys.argv) < 3 or int(sys.argv[2]) % 1000:
        sys.exit(__doc__)
    folder, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    db = duckdb.connect()
    db.execute("SET preserve_insertion_order = true")
    generate(db, folder, count)
    answers(db, folder, count, int(sys.argv[3]) if len(sys.argv) > 3 else 1)


if __name__ == "__main__":
    main()
