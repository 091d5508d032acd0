"""How schemathesis proves who calls on the demo site: a member, somebody whose sessions may end, the sync job, and a
partner who signs the bytes that go out. And what a schema cannot say: pictures, keys of repeats, spaces."""

import base64
import hashlib
import hmac
import itertools
import json
import os
import re
import secrets
import time
import urllib.request

import schemathesis
from hypothesis import strategies as st
from requests.auth import AuthBase

FACTS = json.load(open(os.environ["TUNNELDESK_DEMO"]))


def sign_in(member):
    body = json.dumps({"username": member["username"], "password": member["password"]}).encode()
    request = urllib.request.Request(f"{os.environ['TUNNELDESK_SITE']}/api/auth/login", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["token"]


# Members who are in at once: a second factor would ask for more.
people = ((member, sign_in(member)) for member in FACTS["members"] if member["role"] == "member")
entered = ((member, token) for member, token in people if token)
(_, MEMBER), (leaver, _), (_, CAREFUL) = itertools.islice(entered, 3)


class Session(AuthBase):
    """In a header of this name, with a token that is asked for each time."""

    def __init__(self, header, token):
        self.header, self.token = header, token

    def __call__(self, request):
        request.headers[self.header] = self.token()
        return request


class Signature(AuthBase):
    """Over the bytes as they leave; of the partner's own bookings over the request, with a time and a nonce that were not left
    out or spoilt."""

    def __call__(self, request):
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        secret = FACTS["partner"]["secret"].encode()
        request.headers["client-id"] = FACTS["partner"]["client_id"]
        if "/partner-metrics/bookings" in request.url:
            if "x-timestamp" in request.headers:
                request.headers["x-timestamp"] = str(int(time.time()))
            if re.fullmatch("[A-Za-z0-9_-]{16,64}", str(request.headers.get("x-nonce"))):
                request.headers["x-nonce"] = secrets.token_urlsafe(24)
            stamp, nonce = (request.headers.get(name, "") for name in ("x-timestamp", "x-nonce"))
            body = f"{stamp}.{nonce}.{request.method} {request.path_url}.".encode() + body
        request.headers["token"] = hmac.new(secret, body, hashlib.sha256).hexdigest()
        return request


# Operations that end sessions, by somebody else than who needs one later.
ENDING = ["logout", "endOtherSessions", "endSession", "deletePasskey"]
# Operations that may turn a second factor on, by somebody who keeps the session.
TURNING = ["twoFactorOperation", "changePassword"]
auth = schemathesis.auth.set_from_requests
auth(Signature()).apply_to(tag="Partner metrics")
auth(Session("token", lambda: FACTS["sync_token"])).apply_to(tag="Reports")
auth(Session("Authorization", lambda: sign_in(leaver))).apply_to(operation_id=ENDING)
auth(Session("Authorization", lambda: CAREFUL)).apply_to(operation_id=TURNING)
auth(Session("Authorization", lambda: MEMBER)).apply_to(tag=["Profile", "Logbook", "Notifications"]).skip_for(
    operation_id=ENDING + TURNING
)

# One pixel each.
PICTURES = {
    "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==",
    "image/jpeg": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////"
        "////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAA"
        "AAD/2gAIAQEAAD8AP//Z"
    ),
    "image/webp": "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAB0CWJaQAA3AA/u+5AAA=",
}
for kind, picture in PICTURES.items():
    schemathesis.openapi.media_type(kind, st.just(base64.b64decode(picture)))

# Longer texts take the tester minutes to make up: the limits beyond are tried by the tests of the product itself.
TEXT_MAX = 1100


@schemathesis.hook
def before_load_schema(context, raw_schema):
    def shorten(value):
        if isinstance(value, dict):
            if isinstance(value.get("maxLength"), int) and value["maxLength"] > TEXT_MAX:
                del value["maxLength"]
            value = value.values()
        if not isinstance(value, str):
            for one in value if hasattr(value, "__iter__") else ():
                shorten(one)

    shorten(raw_schema)


numbers = itertools.count()


def is_key(key):
    return isinstance(key, str) and 0 < len(key) <= 200 and key.isascii() and key.isprintable() and key.strip()


def filled(value):
    """Spaces around a text do not count, so a text that is too long by them alone is not."""
    if isinstance(value, dict):
        return {name: filled(one) for name, one in value.items()}
    if isinstance(value, str) and len(value) - len(value.strip()) > 4:
        return value.replace(" ", "x")
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    # Spaces around a header's value are lost on the way, and a client does not begin to send them.
    for name, value in (case.headers or {}).items():
        if isinstance(value, str):
            case.headers[name] = value.strip()
    if is_key((case.headers or {}).get("Idempotency-Key")):
        # A key belongs to one request.
        case.headers["Idempotency-Key"] += f"-{next(numbers)}"
    if case.meta is not None and case.meta.generation.mode.is_negative:
        case.body = filled(case.body)
