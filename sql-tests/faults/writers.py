#!/usr/bin/env python3
"""Lets several calve processes write to one table at the same time, and looks for a serial history that explains all of it.

usage: writers.py CALVE [--seconds 6] [--writers 2,4] [--lakes hadoop,jdbc] [--uri REST-URI] [--seed 1] [--keep FOLDER]

CI: --seconds 6 (the default). Nightly: --seconds 60. With --uri also on that REST catalog (options: --option credential=...).

Format versions and ways to change rows take turns, and other ones with the next seed. Every writer runs scripts of a few statements:
appends with ids of its own, upserts (by equality and by position) of keys of its own and of keys that all write, DELETE, UPDATE, INSERT
OVERWRITE, and reads. It notes what it was told: committed with a snapshot, nothing to commit, refused, or unknown. One process in six is
killed after a while, and its script run again under its job id, sometimes by two processes at the same time: what they did stands in
the history once. One in six is stopped for a while, and goes on when the table has moved on. In the end the table's snapshots, in
the order of its history, are the serial history. It must hold that

* each statement that was told as committed is in it, once; what is in it was told as committed, or as unknown; refused ones are not in it;
* no statement stands before one that had ended when it began;
* the rows of the table, and of snapshots on the way, are what a model gives that runs the statements in this order;
* what a read saw is the state after one of the snapshots, in between its beginning and its end; a DELETE or UPDATE that found nothing had
  nothing to find in one of the states meanwhile;
* each writer came to its end, and a refusal is a conflict of commits.

Exit code 1 if any of it is not so.
"""
import argparse
import bisect
import collections
import dataclasses
import itertools
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
import uuid

import lake as lakes
from lake import Violation

SHARED, OWN = 40, 25  # keys that all upsert, and keys of each writer
REFUSALS = {"commit-conflict"}


@dataclasses.dataclass
class Write:
    """A statement, what it does to rows, and what its writer was told."""
    writer: int
    kind: str
    sql: str
    apply: object  # from rows to rows
    begun: float = 0
    ended: float = 0
    told: str = ""  # committed, nothing, refused, unknown, read
    snapshot: str | None = None
    rows: list | None = None  # of a read
    why: str = ""

    def __str__(self):
        return (f"writer {self.writer}, {self.kind}, {self.told} {self.snapshot or ''} {self.why}, "
                f"{self.begun:.3f} to {self.ended:.3f}: {self.sql[:160]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve", type=lambda path: pathlib.Path(path).resolve(), help="the binary")
    parser.add_argument("--seconds", type=float, default=6, help="how long they write")
    parser.add_argument("--writers", default="2,4", help="how many processes at the same time")
    parser.add_argument("--lakes", default="hadoop,jdbc", help="kinds of catalogs")
    parser.add_argument("--uri", help="a REST catalog")
    parser.add_argument("--option", action="append", default=[], help="KEY=VALUE, an option of the REST catalog")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder that stays, to look at what was found")
    options = parser.parse_args()
    kinds = [kind for kind in options.lakes.split(",") if kind] + (["rest"] if options.uri else [])
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or pathlib.Path(temporary)).resolve()
        for number, (kind, count) in enumerate(itertools.product(kinds, map(int, options.writers.split(",")))):
            turn = number + options.seed
            version, mode = 2 + turn % 2, ("copy-on-write", "merge-on-read")[turn // 2 % 2]
            properties = {"uri": options.uri, **dict(o.split("=", 1) for o in options.option)} if kind == "rest" else None
            lake = lakes.Lake(options.calve, folder / f"{kind}-{count}", kind, properties=properties)
            name = f"db_{options.seed}_{count}" if kind == "rest" else "db"
            print(f"{kind}, {count} writers, format version {version}, {mode}, {options.seconds:g} s, seed {options.seed}:", flush=True)
            try:
                history = History(lake, name, version, mode, count, options.seed)
                history.write(options.seconds)
                history.check()
            except Violation as violation:
                failed += 1
                lakes.report(failed, lake.folder, violation, folder)
    print(f"{failed} violations")
    sys.exit(1 if failed else 0)


class Statements:
    """Makes the statements of one writer. A row is (id, p, v) as strings; its key is (id, p), and p follows from id."""

    def __init__(self, writer, seed):
        self.writer, self.random, self.count = writer, random.Random(f"{seed} {writer}"), itertools.count(1)
        self.ids = itertools.count(1_000_000 * (writer + 1))

    def next(self):
        kinds = {"append": 5, "upsert_own": 4, "upsert_shared": 5, "delete": 2, "update": 2, "overwrite": 1, "read": 2}
        kind = self.random.choices(list(kinds), kinds.values())[0]
        tag = f"w{self.writer}-{next(self.count)}"
        return getattr(self, kind)(tag)

    def rows(self, ids, tag):
        return [(str(i), str(i % 4), tag) for i in ids]

    def insert(self, kind, rows, hint, apply, verb="INTO"):
        values = ", ".join(f"({i}, {p}, '{v}')" for i, p, v in rows)
        return Write(self.writer, kind, f"INSERT {verb} t /*+ OPTIONS({hint}) */ VALUES {values}", apply)

    def append(self, tag):
        rows = self.rows([next(self.ids) for _ in range(self.random.randint(1, 10))], tag)
        return self.insert("append", rows, "'upsert-enabled' = 'false'", lambda old: old + rows)

    def upsert(self, kind, tag, ids):
        rows, mode = self.rows(ids, tag), self.random.choice(("equality", "position"))
        keys = {row[:2] for row in rows}
        return self.insert(f"{kind}, {mode}", rows, f"'calve.upsert.mode' = '{mode}'",
                           lambda old: [r for r in old if r[:2] not in keys] + rows)

    def upsert_own(self, tag):
        return self.upsert("upsert_own", tag, self.random.sample(range(1000 * (self.writer + 1), 1000 * (self.writer + 1) + OWN), 8))

    def upsert_shared(self, tag):
        return self.upsert("upsert_shared", tag, self.random.sample(range(SHARED), 8))

    def delete(self, tag):
        n, rest = self.random.randint(3, 9), self.random.randint(0, 2)
        return Write(self.writer, "delete", f"DELETE FROM t WHERE MOD(id, {n}) = {rest}",
                     lambda old: [r for r in old if int(r[0]) % n != rest])

    def update(self, tag):
        p, n = self.random.randint(0, 3), self.random.randint(2, 5)
        hit = lambda r: r[1] == str(p) and int(r[0]) % n == 0
        return Write(self.writer, "update", f"UPDATE t SET v = v || '+{tag}' WHERE p = {p} AND MOD(id, {n}) = 0",
                     lambda old: [(*r[:2], f"{r[2]}+{tag}") if hit(r) else r for r in old])

    def overwrite(self, tag):
        start, p = next(self.ids), self.random.randint(0, 3)
        rows = self.rows([start * 4 + p + 4 * n for n in range(3)], tag)
        return self.insert("overwrite", rows, "'upsert-enabled' = 'false'",
                           lambda old: [r for r in old if r[1] != str(p)] + rows, "OVERWRITE")

    def read(self, tag):
        return Write(self.writer, "read", "SELECT id, p, v FROM t", None)


class History:
    """One table, its writers, and what they were told."""

    def __init__(self, lake, database, version, mode, writers, seed):
        self.lake, self.seed, self.writers = lake, seed, writers
        self.session = f"USE {database};\nSET 'execution.runtime-mode' = 'batch';\n"
        self.done, self.failures, self.fates, self.usual = [], [], collections.Counter(), 0.3
        modes = ", ".join(f"'write.{what}.mode' = '{mode}'" for what in ("delete", "update", "merge"))
        lake.must(f"""CREATE DATABASE IF NOT EXISTS {database};
DROP TABLE IF EXISTS {database}.t;
CREATE TABLE {database}.t (id BIGINT NOT NULL, p INT NOT NULL, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
  WITH ('format-version' = '{version}', 'write.upsert.enabled' = 'true', 'write.metadata.previous-versions-max' = '100000', {modes},
  'commit.retry.num-retries' = '30', 'commit.retry.min-wait-ms' = '10', 'commit.retry.max-wait-ms' = '200')""", session="")

    def write(self, seconds):
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=self.writer, args=(n, until)) for n in range(self.writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise Violation("\n".join(self.failures))

    def writer(self, number, until):
        statements = Statements(number, self.seed)
        try:
            while time.monotonic() < until:
                self.script([statements.next() for _ in range(statements.random.randint(1, 4))], statements.random)
        except Violation as violation:
            self.failures.append(f"writer {number}: {violation}")

    def script(self, writes, chance):
        """Runs some statements in one process, and notes what it says of them."""
        begun = time.monotonic()
        options = {"sql": ";\n".join(write.sql for write in writes), "keep_going": True, "session": self.session, "job": uuid.uuid4().hex}
        fate = chance.choice(("killed", "paused", "", "", "", ""))
        self.fates[fate] += 1
        if fate == "killed":
            first = self.lake.start(**options)
            time.sleep(chance.uniform(0, self.usual))
            first.kill()
            self.lake.finish(first)
        second = self.lake.start(**options) if fate == "killed" and chance.random() < 0.3 else None
        read_from = time.monotonic()
        process = self.lake.start(**options)
        if fate == "paused":
            time.sleep(chance.uniform(0, self.usual))
            process.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(0.2, 1.5))
            process.send_signal(signal.SIGCONT)
        outcome = self.lake.finish(process)
        if second:
            outcome = self.same(writes, outcome, self.lake.finish(second))
        results, ended = outcome.results[-len(writes):], time.monotonic()
        self.usual = max(0.1, ended - begun) if not fate else self.usual
        if len(outcome.results) != 4 + len(writes):
            raise Violation(f"not one answer for each statement: {outcome.told()}\n{outcome.stderr}\n{outcome.script}")
        for write, result in zip(writes, results):
            write.begun, write.ended = read_from if write.kind == "read" else begun, ended
            if result["status"] == "ok":
                if write.kind == "read":
                    write.told, write.rows = "read", [tuple(row) for row in result["rows"]]
                else:
                    write.snapshot = result["written"][0]["snapshot_id"]
                    write.told = "committed" if write.snapshot else "nothing"
            else:
                write.told = "unknown" if result["error"]["code"] == "commit-unknown" else "refused"
                write.why = f"{result['error']['code']}: {result['error']['message']}"
                if write.told == "refused" and result["error"]["code"] not in REFUSALS:
                    self.failures.append(f"refused: {write}")
            self.done.append(write)

    @staticmethod
    def same(writes, one, other):
        """What two processes said that ran one job at the same time: one may be refused what the other did, or both name it."""
        for n, write in enumerate(writes, -len(writes)):
            first, second = one.results[n], other.results[n]
            told = [r["written"][0]["snapshot_id"] for r in (first, second) if r["status"] == "ok" and "written" in r]
            if len(set(told) - {None}) > 1:
                raise Violation(f"two processes of one job committed twice: {told}\n{write}")
            if first["status"] != "ok" or told and not told[0]:
                one.results[n] = second if second["status"] == "ok" else first
        return one

    def query(self, sql):
        return [tuple(row) for row in self.lake.must(sql, session=self.session)[-1]["rows"]]

    def check(self):
        order = self.order()
        states = [[]]
        for write in order:
            states.append(write.apply(states[-1]))
        self.check_rows(order, states)
        self.check_times(order)
        self.check_reads(order, states)
        counts = collections.Counter(f"{w.kind}: {w.told}" for w in self.done)
        for what, count in sorted(counts.items()):
            print(f"{count:6} {what}")
        print(f"{self.fates['killed']:6} processes killed, and run again; {self.fates['paused']} paused")
        print(f"{len(order):6} snapshots, {len(states[-1])} rows in the end", flush=True)

    def order(self):
        """The writes in the order of the table's snapshots."""
        parents = dict(self.query("SELECT CAST(snapshot_id AS STRING), CAST(parent_id AS STRING) FROM t$snapshots"))
        head = dict(self.query("SELECT name, CAST(snapshot_id AS STRING) FROM t$refs")).get("main")
        chain = []
        while head:
            chain.append(head)
            head = parents[head]
        chain.reverse()
        told = {}
        for write in self.done:
            if write.snapshot and told.setdefault(write.snapshot, write) is not write:
                raise Violation(f"two statements were told of one snapshot:\n{write}\n{told[write.snapshot]}")
        lost = [write for snapshot, write in told.items() if snapshot not in chain]
        if lost:
            raise Violation("told as committed, and not in the history:\n" + "\n".join(map(str, lost)))
        strangers = [snapshot for snapshot in chain if snapshot not in told]
        unknown = [write for write in self.done if write.told == "unknown"]
        for snapshot in strangers:
            seen = {row[2] for row in self.query(f"SELECT id, p, v FROM t /*+ OPTIONS('snapshot-id' = '{snapshot}') */")}
            found = [w for w in unknown if any(f"'{v}'" in w.sql for v in seen)]
            if len(found) != 1:
                raise Violation(f"snapshot {snapshot} is in the history, and nobody was told of it; refused:\n"
                                + "\n".join(str(w) for w in self.done if w.told in ("refused", "unknown")))
            told[snapshot] = found[0]
            unknown.remove(found[0])
        return [told[snapshot] for snapshot in chain]

    def check_rows(self, order, states):
        """The rows of some snapshots, the last among them, are those of the model."""
        some = sorted({len(order), *random.Random(self.seed).sample(range(1, len(order) + 1), min(12, len(order)))})
        for n in some:
            if n:
                got = self.query(f"SELECT id, p, v FROM t /*+ OPTIONS('snapshot-id' = '{order[n - 1].snapshot}') */")
                if sorted(got) != sorted(states[n]):
                    first = self.first_wrong(order, states)
                    raise Violation(f"rows of snapshot {n} of {len(order)}: {lakes.difference(states[n], got)}\n"
                                    f"the first wrong one is {first}")
        if self.lake.kind != "rest":
            left = sorted(self.lake.files() - self.lake.referenced("t"))
            if left and not self.fates["killed"]:
                raise Violation(f"{len(left)} files that the table does not name were left behind: {left[:5]}")

    def first_wrong(self, order, states):
        for n, write in enumerate(order, 1):
            got = self.query(f"SELECT id, p, v FROM t /*+ OPTIONS('snapshot-id' = '{write.snapshot}') */")
            if sorted(got) != sorted(states[n]):
                before = "\n".join(f"  {w}" for w in order[max(0, n - 4):n - 1])
                return f"snapshot {n}: {lakes.difference(states[n], got)}\n  {write}\nafter\n{before}"
        return "none, when looked at again"

    def check_times(self, order):
        """A write that ended before another began stands before it."""
        latest = None
        for write in order:
            if latest and write.ended < latest.begun:
                raise Violation(f"the history has\n{latest}\nbefore, which began only after the end of\n{write}")
            if not latest or write.begun > latest.begun:
                latest = write
        place = {id(write): n for n, write in enumerate(order)}
        for writer in range(self.writers):
            own = [place[id(w)] for w in self.done if w.writer == writer and id(w) in place]
            if own != sorted(own):
                raise Violation(f"the statements of writer {writer} are in the history in another order than it ran them")

    def check_reads(self, order, states):
        """What was read, or found not to be there, was so in one of the states meanwhile."""
        ends = list(itertools.accumulate((w.ended for w in order), max))  # of the first n + 1 writes
        place = {id(write): n for n, write in enumerate(order)}
        own = {}  # how many writes of the history a writer has seen by its own
        for write in self.done:
            if id(write) in place:
                own[write.writer] = place[id(write)] + 1
            if write.told not in ("read", "nothing"):
                continue
            # states[n] is there surely if the n writes had ended when this began, and surely not yet if one began after its end
            first = max(bisect.bisect_left(ends, write.begun), own.get(write.writer, 0))
            last = next((n for n, w in enumerate(order) if w.begun > write.ended), len(order))
            meanwhile = states[first:last + 1]
            if write.told == "read":
                fits = any(sorted(write.rows) == sorted(state) for state in meanwhile)
            else:
                fits = any(sorted(write.apply(state)) == sorted(state) for state in meanwhile)
            if not fits:
                best = min(meanwhile, key=lambda s: len(set(s) ^ set(write.rows or [])), default=[])
                raise Violation(f"no state of the history explains\n{write}\nbetween states {first} and {last}; the nearest: "
                                f"{lakes.difference(best, write.rows or [])}")


if __name__ == "__main__":
    main()
