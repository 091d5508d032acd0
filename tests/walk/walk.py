"""Runs the tasks and prints a table; exits 1 where a task fails or exceeds a limit."""

import base64
import hashlib
import hmac
import struct
import sys
import tempfile
import time
import traceback

from browser import Browser
from person import Person
from saturday import PASSWORD, Site
from tasks import TASKS

CODE_SECONDS = 30


SECRETS = {}


def code(secret, ahead=0):
    """Six digits of an authenticator (RFC 6238); `ahead` time steps later, where the present code was used."""
    key = base64.b32decode(secret.replace(" ", "") + "=" * (-len(secret.replace(" ", "")) % 8))
    mac = hmac.new(key, struct.pack(">Q", int(time.time()) // CODE_SECONDS + ahead), hashlib.sha1).digest()
    place = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[place:place + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def sign_in(one, username, password=PASSWORD):
    """Signs in and sets up an authenticator."""
    one.go("/desk/sign-in?another=1")
    one.wait("return document.activeElement?.id === 'username'")
    one.run("const form = document.forms[0]; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()",
            username, password)
    secret = one.wait("return location.pathname === '/desk' ? '-' : location.pathname.endsWith('/code') ? '+'"
                      " : document.querySelector('.secret')?.textContent")
    if secret == "+":
        one.run("const field = document.getElementById('code'); field.value = arguments[0]; field.form.requestSubmit()", code(SECRETS[username], 1))
        one.wait("return location.pathname === '/desk'")
    elif secret != "-":
        SECRETS[username] = secret
        one.run("const field = document.getElementById('code'); field.value = arguments[0]; field.form.requestSubmit()", code(secret))
    # Recovery codes are shown once.
    one.wait("return !location.pathname.endsWith('/setup') || !document.querySelector('.secret')")
    one.go("/desk")
    one.wait("return location.pathname === '/desk'")


def make_pin(one):
    one.go("/desk/account")
    if one.run("return !!document.getElementById('prove-password')"):
        one.run("const field = document.getElementById('prove-password'); field.value = arguments[0]; field.form.requestSubmit()", PASSWORD)
        one.wait("return !document.getElementById('prove-password') && document.querySelector('form[action=\"/desk/account/pin\"]')")
    one.run("document.querySelector('form[action=\"/desk/account/pin\"]').requestSubmit()")
    return one.wait("return document.querySelector('[data-pin] code')?.innerText")


def missed(one, bars):
    reached = {"seconds": one.seconds(), "practised": one.practised(), "clicks": one.clicks, "fields": one.fields}
    return [f"{name} over {most}" for name, most in bars.items() if reached[name] > most]


def walk(one, site, wanted):
    """Runs the named tasks or all, and prints a row for each; whether all passed."""
    well = True
    for name, task, bars in (row for row in TASKS if not wanted or row[0] in wanted):
        one.go("/desk")
        one.wait("return location.pathname === '/desk' && document.readyState === 'complete'")
        one.begin()
        try:
            task(one, site)
            wrong = missed(one, bars)
        except Exception as e:
            traceback.print_exc(limit=-2)
            wrong = [f"fails: {(str(e) or repr(e)).splitlines()[0][:120]}"]
        well = well and not wrong
        print(f"| {name} | {one.keys} | {one.clicks} | {one.fields} | {one.waited:.2f} | {one.practised():.1f} | {one.seconds():.1f} | {'; '.join(wrong)} |", flush=True)
    return well


def main(program, *wanted):
    with tempfile.TemporaryDirectory(prefix="tunneldesk-walk-") as directory:
        site = Site(program, directory)
        one = None
        try:
            origin = site.serve()
            browser = Browser([], {})
            one = Person(browser, origin)
            browser.order("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
                "width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}})
            site.signer = site.ask("""SELECT username FROM signers JOIN members USING (member_id) JOIN entries e USING (member_id)
                                      WHERE ended_at IS NULL AND banned_at IS NULL AND e.kind = 'safety' AND e.cat_group = signers.cat_group
                                      GROUP BY 1 ORDER BY signers.cat_group = 'Trainer' DESC, max(e.entry_date) DESC LIMIT 1""")[0][0]
            sign_in(one, "desk")
            site.pin, site.colleague = make_pin(one), one.run("return document.querySelector('.me').innerText")
            sign_in(one, "admin")
            site.password, site.sign_in_again = PASSWORD, lambda: sign_in(one, "admin", site.password)
            print("| task | keys | clicks | fields | waited, s | practised, s | by a person, s | |\n|---|---:|---:|---:|---:|---:|---:|---|")
            return walk(one, site, wanted)
        finally:
            if one:
                one.browser.close()
            site.close()


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
