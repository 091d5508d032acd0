"""The client: requests with their signature, their repeats and their pages, and the stream of events."""

import hashlib
import hmac
import http.client
import io
import json
import random
import secrets
import socket
import ssl
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .operations import Booking, Code, HistoryEvent, Operations, ReportRequest

# Statuses after which the same request may be right a little later.
AGAIN = (429, 502, 503, 504)
# A stream has a comment every 15 seconds; one that is silent for longer is broken.
SILENCE_SECONDS = 45.0
REPORT_ROWS = 500
# How much is handed on at once: each piece is sent within the time that is left.
PIECE_BYTES = 16_384


@dataclass(frozen=True)
class Partner:
    """The account of a partner. A strict one signs the time with every request."""

    client_id: str
    secret: str = field(repr=False)
    strict: bool = False


@dataclass(frozen=True)
class Event:
    """What happened. `seq` is the number to go on after. A `reset` says that events are missing, because they are older than 30 days or
    because the site was put back to an earlier moment: read what you need anew, and go on."""

    seq: int
    id: str
    type: str
    at: int
    data: dict[str, Any]

    @staticmethod
    def of(row: dict[str, Any]) -> "Event":
        return Event(int(row["id"].rsplit("-", 1)[1]), row["id"], row["type"], row["at"], row["data"])

    @staticmethod
    def reset(seq: int) -> "Event":
        return Event(seq, "", "reset", int(time.time()), {"seq": seq})


class Refused(Exception):
    """The site's answer is a refusal. Decide by `code`: one of `Code`, or a newer one; show `message` to people. `errors` names each bad
    field. `repeated` says that an earlier sending of this request had no answer: it may have been done."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes, repeated: bool) -> None:
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        said = said if isinstance(said, dict) else {}
        self.status, self.headers, self.repeated = status, headers, repeated
        self.code: str = str(said.get("code", ""))
        self.message: str = str(said.get("message", ""))
        errors = said.get("errors")
        self.errors: list[dict[str, str]] = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
        self.request_id = headers.get("x-request-id", "")
        wait = headers.get("retry-after", "")
        self.retry_after = float(wait) if wait.isdigit() else None
        fields = "".join(f" {one.get('field')}: {one.get('message')}" for one in self.errors)
        super().__init__(f"{status} {self.code}: {self.message}{fields}")


class Lost(Exception):
    """No answer came, after all repeats. With `sent` the request may have been done."""

    def __init__(self, cause: Exception, sent: bool) -> None:
        self.sent = sent
        super().__init__(f"no answer: {cause}")


class Exchange(http.client.HTTPConnection):
    """One request and its answer, within a time as a whole: the library counts each read anew, and a site or a proxy that sends a byte
    every second would hold the caller for ever."""

    def __init__(self, address: urllib.parse.SplitResult, seconds: float, tls: ssl.SSLContext | None) -> None:
        self.default_port = 443 if address.scheme == "https" else 80
        super().__init__(address.hostname or "", address.port, seconds)
        self._tls = (tls or ssl.create_default_context()) if address.scheme == "https" else None
        self.response_class = self._answer  # type: ignore[assignment]
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        """Gives the exchange so many seconds from now on."""
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer was not complete in time")
        return left

    def connect(self) -> None:
        places = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, place in places:
            self.sock = socket.socket(family, kind, protocol)
            try:
                self.sock.settimeout(self.left())
                self.sock.connect(place)
                break
            except OSError:
                self.sock.close()
                if place == places[-1][4]:
                    raise
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls:
            self.sock.settimeout(self.left())
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host)

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        for at in range(0, len(data), PIECE_BYTES):
            self.sock.settimeout(self.left())
            self.sock.sendall(data[at : at + PIECE_BYTES])

    def _answer(self, sock: socket.socket, *given: Any, **named: Any) -> http.client.HTTPResponse:
        answer = http.client.HTTPResponse(sock, *given, **named)
        answer.fp = io.BufferedReader(Timed(answer.fp.detach(), self))  # type: ignore[arg-type]
        return answer


class Timed(io.RawIOBase):
    """What comes of an exchange, each read for as long as the exchange has left."""

    def __init__(self, raw: socket.SocketIO, exchange: Exchange) -> None:
        self._raw, self._sock, self._exchange = raw, exchange.sock, exchange

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int | None:
        self._sock.settimeout(self._exchange.left())
        return self._raw.readinto(into)

    def close(self) -> None:
        self._raw.close()
        super().close()


class Client(Operations):
    """A site at an address such as `https://tunneldesk.example.com`.

    With `token` requests are a member's, a clerk's or a booking token's; with `partner` the partner's operations and its events are signed.
    A request without an answer, and one for which the site has no time, is sent again up to `repeats` times: it is the same request to the
    site, by its `Idempotency-Key` where it is a `POST`. The client waits for at most `patience` seconds before each. Each sending has
    `timeout` seconds for the whole of its answer. `tls` is for a site with a certificate of its own authority.
    """

    def __init__(
        self, address: str, token: str = "", *, partner: Partner | None = None, language: str = "en", device_token: str = "",
        repeats: int = 4, patience: float = 30.0, timeout: float = 30.0, tls: ssl.SSLContext | None = None,
    ) -> None:
        self.token, self.partner = token, partner
        # The base address of the API's description ends with its prefix.
        self._address = urllib.parse.urlsplit(address.rstrip("/").removesuffix("/api"))
        if self._address.scheme not in ("http", "https") or not self._address.hostname:
            raise ValueError(f"{address!r} is no address such as https://tunneldesk.example.com")
        self._headers = {"accept-language": language} | ({"x-device-token": device_token} if device_token else {})
        self._repeats, self._patience, self._timeout, self._tls = repeats, patience, timeout, tls

    def history(self, after: int = 0, **choice: Any) -> Iterator[HistoryEvent]:
        """The rows of the history report after a `seq`, oldest first, all pages. `choice`: the fields of a `ReportRequest`. For a clerk, an
        admin or a sync account, by its `token`; raises `ValueError` without one."""
        self._check_token("history")
        while True:
            body: ReportRequest = {**choice, "after": after, "limit": REPORT_ROWS}  # type: ignore[typeddict-item]
            rows = self.report_history(body)["data"]
            yield from rows
            if len(rows) < REPORT_ROWS:
                return
            after = rows[-1]["seq"]

    def bookings(self, **choice: Any) -> Iterator[Booking]:
        """The rows of the bookings report, newest first, all pages, each booking once. For a clerk, an admin or a sync account, by its
        `token`; raises `ValueError` without one. A partner reads its own by `list_own_bookings`."""
        self._check_token("bookings")
        seen: set[int] = set()
        offset = 0
        while True:
            body: ReportRequest = {**choice, "offset": offset, "limit": REPORT_ROWS}  # type: ignore[typeddict-item]
            rows = self.report_bookings(body)["data"]
            # A booking that comes meanwhile moves the others on.
            yield from (row for row in rows if row["booking_id"] not in seen)
            if len(rows) < REPORT_ROWS:
                return
            seen.update(row["booking_id"] for row in rows)
            offset += len(rows)

    def _check_token(self, name: str) -> None:
        if not self.token:
            raise ValueError(f"{name}() reads a report of the hall: set `token` to the session of a clerk, an admin or a sync account; "
                             "a partner reads its own bookings by list_own_bookings()")

    def events(self, types: Iterable[str] = (), after: int | None = None) -> Iterator[Event]:
        """Events as they happen, for ever: each once, in order, also over lost connections. From now on, or `after` a `seq` that you kept.
        `types` are such as `booking.cancelled` or `booking.*`. Raises `Refused` where the site will not,
        and `ssl.SSLCertVerificationError` where its certificate is not trusted."""
        pause = 1.0
        while True:
            asked = 0.0
            try:
                for name, seq, text in self._stream(types, after):
                    if name == "hello":
                        # The site goes on elsewhere where events are missing.
                        if after is not None and seq != after:
                            yield Event.reset(seq)
                        pause = 1.0
                    elif not name:
                        event = Event.of(json.loads(text))
                        seq = event.seq
                        yield event
                    after = seq
            except Refused as refused:
                if refused.status not in AGAIN:
                    raise
                asked = refused.retry_after or 0.0
                pause = min(2 * pause, 60.0)
            except ssl.SSLCertVerificationError:
                raise
            except (OSError, http.client.HTTPException):
                pause = min(2 * pause, 60.0)
            time.sleep(max(asked, pause * random.uniform(0.5, 1.0)))

    def read_events(
        self, types: Iterable[str] = (), after: int | None = None, wait: int = 25, limit: int = 100
    ) -> tuple[list[Event], int]:
        """The events after a `seq`, and the `seq` to read on after: immediately where there are some, else after `wait` seconds at most."""
        query = {"types": (types if isinstance(types, str) else ",".join(types)) or None, "after": after, "wait": wait, "limit": limit}
        try:
            answer = self._send("GET", "/events", query, b"", {"accept": "application/json"}, "request", self._timeout + wait)
        except Refused as refused:
            if refused.code != Code.EVENTS_GONE:
                raise
            seq = int(refused.headers["x-event-seq"])
            return [Event.reset(seq)], seq
        return [Event.of(row) for row in json.loads(answer[1])], int(answer[0]["x-event-seq"])

    def _stream(self, types: Iterable[str], after: int | None) -> Iterator[tuple[str, int, str]]:
        """The frames of one stream with a number: name, number and text."""
        query = {"types": (types if isinstance(types, str) else ",".join(types)) or None, "after": after}
        connection, answer = self._ask("GET", "/events", query, b"", {"accept": "text/event-stream"}, "request", SILENCE_SECONDS)
        try:
            if answer.status != 200:
                raise Refused(answer.status, headers_of(answer), answer.read(), False)
            said: dict[str, str] = {}
            while line := answer.readline():
                connection.renew(SILENCE_SECONDS)
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                if name:
                    said[name] = value.removeprefix(" ")
                elif line.strip() == b"" and "id" in said:
                    yield said.get("event", ""), int(said["id"]), said.get("data", "")
                    said = {}
                elif not line.strip():
                    said = {}
        finally:
            connection.close()

    def _call(
        self, method: str, path: tuple[int | str, ...], *, body: Any = None, query: dict[str, Any] | None = None, signs: str = "",
        keyed: bool = False, pages: bool = False, content_type: str = "application/json",
    ) -> Any:
        target = "".join(urllib.parse.quote(str(part), safe="/" if place % 2 == 0 else "") for place, part in enumerate(path))
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = {"content-type": content_type} if sent else {}
        if keyed:
            headers["idempotency-key"] = str(uuid.uuid4())
        found, text = self._send(method, target, query or {}, sent, headers, signs, self._timeout)
        if "json" not in found.get("content-type", ""):
            return text
        answer = json.loads(text)
        while pages and (rest := next_page(found)):
            found, text = self._send(method, target, rest, sent, headers, signs, self._timeout)
            answer += json.loads(text)
        return answer

    def _send(
        self, method: str, path: str, query: dict[str, Any], body: bytes, headers: dict[str, str], signs: str, timeout: float
    ) -> tuple[dict[str, str], bytes]:
        """Sends a request until it has an answer. Every request may go again: `GET` reads, `PUT` and `DELETE` say what shall be, and a
        `POST` has its key, or only reads."""
        was_sent = False
        for turn in range(self._repeats + 1):
            is_last = turn == self._repeats
            wait = 0.5 * 2**turn * random.uniform(0.5, 1.0)
            try:
                connection, answer = self._ask(method, path, query, body, headers, signs, timeout)
                try:
                    # The library takes a head that was cut for a whole one; an answer of a site says how long it is.
                    if answer.length is None and not answer.chunked:
                        raise http.client.IncompleteRead(b"")
                    text = answer.read()
                finally:
                    connection.close()
            except (OSError, http.client.HTTPException) as lost:
                was_sent |= not isinstance(lost, ConnectionRefusedError)
                if is_last:
                    raise Lost(lost, was_sent) from lost
            else:
                if answer.status < 300:
                    return headers_of(answer), text
                refused = Refused(answer.status, headers_of(answer), text, was_sent)
                wait = max(wait, refused.retry_after or 0.0)
                if is_last or wait > self._patience or not (refused.status in AGAIN or refused.code == Code.SIGNATURE_REPEATED):
                    raise refused
                was_sent |= refused.code == Code.OUTCOME_UNKNOWN or refused.status in (502, 504)
            time.sleep(wait)
        raise AssertionError

    def _ask(
        self, method: str, path: str, query: dict[str, Any], body: bytes, headers: dict[str, str], signs: str, timeout: float
    ) -> tuple[Exchange, http.client.HTTPResponse]:
        asked = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
        path += f"?{asked}" if asked else ""
        connection = Exchange(self._address, timeout, self._tls)
        own = self._headers | headers | self._credentials(method, path, body, signs)
        try:
            connection.request(method, f"{self._address.path.rstrip('/')}/api{path}", body or None, own)
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def _credentials(self, method: str, path: str, body: bytes, signs: str) -> dict[str, str]:
        """The headers that say who asks. A signature is good once, so each sending has its own."""
        if not (signs and self.partner):
            return {"token": self.token} if self.token else {}
        now, nonce = str(int(time.time())), secrets.token_hex(16)
        headers, signed = {"client-id": self.partner.client_id}, body
        if signs == "request" or self.partner.strict:
            headers |= {"x-timestamp": now, "x-nonce": nonce}
            request = f"{method} {path}." if signs == "request" else ""
            signed = f"{now}.{nonce}.{request}".encode() + body
        return headers | {"token": hmac.digest(self.partner.secret.encode(), signed, hashlib.sha256).hex()}


def headers_of(answer: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.getheaders()}


def next_page(headers: dict[str, str]) -> dict[str, str] | None:
    """The query of the page that the answer leads to."""
    link, _, rel = headers.get("link", "").partition(">")
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link[1:]).query)) if 'rel="next"' in rel else None
