"""Pictures of every page that is there without people: a site as `init` makes it, with its first admin, a member and a paired kiosk; empty,
refused and not found; in every size, light and dark, printed for comparison into a folder with one sheet a size."""

import base64
import hashlib
import hmac
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from gallery import chosen, pages, routes, take_all
from screen import Screen

PASSWORD = "four dry socks in a row"
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


def admin(person, hall):
    """The first admin signs in, by the link that `init` printed."""
    person.becomes("desk")
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


def sign_up(person, path, name, username):
    """Fills in a form of a newcomer: the names of its fields differ by place."""
    person.go(path)
    person.wait("return document.readyState === 'complete'")
    person.run("""const [name, username, password] = arguments, form = [...document.querySelectorAll('main form')].find(one => one.elements.terms || one.elements.dob);
        const known = { name, real_name: name, username, password, email: username + '@example.org', dob: '1990-05-31' };
        for (const one of form.elements) { if (known[one.name]) one.value = known[one.name]; else if (one.type === 'checkbox') one.checked = true; }
        form.requestSubmit()""", name, username, PASSWORD)
    person.wait("return location.pathname !== arguments[0] || !document.querySelector('[name=terms]')", path)


def member(person):
    """Somebody signs in who signed up a minute ago."""
    person.becomes("own")
    sign_up(person, "/join", "Mia Frei", "mia")
    person.go("/me")
    person.wait("return document.readyState === 'complete'")
    if person.run("return !!document.getElementById('password')"):
        send(person, username="mia", password=PASSWORD)
    person.wait("return location.pathname === '/me'")


def kiosk(person, hall, who):
    person.becomes(who)
    code = re.search(r"\b\d{4} ?\d{4}\b", hall.command("kiosk", "pair", "Entrance"))[0]
    person.go("/kiosk")
    send(person, code=code)
    person.wait("return document.querySelector('.newcomer')")


def guest(person, hall):
    """The first member signs in at a kiosk."""
    person.becomes("desk")
    person.go("/desk/members?q=jana")
    number = person.wait("return document.querySelector('main a[href^=\"/desk/members/\"]')?.pathname.split('/').pop()")
    person.go(f"/desk/members/{number}?tab=security")
    person.run("document.querySelector('form[action$=\"/pin\"]').requestSubmit()")
    pin = person.wait("return document.querySelector('.pin')?.textContent.match(/[0-9]{6}/)?.[0]")
    kiosk(person, hall, "guest")
    person.go("/kiosk/number")
    send(person, number=number, pin=pin)
    person.wait("return location.pathname === '/kiosk/home'")


def main(program, directory):
    shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="tunneldesk-empty-") as home:
        hall = Hall(program, home)
        hall.origin = hall.serve()
        person = Screen(hall.origin, "en")
        try:
            admin(person, hall)
            member(person)
            kiosk(person, hall, "kiosk")
            guest(person, hall)
            rows = routes(hall)
            take_all(person, directory, {caller: pages(rows, caller) + MORE.get(caller, []) for caller in ("desk", "own", "kiosk", "guest", "page")}, *chosen())
        finally:
            person.browser.close()
            hall.server.terminate()
            hall.server.wait(30)


if __name__ == "__main__":
    main(*sys.argv[1:])
