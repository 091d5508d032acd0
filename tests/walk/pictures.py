"""The pictures of the README: the desk, a kiosk and a telephone of one demo site."""

import base64
import os
import re
import subprocess
import sys
import tempfile

from browser import Browser
from person import Person
from saturday import PASSWORD, Site
from walk import sign_in

# The most bytes of a picture, so that nobody who clones the sources pays for them.
BYTES_MAX = 120_000


def screen(site, width, height, scale, mobile=False):
    person = Person(Browser([], {}), site.origin)
    person.browser.order("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
        "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}})
    return person


def keep(person, path):
    # What just appeared fades in.
    person.run("document.documentElement.getAnimations({ subtree: true }).forEach(animation => animation.finish())")
    shot = person.browser.order("/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {"format": "webp", "quality": 80}})
    picture = base64.b64decode(shot["data"])
    assert len(picture) <= BYTES_MAX, f"{path}: {len(picture)} bytes, at most {BYTES_MAX}"
    with open(path, "wb") as file:
        file.write(picture)
    print(f"{path}: {len(picture)} bytes")


def desk(site):
    clerk = screen(site, 1280, 800, 1)
    sign_in(clerk, "desk")
    return clerk


def pairing_code(site):
    words = [site.program, "kiosk", "pair", "Entrance", "--config", site.settings, "--data", site.data]
    return re.search(r"\b\d{4} ?\d{4}\b", subprocess.run(words, check=True, capture_output=True, text=True).stdout)[0]


def kiosk(site):
    entrance = screen(site, 720, 1280, 1)
    entrance.go("/kiosk")
    entrance.wait("return document.getElementById('code')")
    entrance.run("const field = document.getElementById('code'); field.value = arguments[0]; field.form.requestSubmit()", pairing_code(site))
    entrance.wait("return document.querySelector('.newcomer') && document.readyState === 'complete'")
    return entrance


def telephone(site):
    """The own pages of a current flyer with a booking ahead."""
    username = site.ask("""SELECT username FROM members m WHERE role = 'member' AND banned_at IS NULL AND flight_minutes > 300
                           AND EXISTS (SELECT 1 FROM bookings b WHERE b.member_id = m.member_id AND flight_date > unixepoch() AND ended_as IS NULL)
                           AND EXISTS (SELECT 1 FROM holdings h WHERE h.member_id = m.member_id) ORDER BY member_id LIMIT 1""")[0][0]
    flyer = screen(site, 390, 844, 2, mobile=True)
    flyer.go("/me/sign-in")
    flyer.wait("return document.getElementById('password')")
    flyer.run("const form = document.getElementById('password').form; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()",
              username, PASSWORD)
    flyer.wait("return location.pathname === '/me' && document.readyState === 'complete'")
    return flyer


def main(program, directory):
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tunneldesk-pictures-") as home:
        site = Site(program, home)
        site.origin = site.serve()
        try:
            for name, take in (("desk", desk), ("kiosk", kiosk), ("telephone", telephone)):
                person = take(site)
                try:
                    keep(person, f"{directory}/{name}.webp")
                finally:
                    person.browser.close()
        finally:
            site.close()


main(*sys.argv[1:])
