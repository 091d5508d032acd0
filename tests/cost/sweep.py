"""What a request of each row costs: every operation and every page, by whoever may call it, with the largest body that the row
takes. Rows that are bounded by the same thing say so in the same words. Needs what `measure.py` needs, and the rows as JSON."""

import json
import pathlib
import re
import sys
import urllib.parse

from measure import ADDRESS, CHANGES, FACTS, MISSES, READS, clerk, counts, cpu_ms, limited, peak_mib, PID, send, session, signed
import time

TIMES = 10
ORIGIN = {"origin": f"http://{ADDRESS}"}
# The body is judged as a whole, so the rest of the 64 KiB is a field that no row knows.
FILLING = "x" * 60_000
DRAWN = ("/print/", "/export/", "get-certificate", "profile/media", "/photo", "bookings.csv", "members.csv", "/kiosk/certificates")
HASHED = ("/auth/login", "/totp", "/signup", "recover-password", "change-password", "/desk/sign-in", "/sign")
OPEN = {"bio-web": "passkey challenges", "sign-in/passkey": "passkey challenges", "contact": "messages of the contact form",
    "recover": "requests about a lost password or username", "email": "confirmation links used or renewed",
    "confirm": "confirmation links used or renewed", "pair": "wrong pairing codes"}
# What ends the session, cookie or key that the next row needs comes last.
ENDS = ("logout", "sign-out", "/sessions", "change-password", "/ban", "/kiosk/leave", "rotate", "revoke", "users/{")


def of_open(path):
    """What limits a caller without credentials at this path; the last are counted by a change that a link makes."""
    for part, what in OPEN.items():
        if part in path:
            return [what]
    return ["requests that may send a message", "outcomes kept under idempotency keys"]


def bound(row):
    path, caller, reads = row["path"], row["caller"], row["method"] == "GET"
    if any(part in path for part in DRAWN):
        return limited("pictures and documents") + "; two threads and one drawer at low priority; 5 MiB a picture, 64 KiB else"
    if caller in ("open", "page") and any(part in path for part in HASHED) and "bio-web" not in path and not reads:
        return limited(*MISSES) + "; two hash threads at low priority, queue 512, 8 s"
    if "partner" in caller:
        return limited("requests", "records of customers", "wrong PINs over all members") + "; 64 KiB"
    if "webhook" in path or "deletion" in path:
        return limited("callbacks") + "; 256 KiB; the signature is judged first; each event once"
    if caller in ("open", "page"):
        return "reading threads, queue 1,024, 2 s" if reads else f"64 KiB; 2 s in the queue; {limited(*of_open(path))}"
    if reads:
        return limited(READS) + "; reading threads, queue 1,024, 2 s; 5,000 rows an answer; a statement ends after 2 s"
    if caller == "staff":
        return limited(READS) + "; 64 KiB"
    if "desk" in path:
        return limited(CHANGES) + "; 64 KiB, a pasted request 256 KiB; one writer, 2 s in its queue"
    if "kiosk" in path:
        return limited("forms and taps before sign-in", "cards read", "wrong PINs of one member") + "; 64 KiB"
    return limited(CHANGES) + "; 64 KiB; rows by the member's quotas"


def kiosk(desk, own, me):
    """The cookies of a kiosk with a guest."""
    form = lambda path, fields, headers: send("POST", path, urllib.parse.urlencode(fields).encode(),
        {"content-type": "application/x-www-form-urlencoded", **ORIGIN, **headers})
    page = form("/desk/kiosks", {"name": "cost"}, desk)[1].decode()
    code = re.search(r'class="code"><strong>([^<]*)<', page)
    cookies = lambda answer: [line.split(";")[0] for line in answer[2].headers.get_all("set-cookie") or []]
    paired = cookies(form("/kiosk/pair", {"code": code[1]}, {})) if code else []
    pin = json.loads(send("POST", "/api/account/profile/booking-pin", b"", own)[1])
    guest = cookies(form("/kiosk/number", {"number": me, "pin": next(iter(re.findall(r"[0-9]{6}", json.dumps(pin))), "")},
        {"cookie": "; ".join(paired)}))
    return {"cookie": "; ".join(paired + guest), **ORIGIN}


def ask(row, path, who, n):
    if "partner" == row["caller"]:
        raw, headers = signed({"id": n, "member_id": 900_000 + n, "member_pin": "000000", "email": f"s{time.time_ns()}@example.com", "filling": FILLING})
        return send(row["method"], path, raw, headers)[0]
    if row["method"] == "GET":
        return send("GET", path + "?q=" + "%C3%B6" * 200, headers=who)[0]
    fields = {"username": f"n{n}", "password": "x" * 128, "entry_date": int(time.time()) - 60, "time": "10", "comment": "x" * 1000,
              "q": "x" * 200, "filling": FILLING}
    if path.startswith("/api"):
        return send(row["method"], path, fields, who)[0]
    form = urllib.parse.urlencode(fields).encode()
    return send(row["method"], path, form, {"content-type": "application/x-www-form-urlencoded", **ORIGIN, **who})[0]


def main():
    rows = json.loads(pathlib.Path(sys.argv[4]).read_text())
    by_role = lambda role: [m for m in FACTS["members"] if m["role"] == role]
    member = next(m for m in by_role("member")[20:] if session(m))
    own, me = session(member), member["member_id"]
    desk = clerk(by_role("admin")[0])
    at_kiosk = None
    sync = {"token": FACTS["sync_token"]}
    print("\n| Row | Caller | CPU ms | wall ms | peak MiB | rows | messages | answers | What bounds it |")
    print("|---|---|---|---|---|---|---|---|---|")
    known = {"member_id": me, "tunnel_id": FACTS["tunnel_id"], "status": "pending", "skill": "11301", "tunnel": FACTS["tunnel_id"],
             "category": "Flyer", "file": "desk.css", "code": "AAAA-AAAA-AAAA-AAAA"}
    before = counts()
    for row in sorted(rows, key=lambda row: any(part in row["path"] for part in ENDS)):
        # A stream goes on for ten minutes, costs nothing meanwhile, and there are 64 at the most.
        if row["path"].endswith("/live"):
            continue
        path = re.sub(r"{([^}]*)}", lambda part: urllib.parse.quote(str(known.get(part[1], 1))), row["path"])
        # What went before may have ended the guest's visit.
        if row["caller"] in ("kiosk", "guest") and not at_kiosk:
            at_kiosk = kiosk(desk, session(member), me)
        who = (at_kiosk or {}) if "/kiosk" in path and "/desk" not in path and "/api" not in path else desk if path.startswith("/desk") \
            else sync if row["caller"] == "staff" else {} if row["caller"] == "open" else own
        pathlib.Path(f"/proc/{PID}/clear_refs").write_text("5")
        cpu, began, statuses = cpu_ms(), time.monotonic(), {}
        for n in range(TIMES):
            status = ask(row, path, who, n)
            statuses[status] = statuses.get(status, 0) + 1
        wall = (time.monotonic() - began) * 1000 / TIMES
        cpu, peak, after = (cpu_ms() - cpu) / TIMES, peak_mib(), counts()
        more = [f"{(now - then) / TIMES:g}" for now, then in zip(after, before)]
        before = after
        seen = ", ".join(f"{status} × {count}" for status, count in sorted(statuses.items()))
        print(f"| {row['method']} {row['path']} | {row['caller']} | {cpu:.1f} | {wall:.1f} | {peak:.0f} | {more[0]} | {more[1]} | {seen} | {bound(row)} |", flush=True)


main()
