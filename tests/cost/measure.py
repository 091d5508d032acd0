"""What the dearest request of each kind costs a demo site: CPU time of the server's process, its peak memory, rows in the file,
messages in the outbox; and what bounds it. Needs the server's process id, its address and its data directory."""

import base64
import hashlib
import hmac
import http.client
import json
import pathlib
import re
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import tomllib
import urllib.parse

import pictures

PID, ADDRESS, DATA = int(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
FACTS = json.loads((DATA / "demo.json").read_text())
CONNECTION = http.client.HTTPConnection(ADDRESS, timeout=60)
TICKS_MS = 1000 / 100
# Every substitute that zxcvbn knows, twice: the most ways to read a password.
DEAR_PASSWORD = ("4@8({[<3691!|7$5+%20" * 7)[:128]


# As many characters as are judged: the worst that a search found.
DEAR_PASSWORDS = [text[:32] for text in (
    DEAR_PASSWORD, "|5|7<9@(<[9{5527050072%2@6150+0[51570|([%1(%70425077<250|7+4$$7",
    "$50!|!5@|!l|10!|$@1$4@5@$44ol0$o4o@!|055o5|l!1o@4|4|o51ll$1$@$5", "7729<71 8f012345678[012347729<71",
    "676791634143390696214934782700191667776766799179")]


ROOT = pathlib.Path(__file__).parent.parent.parent
# The technician's book has the table of limits, which a test compares with the product's own: what, by whom, how much, beyond it.
LIMITS = [[cell.strip() for cell in line.split("|")[1:5]]
    for line in (ROOT / "packaging/README.md").read_text().split("\n## Limits\n")[1].split("\n## ")[0].splitlines() if line.startswith("| ")][1:]
SETTINGS = tomllib.loads(re.sub("(?m)^#(?=[a-z_]+ = )", "", (ROOT / "packaging/tunneldesk.toml").read_text()))["limits"]


def limited(*whats):
    """The rows of the table about these, in words, with the defaults of settings. The table has them all."""
    said = []
    for what in whats:
        rows = [row for row in LIMITS if row[0] == what]
        assert rows, f"the table of limits has no row about {what}"
        said += [f"{name} ({by}): {amount}, {over}" for name, by, amount, over in rows]
    return re.sub(r"`limits\.([a-z_]+)`", lambda setting: f"{SETTINGS[setting[1]]:,}", "; ".join(said))


MISSES = ("wrong proofs under one name", "wrong proofs of one account", "wrong proofs")
MESSAGES = ("requests that may send a message", "messages of one cause", "passcodes that anybody may cause", "mails", "short messages")
READS = "requests, pages and reads among them"
CHANGES = "changes"


def cpu_ms():
    fields = pathlib.Path(f"/proc/{PID}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICKS_MS


def peak_mib():
    status = pathlib.Path(f"/proc/{PID}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def counts():
    """Rows of all tables, and messages in line, in a copy of the file: nobody else opens the live one."""
    with tempfile.TemporaryDirectory() as room:
        for name in ("tunneldesk.sqlite", "tunneldesk.sqlite-wal"):
            if (DATA / name).exists():
                shutil.copy(DATA / name, room)
        file = sqlite3.connect(f"{room}/tunneldesk.sqlite")
        tables = [row[0] for row in file.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%search%'")]
        rows = {table: file.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
        file.close()
        return sum(rows.values()), rows["outbox"]


def send(method, path, body=b"", headers=None):
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
        headers = {"content-type": "application/json", **(headers or {})}
    CONNECTION.request(method, path, body, headers or {})
    answer = CONNECTION.getresponse()
    return answer.status, answer.read(), answer


def session(member):
    body = {"username": member["username"], "password": member["password"]}
    token = json.loads(send("POST", "/api/auth/login", body)[1])["token"]
    return {"token": token} if token else None


def clerk(member):
    form = urllib.parse.urlencode({"username": member["username"], "password": member["password"]}).encode()
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": f"http://{ADDRESS}"}
    answer = send("POST", "/desk/sign-in", form, headers)[2]
    cookies = "; ".join(line.split(";")[0] for line in answer.headers.get_all("set-cookie") or [])
    return {"cookie": cookies, "origin": f"http://{ADDRESS}"}


def signed(body):
    raw = json.dumps(body).encode()
    digest = hmac.new(FACTS["partner"]["secret"].encode(), raw, hashlib.sha256).hexdigest()
    return raw, {"client-id": FACTS["partner"]["client_id"], "token": digest, "content-type": "application/json"}


def measure(who, what, bound, times, ask):
    """`ask` sends the n-th request and returns its status."""
    rows, messages = counts()
    pathlib.Path(f"/proc/{PID}/clear_refs").write_text("5")
    before, began, statuses = cpu_ms(), time.monotonic(), {}
    for n in range(times):
        status = ask(n)
        statuses[status] = statuses.get(status, 0) + 1
    time.sleep(0.05)
    cpu, wall, peak = (cpu_ms() - before) / times, (time.monotonic() - began) * 1000 / times, peak_mib()
    rows_now, messages_now = counts()
    seen = ", ".join(f"{status} × {count}" for status, count in sorted(statuses.items()))
    each = lambda number: f"{number / times:.2f}".rstrip("0").rstrip(".")
    print(f"| {who} | {what} | {cpu:.2f} | {wall:.1f} | {peak:.0f} | {each(rows_now - rows)} | {each(messages_now - messages)} "
          f"| {seen} | {bound} |", flush=True)


def main():
    by_role = lambda role: [m for m in FACTS["members"] if m["role"] == role]
    people = [(m, s) for m in by_role("member")[:12] if (s := session(m))]
    (member, own), (_, other) = people[0], people[1]
    desk = clerk((by_role("admin") or by_role("desk"))[0])
    api = lambda method, path, body=b"", headers=None: send(method, "/api" + path, body, headers)[0]
    me = member["member_id"]
    print("| Who | Dearest request | CPU ms | wall ms | peak MiB | rows | messages | answers | What bounds it |")
    print("|---|---|---|---|---|---|---|---|---|")

    # A stranger
    guess = {"username": member["username"], "password": "x" * 128}
    measure("stranger", "login, login/silent, totp/*, desk sign-in: a wrong password",
            limited(*MISSES, "second steps that nobody finishes") + "; two hash threads at low priority, queue 512, 8 s; delayed answers write nothing",
            20, lambda n: api("POST", "/auth/login", {**guess, "username": f"nobody{n}"}))
    measure("stranger", "signup: 128 characters of substitutes, three answers",
            limited("sign-ups", "requests that may send a message") + "; 32 characters judged, at most 4 readings; 4 hashes on the hash lane",
            10, lambda n: api("POST", "/auth/signup", {"username": f"cost{time.time_ns()}", "email": f"cost{n}@example.com",
                "password": DEAR_PASSWORD, "real_name": "wo " * 33, "terms": True, **{f"question_{q}": q for q in (1, 2, 3)},
                **{f"answer_{q}": "x" * 200 for q in (1, 2, 3)}}))
    measure("stranger", "signup that is refused (weak password, no terms)", limited("sign-ups") + "; taken first",
            50, lambda n: api("POST", "/auth/signup", {"username": "x", "email": "x", "password": DEAR_PASSWORD}))
    for place, password in enumerate(DEAR_PASSWORDS):
        measure("stranger", f"the worst passwords, 32 characters ({place + 1} of {len(DEAR_PASSWORDS)}), with all that judges a sign-up", "as above",
                50, lambda n: api("POST", "/auth/signup", {"username": "x", "email": "x", "password": password}))
    measure("stranger", "recover-password with a proof: twelve answers in decomposed letters",
            limited("requests about a lost password or username", *MISSES) + "; three answers in two forms and the password: 7 hashes on the hash lane", 5,
            lambda n: api("POST", "/auth/account-access/recover-password", {"username": member["username"],
                "passcode": "000000", "password": DEAR_PASSWORD, **{f"answer_{q}": "a\u0308" * 60 for q in range(1, 13)}}))
    measure("stranger", "recover-password, recover-username, /recover: asks for a passcode",
            limited("requests for a passcode under one name", "requests about a lost password or username", *MESSAGES), 30,
            lambda n: api("POST", "/auth/account-access/recover-password", {"username": f"nobody{time.time_ns()}"}))
    measure("stranger", "the same for one that exists", "as above", 5,
            lambda n: api("POST", "/auth/account-access/recover-password", {"username": people[2][0]["username"]}))
    measure("stranger", "security-questions", limited("requests about a lost password or username"), 50,
            lambda n: api("GET", f"/auth/account-access/security-questions?username=nobody{n}"))
    measure("stranger", "verify-email, resend, /confirm", limited("confirmation links used or renewed", "requests that may send a message"), 50,
            lambda n: api("POST", "/auth/verify-email", {"token": "x" * 128}, {"idempotency-key": f"k{time.time_ns()}"}))
    measure("stranger", "bio-web-option", limited("passkey challenges") + "; a challenge lives 5 minutes", 50,
            lambda n: api("POST", "/auth/login/bio-web-option", {"username": f"nobody{n}"}))
    measure("stranger", "contact: 5,000 characters", limited("messages of the contact form"), 20,
            lambda n: api("POST", "/public/contact", {"name": "x" * 100, "email": "a@example.com", "message": "ö" * 5000}))
    measure("stranger", "check-username, verify/{code}, public/*, docs: reads", "reading threads, queue 1,024, 2 s", 100,
            lambda n: api("GET", "/openapi.json"))
    measure("stranger", "64 KiB of nested JSON", "64 KiB; depth 128 by the parser", 50,
            lambda n: api("POST", "/auth/login", b"[" * 65535, {"content-type": "application/json"}))

    # A member
    flight = {"entry_date": int(time.time()) - 60, "time": "10", "comment": "\U0001f600" * 1000}
    measure("member", "time and skill entries: a comment of 4 kB", limited(CHANGES) + "; 50,000 entries, 1,000 while unconfirmed", 200,
            lambda n: api("POST", "/account/logbook/time/", flight, own))
    measure("member", "the same with an Idempotency-Key", limited("outcomes kept under idempotency keys", "kilobytes of these outcomes") + "; kept 24 h", 100,
            lambda n: api("POST", "/account/logbook/time/", flight, {**own, "idempotency-key": f"k{time.time_ns()}"}))
    measure("member", "lists and exports: export, print, time, skills",
            limited("pictures and documents") + "; 5,000 rows an answer; exports and prints on their own two threads, one drawn at a time", 5,
            lambda n: api("GET", f"/account/logbook/print/{me}", headers=own))
    measure("member", "export (CSV)", limited(READS) + "; by rows and bytes", 10, lambda n: api("GET", f"/account/logbook/export/{me}", headers=own))
    measure("member", "progression (SVG)", limited(READS) + "; the catalogue", 20, lambda n: api("GET", f"/account/logbook/progression/{me}", headers=own))
    for name, kind, picture in pictures.ALL:
        measure("member", f"media: {name}",
                "5 MiB, 16 million pixels, 48 MiB decoded and 64 MiB at work by its head; one at a time; 32 MiB of large bodies at once; " + limited("pictures and documents"), 3,
                lambda n: api("POST", "/account/profile/media", picture(), {**own, "content-type": kind}))
    measure("member", "change-password: a wrong current one", limited(*MISSES, CHANGES), 4,
            lambda n: api("PUT", "/account/profile/change-password", {"password": DEAR_PASSWORD,
                "password_confirm": DEAR_PASSWORD, "current_password": "wrong"}, other))
    measure("member", "send-verification-passcode by SMS", limited(*MESSAGES) + "; own country", 8,
            lambda n: api("POST", "/account/profile/send-verification-passcode", {"country": "41", "phone": f"7912345{n:02}"}, own))

    # A partner
    def token(n):
        raw, headers = signed({"member_id": 900_000 + n, "member_pin": "000000"})
        return send("POST", "/api/external/partner-metrics/op/generate-token", raw, headers)[0]
    measure("partner", "generate-token: a wrong PIN", limited("requests", "wrong PINs over all members", "wrong PINs of one member in a row"), 30, token)
    measure("partner", "generate-token while paused", "nothing is looked up or written", 100, lambda n: token(100 + n))
    def record(n):
        raw, headers = signed({"email": f"cost{time.time_ns()}@example.com"})
        return send("POST", "/api/external/partner-metrics/op", raw, headers)[0]
    measure("partner", "op: a new record", limited("requests", "records of customers"), 100, record)

    # A clerk
    page = lambda path: send("GET", path, headers=desk)[0]
    measure("clerk", "members: a search that finds nobody", limited(READS) + "; 200 and 1,000 rows judged", 20,
            lambda n: page("/desk/members?q=" + urllib.parse.quote("zqxj aeiou " * 10)))
    measure("clerk", "Today", limited(READS) + "; what has flown and is booked today", 10, lambda n: page("/desk"))
    measure("clerk", "reports, a year; site, audit", limited(READS) + "; a year; 100 rows a page; statements end after 2 s", 5,
            lambda n: page("/desk/reports?from=2025-11-22&to=2026-11-21"))
    measure("clerk", "bookings.csv, members.csv", limited(READS) + "; 1,000 rows at once, made while they are taken; 16 at once; the lane for documents, two threads", 3,
            lambda n: page("/desk/reports/bookings.csv?from=2025-11-22&to=2026-11-21"))

    beside(own, me, guess)


def sign_in_ms(guess, times):
    """How long each of so many sign-ins with a wrong password takes, in a connection of its own."""
    connection, took = http.client.HTTPConnection(ADDRESS, timeout=60), []
    for n in range(times):
        began = time.monotonic()
        body = json.dumps({**guess, "username": f"beside{n}"}).encode()
        connection.request("POST", "/api/auth/login", body, {"content-type": "application/json"})
        connection.getresponse().read()
        took.append((time.monotonic() - began) * 1000)
    return sorted(took)


def beside(own, me, guess):
    """Sign-ins alone, and beside six prints at once of a logbook of long comments."""
    alone, enough = sign_in_ms(guess, 15), threading.Event()

    def print_on():
        connection = http.client.HTTPConnection(ADDRESS, timeout=60)
        while not enough.is_set():
            connection.request("GET", f"/api/account/logbook/print/{me}", headers=own)
            connection.getresponse().read()

    printers = [threading.Thread(target=print_on) for _ in range(6)]
    [printer.start() for printer in printers]
    time.sleep(0.2)
    among = sign_in_ms(guess, 15)
    enough.set()
    [printer.join() for printer in printers]
    said = lambda took: f"{took[len(took) // 2]:.0f} ms (median), {took[-1]:.0f} ms (longest)"
    print(f"\nA sign-in takes {said(alone)} alone, and {said(among)} beside six prints at once.")


if __name__ == "__main__":
    main()
