"""The first visit of a family and the return of a flyer, at a kiosk and on a phone, with real, counted touches."""

import base64
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse
import urllib.request

from browser import Browser
from person import Person

PASSWORD = "fly-high-land-soft"
DAY = 86_400
# Seconds that a person needs: to touch a button, to type a letter on the kiosk's keys or on a phone, to draw a signature, and to
# read the waiver for the first time or again.
TAP, SCREEN_LETTER, PHONE_LETTER, SIGNATURE = 1.0, 0.5, 0.35, 3.0
READ, READ_AGAIN = 20.0, 8.0
FAMILY_SECONDS_MAX, RETURN_SECONDS_MAX = 300, 40
WAIVER = ("I fly at my own risk.\n\n" "Flying in a wind tunnel is a sport. I am fit for it, I have told the staff what they must know of my "
          "health, and I follow their signs at all times.\n\n" "I wear the helmet, the goggles and the suit that I was given, and carry nothing in my pockets.")
QUESTIONS = "Is your weight outside the limits that are posted here?\nAre you pregnant?\nHave you ever dislocated a shoulder?"


class Hand(Person):
    """A touch screen of this size."""

    def __init__(self, origin, name, width, height, letter):
        super().__init__(Browser([], {}), origin)
        self.name, self.letter, self.pictures = name, letter, 0
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def cdp(self, command, **params):
        return self.browser.order("/goog/cdp/execute", {"cmd": command, "params": params})

    def uses(self, hand):
        pass

    def tap(self, selector, text=""):
        self.click(selector, text)
        self.by_hand += TAP - 1.3

    def keys_of_the_screen(self, text):
        """Types into the focused field with the keys of the page."""
        for one in text:
            found = self.run("""const keys = [...document.querySelectorAll('.board button')].filter(key => key.checkVisibility());
                const key = arguments[0] === ' ' ? keys.find(key => key.className === 'space') : keys.find(key => key.textContent.toLowerCase() === arguments[0].toLowerCase());
                key?.click(); return !!key;""", one)
            assert found, f"the screen has no key for {one!r}"
        self.keys += len(text)
        self.fields += 1
        self.by_hand += SCREEN_LETTER * len(text)

    def digits(self, text):
        """Types with the number keys of the sign-in page."""
        for one in text:
            self.run("document.querySelector(`[data-key='${arguments[0]}']`).click()", one)
        self.keys += len(text)
        self.fields += 1
        self.by_hand += SCREEN_LETTER * len(text)

    def write(self, selector, text):
        """Types with the keyboard of a phone."""
        self.tap(selector)
        self.run("const field = document.querySelector(arguments[0]); field.value = arguments[1]; field.dispatchEvent(new Event('input', { bubbles: true }))", selector, text)
        self.keys += len(text)
        self.fields += 1
        self.by_hand += self.letter * len(text)

    def draw(self):
        """Draws a signature, after hiding the on-screen keys."""
        if self.run("return !!document.querySelector('.board')?.checkVisibility()"):
            self.tap(".board .away")
        self.run("document.getElementById('pad').scrollIntoView({ block: 'center', behavior: 'instant' })")
        box = self.run("const box = document.getElementById('pad').getBoundingClientRect(); return [box.x, box.y, box.width, box.height]")
        at = lambda x, y: {"x": int(box[0] + x * box[2]), "y": int(box[1] + y * box[3])}
        move = [{"type": "pointerMove", "duration": 20, **at(x / 10, 0.3 + 0.4 * (x % 2))} for x in range(1, 9)]
        actions = [move[0], {"type": "pointerDown", "button": 0}, *move[1:], {"type": "pointerUp", "button": 0}]
        self.browser.order("/actions", {"actions": [{"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions}]})
        assert self.run("return document.getElementById('strokes').value.includes('L')"), "nothing was drawn"
        self.by_hand += SIGNATURE

    def at(self, path, what):
        self.page(path)
        self.keep(what)

    def keep(self, what):
        if directory := os.environ.get("SCREENS"):
            self.pictures += 1
            with open(f"{directory}/{self.name}-{self.pictures:02}-{what}.png", "wb") as file:
                file.write(base64.b64decode(self.cdp("Page.captureScreenshot")["data"]))


class Hall:
    """A server with a waiver and with bookings at the kiosk."""

    def __init__(self, program, directory):
        self.program, self.directory, self.data = program, directory, f"{directory}/data"
        self.settings = f"{directory}/tunneldesk.toml"
        with open(self.settings, "w") as settings:
            settings.write('metrics_listen = ""\n[membership]\nfirst_flight_unconfirmed = true\n[tunnel]\nminutes_per_quarter_hour = 60\nkiosk_minutes = ["4", "10"]\n[waiver]\nrequired = true\n')
        self.command("demo", "--members", "40", "--entries", "0")
        self.change("INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Waiver', ?, ?, zeroblob(32), 1, ?, NULL)",
                    WAIVER, QUESTIONS, int(time.time()) - 500 * DAY)
        self.serve("127.0.0.1:0")

    def command(self, *words):
        made = [self.program, *words, "--config", self.settings, "--data", self.data]
        return subprocess.run(made, check=True, capture_output=True, text=True, timeout=120).stdout

    def change(self, sql, *values):
        conn = sqlite3.connect(f"{self.data}/tunneldesk.sqlite", timeout=30)
        with conn:
            found = conn.execute(sql, values).fetchall()
        conn.close()
        return found

    def serve(self, listen):
        command = [self.program, "serve", "--config", self.settings, "--data", self.data, "--listen", listen]
        log = open(f"{self.directory}/log", "a")
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.server.stdout:
            if found := re.search(r"http://\S+:(\d+)", line):
                self.port = int(found[1])
                self.origin = f"http://localhost:{self.port}"
                return
        raise AssertionError("the server ended; its log: " + open(f"{self.directory}/log").read()[-2_000:])

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(60)

    def ask(self, path, body, token=None):
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(f"{self.origin}/api{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def read(self, path, token):
        request = urllib.request.Request(f"{self.origin}/api{path}", headers={"authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def arrivals(self):
        return self.change("SELECT count(*) FROM bookings WHERE arrived_at > ?", int(time.time()) - 3_600)[0][0]


def pair(kiosk, hall):
    code = re.search(r"\b\d{4} ?\d{4}\b", hall.command("kiosk", "pair", "Entrance"))[0]
    kiosk.go("/kiosk")
    kiosk.wait("return document.getElementById('code')")
    kiosk.run("const field = document.getElementById('code'); field.value = arguments[0]; field.form.requestSubmit()", code)
    kiosk.wait("return document.querySelector('.newcomer')")


def next_step(one):
    one.tap("[data-next]")


def signs(one, flyers, name, read):
    one.by_hand += read
    assert one.run("return document.querySelectorAll('fieldset.flyer').length") == flyers, "another number of flyers"
    # One touch for each question of each flyer.
    for place in range(one.run("return document.querySelectorAll('fieldset.question').length")):
        one.run("[...document.querySelectorAll('fieldset.question')][arguments[0]].querySelector('input[value=n]').click()", place)
        one.clicks += 1
        one.by_hand += TAP
    if one.letter == SCREEN_LETTER:
        one.tap("#signer_name")
        one.keys_of_the_screen(name)
    else:
        one.write("#signer_name", name)
    one.draw()
    one.keep("signed")
    one.tap("form.signing button.action")


def born(kiosk, text):
    # The focus moves from part to part of the date by itself.
    kiosk.keys_of_the_screen(text)
    kiosk.keep("born")
    next_step(kiosk)


def child(kiosk, name, day):
    kiosk.tap("a.large[href='/kiosk/family/child']")
    kiosk.at("/kiosk/family/child", "child")
    kiosk.wait("return document.querySelectorAll('.board button').length > 20")
    kiosk.keys_of_the_screen(name)
    next_step(kiosk)
    born(kiosk, day)
    kiosk.keep("right")
    kiosk.tap("[name=terms]")
    kiosk.tap(".step .action")
    kiosk.at("/kiosk/family", "family")


def first_adult(kiosk):
    kiosk.go("/kiosk")
    kiosk.at("/kiosk", "start")
    kiosk.tap(".newcomer a.large")
    kiosk.at("/kiosk/join", "join")
    kiosk.wait("return document.querySelectorAll('.board button').length > 20")
    kiosk.keys_of_the_screen("Maria Meier")
    next_step(kiosk)
    kiosk.keys_of_the_screen("maria@example.org")
    next_step(kiosk)
    born(kiosk, "03021985")
    kiosk.tap("[name=terms]")
    kiosk.tap(".step .action")
    kiosk.wait("return document.querySelector('.opens')")
    kiosk.keep("joined")
    kiosk.thoughts += 1
    kiosk.tap("main a.action")
    kiosk.at("/kiosk/home", "home")
    kiosk.tap("a.tile[href='/kiosk/family']")
    kiosk.at("/kiosk/family", "family")
    child(kiosk, "Ada Meier", "01062016")
    child(kiosk, "Bo Meier", "01062014")
    kiosk.tap("a.large[href='/kiosk/waiver']")
    kiosk.at("/kiosk/waiver", "waiver")
    signs(kiosk, 3, "Maria Meier", READ)
    kiosk.at("/kiosk/home", "home-signed")
    kiosk.tap("a.tile[href='/kiosk/book']")
    kiosk.at("/kiosk/book", "book")
    kiosk.tap(".usual button", "10")
    kiosk.at("/kiosk/home", "home-booked")
    kiosk.tap(".foot form button")
    kiosk.page("/kiosk")


def second_adult(phone):
    """Number and PIN from the page."""
    phone.go("/join")
    phone.at("/join", "join")
    phone.write("#real_name", "Paul Meier")
    phone.write("#email", "paul@example.org")
    phone.write("#dob", "1984-05-06")
    phone.write("#password", "four dry socks in a row")
    phone.tap("#terms")
    phone.tap("form.fields button.action")
    number, pin = phone.wait("const told = [...document.querySelectorAll('dd.code')].map(one => one.innerText); return told.length === 2 && told")
    phone.keep("joined")
    phone.thoughts += 1
    phone.tap("a.button.action")
    phone.at("/sign", "sign")
    signs(phone, 1, "Paul Meier", READ)
    phone.wait("return document.querySelector('.note.good')")
    phone.keep("done")
    return number.strip(), pin.strip()


def enters(kiosk, number, pin):
    kiosk.tap("a.tile[href='/kiosk/number']")
    kiosk.at("/kiosk/number", "number")
    kiosk.digits(number)
    kiosk.tap("#pin")
    kiosk.digits(pin)
    kiosk.tap(".typed button.action")
    kiosk.at("/kiosk/home", "home")


def family(kiosk, phone, hall):
    kiosk.begin()
    phone.begin()
    before = hall.arrivals()
    first_adult(kiosk)
    number, pin = second_adult(phone)
    enters(kiosk, number, pin)
    kiosk.tap("a.tile[href='/kiosk/book']")
    kiosk.at("/kiosk/book", "book-alone")
    kiosk.tap(".usual button", "10")
    kiosk.page("/kiosk/home")
    assert hall.arrivals() - before == 4, f"{hall.arrivals() - before} check-ins"
    kiosk.tap(".foot form button")
    kiosk.page("/kiosk")
    # The times add up, as if kiosk and phone were used one after the other.
    return kiosk, phone


def returning(hall):
    """A current flyer with a booking in ten minutes, whose waiver expired yesterday: number and PIN."""
    now = int(time.time())
    member, username = hall.change("SELECT member_id, username FROM members WHERE role = 'member' AND banned_at IS NULL AND email_confirmed_at IS NOT NULL ORDER BY member_id LIMIT 1")[0]
    hall.change("UPDATE members SET dob = 600000000 WHERE member_id = ?", member)
    hall.change("""INSERT INTO waiver_signatures (member_id, version, language, text_hash, signed_at, place, flyer_name, born, relation,
                   signer_name, strokes, answers, kept) VALUES (?, 1, 'en', zeroblob(32), ?, 'kiosk', 'x', 600000000, 'self', 'x', '', 'nnn', 0)""",
                member, now - 366 * DAY)
    hall.change("""INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at, registration_id)
                   VALUES ((SELECT min(partner_id) FROM partners), ?, ?, 10, (SELECT min(tunnel_id) FROM tunnels), ?, ?, 4711)""",
                member, now + 120, now, now)
    token = hall.ask("/auth/login", {"username": username, "password": PASSWORD})["token"]
    return str(member), hall.ask("/account/profile/booking-pin", {}, token)["pin"]


def comes_back(kiosk, phone, hall):
    number, pin = returning(hall)
    kiosk.go("/kiosk")
    kiosk.wait("return document.querySelector('.newcomer')")
    kiosk.begin()
    before = hall.arrivals()
    enters(kiosk, number, pin)
    kiosk.tap(".booked button")
    kiosk.at("/kiosk/waiver", "waiver-again")
    signs(kiosk, 1, "Jo Flyer", READ_AGAIN)
    kiosk.at("/kiosk/home", "home-again")
    if hall.arrivals() == before:
        kiosk.tap(".booked button")
        # The page has the same address before and after.
        kiosk.wait("return document.readyState === 'complete' && document.querySelector('.booked') && !document.querySelector('.booked button')")
    assert hall.arrivals() - before == 1, f"{hall.arrivals() - before} check-ins"
    return (kiosk,)


def reloaded_while_away(kiosk, phone, hall):
    """A kiosk that is reloaded while the server is down shows the offline page, keeps its check-ins, and resumes."""
    kiosk.tap(".foot form button")
    kiosk.wait("return navigator.serviceWorker.controller && document.querySelector('.newcomer')")
    kiosk.run("localStorage.setItem('kept-check-ins', JSON.stringify([{ key: 'k', ticket: '1.1.1.1.x', at: 1 }]))")
    hall.stop()
    kiosk.go("/kiosk")
    kiosk.wait("return document.getElementById('main')?.dataset.wiped")
    kiosk.keep("away")
    assert "cannot reach the server" in kiosk.run("return document.body.innerText")
    assert kiosk.run("return localStorage.getItem('kept-check-ins').includes('1.1.1.1')"), "what was kept is gone"
    hall.serve(f"127.0.0.1:{hall.port}")
    kiosk.wait("return document.querySelector('.newcomer')")
    # The server answers, and refuses the invalid ticket. The guest's end, which follows, clears what the browser stores.
    kiosk.wait("return (localStorage.getItem('kept-check-ins') ?? '[]') === '[]'")
    return ()


WALKS = [
    ("a family of four, from the door to four check-ins", family, FAMILY_SECONDS_MAX),
    ("a flyer whose waiver has expired", comes_back, RETURN_SECONDS_MAX),
    ("a kiosk loaded anew while the site is away", reloaded_while_away, None),
]


def main(program):
    with tempfile.TemporaryDirectory(prefix="tunneldesk-first-visit-") as directory:
        hall = Hall(program, directory)
        kiosk = phone = None
        well = True
        try:
            width, height = map(int, os.environ.get("KIOSK", "1080x1920").split("x"))
            kiosk = Hand(hall.origin, "kiosk", width, height, SCREEN_LETTER)
            phone = Hand(hall.origin, "phone", 390, 844, PHONE_LETTER)
            pair(kiosk, hall)
            print("| walk | touches | letters | fields | waited, s | by people, s | bar, s | |\n|---|---:|---:|---:|---:|---:|---:|---|")
            for name, walk, bar in WALKS:
                wrong, people = "", ()
                try:
                    people = walk(kiosk, phone, hall)
                except Exception as e:
                    traceback.print_exc(limit=-3)
                    wrong = f"fails: {(str(e) or repr(e)).splitlines()[0][:200]}"
                total = sum(one.seconds() for one in people)
                if bar and total > bar:
                    wrong = wrong or "over the bar"
                well = well and not wrong
                figures = [sum(getattr(one, of) for one in people) for of in ("clicks", "keys", "fields")]
                waited = sum(one.waited for one in people)
                print(f"| {name} | {figures[0]} | {figures[1]} | {figures[2]} | {waited:.2f} | {total:.1f} | {bar or ''} | {wrong} |", flush=True)
            return well
        finally:
            for one in (kiosk, phone):
                if one:
                    one.browser.close()
            hall.stop()


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
