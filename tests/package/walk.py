"""The technician's walk: the commands under `Install on site` in the technician's book, as they stand there, in a clean Debian. On the
way the first sign-in with a passkey over the LAN name in a browser that trusts the site's authority, and a partner's first
request, which is the first batch upstream."""

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
import time
import urllib.request

from browser import Browser
from manager import Manager
from room import LAN_ADDRESS, LAN_NAME, UPSTREAM_NAME, Room, enter_own_network, step

ARCHIVE, PACKAGE, BOOK, RECEIVER = sys.argv[1:5]
COMMANDS_MAX = 10
URL = f"https://{LAN_NAME}"
UPSTREAM_SECRET = "what-the-receiver-gave-us"

# In the page, as an app would: what the site asks, the authenticator answers.
SCRIPT = """
    const [kind, token, body, done] = arguments;
    const post = async (path, body) => {
        const headers = { 'content-type': 'application/json' };
        if (token) headers.token = token;
        return (await fetch('/api' + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const ceremony = async () => {
        const option = await post('/auth/login/bio-web-option', body);
        if (!option.publicKey) return { option };
        const asked = option.publicKey;
        const credential = token
            ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
            : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
        return post('/auth/login/bio-web-verify', { credential: JSON.stringify(credential.toJSON()) });
    };
    (kind === 'passkey' ? ceremony() : post(kind, body)).then(done, error => done({ error: String(error) }));
"""

PAGE = "arguments[0](`${location.href} ${document.body.innerText.trim()} ${document.body.innerHTML.match(/ERR_[A-Z_]+/) ?? ''}`.trim())"


def commands():
    part = open(BOOK).read().split("\n## Install on site\n")[1].split("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", part, re.S)[1]
    found = [line.split("   #")[0].strip() for line in block.splitlines() if line.strip() and not line.startswith("#")]
    assert 5 <= len(found) <= COMMANDS_MAX, f"{len(found)} commands"
    return found


def code(secret, moment):
    digest = hmac.new(base64.b32decode(secret + "=" * (-len(secret) % 8)), struct.pack(">Q", int(moment // 30)), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


class Receiver:
    """The tests' own receiver of partner metrics, at the address that the book's settings name."""

    def __init__(self, room):
        self.dir = room.path("/run/upstream")
        os.makedirs(self.dir)
        port = re.search(rf"https://{UPSTREAM_NAME}:(\d+)/", open(BOOK).read())[1]
        make_certificate(self.dir)
        words = [RECEIVER, f"127.0.0.1:{port}", self.dir, UPSTREAM_SECRET]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        room.environment["TUNNELDESK_SYNC_CA_FILE"] = "/run/upstream/authority.pem"
        with open(room.path("/root/upstream.secret"), "w") as secret:
            secret.write(UPSTREAM_SECRET + "\n")

    def rows(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.wait()


def make_certificate(directory):
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    with open(f"{directory}/names", "w") as names:
        names.write(f"subjectAltName=DNS:{UPSTREAM_NAME}\n")
    for name in ("authority", "server"):
        more = ["-x509", "-out", f"{directory}/authority.pem"] if name == "authority" else ["-out", f"{directory}/server.csr"]
        quiet(*new, "-subj", f"/CN={name}", "-keyout", f"{directory}/{name}.key", *more)
    quiet("openssl", "x509", "-req", "-in", f"{directory}/server.csr", "-CA", f"{directory}/authority.pem", "-CAkey",
          f"{directory}/authority.key", "-CAcreateserial", "-days", "2", "-extfile", f"{directory}/names", "-out", f"{directory}/server.pem")


def quiet(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def walk(room, on_the_way):
    """Types every command; what each said, and the manager that `systemctl` was to reach. `on_the_way`: what others do
    before a command."""
    said, manager = {}, None
    for command in commands():
        print(f"$ {command}", flush=True)
        if command in on_the_way:
            on_the_way[command](said)
        if command.startswith("systemctl enable --now"):
            assert command.split()[3:] == ["tunneldesk.socket", "tunneldesk.service"], command
            manager = Manager(room.root, environment=room.environment)
            assert manager.is_wanted()
            manager.open_sockets()
            manager.start()
            manager.wait_for("READY")
            room.manager = manager
        else:
            said[command] = room.type(command)
    return said


def partners_first_request(said):
    """Signed with the secret that the technician was shown."""
    shown = next(text for command, text in said.items() if command.startswith("tunneldesk partner add"))
    client_id, secret = re.search(r"client-id: (\S+)\nsecret: +(\S+)", shown).groups()
    body = json.dumps({"email": "flyer@example.com"}).encode()
    token = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"content-type": "application/json", "client-id": client_id, "token": token}
    request = urllib.request.Request("http://127.0.0.1/api/external/partner-metrics/op", body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status in (200, 201), answer.status


def first_sign_in(browser, password):
    user = {"username": "boss", "password": password}
    factor = browser.perform(SCRIPT, "/auth/login/totp/setup", "", user)
    now = time.time()
    turned_on = browser.perform(SCRIPT, "/auth/login/totp/verify-setup", "", user | {"code": code(factor["secret"], now)})
    assert turned_on["status"], turned_on
    # A code works once; the next one is taken a step early.
    signed_in = browser.perform(SCRIPT, "/auth/login/verify-totp", "", user | {"code": code(factor["secret"], now + 30)})
    assert signed_in["status"] and signed_in["token"], signed_in
    made = browser.perform(SCRIPT, "passkey", signed_in["token"], {"device_id": 1, "name": "Front desk"})
    assert made.get("status"), made
    by_passkey = browser.perform(SCRIPT, "passkey", "", {"username": "boss", "device_id": 1})
    assert by_passkey.get("status") and by_passkey["token"], by_passkey


def sign_in_from_the_hall(room, said):
    account = next(text for command, text in said.items() if "member add boss" in command)
    password = re.search(r"password[^\n]*?(\S{12,})", account)
    assert password, account
    status = json.loads(room.type("tunneldesk tls status --json"))
    with open(room.path("/run/authority.pem"), "w") as authority:
        authority.write(status["authority"]["certificate"])
    stranger = Browser([], {LAN_NAME: LAN_ADDRESS})
    try:
        stranger.open(URL + "/healthz")
        shown = stranger.perform(PAGE)
    except AssertionError as refused:
        shown = str(refused)
    finally:
        stranger.close()
    assert "ERR_CERT_AUTHORITY_INVALID" in shown, f"a browser that trusts nobody was shown: {shown}"
    browser = Browser([room.path("/run/authority.pem")], {LAN_NAME: LAN_ADDRESS})
    try:
        browser.add_authenticator()
        # As people type it: the plain port sends them over.
        browser.open(f"http://{LAN_NAME}/healthz")
        assert browser.perform(PAGE) == f"{URL}/healthz alive"
        first_sign_in(browser, password[1])
    finally:
        browser.close()
    step("first sign-in with a passkey in Chromium over the LAN name, the authority trusted; without it refused")


def main():
    enter_own_network()
    room = Room(ARCHIVE)
    room.manager = receiver = None
    try:
        shutil.copy(PACKAGE, room.path("/root/" + os.path.basename(PACKAGE)))
        receiver = Receiver(room)
        said = walk(room, {
            "tunneldesk backup": lambda said: sign_in_from_the_hall(room, said),
            "tunneldesk sync": partners_first_request,
        })
        assert said["tunneldesk backup"].startswith("Made and verified"), said
        rows = receiver.rows()
        assert [row["event"] for row in rows] == ["user.created"], (rows, said["tunneldesk sync"])
        step(f"{len(commands())} commands of the book: installed, made, trusted, running, backed up, the first batch upstream")
        room.manager.stop()
    finally:
        if receiver:
            receiver.close()
        if room.manager:
            room.manager.end()
        room.leave()


main()
