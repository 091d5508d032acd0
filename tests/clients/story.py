"""A partner's first booking and what becomes of it, with the client that openapi-python-client makes."""

import hashlib
import hmac
import json
import os
import re
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx

from client import AuthenticatedClient, Client
from client.api.authentication import login, signup, verify_email
from client.api.logbook import create_time, list_time
from client.api.partner_metrics import generate_token, get_own_booking
from client.api.profile import booking_pin, get_profile
from client.api.reports import report_bookings, report_history
from client.models.booking_list import BookingList
from client.models.done import Done
from client.models.email_token import EmailToken
from client.models.history_list import HistoryList
from client.models.login import Login
from client.models.login_request import LoginRequest
from client.models.own_booking import OwnBooking
from client.models.pin import Pin
from client.models.profile import Profile
from client.models.report_request import ReportRequest
from client.models.signup import Signup
from client.models.signup_request import SignupRequest
from client.models.time_new import TimeNew
from client.models.token import Token
from client.models.token_booking import TokenBooking
from client.models.token_request import TokenRequest
from client.models.written import Written

SITE, DATA, PROGRAM = (os.environ[f"CLIENT_{name}"] for name in ("SITE", "DATA", "PROGRAM"))
API = f"{SITE}/api"
DEMO = json.loads(Path(DATA, "demo.json").read_text())
T = TypeVar("T")


def equal(what: str, found: object, wanted: object) -> None:
    assert found == wanted, f"{what}: {found!r}, and not {wanted!r}"


def got(kind: type[T], answer: object) -> T:
    """The answer that was hoped for; whatever else came is an error."""
    assert isinstance(answer, kind), answer
    return answer


def sign(request: httpx.Request) -> None:
    """Signs the bytes that are sent, and with a nonce the whole request."""
    text = request.read()
    if "x-nonce" in request.headers:
        head = f"{request.headers['x-timestamp']}.{request.headers['x-nonce']}.{request.method} {request.url.raw_path.decode()}."
        text = head.encode() + text
    request.headers["token"] = hmac.new(DEMO["partner"]["secret"].encode(), text, hashlib.sha256).hexdigest()


ANYBODY = Client(base_url=API)
STAFF = AuthenticatedClient(base_url=API, token=DEMO["sync_token"], prefix="", auth_header_name="token")
PARTNER = AuthenticatedClient(base_url=API, token="", prefix="", auth_header_name="token",
                              headers={"client-id": DEMO["partner"]["client_id"]},
                              httpx_args={"event_hooks": {"request": [sign]}})


def desk(*arguments: str) -> Any:
    command = [PROGRAM, *arguments, "--data", DATA, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def code_for(address: str) -> str:
    """The code in the mail that waits for this address, as the desk reads it to a member."""
    waiting = next(one for one in desk("outbox", "list")["messages"] if one["recipient"] == address)
    found = re.search(r"token=([A-Za-z0-9_-]+)", desk("outbox", "show", str(waiting["message_id"]))["text"])
    assert found
    return found[1]


def cancel_at_desk(booking: int) -> None:
    """Cancels a booking on the pages of the desk."""
    account = next(one for one in DEMO["members"] if one["username"] == "desk")
    with httpx.Client(base_url=SITE, headers={"origin": SITE}) as browser:

        def post(path: str, fields: Mapping[str, str]) -> None:
            answer = browser.post(path, data=fields)
            assert answer.status_code == 303, f"the desk answers {answer.status_code}: {answer.text}"

        post("/desk/sign-in", {"username": account["username"], "password": account["password"]})
        seen = re.search(r'name="seen" value="([^"]*)"', browser.get(f"/desk/bookings/{booking}").text)
        post(f"/desk/bookings/{booking}/cancel", {"seen": seen[1] if seen else ""})


def own_booking(registration: int) -> object:
    answer = get_own_booking.sync(str(registration), client=PARTNER, x_timestamp=str(int(time.time())), x_nonce=str(uuid.uuid4()))
    return got(OwnBooking, answer).ended


def reported_ending(registration: int) -> object:
    rows = got(BookingList, report_bookings.sync(client=STAFF, body=ReportRequest(limit=50))).data
    return next(row.ended for row in rows if row.registration_id == registration)


def events_of(booking: int) -> list[str]:
    rows = got(HistoryList, report_history.sync(client=STAFF, body=ReportRequest(limit=50))).data
    return [str(row.event) for row in reversed(rows) if row.booking_id == booking and str(row.event).startswith("booking.")]


def tell() -> None:
    now = int(time.time())
    number = now % 1_000_000_000
    username, password = f"python-{number}", "violet-anvil-harbour-93"
    email = f"{username}@example.org"
    person = SignupRequest(username=username, real_name="Jane Doe", email=email, password=password, terms=True)
    member = got(Signup, signup.sync(client=ANYBODY, body=person)).member_id
    confirmed = got(Done, verify_email.sync(client=ANYBODY, body=EmailToken(token=code_for(email))))
    equal("the address is confirmed", confirmed.status, True)
    session = got(Login, login.sync(client=ANYBODY, body=LoginRequest(username=username, password=password))).token
    signed_in = AuthenticatedClient(base_url=API, token=session)
    booking = TokenRequest(member_id=member, member_pin=got(Pin, booking_pin.sync(client=signed_in)).pin, flight_date=now + 86_400,
                           minutes_booked=15, tunnel_id=DEMO["tunnel_id"], registration_id=number)
    booked = got(Token, generate_token.sync(client=PARTNER, body=booking))
    equal("it is booked", (booked.status, len(booked.token) > 20), (True, True))
    reader = AuthenticatedClient(base_url=API, token=booked.token)
    equal("the token reads the member", got(Profile, get_profile.sync(client=reader)).username, username)
    equal("the booking stands", own_booking(number), None)
    stands = got(TokenBooking, booked.booking).booking_id
    cancel_at_desk(stands)
    again = got(Token, generate_token.sync(client=PARTNER, body=booking))
    equal("a repeat of a cancelled booking is refused", (again.status, again.token), (False, ""))
    equal("the partner learns of it", own_booking(number), "cancelled")
    equal("so does the report", reported_ending(number), "cancelled")
    equal("and the history", events_of(stands), ["booking.recorded", "booking.cancelled"])
    flew = create_time.sync(client=signed_in, body=TimeNew(entry_date=now - 3600, time="12"))
    equal("flight time is entered", got(Written, flew).status, True)
    rows = list_time.sync(str(member), client=signed_in)
    assert isinstance(rows, list), rows
    equal("it is in the logbook", [str(row.time) for row in rows], ["12"])
    print("python: signed up, booked, cancelled at the desk, told, and logged")


tell()
