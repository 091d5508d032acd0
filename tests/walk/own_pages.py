"""A member's own pages on a telephone, with real, counted touches: from sign-up to the first PIN, asking for a signature, signing five
requests, and a certificate."""

import sys
import tempfile
import time
import traceback

from first_visit import PASSWORD, PHONE_LETTER, Hall, Hand

STUDENTS = 5


def sign_in(phone, username):
    sign_out(phone)
    phone.wait("return document.getElementById('username')")
    phone.run("const form = document.forms[0]; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()", username, PASSWORD)
    phone.wait("return location.pathname === '/me'")


def sign_out(phone):
    phone.go("/me")
    phone.run("document.querySelector('form[action=\"/me/sign-out\"]')?.requestSubmit()")
    phone.wait("return location.pathname === '/me/sign-in' && document.readyState === 'complete'")


def to_first_pin(phone, hall):
    phone.go("/me/sign-in")
    phone.wait("return document.getElementById('username')")
    phone.begin()
    phone.tap("a[href='/join']")
    phone.at("/join", "join")
    phone.write("#real_name", "Paul Meier")
    phone.write("#email", "paul@example.org")
    phone.write("#dob", "1984-05-06")
    phone.write("#password", "four dry socks in a row")
    phone.tap("#terms")
    phone.fields += 1
    phone.tap("form.fields button.action")
    number, pin = phone.wait("const told = [...document.querySelectorAll('dd.code')].map(one => one.innerText); return told.length === 2 && told")
    assert len(pin.strip()) == 6, pin
    phone.keep("joined")


def names(hall, sql, *values):
    return [row[0] for row in hall.change(sql, *values)]


def signer(hall):
    return hall.change("""SELECT m.member_id, m.username FROM signers s JOIN members m USING (member_id)
        WHERE s.ended_at IS NULL AND s.cat_group = 'Instructor' AND m.role = 'member' AND m.instructor_trained IS NOT NULL
        ORDER BY m.instructor_trained DESC, m.member_id LIMIT 1""")[0]


def students(hall, most):
    """Members who may ask for a skill of Flyer 1: briefed, and without it."""
    return hall.change("""SELECT m.member_id, m.username FROM members m WHERE m.role = 'member' AND m.banned_at IS NULL
        AND m.email_confirmed_at IS NOT NULL AND m.password_hash IS NOT NULL AND m.holds_flyer_1 = 1
        AND NOT EXISTS (SELECT 1 FROM signers s WHERE s.member_id = m.member_id) ORDER BY m.member_id LIMIT ?""", most)


def open_skill(hall, member, username):
    token = hall.ask("/auth/login", {"username": username, "password": PASSWORD})["token"]
    for category in ("Flyer",):
        found = hall.read(f"/account/logbook/filter-skills/{member}/{category}", token)
        for one in found:
            return token, one["skill"]
    return token, None


def asks(phone, hall):
    member, username = next(one for one in students(hall, 40) if open_skill(hall, *one)[1])
    sign_in(phone, username)
    phone.begin()
    phone.tap(".parts a[href='/me/logbook']")
    phone.at("/me/logbook", "logbook")
    phone.tap("a[href='/me/logbook/sign-off']")
    phone.at("/me/logbook/sign-off", "skills")
    phone.tap("main .action, main .choices a, main ul a")
    phone.wait("return document.querySelector('button[name=signer]')")
    phone.tap("button[name=signer]")
    phone.says("")
    phone.at("/me/logbook", "asked")
    assert hall.change("SELECT count(*) FROM entries WHERE member_id = ? AND status = 'pending'", member)[0][0] >= 1


def signs_five(phone, hall):
    signer_id, username = signer(hall)
    asked = 0
    for one in students(hall, 60):
        if one[0] == signer_id:
            continue
        token, skill = open_skill(hall, *one)
        if skill and asked < STUDENTS:
            try:
                hall.ask("/account/logbook/skills/", {"skill": skill, "entry_date": int(time.time()) - 60, "instructor": signer_id}, token)
                asked += 1
            except Exception:
                continue
    assert asked == STUDENTS, f"{asked} requests"
    before = hall.change("SELECT count(*) FROM entries WHERE instructor_id = ? AND status = 'open'", signer_id)[0][0]
    sign_in(phone, username)
    phone.begin()
    phone.tap("a[href='/me/signing']")
    phone.at("/me/signing", "signing")
    boxes = phone.run("return document.querySelectorAll('[name=entry]').length")
    for place in range(STUDENTS):
        phone.run("[...document.querySelectorAll('[name=entry]')][arguments[0]].click()", place)
        phone.clicks += 1
        phone.by_hand += 1.0
    phone.write("#password", PASSWORD)
    phone.tap("form button.action")
    phone.says("")
    assert boxes >= STUDENTS
    after = hall.change("SELECT count(*) FROM entries WHERE instructor_id = ? AND status = 'open'", signer_id)[0][0]
    assert after - before == STUDENTS, after - before
    phone.keep("signed")


def certificate(phone, hall):
    username = names(hall, """SELECT username FROM members WHERE role = 'member' AND banned_at IS NULL AND password_hash IS NOT NULL
        AND email_confirmed_at IS NOT NULL AND holds_flyer_1 = 1 ORDER BY member_id LIMIT 1""")[0]
    sign_in(phone, username)
    phone.begin()
    phone.tap(".parts a[href='/me/logbook']")
    phone.at("/me/logbook", "logbook")
    phone.tap("a[href='/me/papers']")
    phone.at("/me/papers", "papers")
    # The third touch opens the paper: it is asked for as the button does.
    kind = phone.run("""const form = [...document.forms].find(one => one.action.endsWith('/me/papers'));
        const answer = new XMLHttpRequest(); answer.open('POST', form.action, false);
        answer.setRequestHeader('content-type', 'application/x-www-form-urlencoded');
        const button = form.querySelector('button'), fields = new URLSearchParams(new FormData(form));
        if (button.name) fields.append(button.name, button.value);
        answer.send(fields.toString()); return [answer.status, answer.getResponseHeader('content-type')].join(' ')""")
    phone.clicks += 1
    phone.by_hand += 1.0
    assert kind == "200 application/pdf", kind


WALKS = [
    ("from the sign-in page to the first PIN", to_first_pin, {"seconds": 90, "fields": 9}),
    ("asks for a signature", asks, {"clicks": 4}),
    ("an instructor signs five with one proof", signs_five, {"seconds": 30}),
    ("a certificate", certificate, {"clicks": 3}),
]


def main(program):
    with tempfile.TemporaryDirectory(prefix="tunneldesk-own-pages-") as directory:
        hall, phone, well = Hall(program, directory), None, True
        try:
            phone = Hand(hall.origin, "own", 390, 844, PHONE_LETTER)
            print("| walk | taps | letters | fields | waited, s | by a person, s | bar | |\n|---|---:|---:|---:|---:|---:|---|---|")
            for name, walk, bars in WALKS:
                try:
                    walk(phone, hall)
                    reached = {"seconds": phone.seconds(), "clicks": phone.clicks, "fields": phone.fields}
                    wrong = "; ".join(f"{of} over {most}" for of, most in bars.items() if reached[of] > most)
                except Exception as e:
                    traceback.print_exc(limit=-3)
                    wrong = f"fails: {(str(e) or repr(e)).splitlines()[0][:200]}"
                well = well and not wrong
                bar = ", ".join(f"{most} {of}" for of, most in bars.items())
                print(f"| {name} | {phone.clicks} | {phone.keys} | {phone.fields} | {phone.waited:.2f} | {phone.seconds():.1f} | {bar} | {wrong} |", flush=True)
            return well
        finally:
            if phone:
                phone.browser.close()
            hall.stop()


sys.exit(0 if main(*sys.argv[1:]) else 1)
