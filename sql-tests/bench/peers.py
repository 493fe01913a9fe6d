#!/usr/bin/env python3
"""Runs calve and other engines for Iceberg side by side, job by job, and tells their seconds, CPU time and memory.

    python3 peers/setup.py HOME              installs the other engines, about 4 GB
    python3 peers.py CALVE --home HOME       CALVE is a release build; takes an hour or two

usage: peers.py CALVE [--rows N] [--runs N] [--jobs JOB,..] [--peers PEER,..] [--home DIR] [--docs DIR] [--json FILE]
                [--timeout SECONDS] [--by-job] [--keep]

Each job is run by each engine that can do it, in a process of its own, and then all again, so that a noisy moment
hits all alike. The time is the whole process's, with all that it starts. What an engine's table holds after its first
run is compared with the right answer. Medians go to standard output, and with a chart to benchmarks.md and
benchmarks.svg in the folder --docs (docs of the repository). The exit code is 1 if an answer is wrong, or a job fails
in calve.

The jobs in calve are the scripts in peers/jobs, which can be run by hand: see setup.sql there; Flink runs the same.
What the other engines do is in peers/run_*.py. An engine without a virtual environment below HOME is taken from
PYTHONPATH, if it is there. Data and tables are below HOME, too: about 1 GB for each million rows while it runs, or a
third of that with --by-job, which makes all runs of a job before the next job begins. One run at a time in a HOME.

Jobs that are run only if they are named: scan100 (a hundred upserts) and keys (five times as many keys as rows).
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
from decimal import Decimal, InvalidOperation

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "peers"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True  # no __pycache__ among the sources

import report  # noqa: E402
import rest_catalog  # noqa: E402
from measure import adopt_orphans, measure  # noqa: E402

# name: the script, and the package whose version is told
PEERS = {
    "duckdb": ("run_duckdb.py", "duckdb"),
    "pyiceberg": ("run_pyiceberg.py", "pyiceberg"),
    "sidequery": ("run_pyiceberg.py", "sidequery-pyiceberg"),
    "sail": ("run_sail.py", "pysail"),
    "repark": ("run_repark.py", "repark"),
    "chdb": ("run_chdb.py", "chdb"),
    "spark": ("run_spark.py", "pyspark"),
}

NOT = {
    "pyiceberg": ("scan",),  # it reads no equality deletes
    "sidequery": ("append", "partitions", "overwrite", "show", "commits"),  # in these it is PyIceberg
}

# What calve does: `base` is what its warehouse holds before (see Bench.base_scripts), `script` the job
Way = collections.namedtuple("Way", "label base script table limit", defaults=("lake.db.t", None))


class Job:
    def __init__(self, name, title, *ways, peers=None, base=None, expected=None, table_of=None, by_default=True):
        self.name, self.title, self.ways = name, title, ways
        self.peers = peers  # the job of their scripts
        self.base = base  # the job whose table they begin with
        self.expected = expected  # the answer; None: the one that the first gives
        self.table_of = table_of  # the base of calve whose table the peers read
        self.by_default = by_default

    def writes(self):
        return self.name in ("append", "partitions", "overwrite", "upsert", "set", "keys")


def scan(number, by_default=True):
    times = "an upsert" if number == 1 else f"{number} upserts"
    return Job(
        f"scan{number}",
        f"COUNT and two SUMs after {times}; the others read calve's table with equality deletes",
        Way("calve", f"equality-{number}", "scan"),
        Way("calve, position deletes", f"position-{number}", "scan"),
        Way("calve, fresh copy", f"equality-{number}", "scan", "lake.db.fresh"),
        peers="scan",
        expected=f"upsert{number}",
        table_of=f"equality-{number}",
        by_default=by_default,
    )


JOBS = [
    Job(
        "append",
        "append all rows to a table without partitions",
        Way("calve", None, "append"),
        peers="append",
        expected="append",
    ),
    Job(
        "partitions",
        "append all rows to 500 partitions, from a source in another order",
        Way("calve", None, "partitions"),
        peers="partitions",
        expected="partitions",
    ),
    Job(
        "overwrite",
        "INSERT OVERWRITE of 10 of the 500 partitions",
        Way("calve", "partitions", "overwrite"),
        Way("calve, INSERT of the same rows", "partitions", "overwrite-append"),
        peers="overwrite",
        base="partitions",
        expected="overwrite",
    ),
    Job(
        "upsert",
        "upsert of a tenth as many keys as there are rows, half of them there",
        Way("calve", "upsert-base", "upsert"),
        Way("calve, position deletes", "upsert-base", "upsert-position"),
        peers="upsert",
        base="append",
        expected="upsert1",
    ),
    scan(1),
    scan(10),
    scan(100, by_default=False),
    Job(
        "set",
        "statement set: one source, three filters, three tables",
        Way("calve", "set-tables", "set"),
        Way("calve, three INSERTs", "set-tables", "set-inserts"),
        Way("calve, the source into blackhole", "set-tables", "set-source"),
    ),
    Job("select", "SELECT 1 in a new process", Way("calve", None, "select"), peers="select"),
    Job("show", "SHOW TABLES in a new process", Way("calve", "commits-table", "show"), peers="show", base="append"),
    Job("commits", "many small INSERTs in one session", Way("calve", "commits-table", "commits"), peers="commits"),
    Job(
        "keys",
        "upsert of five times as many keys as there are rows, within 2 GB",
        Way("calve", "keys-table", "keys", limit="2g"),
        by_default=False,
    ),
]
WITHOUT_SETUP = ("select", "show")
OTHER_ANSWER = ("overwrite-append", "set-source")  # ways whose rows are not the job's
WRONG = ("wrong answer", "no answer", "exit code")


class Failed(Exception):
    pass


def number(text):
    try:
        return Decimal(str(text)).normalize()
    except InvalidOperation:
        return text


class Peer:
    """An engine of peers/run_*.py."""

    def __init__(self, name, home):
        self.name = name
        script, package = PEERS[name]
        self.script = SCRIPTS / script
        venv = home / "venvs" / name
        self.python = str(venv / "bin" / "python") if (venv / "bin" / "python").exists() else sys.executable
        ask = f"import importlib.metadata as m; print(m.version({package!r}))"
        found = subprocess.run([self.python, "-c", ask], capture_output=True, text=True, check=False)
        self.version = found.stdout.strip() if found.returncode == 0 else None
        self.jobs = ()
        if self.version:
            listed = subprocess.run(
                [self.python, "-B", self.script, "--list"], capture_output=True, text=True, check=False
            )
            self.jobs = tuple(listed.stdout.split())
            if listed.returncode != 0:
                self.version = None

    def command(self, job, **parameters):
        pairs = [f"{key}={value}" for key, value in parameters.items() if value is not None]
        return [self.python, "-B", "-W", "ignore", str(self.script), job, *pairs]


class Calve:
    """What runs the scripts of peers/jobs."""

    name, setup = "calve", "setup"

    def __init__(self, binary):
        self.binary = str(pathlib.Path(binary).resolve())

    def command(self, setup, job, limit):
        limits = ["--memory-limit", limit] if limit else []
        return [self.binary, "run", "--output", "jsonl", *limits, *(["-i", setup] if setup else []), job]


class Flink:
    """Flink with Iceberg's connector in one JVM, which runs the same scripts."""

    name, setup = "flink", "flink-setup"
    # what Flink asks of Java 17
    OPENS = (
        "java.lang",
        "java.util",
        "java.net",
        "java.io",
        "java.nio",
        "sun.nio.ch",
        "java.lang.reflect",
        "java.text",
        "java.time",
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "java.util.concurrent.locks",
    )

    def __init__(self, home):
        self.folder = home / "venvs" / "flink"
        complete = self.folder / "complete"
        self.version = complete.read_text() if complete.exists() else None

    def command(self, setup, job, _):
        jars = ":".join(map(str, [*sorted((self.folder / "jars").glob("*.jar")), self.folder / "classes"]))
        opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in self.OPENS]
        return [
            "java",
            "-Xmx6g",
            "-Duser.timezone=UTC",
            *opens,
            "-cp",
            jars,
            "FlinkScript",
            *([setup] if setup else []),
            job,
        ]


class Bench:
    def __init__(self, args):
        self.args, self.home = args, args.home.resolve()
        self.calve = Calve(args.calve)
        self.flink = None
        self.data = self.home / "data" / str(args.rows)
        self.tables = self.home / "tables"
        self.catalog = rest_catalog.start()
        self.commits = max(20, min(1000, args.rows // 1000))
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
        if "PYTHONPATH" in self.env:  # the jobs run in other folders
            self.env["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, self.env["PYTHONPATH"].split(os.pathsep)))
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.most_memory = total * 0.6
        self.peers = []
        self.results = []
        self.broken = {}  # (job, contender): why it is not run again
        self.expected = {}
        self.checked = set()

    # --- what there is to run

    def find_peers(self):
        for name in self.args.peers:
            peer = Flink(self.home) if name == "flink" else Peer(name, self.home)
            if not peer.version:
                print(f"{name} is not installed: left out", file=sys.stderr)
            elif name == "flink":
                self.flink = peer
            else:
                self.peers.append(peer)

    def versions(self):
        return {peer.name: peer.version for peer in [*self.peers, *([self.flink] if self.flink else [])]}

    def make_data(self):
        wanted = max(
            [1, *(int(job.expected[6:]) for job in self.args.jobs if (job.expected or "").startswith("upsert"))]
        )
        maker = Peer("duckdb", self.home)
        if not maker.version:
            sys.exit(f"the data is made with DuckDB: install it with {SCRIPTS / 'setup.py'} {self.home} duckdb")
        subprocess.run(
            [maker.python, "-B", SCRIPTS / "data.py", self.data, str(self.args.rows), str(wanted)], check=True
        )
        self.expected = json.loads((self.data / "expected.json").read_text())
        if self.flink and not (self.data / "iceberg").exists():
            self.run_sql(self.data / "iceberg", self.sql("flink-source", self.data / "iceberg"))

    # --- running

    def measure(self, command, folder):
        folder.mkdir(parents=True, exist_ok=True)
        result = measure([str(part) for part in command], folder, self.env, self.args.timeout, self.most_memory)
        if result.ended:
            done = sum(line == "COMMIT" for line in result.output())
            raise Failed(result.ended + (f", {done} commits were" if done else ""))
        if result.code != 0:
            said = [line for line in result.errors.splitlines() + result.output() if re.search(r"rror|xception", line)]
            raise Failed(f"exit code {result.code}: {said[-1].strip()[:300] if said else ''}")
        return result

    def sql(self, name, warehouse, **more):
        """The text of a script of peers/jobs."""
        values = {"WAREHOUSE": warehouse, "DATA": self.data, "ROWS": self.args.rows, "KEYS": 5 * self.args.rows, **more}
        text = (SCRIPTS / "jobs" / f"{name}.sql").read_text(encoding="utf-8")
        return re.sub(r"\$\{(\w+)\}", lambda match: str(values[match[1]]), re.sub(r"(?m)^--.*\n", "", text))

    def run_sql(self, warehouse, text, setup=True, limit=None, engine=None):
        engine = engine or self.calve
        folder = self.tables / "scripts"
        folder.mkdir(parents=True, exist_ok=True)
        first, job = folder / "setup.sql", folder / "job.sql"
        first.write_text(self.sql(engine.setup, warehouse))
        job.write_text(text)
        return self.measure(engine.command(first if setup else None, job, limit), folder)

    def base_scripts(self, base, warehouse):
        """The scripts that make a base of calve's."""
        kind, _, count = base.rpartition("-")
        if not count.isdigit():
            return self.sql(base, warehouse)
        text = self.sql("upsert-base", warehouse)
        text += "".join(self.sql("upsert-batch", warehouse, BATCH=batch, MODE=kind) for batch in range(int(count)))
        return text + (self.sql("copy", warehouse) if kind == "equality" else "")

    def warehouse(self, owner, base, build, dirty=True):
        """A folder that holds the base, for a job that leaves it dirty or does not. Bases are kept aside."""
        folder, kept = self.tables / owner / (base or "none"), self.tables / "kept" / owner / (base or "none")
        marker = folder / ".clean"
        if base and not kept.exists():
            shutil.rmtree(folder, ignore_errors=True)
            build(folder)
            copy_tree(folder, kept)
        elif dirty or not marker.exists():
            shutil.rmtree(folder, ignore_errors=True)
            if base:
                copy_tree(kept, folder)
        if dirty:
            marker.unlink(missing_ok=True)
        elif base:
            marker.touch()
        return folder

    def sql_base(self, base, dirty, engine=None):
        engine = engine or self.calve

        def build(folder):
            self.run_sql(folder, self.base_scripts(base, folder), engine=engine)

        return self.warehouse(engine.name, base, build, dirty)

    def peer_base(self, peer, base):
        return self.warehouse(
            peer.name, base, lambda folder: self.measure(self.peer_command(peer, base, folder), folder)
        )

    def peer_command(self, peer, job, warehouse, table=None):
        return peer.command(
            job, warehouse=warehouse, data=self.data, catalog=self.catalog, count=self.commits, table=table
        )

    def run_way(self, job, way, engine, label):
        if way.script == "scan":  # of calve's table, whoever reads it
            warehouse = self.sql_base(way.base, dirty=False)
        else:
            warehouse = self.sql_base(way.base, dirty=way.script != "show", engine=engine)
        times = range(self.commits) if way.script == "commits" else [0]
        text = "".join(self.sql(way.script, warehouse, TABLE=way.table, NUMBER=number) for number in times)
        with Written(warehouse) as written:
            result = self.run_sql(warehouse, text, way.script not in WITHOUT_SETUP, way.limit, engine)
        answer = None
        if way.script == "scan":
            answer = last_rows(result)
        elif job.writes() and way.script not in OTHER_ANSWER and self.to_check(job, label):
            check = "set-scan" if job.name == "set" else "scan"
            answer = last_rows(self.run_sql(warehouse, self.sql(check, warehouse, TABLE=way.table), engine=engine))
        return result, written, answer

    def run_peer(self, job, peer):
        table = None
        if job.table_of:
            table = self.sql_base(job.table_of, dirty=False) / "db" / "t"
        warehouse = self.peer_base(peer, job.base)
        with Written(warehouse) as written:
            result = self.measure(self.peer_command(peer, job.peers, warehouse, table), warehouse)
        answer = None
        if job.peers == "scan":
            answer = printed_answer(result)
        elif job.writes() and self.to_check(job, peer.name):
            answer = printed_answer(self.measure(self.peer_command(peer, "read", warehouse), warehouse))
        return result, written, answer

    def to_check(self, job, label):
        return (job.name, label) not in self.checked

    def check(self, job, label, answer):
        if answer is None:
            return
        wanted = self.expected.get(job.expected or f"first of {job.name}")
        if wanted is None:
            self.expected[f"first of {job.name}"] = wanted = answer
        if [number(value) for value in answer] != [number(value) for value in wanted]:
            raise Failed(f"wrong answer: {' '.join(map(str, answer))}")
        self.checked.add((job.name, label))

    def run(self, number, job, label, function, args):
        if (job.name, label) in self.broken:
            return
        os.sync()
        entry = {"run": number, "job": job.name, "contender": label}
        try:
            result, written, answer = function(*args)
            self.check(job, label, answer)
        except Failed as why:
            self.broken[job.name, label] = str(why)
            entry["failed"] = str(why)
            print(f"  {job.name:11} {label:34} {why}", flush=True)
        else:
            entry.update(wall=round(result.wall, 4), cpu=round(result.cpu, 4), peak=result.peak)
            if job.writes():
                entry.update(files=written.files, bytes=written.bytes)
            if job.name == "commits":
                entry.update(commit_times(result))
            took = f"{result.wall:8.2f} s {result.cpu:8.2f} CPU s {result.peak / 1e6:7.0f} MB"
            print(f"  {job.name:11} {label:34} {took}", flush=True)
        self.results.append(entry)

    def contenders(self, job):
        """The label of each, and the function that runs it with its arguments."""
        for way in job.ways:
            yield way.label, self.run_way, (job, way, self.calve, way.label)
        for peer in self.peers:
            if job.peers in peer.jobs and job.peers not in NOT.get(peer.name, ()):
                yield peer.name, self.run_peer, (job, peer)
        if self.flink and job.name != "keys":
            yield "flink", self.run_way, (job, job.ways[0], self.flink, "flink")

    def run_job(self, number, job):
        for contender in self.contenders(job):
            self.run(number, job, *contender)

    def run_all(self):
        if self.args.by_job:
            for place, job in enumerate(self.args.jobs):
                for number in range(1, self.args.runs + 1):
                    self.run_job(number, job)
                self.forget(bases(job) - set().union(*map(bases, self.args.jobs[place + 1 :])))
            return
        for number in range(1, self.args.runs + 1):
            print(f"run {number} of {self.args.runs}", flush=True)
            for job in self.args.jobs:
                self.run_job(number, job)

    def forget(self, names):
        """Removes bases from the disk."""
        for folder in [*self.tables.glob("*/*"), *self.tables.glob("kept/*/*")]:
            if folder.name in names and folder.parent.name != "kept":
                shutil.rmtree(folder, ignore_errors=True)


def bases(job):
    return {name for name in [job.base, job.table_of, *(way.base for way in job.ways)] if name}


class Written:
    """The Parquet files that came into a folder meanwhile, and their bytes."""

    def __init__(self, folder):
        self.folder = folder

    def found(self):
        return set(self.folder.rglob("*.parquet"))

    def __enter__(self):
        self.before = self.found()
        return self

    def __exit__(self, *_):
        new = self.found() - self.before
        self.files, self.bytes = len(new), sum(path.stat().st_size for path in new)


def copy_tree(source, target):
    """A copy in which Parquet files, which nobody changes, are hard links."""

    def copy(one, other):
        return os.link(one, other) if one.endswith(".parquet") else shutil.copy2(one, other)

    shutil.copytree(source, target, copy_function=copy)


def last_rows(result):
    last = json.loads(result.output()[-1])
    return last["rows"][0]


def printed_answer(result):
    lines = [line.split()[1:] for line in result.output() if line.startswith("ANSWER ")]
    if not lines:
        raise Failed("no answer")
    return lines[-1]


def commit_times(result):
    """Seconds of the commits around the tenth and of the last ten."""
    times = [time for time, line in result.lines if line.startswith(("COMMIT", "{"))]
    took = [after - before for before, after in zip(times, times[1:])]
    return {
        "commits": len(times),
        "tenth": round(statistics.median(took[4:14]), 5),
        "last": round(statistics.median(took[-10:]), 5),
    }


def arguments():
    repository = HERE.parent.parent
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("calve")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", default=",".join(job.name for job in JOBS if job.by_default))
    parser.add_argument("--peers", default=",".join([*PEERS, "flink"]))
    parser.add_argument("--home", type=pathlib.Path, default=repository / "target" / "bench")
    parser.add_argument("--docs", type=pathlib.Path, default=repository / "docs")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--by-job", action="store_true")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    if args.rows % 1000 or args.rows < 10_000:
        parser.error("--rows is a multiple of 1,000, and at least 10,000")
    known = {job.name: job for job in JOBS}
    names, args.peers = args.jobs.split(","), [peer for peer in args.peers.split(",") if peer]
    for unknown in [*(set(names) - set(known)), *(set(args.peers) - {*PEERS, "flink"})]:
        parser.error(f"there is no {unknown}: jobs are {', '.join(known)}; peers are {', '.join(PEERS)}, flink")
    args.jobs = [job for job in JOBS if job.name in names]
    return args


def main():
    args = arguments()
    adopt_orphans()
    bench = Bench(args)
    bench.find_peers()
    bench.make_data()
    shutil.rmtree(bench.tables, ignore_errors=True)
    about = report.about(bench.calve.binary, bench.versions(), args, datetime.date.today())
    code = 0
    try:
        bench.run_all()
    except KeyboardInterrupt:
        code = 130  # and what there is is told
    finally:
        if not args.keep:
            shutil.rmtree(bench.tables, ignore_errors=True)
    if args.json:
        args.json.write_text(json.dumps({"about": about, "results": bench.results}, indent=1) + "\n")
    report.write(args.docs, about, args.jobs, bench.results)
    # what takes too long or too much memory is a result, too
    wrong = [
        f"{job}, {label}: {why}"
        for (job, label), why in bench.broken.items()
        if why.startswith(WRONG) or label.startswith("calve")
    ]
    sys.exit("\n".join(wrong) or code)


if __name__ == "__main__":
    main()
