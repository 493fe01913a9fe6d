"""Times the TPC-H queries in calve and in plain DataFusion on the same Parquet files, one process for each run, in turn.

    pip install datafusion==53.0.0 tpchgen-cli==2.0.2
    tpchgen-cli -s 1 --format=parquet --output-dir DATA
    python3 compare.py CALVE DATA [--iceberg WAREHOUSE] [--runs 5] [--queries 1,3,6]

calve reads DATA by its filesystem connector; with --iceberg it copies DATA into Iceberg tables first, unless WAREHOUSE has
them already, and asks those, while DataFusion reads the data files calve wrote.

Both start from nothing in every run. calve's time is the whole process's; DataFusion's begins after Python has loaded the
library and ends with the rows in memory. Prints medians in seconds, of the time and of the processors' time, their ratios,
and whether the results agree: exactly, but for the last digit of averages and quotients, which Flink rounds. Exits with 1
if they do not.
"""

import argparse
import csv
import io
import os
import resource
import statistics
import subprocess
import sys
import time
from decimal import Decimal, InvalidOperation

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ["lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation", "region"]
QUERIES = [str(number) for number in range(1, 23)]
PEER = """
import csv, sys, time
from datafusion import SessionContext, SessionConfig
start = time.perf_counter(), time.process_time()
context = SessionContext(SessionConfig().with_target_partitions(int(sys.argv[2])))
for table in sys.argv[3:]:
    context.register_parquet(*table.split("=", 1))
batches = context.sql(open(sys.argv[1]).read()).collect()
print(time.perf_counter() - start[0], time.process_time() - start[1], file=sys.stderr)
out = csv.writer(sys.stdout)
for batch in batches:
    out.writerows(zip(*(column.to_pylist() for column in batch.columns)))
"""


def run(command):
    """The seconds of the process and of the processors, and what it printed to stdout and stderr."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    start, before = time.perf_counter(), used()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return (seconds, used() - before), done.stdout, done.stderr


def rows(text, header):
    def value(cell):
        try:
            return Decimal(cell)
        except InvalidOperation:
            return cell
    found = [[value(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    return found[1:] if header else found


def near(mine, theirs):
    """Equal, or numbers that differ by no more than one in the last digit of the shorter, if that is the sixth or a later one."""
    if not (isinstance(mine, Decimal) and isinstance(theirs, Decimal)):
        return mine == theirs
    scale = min(-number.as_tuple().exponent for number in (mine, theirs))
    return mine == theirs or scale >= 6 and abs(mine - theirs) <= Decimal(1).scaleb(-scale)


def agree(mine, theirs):
    return len(mine) == len(theirs) and all(len(a) == len(b) and all(map(near, a, b)) for a, b in zip(mine, theirs))


def filled(name, **values):
    """The text of a file beside this one, with the values in its placeholders."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        text = file.read()
    for key, value in values.items():
        text = text.replace("${" + key + "}", os.path.abspath(value))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve")
    parser.add_argument("data")
    parser.add_argument("--iceberg", metavar="WAREHOUSE")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", default=",".join(QUERIES))
    args = parser.parse_args()
    cores = str(os.cpu_count())
    init = os.path.join(args.data, "calve-init.sql")

    def write(path, text):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def calve(query):
        return run([args.calve, "run", "-i", init, "-D", "parallelism.default=" + cores, "--output", "csv", query])[:2]

    def peer(query):
        _, out, times = run([sys.executable, "-c", PEER, query, cores, *files])
        return tuple(map(float, times.split())), out

    def timed(query):
        """Medians of each one's seconds and processor seconds, and the results of the last run."""
        pairs = [(calve(query), peer(query)) for _ in range(args.runs)]
        medians = [[statistics.median(pair[side][0][kind] for pair in pairs) for side in (0, 1)] for kind in (0, 1)]
        return medians, [side[1] for side in pairs[-1]]

    def line(name, medians, same):
        (mine, theirs), (mine_cpu, theirs_cpu) = medians
        print(f"{name:5}  calve {mine:6.3f} s ({mine_cpu:6.3f} CPU)  DataFusion {theirs:6.3f} s ({theirs_cpu:6.3f} CPU)  "
              f"ratio {mine / theirs:.2f} ({mine_cpu / theirs_cpu:.2f} CPU)  {same}", flush=True)

    write(init, filled("tables.sql", DATA=args.data))
    files = [f"{table}={os.path.join(args.data, table)}.parquet" for table in TABLES]
    if args.iceberg:
        if not os.path.exists(args.iceberg):
            load = os.path.join(args.data, "calve-load.sql")
            write(load, filled("iceberg.sql", WAREHOUSE=args.iceberg))
            print(f"load: calve {calve(load)[0][0]:.3f} s")
        write(init, filled("use.sql", WAREHOUSE=args.iceberg))
        # nothing was deleted or replaced, so every file in the folder is the table's
        files = [f"{table}={os.path.join(args.iceberg, 'tpch', table, 'data')}" for table in TABLES]

    totals, differ = [[0.0, 0.0], [0.0, 0.0]], []
    for name in args.queries.split(","):
        medians, results = timed(os.path.join(HERE, f"q{name}.sql"))
        totals = [[a + b for a, b in zip(*kind)] for kind in zip(totals, medians)]
        same = agree(rows(results[0], True), rows(results[1], False))
        if not same:
            differ.append(name)
        line(f"Q{name}", medians, "same rows" if same else "ROWS DIFFER")
    line("total", totals, "")
    if differ:
        sys.exit("rows differ: Q" + ", Q".join(differ))


if __name__ == "__main__":
    main()
