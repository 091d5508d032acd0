"""Pictures of every page that is there without people: a site as `init` makes it, with its first admin, a member and a paired kiosk; empty,
refused and not found; in every size, light and dark, printed for comparison into a folder with one sheet a size."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from browser import Browser
from person import Person

PASSWORD = "four dry socks in a row"
SIZES = [(1280, 800), (1024, 768), (390, 844)]
# A page longer than this shows only its beginning.
HEIGHT_MAX = 2_600
# Beside the pages of the table: what is refused, and what is not there.
MORE = {
    "desk": ["/desk/nothing-here", "/desk/bookings/999", "/desk/members?q=nobody", "/desk?q=nobody", "/desk/reports/hall?from=x", "/desk/till/entries/9",
             "/desk/members/1", "/desk/members/1?tab=security", "/desk/members/2", "/desk/members/2?tab=logbook", "/desk/members/2/edit",
             "/desk/members/2/payment", "/desk/members/2/record", "/desk/members/2/opening", "/desk/members/2/certificates", "/desk/members/2/data",
             "/desk/members/2/join", "/desk/members/2/welcome", "/desk/members/2/waiver", "/desk/texts/edit?kind=waiver&language=en"],
    "own": ["/me/nothing-here", "/me/children/9", "/me/logbook/entries/9", "/me/bookings/9/calendar.ics"],
    "page": ["/nothing-here", "/confirm?token=x", "/undo?token=x", "/sign?code=x", "/claim?code=x", "/certificates/AAAA-AAAA-AAAA-AAAA"],
    "kiosk": ["/kiosk/nothing-here"],
}
# Files and streams, which are no pages; and pages that end the session.
NO_PAGES = re.compile(r"\.(csv|pdf|jpg|js|svg|png|json|ics)$|/live$|\{file\}")


class Hall:
    def __init__(self, program, directory):
        self.program, self.directory, self.data = program, directory, f"{directory}/data"
        self.settings = f"{directory}/tunneldesk.toml"
        open(self.settings, "w").write('metrics_listen = ""\nlocal_name = ""\n')
        self.link = re.search(r"https?://\S+claim\S+", self.command("init", "--name", "Windwerk", "--country", "CH", "--city", "Zürich"))[0]

    def command(self, *words):
        words = [self.program, *words, "--config", self.settings, "--data", self.data]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stdout} {done.stderr}"
        return done.stdout + done.stderr

    def serve(self):
        command = [self.program, "serve", "--config", self.settings, "--data", self.data, "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open(f"{self.directory}/log", "w"), text=True)
        for line in self.server.stdout:
            if found := re.search(r"http://\S+:(\d+)", line):
                return f"http://localhost:{found[1]}"
        raise AssertionError(open(f"{self.directory}/log").read()[-2_000:])


def code_of(secret):
    key = base64.b32decode(secret.replace(" ", "") + "=" * (-len(secret.replace(" ", "")) % 8))
    mac = hmac.new(key, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1).digest()
    at = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[at:at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def send(person, **fields):
    """Fills in and sends the form that has all these fields."""
    person.wait("return document.readyState === 'complete'")
    person.run("""const fields = arguments[0], form = [...document.forms].find(one => Object.keys(fields).every(name => one.elements[name]));
        for (const [name, value] of Object.entries(fields)) { const one = form.elements[name]; if (one.type === 'checkbox') one.checked = true; else one.value = value; }
        form.requestSubmit()""", fields)


def admin(hall):
    """A browser in which the first admin is signed in, by the link that `init` printed."""
    person = Person(Browser([], {}), hall.origin)
    person.go(re.sub(r"^https?://[^/]+", "", hall.link))
    send(person, username="ada", password=PASSWORD)
    person.wait("return !document.querySelector('[name=password][autocomplete=new-password]')")
    person.go("/desk/sign-in")
    send(person, username="ada", password=PASSWORD)
    secret = person.wait("return document.querySelector('.secret')?.textContent")
    send(person, code=code_of(secret))
    person.wait("return document.querySelector('li code')")
    person.go("/desk")
    person.wait("return location.pathname === '/desk'")
    sign_up(person, "/desk/new-member", "Jana Neumann", "jana")
    return person


def sign_up(person, path, name, username):
    """Fills in a form of a newcomer: the names of its fields differ by place."""
    person.go(path)
    person.wait("return document.readyState === 'complete'")
    person.run("""const [name, username, password] = arguments, form = [...document.querySelectorAll('main form')].find(one => one.elements.terms || one.elements.dob);
        const known = { name, real_name: name, username, password, email: username + '@example.org', dob: '1990-05-31' };
        for (const one of form.elements) { if (known[one.name]) one.value = known[one.name]; else if (one.type === 'checkbox') one.checked = true; }
        form.requestSubmit()""", name, username, PASSWORD)
    person.wait("return location.pathname !== arguments[0] || !document.querySelector('[name=terms]')", path)


def member(hall):
    """A browser in which somebody is signed in who signed up a minute ago."""
    person = Person(Browser([], {}), hall.origin)
    sign_up(person, "/join", "Mia Frei", "mia")
    person.go("/me")
    person.wait("return document.readyState === 'complete'")
    if person.run("return !!document.getElementById('password')"):
        send(person, username="mia", password=PASSWORD)
    person.wait("return location.pathname === '/me'")
    return person


def kiosk(hall):
    person = Person(Browser([], {}), hall.origin)
    code = re.search(r"\b\d{4} ?\d{4}\b", hall.command("kiosk", "pair", "Entrance"))[0]
    person.go("/kiosk")
    send(person, code=code)
    person.wait("return document.querySelector('.newcomer')")
    return person


def guest(hall, admin):
    """A kiosk at which the first member is signed in."""
    admin.go("/desk/members?q=jana")
    number = admin.wait("return document.querySelector('main a[href^=\"/desk/members/\"]')?.pathname.split('/').pop()")
    admin.go(f"/desk/members/{number}?tab=security")
    admin.run("document.querySelector('form[action$=\"/pin\"]').requestSubmit()")
    pin = admin.wait("return document.querySelector('.pin')?.textContent.match(/[0-9]{6}/)?.[0]")
    person = kiosk(hall)
    person.go("/kiosk/number")
    send(person, number=number, pin=pin)
    person.wait("return location.pathname === '/kiosk/home'")
    return person


def pages(hall, caller):
    rows = json.loads(hall.command("routes", "--json"))
    rows = rows if isinstance(rows, list) else next(iter(rows.values()))
    paths = [row["path"] for row in rows if row["method"] == "GET" and row["caller"] == caller]
    forms = {row["path"] for row in rows if row["method"] == "POST" and row["caller"] != "page"}
    plain = [path for path in paths if not NO_PAGES.search(path) and "{" not in path and not (caller == "page" and path in forms)]
    return plain + MORE.get(caller, [])


def shoot(person, path, file):
    person.go(path)
    person.wait("return document.readyState === 'complete'")
    person.run("document.documentElement.getAnimations({ subtree: true }).forEach(animation => animation.finish())")
    height = person.run("return Math.max(innerHeight, document.documentElement.scrollHeight)")
    wide = person.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    shot = person.browser.order("/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {
        "format": "png", "captureBeyondViewport": True,
        "clip": {"x": 0, "y": 0, "width": person.run("return innerWidth"), "height": min(height, HEIGHT_MAX), "scale": 1}}})
    open(file, "wb").write(base64.b64decode(shot["data"]))
    if wide > 0:
        print(f"{file}: scrolls sideways by {wide} px")


def main(program, directory):
    shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="tunneldesk-empty-") as home:
        hall = Hall(program, home)
        hall.origin = hall.serve()
        try:
            people = {"desk": admin(hall)}
            people["own"] = member(hall)
            people["kiosk"], people["guest"] = kiosk(hall), guest(hall, people["desk"])
            people["page"] = Person(Browser([], {}), hall.origin)
            for width, height in SIZES:
                for scheme in ("light", "dark"):
                    folder = f"{directory}/{width}x{height}-{scheme}"
                    os.makedirs(folder)
                    for caller, person in people.items():
                        person.browser.order("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
                            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}})
                        person.browser.order("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
                            "features": [{"name": "prefers-color-scheme", "value": scheme}]}})
                        for path in pages(hall, caller):
                            name = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "root"
                            try:
                                shoot(person, path, f"{folder}/{caller}--{name}.png")
                            except AssertionError as problem:
                                print(f"{caller} {path}: {problem}")
        finally:
            for person in locals().get("people", {}).values():
                person.browser.close()
            hall.server.terminate()
            hall.server.wait(30)


if __name__ == "__main__":
    main(*sys.argv[1:])
