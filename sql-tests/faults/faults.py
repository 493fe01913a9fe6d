"""Faults for a run of calve: see faults.c, which this compiles and preloads."""
import dataclasses
import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).with_name("faults.c")


@dataclasses.dataclass(frozen=True)
class Fault:
    """What happens at the `at`-th call of a run on files below a folder; `calls` says which kinds count."""
    action: str = "none"
    at: int = 0
    value: int = 0
    calls: str = "RWD"
    clock: str = ""

    def __str__(self):
        return f"{self.action}:{self.at}:{self.value} of calls {self.calls}" + (f", clock {self.clock}" if self.clock else "")


class Injector:
    """The compiled library."""

    def __init__(self, folder):
        self.library = pathlib.Path(folder, "faults.so")
        subprocess.run([shutil.which("cc") or "gcc", "-std=gnu11", "-O2", "-shared", "-fPIC", "-o", self.library, SOURCE, "-ldl"],
                       check=True)

    def environment(self, fault, root, log):
        """The variables of a run below the folder `root`; `log` is made anew."""
        pathlib.Path(log).unlink(missing_ok=True)
        added = {"LD_PRELOAD": str(self.library), "CALVE_FAULT_ROOT": str(root), "CALVE_FAULT_LOG": str(log),
                 "CALVE_FAULT_CALLS": fault.calls, "CALVE_FAULT": f"{fault.action}:{fault.at}:{fault.value}"}
        if fault.clock:
            added["CALVE_CLOCK"] = fault.clock
        return {**os.environ, **added}


class Usual:
    """How many calls statements make, by their kind, and how long they take, when nothing happens to them."""

    def __init__(self, random):
        self.random, self.seen = random, {}

    def is_known(self, kind):
        """Whether a statement of this kind that changed something was seen."""
        return self.seen.get(kind, (0, 0, False))[2]

    def note(self, kind, calls, seconds, changed):
        """What one did."""
        before = self.seen.get(kind, (0, 0, False))
        self.seen[kind] = (max(calls, before[0]), max(seconds, before[1]), changed or before[2])

    def call(self, kind):
        """The number of one of the calls; the late ones, where commits are, come more often."""
        count = max(1, self.seen[kind][0])
        return self.random.randint(max(1, self.random.choice((1, count // 2, count - 15))), count)

    def moment(self, kind):
        """A time, in seconds, until which it may run."""
        return self.random.uniform(0, self.seen[kind][1])


def calls(log):
    """The calls that a log names, in their order: `(kind of call, path)`."""
    if not pathlib.Path(log).exists():
        return []
    lines = pathlib.Path(log).read_text(errors="replace").splitlines()
    return [tuple(line.split(" ", 2)[1:]) for line in lines if line.count(" ") >= 2]
