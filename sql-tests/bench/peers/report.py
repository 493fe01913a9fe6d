"""What the benchmark tells: a table on standard output, benchmarks.md and benchmarks.svg."""

import os
import pathlib
import platform
import re
import shlex
import statistics
import subprocess
import sys
from xml.sax.saxutils import escape


def first_match(path, pattern):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
        return found[1].strip() if found else None
    except OSError:
        return None


def about(calve, versions, args, day):
    """The machine, the versions and the command."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    version = subprocess.run([calve, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return {
        "date": day.isoformat(),
        "cpu": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.+)$") or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": memory,
        "system": platform.system(),
        "load": os.getloadavg()[0],
        "calve": version,
        "binary": os.path.getsize(calve),
        "peers": versions,
        "rows": args.rows,
        "runs": args.runs,
        "command": command(args),
    }


def command(args):
    """The command line, with the folders of this machine by their names alone."""
    words = [
        "python3",
        "sql-tests/bench/peers.py",
        "CALVE",
        "--home",
        "HOME",
        "--rows",
        str(args.rows),
        "--runs",
        str(args.runs),
    ]
    rest = iter(sys.argv[1:])
    for word in rest:
        if word == "--by-job":
            words.append(word)
        elif word.split("=")[0] in ("--jobs", "--peers", "--timeout"):
            words += [word] if "=" in word else [word, next(rest)]
    return shlex.join(words)


class Row:
    """The runs of a contender in a job: medians, or why there are none."""

    def __init__(self, entries):
        done = [entry for entry in entries if "wall" in entry]
        self.label = entries[0]["contender"]
        self.failed = next((entry["failed"] for entry in entries if "failed" in entry), None)
        self.runs = len(done)
        for key in ("wall", "cpu", "peak", "files", "bytes", "tenth", "last", "commits"):
            values = [entry[key] for entry in done if key in entry]
            setattr(self, key, statistics.median(values) if values and not self.failed else None)
        self.least = min((entry["wall"] for entry in done), default=None)
        self.most = max((entry["wall"] for entry in done), default=None)
        self.mine = self.label.startswith("calve")


def rows_of(job, results):
    labels = dict.fromkeys(entry["contender"] for entry in results if entry["job"] == job.name)
    return [
        Row([entry for entry in results if (entry["job"], entry["contender"]) == (job.name, label)]) for label in labels
    ]


def seconds(value):
    return f"{value:.3f}" if value < 0.9995 else f"{value:.2f}" if value < 9.995 else f"{value:.1f}"


def times(value):
    return f"{value:.2f}x" if value < 10 else f"{value:,.0f}x"


def table(rows):
    """Cells: a header and a line for each contender."""
    first = next((row for row in rows if row.label == "calve"), None)
    mine = first.wall if first else None
    lines = [["", "wall s", "to calve", "CPU s", "peak MB"]]
    columns = []
    if any(row.bytes is not None for row in rows):
        columns += [("files", lambda row: f"{row.files:.0f}"), ("MB written", lambda row: f"{row.bytes / 1e6:.1f}")]
    if any(row.tenth is not None for row in rows):
        columns += [
            ("10th ms", lambda row: f"{row.tenth * 1000:.1f}"),
            ("last ms", lambda row: f"{row.last * 1000:.1f}"),
            ("last to 10th", lambda row: f"{row.last / row.tenth:.2f}"),
        ]
    lines[0] += [name for name, _ in columns]
    for row in rows:
        if row.wall is None:
            lines.append([row.label, row.failed] + [""] * (3 + len(columns)))
            continue
        to_calve = "" if mine is None or row.label == "calve" else times(row.wall / mine)
        cells = [row.label, seconds(row.wall), to_calve, seconds(row.cpu), f"{row.peak / 1e6:.0f}"]
        lines.append(cells + [show(row) for _, show in columns])
    return lines


def plain(lines):
    """For a terminal. What did not work may be long: it does not count for the widths."""
    widths = [
        max(len(line[column]) for line in lines if column != 1 or line[2] or line[3] or line is lines[0])
        for column in range(len(lines[0]))
    ]
    out = []
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        out.append("  " + "  ".join(cells).rstrip())
    return "\n".join(out)


def markdown(lines):
    def line(cells):
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(lines[0]), "|" + "---|" + "--:|" * (len(lines[0]) - 1), *map(line, lines[1:])])


def targets(found):
    """(target, what was measured, whether that is enough) for all that `found`, the rows by job and label, has."""

    def get(job, label="calve", key="wall"):
        row = found.get(job, {}).get(label)
        return getattr(row, key) if row else None

    def best(job):
        return min((row.wall for row in found.get(job, {}).values() if not row.mine and row.wall), default=None)

    def ratio(what, value, of, most, unit=""):
        if value is not None and of:
            yield what, f"{value / of:.2f}x{unit}", value / of <= most

    yield from ratio("append: wall at most 0.9x the best peer's", get("append"), best("append"), 0.9)
    yield from ratio(
        "500 partitions: CPU at most 1.4x that of the append",
        get("partitions", key="cpu"),
        get("append", key="cpu"),
        1.4,
    )
    for label in ("calve", "calve, position deletes"):
        kind = "equality" if label == "calve" else "position"
        yield from ratio(f"upsert, {kind} deletes: wall below every peer's", get("upsert", label), best("upsert"), 1)
    for number, most in ((1, 1.3), (10, 1.5), (100, 2)):
        job = f"scan{number}"
        for label in ("calve", "calve, position deletes"):
            kind = "equality" if label == "calve" else "position"
            yield from ratio(
                f"scan after {number}, {kind} deletes: at most {most}x that of a fresh copy",
                get(job, label),
                get(job, "calve, fresh copy"),
                most,
            )
        yield from ratio(
            f"scan after {number}, equality deletes: at most 0.2x the best peer's", get(job), best(job), 0.2
        )
    yield from ratio(
        "overwrite of 10 partitions: CPU at most 1.2x that of an INSERT of the same rows",
        get("overwrite", key="cpu"),
        get("overwrite", "calve, INSERT of the same rows", "cpu"),
        1.2,
    )
    together, alone = get("set", key="cpu"), get("set", "calve, three INSERTs", "cpu")
    source = get("set", "calve, the source into blackhole", "cpu")
    if None not in (together, alone, source):
        what = "statement set: CPU at most that of three INSERTs less 1.7x that of reading the source"
        yield what, f"{together:.2f} s, at most {alone - 1.7 * source:.2f} s", together <= alone - 1.7 * source
    for job, what in (("select", "SELECT 1"), ("show", "SHOW TABLES")):
        wall, peak = get(job), get(job, key="peak")
        if wall is not None:
            yield (
                f"{what}: less than 50 ms and 60 MB",
                f"{wall * 1000:.0f} ms, {peak / 1e6:.0f} MB",
                wall < 0.05 and peak < 60e6,
            )
    if get("commits", key="tenth"):
        last, tenth, count = get("commits", key="last"), get("commits", key="tenth"), get("commits", key="commits")
        yield from ratio(f"small INSERTs: the last of {count:.0f} at most 1.5x the 10th", last, tenth, 1.5)
    if "keys" in found:
        done = get("keys") is not None
        yield (
            "upsert of many keys: within --memory-limit 2g",
            f"{get('keys', key='peak') / 1e6:.0f} MB" if done else "failed",
            done,
        )


def document(about, jobs, tables, goals):
    peers = "; ".join(f"{name} {version}" for name, version in about["peers"].items())
    runs = "1 run" if about["runs"] == 1 else f"{about['runs']} runs"
    text = [
        f"""# Benchmarks

![Seconds of each job in calve and in other engines](benchmarks.svg)

Made by a program: do not edit. From the root of the repository, after `python3 sql-tests/bench/peers/setup.py HOME`:

    {about["command"]}

{about["date"]}, {about["cpu"]}, {about["cores"]} cores, {about["memory"] / 2**30:.0f} GiB of memory, {about["system"]}.
calve {about["calve"]}, a binary of {about["binary"] / 1e6:.0f} MB. {peers}.

{about["rows"]:,} rows of 8 columns in Parquet files on a local disk; medians of {runs}.

* The runs of all engines are interleaved. Each is a process of its own, and its time is that of the whole process: the
  start of Python or Java is part of it (see [select](#select)).
* Memory is the peak of the process and of all that it started.
* Engines have their defaults, codecs among them; Spark and Flink 6 GB of heap.
* DuckDB writes by way of a REST catalog, which is a part of the benchmark and takes next to nothing. Flink reads its
  source from Iceberg tables of the same rows.
* What each engine wrote was read by it and compared with the right answer.
* In the chart a bar longer than {MOST} times the shortest is cut.
"""
    ]
    for job in jobs:
        if job.name in tables:
            text.append(f"## {job.name}\n\n{job.title[0].upper()}{job.title[1:]}.\n\n{markdown(tables[job.name])}\n")
    if goals:
        lines = [
            ["target", "measured", "reached"],
            *([what, measured, "yes" if good else "**no**"] for what, measured, good in goals),
        ]
        text.append(f"## Targets\n\n{markdown(lines)}\n")
    return "\n".join(text)


CHARTED = [
    ("append", "append"),
    ("partitions", "append to 500 partitions"),
    ("upsert", "upsert of a tenth as many keys"),
    ("scan1", "scan after an upsert, equality deletes"),
    ("scan10", "scan after 10 upserts, equality deletes"),
    ("overwrite", "INSERT OVERWRITE of 10 of 500 partitions"),
    ("select", "SELECT 1, process start to end"),
]
MINE, OTHERS, INK, PALE = "#c2410c", "#94a3b8", "#1f2937", "#6b7280"
WIDTH, COLUMN, BAR, NAMES = 920, 440, 17, 150
MOST = 25  # times the shortest bar: a longer one is cut


def panel(x, y, title, rows):
    """The bars of a job; the lines of SVG and their height."""
    done = sorted((row for row in rows if row.wall is not None), key=lambda row: row.wall)
    missing = [row for row in rows if row.wall is None and "wrong" not in row.failed and "exit code" not in row.failed]
    mine = next((row.wall for row in done if row.label == "calve"), None)
    # a bar that is cut has a gap before its end
    longest = min(max(row.wall for row in done), MOST * done[0].wall)
    room = COLUMN - NAMES - 120
    out = [f'<text x="{x}" y="{y + 12}" font-weight="600">{escape(title)}</text>']
    y += 24
    for row in done + missing:
        length = room if row.wall is None else max(1.5, room * min(1, row.wall / longest))
        said = row.failed if row.wall is None else f"{seconds(row.wall)} s"
        if row.wall is not None and mine and row.label != "calve":
            said += f"  ({times(row.wall / mine)})"
        weight = ' font-weight="600"' if row.mine else ""
        name = row.label.replace("calve, position deletes", "calve, position")
        out.append(f'<text x="{x + NAMES - 8}" y="{y + 12}" text-anchor="end"{weight}>{escape(name)}</text>')
        if row.wall is None:
            out.append(
                f'<rect x="{x + NAMES}" y="{y + 1}" width="{length:.1f}" height="{BAR - 4}" '
                f'fill="none" stroke="{OTHERS}" stroke-dasharray="3 3"/>'
            )
        else:
            fill = MINE if row.mine else OTHERS
            out.append(
                f'<rect x="{x + NAMES}" y="{y + 1}" width="{length:.1f}" height="{BAR - 4}" rx="1.5" fill="{fill}"/>'
            )
            if row.wall > longest:
                cut = x + NAMES + length - 24
                out.append(f'<path d="M{cut} {y + BAR}l5 {-BAR - 1}" stroke="#ffffff" stroke-width="4"/>')
        out.append(f'<text x="{x + NAMES + length + 6:.1f}" y="{y + 12}" fill="{PALE}">{escape(said)}</text>')
        y += BAR
    return out, 24 + BAR * len(done + missing) + 20


def chart(about, found):
    """Bars for the jobs that compare engines, in two columns, on white, so that they can be read on any page."""
    body, heights = [], [76, 76]
    for name, title in CHARTED:
        rows = [
            row
            for row in found.get(name, {}).values()
            if row.label in ("calve", "calve, position deletes") or not row.mine
        ]
        if any(row.wall is not None for row in rows):
            column = 0 if heights[0] <= heights[1] else 1
            lines, height = panel(20 + column * (COLUMN + 10), heights[column], title, rows)
            body += lines
            heights[column] += height
    height = max(heights) + 4
    count = f"{about['rows'] / 1e6:g} million rows" if about["rows"] >= 1_000_000 else f"{about['rows']:,} rows"
    under = f"{count}; {about['cpu']}, {about['cores']} cores; {about['date']}; calve {about['calve']}"
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="20" y="32" font-size="17" font-weight="600">'
        "Seconds, less is better (in brackets: ratio to calve)</text>",
        f'<text x="20" y="52" fill="{PALE}">{escape(under)}</text>',
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"


def write(folder, about, jobs, results):
    found = {job.name: {row.label: row for row in rows_of(job, results)} for job in jobs}
    found = {name: rows for name, rows in found.items() if rows}
    tables = {name: table(list(rows.values())) for name, rows in found.items()}
    goals = list(targets(found))
    for job in jobs:
        if job.name in tables:
            print(f"\n{job.name}: {job.title}\n{plain(tables[job.name])}")
    if goals:
        print("\ntargets")
        for what, measured, good in goals:
            print(f"  {'reached' if good else 'MISSED '}  {what}: {measured}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.md").write_text(document(about, jobs, tables, goals), encoding="utf-8")
    (folder / "benchmarks.svg").write_text(chart(about, found), encoding="utf-8")
    print(f"\n{folder / 'benchmarks.md'}\n{folder / 'benchmarks.svg'}")
