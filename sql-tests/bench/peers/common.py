"""What the scripts of the peers share. They run one job each, in a process of its own:

    run_PEER.py JOB warehouse=FOLDER data=FOLDER [table=FOLDER] [catalog=URI] [count=N]

`warehouse` is the peer's own; `table` is a table of calve's that is to be read. A reader prints `ANSWER count
sum(amount) sum(id)`, the job `commits` a line `COMMIT` after each.
"""

import sys

COLUMNS = [
    ("id", "BIGINT"),
    ("user_name", "STRING"),
    ("event_type", "STRING"),
    ("amount", "DECIMAL(18, 2)"),
    ("ts", "TIMESTAMP_NTZ"),
    ("event_date", "DATE"),
    ("region", "STRING"),
    ("payload", "STRING"),
]
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in COLUMNS)


class Parameters:
    def __init__(self, pairs):
        for pair in pairs:
            name, value = pair.split("=", 1)
            setattr(self, name, value)


def answer(row):
    print("ANSWER", *row, flush=True)


def commit_done():
    print("COMMIT", flush=True)


def job(jobs):
    """The function of the job on the command line, and its parameters. `--list` prints the names of all."""
    if sys.argv[1:] == ["--list"]:
        print(*jobs)
        sys.exit()
    if len(sys.argv) < 2 or sys.argv[1] not in jobs:
        sys.exit(f"{__doc__}\njobs: {', '.join(jobs)}")
    return jobs[sys.argv[1]], Parameters(sys.argv[2:])
