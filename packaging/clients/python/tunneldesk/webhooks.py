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
# A shorter secret is none: it was cut, or a setting is empty.
SECRET_BYTES_MIN = 16


class Forged(Exception):
    """A webhook that the site did not sign, or not lately."""


def verify(body: bytes, headers: Mapping[str, str], *secrets: str, now: float | None = None) -> dict[str, Any]:
    """The event of a webhook. Give the bytes of the body as they came, and during a rotation both secrets. An event may come again: know
    it by its `id`, which the header `webhook-id` has too. Raises `Forged`, and `ValueError` for what is no secret."""
    keys = [_key(secret) for secret in secrets]
    if not keys:
        raise ValueError("give the secret of the webhook")
    found = {name.lower(): value for name, value in headers.items()}
    try:
        sent_id, sent_at, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError:
        raise Forged("the headers of a webhook are missing") from None
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) < 12):
        raise Forged("the time of the webhook is no number")
    age = (time.time() if now is None else now) - int(sent_at)
    if abs(age) > TOLERANCE_SECONDS:
        raise Forged(f"sent {age:.0f} seconds ago")
    signed = f"{sent_id}.{sent_at}.".encode(errors="replace") + body
    is_signed = False
    for key in keys:
        wanted = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
        for signature in signatures.split():
            is_signed |= hmac.compare_digest(signature.encode(errors="replace"), wanted)
    if not is_signed:
        raise Forged("no signature is of these secrets")
    event: dict[str, Any] = json.loads(body)
    return event


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if len(key) < SECRET_BYTES_MIN:
        raise ValueError("this is no secret of a webhook: it begins with whsec_")
    return key
