"""Statements of every kind that writes, and a model of what each does to the tables of a lake."""
import copy
import dataclasses
import itertools
import uuid

import lake as lakes
from lake import Violation, difference

KEY = "PRIMARY KEY (id, p) NOT ENFORCED"
APPEND = "'upsert-enabled' = 'false'"


@dataclasses.dataclass
class State:
    """What a reader sees. Rows are tuples of strings; branches and tables that are not there are None."""
    t: list = dataclasses.field(default_factory=list)
    u: list = dataclasses.field(default_factory=list)
    audit: list | None = None
    made: list | None = None
    note: str | None = None  # a property of t
    columns: int = 3  # of t
    tags: int = 0  # of t
    files: set | None = None  # what the versions of all tables name; not a part of what is the same

    def same(self, other):
        """Whether a reader sees the same."""
        def plain(state):
            return [sorted(v) if isinstance(v, list) else v for v in dataclasses.astuple(state)[:-1]]
        return plain(self) == plain(other)


@dataclasses.dataclass
class Step:
    """A statement, and the states it may be found in if it is stopped: before it, and those in `after`, the last being all of it."""
    kind: str
    sql: str
    before: State
    after: list
    job: str | None  # its id, under which it can be run again; None of what is no job


def differences(want, got):
    """How two states differ."""
    rows = [f"{name}: {difference(getattr(want, name) or [], getattr(got, name) or [])}" for name in ("t", "u", "audit", "made")
            if sorted(getattr(want, name) or []) != sorted(getattr(got, name) or [])]
    others = [f"{name} is {getattr(got, name)}, not {getattr(want, name)}" for name in ("note", "columns", "tags")
              if getattr(want, name) != getattr(got, name)]
    there = [f"{name}: {'there' if getattr(got, name) is not None else 'not there'}" for name in ("audit", "made")
             if (getattr(want, name) is None) != (getattr(got, name) is None)]
    return rows + others + there


def create(lake, version, mode):
    """Makes the tables. `mode` is how rows are changed: copy-on-write or merge-on-read."""
    modes = ", ".join(f"'write.{what}.mode' = '{mode}'" for what in ("delete", "update", "merge"))
    modes += ", 'write.metadata.previous-versions-max' = '100000'"  # none is forgotten
    columns = "id BIGINT NOT NULL, p INT NOT NULL, v STRING"
    lake.must(f"""CREATE DATABASE db;
CREATE TABLE db.t ({columns}, {KEY}) PARTITIONED BY (p) WITH ('format-version' = '{version}', 'write.upsert.enabled' = 'true', {modes});
CREATE TABLE db.u ({columns}) WITH ('format-version' = '{version}', {modes})""", session="")


def read(lake):
    """The state that a new process sees. Every file that a table names must be there."""
    queries = ["SELECT id, p, v FROM t", "SELECT id, p, v FROM u", "SELECT name, type FROM t$refs", "SHOW CREATE TABLE t", "DESCRIBE t",
               "SHOW TABLES", "SELECT id, p, v FROM t /*+ OPTIONS('branch' = 'audit') */", "SELECT id, p, v FROM made"]
    files = [query for table in ("t", "u", "made") for query in lakes.files_of(table)]
    results = lake.run(";\n".join(queries + files), keep_going=True).results[-len(queries + files):]
    if len(results) != len(queries + files):
        raise Violation(f"no answer to a reader: {results}")
    rows = lambda result: [tuple(row) for row in result["rows"]]
    has_made = results[5]["status"] == "ok" and ("made",) in rows(results[5])
    has_branch = results[2]["status"] == "ok" and ("audit", "BRANCH") in rows(results[2])
    for result in results:
        absent = not has_branch and "'audit'" in result["sql"] or not has_made and "FROM made" in result["sql"]
        if result["status"] != "ok" and not absent:
            raise Violation(f"{result['sql']}: {result['error']['code']}: {result['error']['message']}")
    t, u, refs, shown, columns, _, audit, made = results[:len(queries)]
    named = lake.existing(row[0] for result in results[len(queries):] for row in result.get("rows", []))
    text = shown["rows"][0][0]
    note = text.split("'note' = '", 1)[1].split("'", 1)[0] if "'note' = '" in text else None
    lake.state = State(rows(t), rows(u), rows(audit) if has_branch else None, rows(made) if has_made else None,
                       note, len(columns["rows"]), sum(kind == "TAG" for _, kind in rows(refs)), named)
    return lake.state


class Workload:
    """Makes statements for a lake. Ids never come twice, apart from those of upserts and merges."""

    def __init__(self, random):
        self.random, self.ids, self.names = random, itertools.count(1), itertools.count(1)
        self.kinds = {name.removeprefix("_make_"): getattr(self, name) for name in sorted(dir(self)) if name.startswith("_make_")}

    def step(self, state, kind=None):
        """A statement of a kind for tables that read as `state`."""
        kind = kind or self.random.choice(list(self.kinds))
        after = copy.deepcopy(state)
        self.tag = f"{kind}-{next(self.names)}"
        sql, *between = self.kinds[kind](after)
        job = None if sql.startswith(("ALTER", "DROP", "CREATE TABLE made (")) else uuid.uuid4().hex
        return Step(kind, sql, state, [*between, after], job)

    def ready(self, lake, kind):
        """Makes what a statement of this kind needs: the state."""
        state = lake.state or read(lake)
        needed = {"drop": "ctas", "branch_delete": "branch"}.get(kind)
        if needed and (state.made if kind == "drop" else state.audit) is None:
            step = self.step(state, needed)
            lake.must(step.sql)
            state = read(lake)
        return state

    def _new(self, count):
        ids = [next(self.ids) for _ in range(count)]
        return [(str(i), str(i % 3), self.tag) for i in ids]

    def _keys(self, rows, old, new):
        """Rows with some keys that are in `rows`, and new ones."""
        known = sorted({(i, p) for i, p, _ in rows})
        some = self.random.sample(known, min(old, len(known)))
        return [(i, p, self.tag) for i, p in some] + self._new(new)

    @staticmethod
    def _values(rows):
        return ", ".join(f"(CAST({i} AS BIGINT), {p}, '{v}')" for i, p, v in rows)

    @staticmethod
    def _upserted(old, new):
        keys = {row[:2] for row in new}
        return [row for row in old if row[:2] not in keys] + new

    def _make_append(self, state):
        rows = self._new(self.random.randint(1, 60))
        state.t += rows
        return self._insert(rows, APPEND),

    def _insert(self, rows, hint):
        """An INSERT into t, with nothing in columns that it has got since."""
        return f"INSERT INTO t /*+ OPTIONS({hint}) */ (id, p, v) VALUES {self._values(rows)}"

    def _upsert(self, state, mode):
        rows = self._keys(state.t, 20, 10)
        state.t = self._upserted(state.t, rows)
        return self._insert(rows, f"'calve.upsert.mode' = '{mode}'"),

    def _make_upsert_equality(self, state):
        return self._upsert(state, "equality")

    def _make_upsert_position(self, state):
        return self._upsert(state, "position")

    def _make_delete(self, state):
        n, rest = self.random.randint(2, 6), self.random.randint(0, 1)
        state.t = [row for row in state.t if int(row[0]) % n != rest]
        return f"DELETE FROM t WHERE MOD(id, {n}) = {rest}",

    def _make_delete_partition(self, state):
        p = self.random.randint(0, 2)
        state.t = [row for row in state.t if row[1] != str(p)]
        return f"DELETE FROM t WHERE p = {p}",

    def _make_update(self, state):
        p, n = self.random.randint(0, 2), self.random.randint(1, 3)
        state.t = [(i, q, self.tag) if q == str(p) and int(i) % n == 0 else (i, q, v) for i, q, v in state.t]
        return f"UPDATE t SET v = '{self.tag}' WHERE p = {p} AND MOD(id, {n}) = 0",

    def _make_merge(self, state):
        rows = self._keys(state.t, 20, 8)
        rows = [(i, p, "gone" if int(i) % 4 == 0 else v) for i, p, v in rows]
        keys, known = {row[:2] for row in rows}, {row[:2] for row in state.t}
        added = [row for row in rows if row[:2] in known and row[2] != "gone"] + [row for row in rows if row[:2] not in known]
        state.t = [row for row in state.t if row[:2] not in keys] + added
        return (f"MERGE INTO t USING (VALUES {self._values(rows)}) AS s (id, p, v) ON t.id = s.id AND t.p = s.p "
                "WHEN MATCHED AND s.v = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
                "WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, s.p, s.v)"),

    def _make_overwrite(self, state):
        rows = [row for row in self._new(self.random.randint(1, 40)) if row[1] != "0"] or self._new(3)
        replaced = {row[1] for row in rows}
        state.t = [row for row in state.t if row[1] not in replaced] + rows
        return f"INSERT OVERWRITE t /*+ OPTIONS({APPEND}) */ (id, p, v) VALUES {self._values(rows)}",

    def _make_overwrite_all(self, state):
        state.u = self._new(20)
        return f"INSERT OVERWRITE u VALUES {self._values(state.u)}",

    def _make_branch(self, state):
        base = state.t if state.audit is None else state.audit
        rows = self._keys(base, 5, 5)
        state.audit = self._upserted(base, rows)
        return self._insert(rows, "'branch' = 'audit'"),

    def _make_branch_delete(self, state):
        n = self.random.randint(2, 4)
        state.audit = [row for row in state.audit if int(row[0]) % n != 0]
        return f"DELETE FROM t /*+ OPTIONS('branch' = 'audit') */ WHERE MOD(id, {n}) = 0",

    def _make_ctas(self, state):
        if state.made is not None:
            state.made = [row for row in state.t if row[1] != "2"]
            return "REPLACE TABLE made AS SELECT id, p, v FROM t WHERE p <> 2",
        state.made = [row for row in state.t if row[1] != "1"]
        return "CREATE TABLE made AS SELECT id, p, v FROM t WHERE p <> 1",

    def _make_create(self, state):
        if state.made is not None:
            return self._make_drop(state)
        state.made = []
        return "CREATE TABLE made (id BIGINT, p INT, v STRING)",

    def _make_drop(self, state):
        state.made = None
        return "DROP TABLE made",

    def _make_statement_set(self, state):
        rows = self._new(12)
        first, second = [row for row in rows if row[1] != "0"], [row for row in rows if row[1] == "0"]
        state.t += first
        between = copy.deepcopy(state)  # the first commit is in, the second is not
        state.u += second
        return (f"EXECUTE STATEMENT SET BEGIN {self._insert(first, APPEND)}; "
                f"INSERT INTO u VALUES {self._values(second)}; END"), between

    def _make_alter(self, state):
        state.note = self.tag
        return f"ALTER TABLE t SET ('note' = '{self.tag}')",

    def _make_alter_column(self, state):
        if state.columns > 6:
            return self._make_alter(state)
        state.columns += 1
        return f"ALTER TABLE t ADD c{self.tag.rsplit('-', 1)[1]} INT",

    def _make_tag(self, state):
        state.tags += 1
        return f"ALTER TABLE t CREATE TAG `{self.tag}`",
