"""A booking, its cancellation at the desk seen live, and the report, with the package of packaging/clients/python over a network that
loses every other answer; and a webhook that the library of Standard Webhooks signed."""

import base64
import contextlib
import datetime
import functools
import html
import http.cookiejar
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import standardwebhooks

import tunneldesk.client
from tunneldesk import Client, Code, Event, Forged, Lost, Partner, Refused, verify

SITE, CUT, DATA, PROGRAM = (os.environ[f"CLIENT_{name}"] for name in ("SITE", "CUT", "DATA", "PROGRAM"))
DEMO = json.loads(Path(DATA, "demo.json").read_text())
# Of its own: the other client, which runs at the same time, hears nothing of these bookings, and takes none of the places for streams.
PARTNER = json.loads(subprocess.run([PROGRAM, "partner", "add", "Python", "--json", "--data", DATA], check=True, capture_output=True).stdout)


def equal(what: str, found: object, wanted: object) -> None:
    assert found == wanted, f"{what}: {found!r}, and not {wanted!r}"


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def cancel_at_desk(booking: int) -> None:
    """Cancels a booking on the pages of the desk."""
    account = next(one for one in DEMO["members"] if one["username"] == "desk")
    jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    browser = urllib.request.build_opener(jar, Stay())
    browser.addheaders = [("origin", SITE)]

    def post(path: str, fields: dict[str, str]) -> None:
        try:
            browser.open(SITE + path, urllib.parse.urlencode(fields).encode())
            raise AssertionError(f"{path} shows its page again")
        except urllib.error.HTTPError as answer:
            equal(path, answer.status, 303)

    post("/desk/sign-in", {"username": account["username"], "password": account["password"]})
    page = browser.open(f"{SITE}/desk/bookings/{booking}").read().decode()
    seen = re.search(r'name="seen" value="([^"]*)"', page)
    post(f"/desk/bookings/{booking}/cancel", {"seen": seen[1] if seen else ""})


def sample_webhooks() -> None:
    """The receiver of /docs, typed as it stands, takes a request that is signed, once, and no other."""
    page = urllib.request.urlopen(f"{SITE}/docs").read().decode()
    shown = {name: html.unescape(text) for name, text in re.findall(r'id="(webhook-\w+)">(.*?)</pre>', page, re.S)}
    example = re.search(r"The\s+example is signed by <code>(whsec_[^<]*)</code>", page)
    assert example
    secret = example[1]
    head, body = shown["webhook-request"].split("\n\n")
    sent = dict(line.split(": ", 1) for line in head.splitlines()[1:])
    equal("the example", verify(body.encode(), sent, example[1], now=int(sent["webhook-timestamp"]))["id"], sent["webhook-id"])
    text = shown["webhook-python"].replace('"whsec_…"', repr(example[1])).replace("9000", "0")
    *lines, last = text.splitlines()
    assert len(lines) < 11, lines
    told: list[object] = []
    space: dict[str, Any] = {"print": lambda *words: told.append(words)}
    exec("\n".join([*lines, "server = " + last.removesuffix(".serve_forever()")]), space)
    threading.Thread(target=space["server"].serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{space['server'].server_port}/"

    def send(changed: str) -> int:
        now = datetime.datetime.now(datetime.UTC)
        headers = {"webhook-id": sent["webhook-id"], "webhook-timestamp": str(int(now.timestamp())),
                   "webhook-signature": standardwebhooks.Webhook(secret).sign(sent["webhook-id"], now, body)}
        try:
            return int(urllib.request.urlopen(urllib.request.Request(address, changed.encode(), headers)).status)
        except urllib.error.HTTPError as answer:
            return answer.status or 0

    equal("a signed webhook, the same again, and a changed one", [send(body), send(body), send(body + " ")], [204, 204, 401])
    equal("it is known by its id", len(told), 1)


def sample(partner: Client, number: int, member_id: int, pin: str) -> None:
    """The lines of /docs, typed as they stand below the first, while the booking is cancelled."""
    page = urllib.request.urlopen(f"{SITE}/docs").read().decode()
    found = re.search(r'id="client-python">(.*?)</pre>', page, re.S)
    assert found
    _, lines = html.unescape(found[1]).split("\n", 1)
    lines = re.sub(r'Client\("[^"]*"', f'Client("{SITE}"', lines)
    assert len(lines.splitlines()) < 10, lines
    threading.Timer(2, lambda: partner.cancel_own_booking(number)).start()
    told: list[str] = []
    exec(lines, {"client_id": PARTNER["client_id"], "secret": PARTNER["secret"], "member_id": member_id, "pin": pin,
                 "number": number, "print": lambda *words: told.append(" ".join(map(str, words)))})
    kinds = [line.split()[1] for line in told[1:] if line.endswith(f" {number}")]
    equal("the sample hears of its booking", kinds, ["booking.recorded", "booking.cancelled"])


def webhooks() -> None:
    secret, other = (f"whsec_{base64.b64encode(letter * 24).decode()}" for letter in (b"a", b"b"))
    body, now = '{"id": "5d41-7", "type": "booking.cancelled", "at": 1780000000, "data": {"booking_id": 88}}', datetime.datetime.now(datetime.UTC)
    signature = standardwebhooks.Webhook(secret).sign("5d41-7", now, body)
    headers = {"Webhook-Id": "5d41-7", "Webhook-Timestamp": str(int(now.timestamp())), "Webhook-Signature": f"v1,AAAA {signature}"}
    equal("a webhook is the site's", verify(body.encode(), headers, other, secret)["data"], {"booking_id": 88})
    for changed, signer, at in [(body + " ", secret, 0), (body, other, 0), (body, secret, 301)]:
        try:
            verify(changed.encode(), headers, signer, now=now.timestamp() + at)
        except Forged:
            continue
        raise AssertionError("a forged webhook was taken")
    for sent_at, signed in [("9" * 400, signature), ("\ud800", signature), (headers["Webhook-Timestamp"], "v1,\ud800")]:
        try:
            verify(body.encode(), headers | {"Webhook-Timestamp": sent_at, "Webhook-Signature": signed}, secret)
        except Forged:
            continue
        raise AssertionError("odd headers were taken")
    for no_secret in ["", "whsec_", "$%&!", "whsec_QUJD"]:
        refuses(f"the secret {no_secret!r}", functools.partial(verify, body.encode(), headers, no_secret))
    for address in ["127.0.0.1:80", "ftp://127.0.0.1", "htps://127.0.0.1", "https://"]:
        refuses(f"the address {address!r}", functools.partial(Client, address))


def refuses(what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except ValueError:
        return
    raise AssertionError(f"{what} was taken")


def drips(site: socket.socket, at_once: bytes, asked: threading.Semaphore | None = None) -> None:
    """Answers each connection with some bytes at once, then with one a second for as long as somebody is there."""

    def answer(client: socket.socket) -> None:
        try:
            client.recv(65536)
            if asked:
                asked.release()
            client.sendall(at_once)
            while True:
                time.sleep(1)
                client.sendall(b"1")
        except OSError:
            client.close()

    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=answer, args=(site.accept()[0],), daemon=True).start()


def dripping() -> None:
    """An answer that comes a byte a second, in its head or its body, is waited for no longer than one that does not come."""
    for at_once in [b"HTTP/1.1 200 OK\r\nx-slow: ", b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n"]:
        with socket.create_server(("127.0.0.1", 0)) as site:
            threading.Thread(target=drips, args=(site, at_once), daemon=True).start()
            began = time.monotonic()
            try:
                Client(f"http://127.0.0.1:{site.getsockname()[1]}", "token", timeout=3, repeats=0).get_profile()
                raise AssertionError("an answer that never ends was an answer")
            except Lost as lost:
                equal("the request went out", lost.sent, True)
            waited = time.monotonic() - began
            assert 2.9 < waited < 5, f"an answer that drips was waited for for {waited:.1f} of 3 s"
    with socket.create_server(("127.0.0.1", 0)) as site:
        asked = threading.Semaphore(0)
        threading.Thread(target=drips, args=(site, b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", asked), daemon=True).start()
        stream = Client(f"http://127.0.0.1:{site.getsockname()[1]}", "token").events()
        tunneldesk.client.SILENCE_SECONDS, usual = 3, tunneldesk.client.SILENCE_SECONDS
        threading.Thread(target=next, args=(stream,), daemon=True).start()
        assert all(asked.acquire(timeout=10) for _ in range(2)), "a stream whose line never ends is broken"
        tunneldesk.client.SILENCE_SECONDS = usual


def tell() -> None:
    number = time.time_ns() // 1_000_000 % 1_000_000_000
    name, password = f"python-{number}", "violet-anvil-harbour-93"
    member = Client(CUT)
    made = member.signup({"username": name, "real_name": "Jane Doe", "email": f"{name}@example.org", "password": password, "terms": True})
    subprocess.run([PROGRAM, "member", "confirm", name, "--data", DATA], check=True, capture_output=True)
    refused = member.login({"username": name, "password": "not the password"})
    equal("a wrong password is an answer", (refused["status"], refused["token"]), (False, ""))
    try:
        member.get_profile()
        raise AssertionError("a stranger read a profile")
    except Refused as fault:
        equal("a refusal has its code", (fault.status, fault.code), (401, Code.NOT_SIGNED_IN))
    member.token = member.login({"username": name, "password": password})["token"]
    partner = Client(CUT, partner=Partner(PARTNER["client_id"], PARTNER["secret"]))
    heard: list[Event] = []
    told = threading.Event()

    def listen(seq: int) -> None:
        for event in partner.events(["booking.*"], after=seq):
            if event.type == "reset" or event.data.get("registration_id") == number:
                heard.append(event)
                if event.type == "booking.cancelled":
                    return told.set()

    events, seq = partner.read_events(wait=0)
    equal("nothing has happened yet", events, [])
    threading.Thread(target=listen, args=(seq,), daemon=True).start()
    booked = partner.generate_token({
        "member_id": made["member_id"], "member_pin": member.booking_pin()["pin"], "registration_id": number,
        "flight_date": int(time.time()) + 86_400, "minutes_booked": 15, "tunnel_id": DEMO["tunnel_id"],
    })
    assert booked["status"] and booked["token"], booked
    booking_id = booked["booking"]["booking_id"]
    for report in (partner.bookings, partner.history):
        refuses("a report for a partner", functools.partial(next, report()))
    equal("the booking stands", partner.get_own_booking(number)["ended"], None)
    cancel_at_desk(booking_id)
    assert told.wait(90), f"the cancellation was not heard: {heard}"
    equal("each event came once", [event.type for event in heard], ["booking.recorded", "booking.cancelled"])
    rows, seq = partner.read_events(["booking.cancelled"], after=seq)
    assert booking_id in [row.data["booking_id"] for row in rows] and seq >= rows[-1].seq, rows
    equal("a number that the site never gave is a reset", [row.type for row in partner.read_events(after=seq + 10**6)[0]], ["reset"])
    staff = Client(CUT, token=DEMO["sync_token"])
    history = [row["event"] for row in staff.history() if row["booking_id"] == booking_id and row["event"].startswith("booking.")]
    equal("so does the history", history, ["booking.recorded", "booking.cancelled"])
    equal("and the report", [row["ended"] for row in staff.bookings() if row["booking_id"] == booking_id], ["cancelled"])
    for minutes in (7, 8, 9):
        member.create_time({"entry_date": int(time.time()) - 60 * minutes, "time": minutes})
    try:
        member.create_time({"entry_date": "yesterday", "time": 0})
    except Refused as fault:
        equal("each bad field is named", sorted(one["field"] for one in fault.errors), ["entry_date", "time"])
    listed = [row["time"] for row in member.list_time(made["member_id"])]
    equal("a repeat adds nothing", [str(minutes) for minutes in listed], ["7", "8", "9"])
    sample(partner, number + 1, made["member_id"], member.booking_pin()["pin"])
    print("python: booked, cancelled at the desk, heard, reported")


webhooks()
sample_webhooks()
dripping()
tell()
