"""Webhooks: the signature of Standard Webhooks, https://www.standardwebhooks.com."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

# A webhook whose time is further from now was kept by somebody, or one of the two clocks is wrong.
TOLERANCE_SECONDS = 300


class Forged(Exception):
    """A webhook that the site did not sign, or not lately."""


def verify(body: bytes, headers: Mapping[str, str], *secrets: str, now: float | None = None) -> dict[str, Any]:
    """The event of a webhook. Give the bytes of the body as they came, and during a rotation both secrets. An event may come again: know
    it by its `id`, which the header `webhook-id` has too. Raises `Forged`."""
    found = {name.lower(): value for name, value in headers.items()}
    try:
        sent_id, sent_at, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = (time.time() if now is None else now) - int(sent_at)
    except (KeyError, ValueError):
        raise Forged("the headers of a webhook are missing or no numbers") from None
    if abs(age) > TOLERANCE_SECONDS:
        raise Forged(f"sent {age:.0f} seconds ago")
    signed = f"{sent_id}.{sent_at}.".encode() + body
    is_signed = False
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        wanted = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
        for signature in signatures.split():
            is_signed |= hmac.compare_digest(signature.encode(), wanted)
    if not is_signed:
        raise Forged("no signature is of these secrets")
    event: dict[str, Any] = json.loads(body)
    return event
