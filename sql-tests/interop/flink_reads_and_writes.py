#!/usr/bin/env python3
"""Flink and calve read and write each other's tables: the rows of every table in flink_shapes*.sql are the same for both.

usage: flink_reads_and_writes.py [CALVE] [--only NAME]      needs a JDK, Maven and pip; downloads Flink into target/flink once

Each table is written by one engine (most by both, each its own), read by both, written by the other, and read by both again.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from flink_installation import Unavailable, install
from flink_session import Flink

HERE = pathlib.Path(__file__).resolve().parent
SESSIONS = 4

Shape = collections.namedtuple("Shape", "name portable make other read")

CHANGES = [  # what a database's log says, in two files
    ['{"op":"c","after":{"id":1,"status":"new","v":1}}', '{"op":"c","after":{"id":2,"status":"new","v":5}}',
     '{"op":"u","before":{"id":1,"status":"new","v":1},"after":{"id":1,"status":"paid","v":2}}',
     '{"op":"c","after":{"id":4,"status":"new","v":8}}', '{"op":"d","before":{"id":4,"status":"new","v":8}}'],
    ['{"op":"u","before":{"id":1,"status":"paid","v":2},"after":{"id":1,"status":"sent","v":3}}',
     '{"op":"d","before":{"id":2,"status":"new","v":5}}', '{"op":"c","after":{"id":3,"status":"new","v":7}}'],
]


def shapes():
    """The shapes of the SQL files."""
    text = "".join("\n" + (HERE / name).read_text(encoding="utf-8") for name in ("flink_shapes.sql", "flink_shapes_of_changes.sql"))
    for part in re.split(r"\n-- (?=shape |calve )", text)[1:]:
        head, body = part.split("\n", 1)
        kind, name = head.split()
        sections = re.split(r"\n-- (other|read)\n", "\n" + body)
        found = {"make": sections[0], **dict(zip(sections[1::2], sections[2::2]))}
        split = {key: [s.strip() for s in re.split(r";\n", value + "\n") if s.strip()] for key, value in found.items()}
        yield Shape(name, kind == "shape", split["make"], split["other"], ["SELECT * FROM t", *split.get("read", [])])


class Calve:
    def __init__(self, binary, warehouse):
        self.binary = binary
        self.catalog = [f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{warehouse}')"]

    def run(self, database, statements):
        """The rows of each statement."""
        first = [*self.catalog, f"CREATE DATABASE IF NOT EXISTS lake.{database}", f"USE lake.{database}", "SET 'execution.runtime-mode' = 'batch'"]
        done = subprocess.run([self.binary, "--output", "jsonl", "-e", ";\n".join(first + statements) + ";"],
                              capture_output=True, text=True, timeout=120)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode != 0:
            raise RuntimeError(f"calve: {answers[-1] if answers else ''} {done.stderr}")
        return [answer.get("rows") for answer in answers[len(first):]]


class FlinkEngine:
    def __init__(self, flink, warehouse):
        self.sessions = queue.Queue()
        for _ in range(SESSIONS):
            session = flink.session()
            session.run("CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', "
                        f"'warehouse' = '{warehouse}', 'cache-enabled' = 'false')")
            self.sessions.put(session)

    def run(self, database, statements):
        """The rows of each statement."""
        session = self.sessions.get()
        try:
            for statement in (f"CREATE DATABASE IF NOT EXISTS lake.{database}", "USE CATALOG lake", f"USE {database}",
                              "SET 'execution.runtime-mode' = 'batch'"):
                session.run(statement)
            return [session.run(statement) for statement in statements]
        finally:
            self.sessions.put(session)


def differences(what, left, right):
    """What two results with names do not have in common."""
    (name, rows), (other, others) = left, right
    rows, others = [collections.Counter(json.dumps(row, ensure_ascii=False) for row in r) for r in (rows, others)]
    if rows == others:
        return []
    lines = [f"{what}: {name} and {other} differ"]
    for reader, more in ((name, rows - others), (other, others - rows)):
        lines += [f"    only {reader}: {row}" for row in sorted(more.elements())[:10]]
    return lines


def examine(shape, engines, parameters, spoil=False):
    """The number of comparisons and the differences of a shape. With `spoil`, calve adds a row after Flink has read."""
    make, other = [[re.sub(r"\$\{(\w+)\}", lambda m: parameters[m[1]], s) for s in part] for part in (shape.make, shape.other)]
    count, wrong = 0, []
    makers = ["calve", "flink"] if shape.portable else ["calve"]

    def compare(stage):
        nonlocal count
        seen = {}
        for maker in makers:
            database = f"{maker}_{shape.name}"
            seen[maker, "flink"] = engines["flink"].run(database, shape.read)
            if spoil:
                engines["calve"].run(database, ["INSERT INTO t SELECT * FROM t LIMIT 1"])
            seen[maker, "calve"] = engines["calve"].run(database, shape.read)
            pairs = [((maker, "calve"), (maker, "flink"))]
            if maker == "flink":
                pairs.append((("calve", "calve"), (maker, "calve")))
            for left, right in pairs:
                for n, read in enumerate(shape.read):
                    count += 1
                    wrong.extend(differences(f"{shape.name} {stage}, {read}", *[
                        (f"table of {pair[0]} read by {pair[1]}", seen[pair][n]) for pair in (left, right)]))

    try:
        for maker in makers:
            engines[maker].run(f"{maker}_{shape.name}", make)
        compare("as made")
        for maker in makers:
            engines["flink" if maker == "calve" else "calve"].run(f"{maker}_{shape.name}", other)
        compare("after the other engine wrote")
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        wrong.append(f"{shape.name}: {error}")
    return count, wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("calve", nargs="?", default="target/debug/calve")
    arguments.add_argument("--only", action="append", help="a shape's name")
    arguments = arguments.parse_args()
    chosen = [shape for shape in shapes() if not arguments.only or shape.name in arguments.only]
    target = HERE.parent.parent / "target" / "flink"
    try:
        jars = install(target / "jars")
    except Unavailable as why:
        print(f"skipped: {why}")
        return 0
    start = time.time()
    with tempfile.TemporaryDirectory() as folder, open(target / "flink.log", "w") as log, Flink(jars, log) as flink:
        for n, lines in enumerate(CHANGES, 1):
            path = pathlib.Path(folder, "changes", str(n), "changes.json")
            path.parent.mkdir(parents=True)
            path.write_text("\n".join(lines) + "\n")
        parameters = {"CHANGES": f"{folder}/changes"}
        warehouse = f"{folder}/warehouse"
        engines = {"calve": Calve(pathlib.Path(arguments.calve).resolve(), warehouse), "flink": FlinkEngine(flink, warehouse)}
        total, failed = 0, 0
        with concurrent.futures.ThreadPoolExecutor(SESSIONS) as pool:
            for shape, (count, wrong) in zip(chosen, pool.map(lambda s: examine(s, engines, parameters), chosen)):
                print(f"{'NOT' if wrong else 'ok'}: {shape.name}: {count} comparisons", *wrong, sep="\n  ", flush=True)
                total += count
                failed += bool(wrong)
        # the comparison itself: a row that only calve has seen must be found
        probe = Shape("probe", False, ["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"], [], ["SELECT * FROM t"])
        count, wrong = examine(probe, engines, parameters, spoil=True)
        if len([line for line in wrong if "only" in line]) != 2:
            print("NOT: a wrong row was not found", *wrong, sep="\n  ")
            failed += 1
    print(f"{len(chosen) - failed} passed, {failed} failed; {total} comparisons in {time.time() - start:.0f} seconds")
    return 1 if failed else 0


sys.exit(main())
