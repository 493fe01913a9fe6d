"""Times TPC-H queries in calve and in plain DataFusion on the same Parquet files, one process for each run, in turn.

    pip install datafusion==53.0.0 tpchgen-cli
    tpchgen-cli -s 1 --format=parquet --output-dir DATA
    python3 compare.py CALVE DATA [--runs 5] [--queries 1,3,6,9,18]

Both start from nothing in every run; the time is the whole process's, less that of the same process with `SELECT 1`. Prints
medians in seconds, their ratio, and whether the results agree (numbers are compared as numbers).
"""

import argparse
import csv
import io
import os
import statistics
import subprocess
import sys
import time
from decimal import Decimal, InvalidOperation

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ["lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation"]
PEER = """
import csv, os, sys
from datafusion import SessionContext, SessionConfig
context = SessionContext(SessionConfig().with_target_partitions(int(sys.argv[3])))
for table in sys.argv[4:]:
    context.register_parquet(table, os.path.join(sys.argv[1], table + ".parquet"))
out = csv.writer(sys.stdout)
for batch in context.sql(open(sys.argv[2]).read()).collect():
    out.writerows(zip(*(column.to_pylist() for column in batch.columns)))
"""


def run(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return seconds, done.stdout


def rows(text, header):
    def value(cell):
        try:
            return round(float(Decimal(cell)), 2)
        except InvalidOperation:
            return cell
    found = [[value(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    return found[1:] if header else found


def agree(mine, theirs):
    """Averages differ in their scale: Flink's DECIMAL has 6 more digits than DataFusion's 4."""
    def near(a, b):
        return abs(a - b) <= 0.01 if isinstance(a, float) and isinstance(b, float) else a == b
    return len(mine) == len(theirs) and all(len(a) == len(b) and all(map(near, a, b)) for a, b in zip(mine, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve")
    parser.add_argument("data")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", default="1,3,6,9,18")
    args = parser.parse_args()
    cores = str(os.cpu_count())
    init = os.path.join(args.data, "calve-init.sql")
    with open(os.path.join(HERE, "tables.sql"), encoding="utf-8") as tables, open(init, "w", encoding="utf-8") as out:
        out.write(tables.read().replace("${DATA}", os.path.abspath(args.data)))
    nothing = os.path.join(args.data, "nothing.sql")
    with open(nothing, "w", encoding="utf-8") as out:
        out.write("SELECT 1")

    def calve(query):
        return run([args.calve, "run", "-i", init, "-D", "parallelism.default=" + cores, "--output", "csv", query])

    def peer(query):
        return run([sys.executable, "-c", PEER, args.data, query, cores, *TABLES])

    def timed(query):
        mine, theirs, results = [], [], None
        for _ in range(args.runs):
            (a, left), (b, right) = calve(query), peer(query)
            mine.append(a)
            theirs.append(b)
            results = left, right
        return statistics.median(mine), statistics.median(theirs), results

    base_mine, base_theirs, _ = timed(nothing)
    print(f"start: calve {base_mine:.3f} s, DataFusion {base_theirs:.3f} s")
    for name in args.queries.split(","):
        mine, theirs, results = timed(os.path.join(HERE, f"q{name}.sql"))
        mine, theirs = mine - base_mine, theirs - base_theirs
        same = "same rows" if agree(rows(results[0], True), rows(results[1], False)) else "ROWS DIFFER"
        print(f"Q{name}: calve {mine:.3f} s, DataFusion {theirs:.3f} s, ratio {mine / theirs:.2f}, {same}")


if __name__ == "__main__":
    main()
