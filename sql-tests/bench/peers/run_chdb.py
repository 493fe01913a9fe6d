"""chDB (ClickHouse in a process): see common.py. It reads Iceberg tables here, and writes none."""

import os

import chdb

from common import answer, job


def scan(p):
    os.chdir("/")  # it reads nothing outside the current folder
    query = f"SELECT count(), sum(amount), sum(id) FROM icebergLocal('{p.table}', 'Parquet')"
    answer(str(chdb.query(query, "TSV")).split())


def select(_):
    print(chdb.query("SELECT 1"))


run, parameters = job({"scan": scan, "select": select})
run(parameters)
