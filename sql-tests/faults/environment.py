#!/usr/bin/env python3
"""Lets the machine fail below calve, and looks at what it says and what is left.

usage: environment.py CALVE [--count 3] [--seed 1] [--only full,signal] [--lakes hadoop,jdbc] [--keep FOLDER]

CI: --count 3 (the default). Nightly: --count 60 or more. Needs a C compiler (cc), which Rust needs, too.

  call       one call on a file fails, or is done and fails all the same: EIO, ENOSPC, EACCES, EMFILE
  full       no space left from some moment on
  disk       a file system that is really full: a small tmpfs, or where that cannot be mounted a limit of the size of files
  readonly   folders that cannot be written to
  vanish     the warehouse is moved away in the middle of a statement, and back after it
  clock      the clock jumps by minutes, a day, and years, back and forth, before and within a statement
  signal     SIGINT and SIGTERM

Each is done to statements of every kind. A statement that is told as done must be done, one that failed or was interrupted must have
changed nothing, and an outcome that is told as unknown or as partial (exit code 3) must be one of these. The exit code must be README's,
the error must have a code that is not `internal` and name a file or a table; a statement that failed must leave no file behind unless
deleting failed. Run again under its job id, it must leave exactly its result. Exit code 1 if any of it is not so.
"""
import argparse
import collections
import errno
import gzip
import itertools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import faults
import lake as lakes
import workload
from lake import Violation

NOBODY = 65534
MINUTE, DAY, YEAR = 60, 86_400, 365 * 86_400


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve", type=lambda path: pathlib.Path(path).resolve(), help="the binary")
    parser.add_argument("--count", type=int, default=3, help="how many statements for each fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="only these faults")
    parser.add_argument("--lakes", default="hadoop,jdbc", help="kinds of catalogs")
    parser.add_argument("--kinds", help="only these kinds of statements")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder that stays, to look at what was found")
    options = parser.parse_args()
    known = [name.removeprefix("fault_") for name in dir(Environment) if name.startswith("fault_")]
    if set((options.only or known[0]).split(",")) - set(known):
        parser.error(f"--only is of {', '.join(known)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        sys.exit(Environment(options, folder.resolve()).run())


class Skip(Exception):
    """What this machine cannot do, and why."""


class Environment:
    def __init__(self, options, folder):
        self.options, self.folder, self.random = options, folder, random.Random(options.seed)
        self.injector = faults.Injector(folder)
        self.counts, self.violations, self.made = collections.Counter(), 0, itertools.count(1)
        self.usual = faults.Usual(self.random)
        settings = itertools.product(options.lakes.split(","), (2, 3), ("copy-on-write", "merge-on-read"))
        self.settings = list(settings)
        self.random.shuffle(self.settings)

    def run(self):
        every = {name.removeprefix("fault_"): getattr(self, name) for name in sorted(dir(self)) if name.startswith("fault_")}
        shared = {}
        kinds = self.options.kinds.split(",") if self.options.kinds else list(workload.Workload(self.random).kinds)
        for name in self.options.only.split(",") if self.options.only else every:
            self.counts = collections.Counter()
            places = {} if name == "clock" else shared  # after a jump ahead, a table is of no use to others
            begun = time.monotonic()
            for n in range(self.options.count):
                setting, kind = self.settings[n // 2 % len(self.settings)], self.random.choice(kinds)
                try:
                    if setting not in places:
                        places[setting] = self.place(setting)
                    every[name](*places[setting], kind)
                except Skip as skip:
                    print(f"{name}: skipped: {skip}")
                    break
                except Violation as violation:
                    self.violations += 1
                    self.counts["violations"] += 1
                    where = places.pop(setting)[0].folder if setting in places else "a new lake"
                    lakes.report(self.violations, f"{name}, {kind} in {where}", violation, self.folder)
            print(f"{name}, seed {self.options.seed}, {time.monotonic() - begun:.0f} s:")
            for what, count in sorted(self.counts.items()):
                print(f"{count:6} {what}", flush=True)
        print(f"{self.violations} violations")
        return 1 if self.violations else 0

    def place(self, setting, folder=None):
        """A new lake with tables that hold something."""
        catalog, version, mode = setting
        folder = folder or self.folder / f"{catalog}-v{version}-{mode}-{next(self.made)}"
        lake = lakes.Lake(self.options.calve, folder, catalog, self.injector)
        workload.create(lake, version, mode)
        work, state = workload.Workload(self.random), workload.State()
        for kind in ("append", "overwrite_all"):
            step = work.step(state, kind)
            lake.must(step.sql)
            state = step.after[-1]
        return lake, work

    # what is done to a statement

    def fault_call(self, lake, work, kind):
        """One call fails."""
        action, number = self.random.choice(("fail", "lost")), self.random.choice((errno.EIO, errno.ENOSPC, errno.EACCES, errno.EMFILE))
        calls = self.random.choice(("RWD", "W", "W"))
        step, at = self.step(lake, work, kind, calls)
        self.judge(lake, work, step, fault=faults.Fault(action, at, number, calls))

    def fault_full(self, lake, work, kind):
        """Nothing can be written from one call on."""
        step, at = self.step(lake, work, kind, "W")
        self.judge(lake, work, step, fault=faults.Fault("from", at, errno.ENOSPC, "W"))

    def fault_disk(self, lake, work, kind):
        """A file system that is full."""
        folder = self.folder / f"disk-{next(self.made)}"
        folder.mkdir()
        size = self.random.randint(110, 260)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], capture_output=True).returncode == 0
        self.counts["on a tmpfs" if mounted else "with a limit of the size of files"] += 1
        try:
            small, work = self.place(self.random.choice(self.settings), folder / "lake")
            limit = None if mounted else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size * 20, size * 20))
            for _ in range(40):
                state = work.ready(small, "append")
                other = "update" if kind in ("drop", "branch_delete") else kind
                step = work.step(state, self.random.choice(("append", "append", other)))
                outcome = self.judge(small, work, step, again=False, preexec_fn=limit, restore_signals=False)
                if outcome.code != lakes.EXIT_DONE:
                    break
            else:
                self.counts["never full"] += 1
            if mounted:
                subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
            self.next_statement(small, work)
        except Violation as violation:
            if "no space left" in str(violation).lower() and "CREATE DATABASE" in str(violation):
                return  # too small for the first tables
            raise
        finally:
            if mounted:
                if self.options.keep:
                    shutil.copytree(folder, folder.with_name(folder.name + "-copy"))
                subprocess.run(["umount", folder], check=True)

    def fault_readonly(self, lake, work, kind):
        """Folders without the right to write, for a user who is not root."""
        root = os.geteuid() == 0
        if root and subprocess.run([lake.calve, "--version"], user=NOBODY, capture_output=True, check=False).returncode:
            raise Skip("runs as root, and another user cannot run the binary")
        step = work.step(work.ready(lake, kind), kind)
        below = self.random.choice((".", "warehouse", "warehouse/db", "warehouse/db/t/metadata", "warehouse/db/t/data"))
        folders = [lake.folder / below, *(p for p in (lake.folder / below).rglob("*") if p.is_dir())]
        chowned = [lake.folder, *lake.folder.rglob("*")] if root else []
        for path in chowned:
            os.chown(path, NOBODY, NOBODY)
        for path in folders:
            path.chmod(0o555)
        if lake.kind == "jdbc" and below == ".":
            (lake.folder / "catalog.db").chmod(0o444)
        try:
            outcome = lake.run(step.sql, **({"user": NOBODY, "group": NOBODY} if root else {}))
        finally:
            for path in folders:
                path.chmod(0o755)
            if lake.kind == "jdbc":
                (lake.folder / "catalog.db").chmod(0o644)
        self.verdict(lake, step, outcome)
        if root:
            self.next_statement(lake, work)

    def fault_vanish(self, lake, work, kind):
        """The warehouse is moved away at a call, and back when the statement has ended."""
        step, at = self.step(lake, work, kind, "RWD")
        process = lake.start(step.sql, job=step.job, fault=faults.Fault("signal", at, signal.SIGSTOP))
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        away = lake.folder / "away"
        lake.warehouse.rename(away)
        process.send_signal(signal.SIGCONT)
        outcome = lake.finish(process)
        stray = [str(p) for p in lake.warehouse.rglob("*") if p.is_file()] if lake.warehouse.exists() else []
        self.counts["a new folder was made in its place"] += lake.warehouse.exists()
        shutil.rmtree(lake.warehouse, ignore_errors=True)
        away.rename(lake.warehouse)
        self.verdict(lake, step, outcome, more=f"files that were made in a new folder in its place: {stray[:5]}")
        self.again(lake, work, step, outcome)

    def fault_clock(self, lake, work, kind):
        """The clock jumps."""
        step, at = self.step(lake, work, kind, "RWD")
        seconds = self.random.choice((-2 * MINUTE, -DAY, DAY, -YEAR, 10 * YEAR, -56 * YEAR))
        clock = f"{seconds}:{self.random.choice((0, at))}"
        outcome = self.judge(lake, work, step, fault=faults.Fault(clock=clock), again=False)
        self.counts["clock back" if seconds < 0 else "clock ahead"] += 1
        check_times(lake, f"clock {clock}, {outcome.told()}\n{outcome.script}")
        self.next_statement(lake, work)
        check_times(lake, f"after a statement with the clock {clock}\n{outcome.script}")

    def fault_signal(self, lake, work, kind):
        """SIGINT or SIGTERM at a call, or after a time."""
        step, at = self.step(lake, work, kind, "RWD")
        which, expected = self.random.choice(((signal.SIGINT, lakes.EXIT_INTERRUPTED), (signal.SIGTERM, lakes.EXIT_TERMINATED)))
        left = lake.files() - step.before.files
        if self.random.random() < 0.7:
            outcome = lake.run(step.sql, job=step.job, fault=faults.Fault("signal", at, which))
        else:
            process = lake.start(step.sql, job=step.job)
            time.sleep(self.usual.moment((lake.kind, kind, "RWD")))
            process.send_signal(which)
            outcome = lake.finish(process)
        if outcome.seconds > 5:
            raise Violation(f"{outcome.seconds:.1f} seconds from a signal to the end: {outcome.told()}\n{outcome.script}")
        if outcome.code == -which:
            self.counts["ended by the signal before calve took it"] += 1
            if outcome.results:
                raise Violation(f"not caught: {outcome.told()}\n{outcome.script}")
        self.verdict(lake, step, outcome, allowed=(expected, -which), left=left)
        self.again(lake, work, step, outcome)

    # what must hold afterwards

    def step(self, lake, work, kind, calls):
        """A statement of a kind, and one of the calls it makes."""
        which = (lake.kind, kind, calls)
        if not self.usual.is_known(which):
            step = work.step(work.ready(lake, kind), kind)
            outcome = lake.run(step.sql, fault=faults.Fault(calls=calls))
            self.verdict(lake, step, outcome)
            self.usual.note(which, len(faults.calls(lake.log)), outcome.seconds, not lake.state.same(step.before))
        return work.step(work.ready(lake, kind), kind), self.usual.call(which)

    def judge(self, lake, work, step, again=True, **options):
        """Runs a statement, and looks at how it ended, what is there, and that it can be run again."""
        left = lake.files() - step.before.files
        outcome = lake.run(step.sql, job=step.job, **options)
        self.verdict(lake, step, outcome, left=left)
        if again:
            self.again(lake, work, step, outcome)
        return outcome

    def verdict(self, lake, step, outcome, allowed=(), left=None, more=""):
        """Compares what was told with what is there. `left` are the files that no table named before."""
        code, error = outcome.code, outcome.error
        what = f"{outcome.told()}\n{error}\n{more}\n{outcome.script}"
        self.counts[f"exit code {code}" + (f", {error['code']}" if error else "")] += 1
        if code not in (lakes.EXIT_DONE, lakes.EXIT_FAILED, lakes.EXIT_UNKNOWN, *allowed):
            raise Violation(f"not an exit code for this: {what}\n{outcome.stderr}")
        if (code in (lakes.EXIT_FAILED, lakes.EXIT_UNKNOWN)) != bool(error and error["code"] != "interrupted"):
            raise Violation(f"exit code and error do not fit: {what}")
        if error:
            text = " ".join(str(error[part]) for part in ("code", "message", "detail", "hint"))
            if error["code"] in ("internal", "runtime"):
                raise Violation(f"an error without a code of its own: {what}")
            names = (str(lake.folder), "'lake", " lake.", "'t'", "'u'", "'made'", "'db", "'audit'")
            if error["code"] != "interrupted" and not any(name in text for name in names):
                raise Violation(f"an error that names no file and no table: {what}")
        try:
            state = workload.read(lake)
        except Violation as violation:
            raise Violation(f"{violation}\nafter {what}") from None
        if outcome.last and outcome.last["status"] == "ok":
            states = step.after[-1:]
        elif code == lakes.EXIT_UNKNOWN:
            states = [step.before, *step.after]
        elif error and "Committed:" in (error["detail"] or ""):
            states = step.after  # interrupted, and told that it is in all the same
        elif outcome.last or code == lakes.EXIT_FAILED:
            states = [step.before]
        else:
            states = [step.before, step.after[-1]]  # ended without a word
        if not any(state.same(other) for other in states):
            raise Violation(f"the tables are not as told; against what was expected: {workload.differences(states[-1], state)}\n{what}")
        if left is not None and (code == lakes.EXIT_FAILED or code in allowed and outcome.results):
            more = lake.files() - state.files - left
            if more and not (outcome.fault_at and outcome.fault_at[0].startswith(("unlink", "rmdir"))):
                raise Violation(f"{len(more)} files were left behind: {sorted(more)[:5]}\n{what}")

    def again(self, lake, work, step, outcome):
        """Runs a statement again that was not done."""
        if outcome.last and outcome.last["status"] == "ok" or not step.job:
            return self.next_statement(lake, work)
        second = lake.run(step.sql, job=step.job)
        if second.code != lakes.EXIT_DONE:
            raise Violation(f"run again: {second.told()}, {second.error}\nafter {outcome.told()}\n{second.script}")
        state = workload.read(lake)
        if not state.same(step.after[-1]):
            raise Violation(f"run again: {workload.differences(step.after[-1], state)}\nafter {outcome.told()}\n{second.script}")
        self.counts["run again under the job id"] += 1

    def next_statement(self, lake, work):
        """Another statement, which has to work."""
        step = work.step(lake.state, "upsert_position")
        self.verdict(lake, step, lake.run(step.sql))


def check_times(lake, what):
    """The order of times that Iceberg's Java library asks of a table's metadata (`TableMetadata`), within its minute."""
    for table in ("t", "u"):
        name = lake.query(f"SELECT file FROM {table}$metadata_log_entries")[-1][0].removeprefix("file://")
        content = pathlib.Path(name).read_bytes()
        metadata = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
        now = metadata["last-updated-ms"]
        for log in ("snapshot-log", "metadata-log"):
            times = [entry["timestamp-ms"] for entry in metadata.get(log, [])] + [now]
            for first, second in itertools.pairwise(times):
                if second - first < -60_000:
                    raise Violation(f"{log} of {name} is not in order, which the Java library refuses to read: {times[-6:]}\n{what}")


if __name__ == "__main__":
    main()
