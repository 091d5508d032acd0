"""Every page of a demo site by two executables, side by side: a folder of pictures for each, and a sheet a size and look, with what
differs first."""

import hashlib
import html
import os
import shutil
import sys
import tempfile

from first_visit import PASSWORD, Hall, pair
from gallery import chosen, pages, routes, take_all
from screen import Screen
from walk import sign_in

# Beside the pages of the table: another tab or state of the same page.
MORE = {
    "desk": ["/desk?q=ma", "/desk?q=nobody", "/desk/members/{member}?tab=security", "/desk/members/{member}?tab=bookings", "/desk?book={member}",
             "/desk/members?q=a", "/desk/texts?kind=waiver", "/desk/texts/edit?kind=waiver&language=de", "/desk/nothing-here"],
}
NUMBERS = {
    ("/members/", "member_id"): "SELECT m.member_id FROM members m JOIN holdings h USING (member_id) WHERE role = 'member' AND banned_at IS NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
    ("/bookings/", "booking_id"): "SELECT booking_id FROM bookings WHERE flight_date > unixepoch() AND ended_as IS NULL ORDER BY flight_date LIMIT 1",
    ("/partners/", "partner_id"): "SELECT min(partner_id) FROM partners",
    ("/time/", "entry_id"): "SELECT max(entry_id) FROM entries WHERE kind = 'time'",
    ("/sign-offs/", "entry_id"): "SELECT max(entry_id) FROM entries WHERE kind = 'skill'",
}


def prepared(screen, hall):
    """Signs everybody in; the addresses of each."""
    screen.becomes("desk")
    sign_in(screen, "admin")
    screen.becomes("kiosk")
    pair(screen, hall)
    numbers = {key: (hall.change(sql) or [[None]])[0][0] for key, sql in NUMBERS.items()}
    member, username = hall.change("""SELECT member_id, username FROM members WHERE role = 'member' AND banned_at IS NULL AND password_hash IS NOT NULL
                                      AND email_confirmed_at IS NOT NULL ORDER BY flight_minutes DESC LIMIT 1""")[0]
    token = hall.ask("/auth/login", {"username": username, "password": PASSWORD})["token"]
    pin = hall.ask("/account/profile/booking-pin", {}, token)["pin"]
    screen.becomes("own")
    screen.go("/me/sign-in")
    screen.wait("return document.getElementById('username')")
    screen.run("const form = document.forms[0]; [form.username.value, form.password.value] = arguments; form.requestSubmit()", username, PASSWORD)
    screen.wait("return location.pathname === '/me'")
    screen.becomes("guest")
    pair(screen, hall)
    screen.go("/kiosk/number")
    screen.wait("return document.getElementById('pin')")
    screen.run("const pin = document.getElementById('pin'), form = pin.form; form.number.value = arguments[0]; pin.value = arguments[1]; form.requestSubmit()", str(member), pin)
    screen.wait("return location.pathname === '/kiosk/home'")
    rows = routes(hall)
    wanted = {caller: pages(rows, caller, numbers) + MORE.get(caller, []) for caller in ("desk", "own", "kiosk", "guest", "page")}
    return {caller: [path.replace("{member}", str(numbers[("/members/", "member_id")])) for path in paths] for caller, paths in wanted.items()}


def take(program, folder, language, sizes, looks):
    with tempfile.TemporaryDirectory(prefix="tunneldesk-compare-") as home:
        hall = Hall(program, home)
        screen = Screen(hall.origin, language)
        try:
            take_all(screen, folder, prepared(screen, hall), sizes, looks)
        finally:
            screen.browser.close()
            hall.stop()


def is_same(one, other):
    try:
        return hashlib.sha256(open(one, "rb").read()).digest() == hashlib.sha256(open(other, "rb").read()).digest()
    except FileNotFoundError:
        return False


SHEET = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 1rem system-ui; margin: 1rem; background: #888 }} figure {{ display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; margin: 0 0 2rem }}
figcaption {{ grid-column: 1 / -1; font-weight: 600 }} img {{ width: 100%; border: 1px solid #333 }} .same {{ opacity: .6 }}</style>
<h1>{title}</h1><p>Left {before}, right {after}. What is the same, pixel by pixel, comes last.</p>{figures}"""


def sheet(directory, part, before, after):
    names = sorted({name for side in ("before", "after") for name in os.listdir(f"{directory}/{side}/{part}")})
    figures = []
    for name in sorted(names, key=lambda name: is_same(f"{directory}/before/{part}/{name}", f"{directory}/after/{part}/{name}")):
        same = is_same(f"{directory}/before/{part}/{name}", f"{directory}/after/{part}/{name}")
        pictures = [f'<img loading="lazy" src="{side}/{part}/{name}" alt="{side}">' if os.path.exists(f"{directory}/{side}/{part}/{name}") else "<p>not there</p>" for side in ("before", "after")]
        figures.append(f'<figure{" class=same" if same else ""}><figcaption>{html.escape(name[:-4])}{", the same" if same else ""}</figcaption>{"".join(pictures)}</figure>')
    with open(f"{directory}/{part}.html", "w") as file:
        file.write(SHEET.format(title=part, before=html.escape(before), after=html.escape(after), figures="\n".join(figures)))
    print(f"{directory}/{part}.html: {len(names)} pages")


def main(before, after, directory):
    """SIZES and LOOKS of the environment take a part; LANGUAGE is that of the browser."""
    sizes, looks = chosen()
    shutil.rmtree(directory, ignore_errors=True)
    for side, program in (("before", before), ("after", after)):
        take(program, f"{directory}/{side}", os.environ.get("LANGUAGE_OF_PAGES", "de-CH"), sizes, looks)
    for width, height in sizes:
        for scheme in looks:
            sheet(directory, f"{width}x{height}-{scheme}", before, after)


if __name__ == "__main__":
    main(*sys.argv[1:])
