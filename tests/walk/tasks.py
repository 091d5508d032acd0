"""The daily tasks of a desk, each from *Today* to the message of its success."""


from person import ALT, ENTER, SPACE, TAB
from saturday import PASSWORD

ROW = "[...document.querySelectorAll('#coming li')]"
NOT_HERE = ROW + ".filter(row => row.querySelector('button:not([formaction$=undo])') && row.checkVisibility())"


def names(one, rows):
    """Member ID, name and booking ID of these arrivals."""
    return one.run(f"return {rows}.map(row => row.querySelector('[href*=members]')).map(who => [+who.pathname.split('/').pop(), who.innerText, who.id])")


def to_card(one, member):
    """Checks in by searching for the name."""
    one.click(f"#coming a[href='/desk/members/{member}']")
    one.page(f"/desk/members/{member}")


def checks_in_one_of_300(one, site):
    # Among those who can be checked in, a surname that no other name contains. Others of that name may be here already.
    waiting = [row[1] for row in names(one, ROW + ".filter(row => row.querySelector('button:not([formaction$=undo])'))")]
    alone = [name for name in waiting if name.split() and sum(name.split()[-1].lower() in other.lower() for other in waiting) == 1]
    member = next(row for row in names(one, NOT_HERE) if row[1] in alone)
    one.type("/")
    one.fields += 1
    # Types letter by letter until the name is first.
    first = "return document.querySelector('.first [href*=members]')?.innerText === arguments[0]"
    for letter in member[1].split()[-1].lower():
        one.type(letter)
        if one.run(first, member[1]):
            break
    one.wait(first, member[1])
    one.type(ENTER)
    one.says("Checked in: " + member[1])


def books_somebody(one, typed, name):
    one.type("/")
    one.fill(typed)
    one.wait("return document.querySelector('#found .first [href*=members]')?.innerText === arguments[0]", name)
    one.type(ENTER)
    one.wait("return location.search.includes('book=') && document.activeElement?.name === 'usual'")
    one.type(ENTER)
    one.says("Booked and checked in: " + name)


def walk_in(site, place):
    """A member with a unique name and without a booking today."""
    sql = """SELECT member_id, real_name FROM members m WHERE role = 'member' AND banned_at IS NULL AND paid_until > unixepoch()
             AND real_name NOT GLOB '*[^A-Za-z ]*' AND length(real_name) - length(replace(real_name, ' ', '')) = 1
             AND NOT EXISTS (SELECT 1 FROM bookings b WHERE b.member_id = m.member_id AND abs(b.flight_date - unixepoch()) < 86400)
             AND (SELECT count(*) FROM members o WHERE o.real_name = m.real_name) = 1 ORDER BY member_id DESC LIMIT 1 OFFSET ?"""
    return site.ask(sql, 3 * place)[0]


def books_a_walk_in_by_number(one, site):
    number, name = walk_in(site, 0)
    books_somebody(one, str(number), name)


def books_a_walk_in_by_name(one, site):
    _, name = walk_in(site, 1)
    books_somebody(one, name.lower(), name)


def finds_a_misspelt_name(one, site):
    _, name = walk_in(site, 2)
    first, last = name.split()
    turned = last[0] + last[2] + last[1] + last[3:]
    one.type("/")
    one.fill(f"{first} {turned}".lower())
    one.wait("return [...document.querySelectorAll('#found [href*=members]')].some(found => found.innerText === arguments[0])", name)


def registers_a_customer(one, site):
    one.click("a.add")
    one.page("/desk/new-member")
    one.wait("return document.activeElement?.id === 'real_name'")
    one.fill("Nora Lindqvist-Moreau")
    one.type(TAB)
    one.fill("nora.lindqvist@example.com")
    one.type(TAB)
    one.fill("05041990")
    one.tab_to("#phone")
    one.fill("+41 79 123 45 67")
    one.tab_to("#terms")
    one.fill(SPACE)
    # Enter makes the account alone; the minutes are one press more.
    one.click("button[name=minutes][value='10']")
    one.wait("return location.pathname.endsWith('/welcome')")
    one.says("checked in")


def takes_a_fee(one, site):
    member, name, _ = names(one, ROW + ".filter(row => row.checkVisibility() && row.innerText.includes('fee due'))")[0]
    to_card(one, member)
    one.click(f"a[href='/desk/members/{member}/payment']")
    one.page(f"/desk/members/{member}/payment")
    one.click("button[value=cash]")
    one.wait("return location.pathname.startsWith('/desk/till/entries/')")
    one.says(name)


def a_beginner(one, site):
    """An arrival of today without a skill, for whom one can be signed: the e-mail address is confirmed."""
    here = [row[0] for row in names(one, NOT_HERE)]
    ready = "SELECT member_id, 1 FROM members WHERE email_confirmed_at IS NOT NULL AND member_id NOT IN (SELECT member_id FROM entries WHERE kind = 'skill')"
    ready = dict(site.ask(ready))
    return next(member for member in here if member in ready)


def notes_minutes(one, site):
    member = names(one, NOT_HERE)[5][0]
    to_card(one, member)
    one.click("#minutes")
    one.fill("12")
    one.type(ENTER)
    one.says("in the logbook")


def records(one, site, fieldsets, count):
    """Ticks so many items of the last or first group and signs them once."""
    member = a_beginner(one, site)
    to_card(one, member)
    one.click("a.button", "Record")
    one.page(f"/desk/members/{member}/record")
    ticks = f"[...document.querySelectorAll('fieldset')].at({fieldsets}).querySelectorAll('label.tick')"
    for place in range(count):
        one.run(f"{ticks}[arguments[0]].dataset.wanted = 'yes'", place)
        one.click("label.tick[data-wanted]")
        one.fields += 1
        one.run(f"delete {ticks}[arguments[0]].dataset.wanted", place)
    one.click("#signer")
    one.fill(site.signer)
    one.type(TAB)
    one.fill(PASSWORD)
    one.type(ENTER)
    one.says("signed")


def signs_three_skills(one, site):
    records(one, site, 1, 3)


def records_a_brief(one, site):
    records(one, site, 0, 1)


def to_entry(one, site):
    """The latest flight time of an arrival of today."""
    sql = "SELECT member_id, max(entry_date) FROM entries WHERE kind = 'time' AND status = 'open' AND opening IS NULL AND booking_id IS NULL GROUP BY 1"
    latest = dict(site.ask(sql))
    member = next(row[0] for row in names(one, NOT_HERE)[8:] if row[0] in latest)
    to_card(one, member)
    one.click("a.correct")
    one.wait("return location.pathname.includes('/time/') && document.activeElement?.id === 'minutes'")
    return member


def corrects_flight_time(one, site):
    to_entry(one, site)
    one.retype("14")
    one.type(ENTER)
    one.says("corrected")


def deletes_flight_time(one, site):
    to_entry(one, site)
    one.click("summary", "Delete")
    one.click("button.danger")
    one.says("deleted")


def to_booking(one, rows, place):
    _, name, row = names(one, rows)[place]
    one.click(f"#coming li:has(#{row}) a[href^='/desk/bookings/']")
    one.wait("return location.pathname.startsWith('/desk/bookings/')")
    return name


def cancels_a_booking(one, site):
    name = to_booking(one, NOT_HERE, 12)
    one.click("button.grave", "Cancel")
    one.says("Cancelled: " + name)


def moves_a_booking(one, site):
    name = to_booking(one, NOT_HERE, 14)
    one.click("#clock")
    one.fill("0915PM")
    one.type(ENTER)
    one.says(name)


def notes_a_no_show(one, site):
    name = to_booking(one, NOT_HERE, 0)
    one.click("button.grave", "No-show")
    one.says(name)


def enters_an_opening_balance(one, site):
    member = a_beginner(one, site)
    to_card(one, member)
    one.click("a.button", "Opening balance")
    one.page(f"/desk/members/{member}/opening")
    one.click("#time")
    one.fill("3:30")
    one.tab_to("#signer")
    one.fill(one.run("return document.querySelectorAll('#signer option')[1].innerText.slice(0, 4)"))
    one.type(ENTER)
    one.click("button.action", "sign")
    one.wait("return location.pathname !== arguments[0]", f"/desk/members/{member}/opening")


def bans_and_lifts(one, site):
    member = names(one, NOT_HERE)[20][0]
    to_card(one, member)
    one.click(".tabs a", "Security")
    one.wait("return location.search.includes('security')")
    one.click("summary", "Ban")
    one.click("#reason")
    one.fill("Flew into the net on purpose")
    one.type(ENTER)
    one.says("banned")
    one.click("button", "Lift")
    one.says("lifted")


def resets_a_pin(one, site):
    member = names(one, NOT_HERE)[21][0]
    to_card(one, member)
    one.click(".tabs a", "Security")
    one.click("button", "PIN")
    one.wait("return document.querySelector('[data-pin] code')?.innerText.length === 6")


def prints_papers(one, site):
    held = {row[0] for row in site.ask("SELECT DISTINCT member_id FROM holdings")}
    member = next(row[0] for row in names(one, ROW + ".filter(row => row.checkVisibility())") if row[0] in held)
    to_card(one, member)
    one.click("a.button", "Certificates")
    one.page(f"/desk/members/{member}/certificates")
    one.click("button", "Print")
    paper = one.browser.perform("const [done] = arguments, form = document.querySelector('main form');"
                                "fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) })"
                                ".then(reply => done([reply.status, reply.headers.get('content-type')]))")
    assert paper == [200, "application/pdf"], paper


def reads_a_day_by_the_hour(one, site):
    hours = one.run("return document.querySelectorAll('#coming h3').length")
    assert hours > 8, hours
    one.click(".days a", "Tomorrow")
    one.wait("return location.search.includes('day=') && !!document.getElementById('arrivals')")


def changes_clerk(one, site):
    one.chord(ALT, "c")
    one.wait("return document.activeElement?.id === 'pin'")
    one.type(site.pin)
    one.wait("return location.pathname === '/desk' && document.querySelector('.me')?.innerText === arguments[0]", site.colleague)


def changes_clerk_by_mouse(one, site):
    site.sign_in_again()
    one.begin()
    one.click(".who a", "Change clerk")
    one.wait("return document.activeElement?.id === 'pin' && !!document.querySelector('dialog')")
    one.type(site.pin)
    one.wait("return location.pathname === '/desk' && document.querySelector('.me')?.innerText === arguments[0]", site.colleague)


def changes_own_password(one, site):
    one.click(".who .me")
    one.page("/desk/account")
    one.click("#current")
    one.fill(PASSWORD)
    one.type(TAB)
    one.fill(PASSWORD + "-2")
    one.type(TAB)
    one.fill(PASSWORD + "-2")
    one.type(ENTER)
    one.says("assword")
    site.password = PASSWORD + "-2"


def reads_a_report(one, site):
    one.click("nav a", "Reports")
    one.page("/desk/reports")
    one.click(".quick a", "This month")
    one.wait("return document.querySelector('.quick a[aria-current]')?.innerText === 'This month'")
    assert one.run("return document.querySelectorAll('.sums strong').length") == 5


# Each task: name, function, and limits by measure.
TASKS = [
    ("check in one of 300", checks_in_one_of_300, {"seconds": 3, "clicks": 0}),
    ("walk-in by number", books_a_walk_in_by_number, {}),
    ("walk-in by name", books_a_walk_in_by_name, {}),
    ("misspelt name", finds_a_misspelt_name, {}),
    ("new customer, checked in", registers_a_customer, {"seconds": 40, "fields": 8}),
    ("membership fee", takes_a_fee, {"clicks": 3}),
    ("flight minutes", notes_minutes, {}),
    ("three skills, one proof", signs_three_skills, {}),
    ("safety brief", records_a_brief, {}),
    ("correction", corrects_flight_time, {"clicks": 3}),
    ("deletion", deletes_flight_time, {}),
    ("cancel a booking", cancels_a_booking, {}),
    ("move a booking", moves_a_booking, {}),
    ("no-show", notes_a_no_show, {}),
    ("opening balance", enters_an_opening_balance, {}),
    ("ban and lift", bans_and_lifts, {}),
    ("new PIN", resets_a_pin, {}),
    ("day by hour", reads_a_day_by_the_hour, {}),
    ("report", reads_a_report, {}),
    ("own password", changes_own_password, {}),
    ("change of clerk", changes_clerk, {"practised": 3}),
    ("change of clerk, by mouse", changes_clerk_by_mouse, {}),
    # Opens another tab, so it comes last.
    ("papers", prints_papers, {}),
]
