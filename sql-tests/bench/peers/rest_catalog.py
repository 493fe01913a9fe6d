"""A REST catalog of Iceberg over a local folder, as far as DuckDB needs one: it writes tables through nothing else.

The warehouse that a client names is the folder; tables lie in it as in a Hadoop catalog. Nothing is kept between
requests, so that the folder may be replaced meanwhile. For one client at a time; peers.py starts it on a port of its
own on the loopback interface.
"""

import http.server
import json
import pathlib
import shutil
import threading
import time
import urllib.parse
import uuid


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def fresh_metadata(location, request):
    """The metadata of a new table without a snapshot."""
    schema = dict(request["schema"], **{"schema-id": 0})
    spec = dict(request.get("partition-spec") or {"fields": []}, **{"spec-id": 0})
    for number, field in enumerate(spec["fields"]):
        field.setdefault("field-id", 1000 + number)
    order = request.get("write-order") or {"order-id": 0, "fields": []}
    properties = dict(request.get("properties") or {})
    return {
        "format-version": int(properties.pop("format-version", 2)),
        "table-uuid": str(uuid.uuid4()),
        "location": location,
        "last-sequence-number": 0,
        "last-updated-ms": int(time.time() * 1000),
        "last-column-id": max(field["id"] for field in schema["fields"]),
        "current-schema-id": 0,
        "schemas": [schema],
        "default-spec-id": 0,
        "partition-specs": [spec],
        "last-partition-id": max([999, *(field["field-id"] for field in spec["fields"])]),
        "default-sort-order-id": order["order-id"],
        "sort-orders": [order],
        "properties": properties,
        "snapshots": [],
        "snapshot-log": [],
        "metadata-log": [],
        "refs": {},
    }


def replace(entries, key, entry):
    return [other for other in entries if other[key] != entry[key]] + [entry]


def apply(meta, update):
    """One update of a commit, on metadata."""
    action = update["action"]
    if action == "add-snapshot":
        snapshot = update["snapshot"]
        meta["snapshots"].append(snapshot)
        meta["last-sequence-number"] = max(meta["last-sequence-number"], snapshot.get("sequence-number", 0))
    elif action == "set-snapshot-ref":
        name = update["ref-name"]
        meta["refs"][name] = {key: value for key, value in update.items() if key not in ("action", "ref-name")}
        if name == "main":
            meta["current-snapshot-id"] = update["snapshot-id"]
            meta["snapshot-log"].append({"snapshot-id": update["snapshot-id"], "timestamp-ms": int(time.time() * 1000)})
    elif action == "set-properties":
        meta["properties"].update(update["updates"])
    elif action == "remove-properties":
        for key in update["removals"]:
            meta["properties"].pop(key, None)
    elif action == "assign-uuid":
        meta["table-uuid"] = update["uuid"]
    elif action == "upgrade-format-version":
        meta["format-version"] = update["format-version"]
    elif action == "set-location":
        meta["location"] = update["location"]
    elif action == "add-schema":
        schema = update["schema"]
        meta["schemas"] = replace(meta["schemas"], "schema-id", schema)
        meta["last-column-id"] = max(meta["last-column-id"], *(field["id"] for field in schema["fields"]))
    elif action == "set-current-schema":
        wanted = update["schema-id"]
        meta["current-schema-id"] = meta["schemas"][-1]["schema-id"] if wanted == -1 else wanted
    elif action == "add-spec":
        meta["partition-specs"] = replace(meta["partition-specs"], "spec-id", update["spec"])
        meta["last-partition-id"] = max(
            [meta["last-partition-id"], *(f.get("field-id", 0) for f in update["spec"]["fields"])]
        )
    elif action == "set-default-spec":
        wanted = update["spec-id"]
        meta["default-spec-id"] = meta["partition-specs"][-1]["spec-id"] if wanted == -1 else wanted
    elif action == "add-sort-order":
        meta["sort-orders"] = replace(meta["sort-orders"], "order-id", update["sort-order"])
    elif action == "set-default-sort-order":
        wanted = update["sort-order-id"]
        meta["default-sort-order-id"] = meta["sort-orders"][-1]["order-id"] if wanted == -1 else wanted
    else:
        raise Refused(406, f"this catalog does not know the update {action}")


class Table:
    def __init__(self, warehouse, namespace, name):
        self.folder = pathlib.Path(warehouse) / namespace / name

    def version(self):
        try:
            return int((self.folder / "metadata" / "version-hint.text").read_text())
        except FileNotFoundError:
            raise Refused(404, f"there is no table {self.folder.name}") from None

    def path(self, version):
        return self.folder / "metadata" / f"v{version}.metadata.json"

    def load(self):
        version = self.version()
        return {
            "metadata-location": str(self.path(version)),
            "metadata": json.loads(self.path(version).read_text()),
            "config": {},
        }

    def store(self, version, meta):
        meta["last-updated-ms"] = int(time.time() * 1000)
        self.path(version).parent.mkdir(parents=True, exist_ok=True)
        self.path(version).write_text(json.dumps(meta))
        (self.folder / "metadata" / "version-hint.text").write_text(str(version))
        return self.load()

    def create(self, request):
        meta = fresh_metadata(request.get("location") or str(self.folder), request)
        if request.get("stage-create"):
            return {"metadata": meta, "config": {}}
        return self.store(1, meta)

    def commit(self, request):
        created = any(requirement["type"] == "assert-create" for requirement in request.get("requirements", ()))
        version, meta = 0, None
        if created:
            updates = {update["action"]: update for update in request["updates"]}
            meta = fresh_metadata(str(self.folder), {"schema": updates["add-schema"]["schema"]})
        else:
            version = self.version()
            meta = json.loads(self.path(version).read_text())
        for requirement in request.get("requirements", ()):
            if requirement["type"] == "assert-ref-snapshot-id":
                here = meta["refs"].get(requirement["ref"], {}).get("snapshot-id")
                if here != requirement.get("snapshot-id"):
                    raise Refused(409, "the table has changed meanwhile")
        for update in request["updates"]:
            apply(meta, update)
        return self.store(version + 1, meta)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def respond(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        url = urllib.parse.urlsplit(self.path)
        try:
            parts = [urllib.parse.unquote(part) for part in url.path.split("/")[2:]]
            if parts == ["config"]:
                warehouse = urllib.parse.parse_qs(url.query).get("warehouse", [""])[0]
                prefix = warehouse.encode().hex()
                self.answer(200, {"defaults": {}, "overrides": {"prefix": prefix}})
            else:
                warehouse = pathlib.Path(bytes.fromhex(parts[0]).decode())
                self.answer(*self.route(warehouse, parts[1:], request))
        except Refused as why:
            kinds = {404: "NoSuchTableException", 409: "CommitFailedException"}
            kind = kinds.get(why.status, "UnsupportedOperationException")
            self.answer(why.status, {"error": {"message": str(why), "type": kind, "code": why.status}})

    def route(self, warehouse, parts, request):
        method = self.command
        if parts == ["namespaces"]:
            if method == "POST":
                (warehouse / request["namespace"][0]).mkdir(parents=True, exist_ok=True)
                return 200, {"namespace": request["namespace"], "properties": {}}
            folders = sorted(path.name for path in warehouse.iterdir() if path.is_dir()) if warehouse.is_dir() else []
            return 200, {"namespaces": [[name] for name in folders]}
        if parts == ["transactions", "commit"]:
            for change in request["table-changes"]:
                name = change["identifier"]
                Table(warehouse, name["namespace"][0], name["name"]).commit(change)
            return 204, None
        namespace = parts[1]
        if len(parts) == 2:
            if not (warehouse / namespace).is_dir():
                raise Refused(404, f"there is no namespace {namespace}")
            return (200, {"namespace": [namespace], "properties": {}}) if method == "GET" else (204, None)
        if len(parts) == 3 and parts[2] == "tables":
            if method == "POST":
                return 200, Table(warehouse, namespace, request["name"]).create(request)
            hints = sorted((warehouse / namespace).glob("*/metadata/version-hint.text"))
            names = [{"namespace": [namespace], "name": hint.parent.parent.name} for hint in hints]
            return 200, {"identifiers": names}
        if len(parts) == 4 and parts[2] == "tables":
            table = Table(warehouse, namespace, parts[3])
            if method == "POST":
                return 200, table.commit(request)
            if method == "DELETE":
                table.version()
                shutil.rmtree(table.folder)
                return 204, None
            loaded = table.load()
            return (200, loaded) if method == "GET" else (204, None)
        raise Refused(404, f"this catalog does not know {method} {'/'.join(parts)}")

    do_GET = do_POST = do_DELETE = do_HEAD = respond


def start():
    """Starts the catalog on a free port, in a thread; its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
