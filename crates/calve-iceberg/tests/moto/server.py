"""Moto's server on a port of 127.0.0.1, with what AWS Glue does beyond it: a table is changed only if its version is the one
that the request names, lists come page by page, and signatures of one key are checked. The next request of an action
fails as a file says: `UpdateTable lost-after`."""

import os
import re
import sys
import threading
import time

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.glue.responses import GlueResponse
from moto.server import main

PORT, FAULT = sys.argv[1], sys.argv[2]
KEY, SECRET = "AKIDMOTO", "moto-secret-hush"
PAGE = 2
LOCK = threading.RLock()


def error(name, message, code=400):
    raised = JsonRESTError(name, message)
    raised.code = code
    return raised


def check_signature(response):
    """Whether a request of the key has the signature that botocore would give it."""
    headers = response.headers
    given = re.match(r".*Credential=(\w+)/\d+/([\w-]+)/glue/.*SignedHeaders=([^,]+), *Signature=(\w+)", headers["Authorization"])
    if given is None or given[1] != KEY:
        return
    names = given[3].split(";")
    if not {"host", "x-amz-date", "x-amz-target"} <= set(names):
        raise error("IncompleteSignatureException", "not all headers are signed: " + given[3], 403)
    signed = {name: headers[name] for name in names if name != "host"}
    request = AWSRequest("POST", f"http://{headers['Host']}/", data=response.body, headers=signed)
    request.context["timestamp"] = headers["X-Amz-Date"]
    auth = SigV4Auth(Credentials(KEY, SECRET), "glue", given[2])
    expected = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    if expected != given[4]:
        raise error("InvalidSignatureException", "The request signature we calculated does not match.\nThe rest: " + str(signed), 403)


def call_action(self):
    check_signature(self)
    return plain_call(self)


def fault(action):
    """The fault of this request, which is the only one that has it."""
    try:
        with open(FAULT, encoding="utf-8") as file:
            at, kind = file.read().split()
    except (FileNotFoundError, ValueError):
        return None
    if at != action:
        return None
    os.remove(FAULT)
    return kind


def method(action):
    return "".join("_" + c.lower() if c.isupper() else c for c in action).lstrip("_")


def with_faults(action):
    original = getattr(GlueResponse, method(action))

    def call(self):
        with LOCK:
            kind = fault(action)
            if kind == "throttled":
                raise error("ThrottlingException", "Rate exceeded")
            if kind == "denied":
                raise error("AccessDeniedException", "User: x is not authorized to perform: glue:" + action)
            if kind == "conflict":
                raise error("ConcurrentModificationException", "Update table failed due to concurrent modifications.")
            if kind == "lost-before":
                raise error("InternalServiceException", "An internal service error occurred.", 500)
            answer = original(self)
        if kind == "lost-after":
            raise error("InternalServiceException", "An internal service error occurred.", 500)
        if kind == "silent-after":
            time.sleep(4)
        return answer

    setattr(GlueResponse, method(action), call)


def update_table(self):
    with LOCK:
        request = self.parameters
        name = request["TableInput"]["Name"]
        table = self.glue_backend.get_table(request["DatabaseName"], name)
        version = request.get("VersionId")
        if version is not None and version != table.as_dict()["VersionId"]:
            raise error("ConcurrentModificationException", "Update table failed due to concurrent modifications.")
        return plain_update(self)


def in_pages(name, key):
    original = getattr(GlueResponse, name)

    def call(self):
        everything = original(self).result[key]
        start = int(self.parameters.get("NextToken") or 0)
        answer = {key: everything[start : start + PAGE]}
        if start + PAGE < len(everything):
            answer["NextToken"] = str(start + PAGE)
        return ActionResult(answer)

    setattr(GlueResponse, name, call)


plain_call = GlueResponse.call_action
GlueResponse.call_action = call_action
plain_update = GlueResponse.update_table
GlueResponse.update_table = update_table
in_pages("get_tables", "TableList")
in_pages("get_databases", "DatabaseList")
for each in ["CreateTable", "UpdateTable", "DeleteTable", "GetTable", "CreateDatabase", "DeleteDatabase"]:
    with_faults(each)

main(["-H", "127.0.0.1", "-p", PORT])
