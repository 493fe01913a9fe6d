#!/usr/bin/env python3
"""Kills calve (kill -9) in the middle of statements of every kind, and looks at what is left.

usage: kill.py CALVE [--kills 20] [--seed 1] [--lakes hadoop,jdbc] [--kinds append,merge] [--keep FOLDER]

CI: --kills 20 (the default). Nightly: --kills 200 or more. Needs a C compiler (cc), which Rust needs, too; works below --keep, or a
temporary folder.

Tables are in catalogs of both kinds, in format versions 2 and 3, changed by copy-on-write and merge-on-read. A statement is killed at
one of its calls on the catalog's files, chosen by chance (a write is half done then), or, one time in five, after a time. Afterwards
a new process must read every table, branch and property as before the statement or as after it; a statement set may stand between its
commits. Every file that a table names must exist. Then the statement is run again under its job id, and must
leave exactly its result; ALTER and DROP, which are no jobs, are followed by an INSERT. Exit code 1 if any of it is not so.
"""
import argparse
import collections
import itertools
import pathlib
import random
import signal
import sys
import tempfile
import time

import faults
import lake as lakes
import workload
from lake import Violation


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve", type=lambda path: pathlib.Path(path).resolve(), help="the binary")
    parser.add_argument("--kills", type=int, default=20, help="how many statements are killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lakes", default="hadoop,jdbc", help="kinds of catalogs")
    parser.add_argument("--kinds", help="only these kinds of statements")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder that stays, to look at what was found")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(Killer(options, folder.resolve()).run())


class Killer:
    def __init__(self, options, folder):
        self.options, self.folder, self.random = options, folder, random.Random(options.seed)
        self.injector = faults.Injector(folder)
        self.counts, self.violations, self.made = collections.Counter(), [], itertools.count(1)
        self.usual = faults.Usual(self.random)

    def run(self):
        settings = list(itertools.product(self.options.lakes.split(","), (2, 3), ("copy-on-write", "merge-on-read")))
        self.random.shuffle(settings)
        places = {}
        kinds = self.options.kinds.split(",") if self.options.kinds else list(workload.Workload(self.random).kinds)
        self.random.shuffle(kinds)
        for n in range(self.options.kills):
            setting, kind = settings[n % len(settings)], kinds[n % len(kinds)] if n < 3 * len(kinds) else self.random.choice(kinds)
            try:
                if setting not in places:
                    places[setting] = self.place(setting)
                self.kill(*places[setting], kind)
            except Violation as violation:
                self.violations.append(violation)
                where = places.pop(setting)[0].folder if setting in places else "a new lake"
                lakes.report(len(self.violations), f"{kind} in {where}", violation, self.folder)
        return self.report(places)

    def place(self, setting):
        """A new lake with tables that hold something."""
        catalog, version, mode = setting
        lake = lakes.Lake(self.options.calve, self.folder / f"{catalog}-v{version}-{mode}-{next(self.made)}", catalog, self.injector)
        workload.create(lake, version, mode)
        work, state = workload.Workload(self.random), workload.State()
        for kind in ("append", "overwrite_all"):
            step = work.step(state, kind)
            lake.must(step.sql)
            state = step.after[-1]
        return lake, work

    def kill(self, lake, work, kind):
        if not self.usual.is_known((lake.kind, kind)):  # one is not killed: it tells how many calls there are
            step = work.step(work.ready(lake, kind), kind)
            outcome = lake.run(step.sql, fault=faults.Fault())
            state = self.expect(lake, outcome, step, step.after[-1:])
            self.usual.note((lake.kind, kind), len(faults.calls(lake.log)), outcome.seconds, not state.same(step.before))
        step = work.step(work.ready(lake, kind), kind)
        outcome = lake.finish(self.start(lake, step))
        state = self.expect(lake, outcome, step, [step.before, *step.after])
        self.counts[f"  {kind}"] += 1
        if outcome.code != -signal.SIGKILL:
            self.counts["ended before the kill"] += 1
            self.expect(lake, outcome, step, step.after[-1:])
        elif state.same(step.before):
            self.counts["killed, as before"] += 1
        elif state.same(step.after[-1]):
            self.counts["killed, as after"] += 1
        else:
            self.counts["killed, between two commits of a set"] += 1
        self.go_on(lake, work, step, state)

    def start(self, lake, step):
        """The statement, on its way to be killed."""
        which = (lake.kind, step.kind)
        if self.random.random() < 0.8:
            return lake.start(step.sql, job=step.job, fault=faults.Fault("kill", self.usual.call(which)))
        started = lake.start(step.sql, job=step.job)
        time.sleep(self.usual.moment(which))
        started.kill()
        return started

    def go_on(self, lake, work, step, state):
        """The next statement: the same under its job id, or another."""
        if step.job:
            again = lake.run(step.sql, job=step.job)
            self.counts["run again under the job id"] += 1
            what = "run again under its job id"
        else:
            step = work.step(state, "append")
            again = lake.run(step.sql)
            what = "the next statement"
        if again.code != lakes.EXIT_DONE:
            raise Violation(f"{what}: {again.told()}\n{again.error}\n{again.script}")
        self.expect(lake, again, step, step.after[-1:], what)

    def expect(self, lake, outcome, step, states, what="after it"):
        """The state of the lake, which must be one of these."""
        state = workload.read(lake)
        if not any(state.same(other) for other in states):
            raise Violation(f"{what}, the tables read neither as before nor as after; against after: "
                            f"{workload.differences(states[-1], state)}\nthe process: {outcome.told()}\n{outcome.script}")
        return state

    def report(self, places):
        left = 0
        for lake, _ in places.values():
            try:
                left += len(lake.files() - workload.read(lake).files)
            except Violation as violation:
                self.violations.append(violation)
                lakes.report(len(self.violations), f"at the end, {lake.folder}", violation, self.folder)
        print(f"{self.options.kills} statements, seed {self.options.seed}, {len(places)} lakes")
        for what, count in sorted(self.counts.items()):
            print(f"{count:6} {what}")
        print(f"{left:6} left-over files, which no table names")
        print(f"{len(self.violations):6} violations")
        return 1 if self.violations else 0


if __name__ == "__main__":
    main()
