"""The technician's walk: the commands under `Install on site` in the README, as they stand there, in a clean Debian; then
the first sign-in with a passkey over the LAN name in a browser that trusts the site's authority."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import struct
import sys
import time

from browser import Browser
from manager import Manager
from room import LAN_ADDRESS, LAN_NAME, Room, enter_own_network, step

ARCHIVE, PACKAGE, README = sys.argv[1:4]
COMMANDS_MAX = 10
URL = f"https://{LAN_NAME}"

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
    part = open(README).read().split("\n## Install on site\n")[1].split("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", part, re.S)[1]
    found = [line.split("   #")[0].strip() for line in block.splitlines() if line.strip() and not line.startswith("#")]
    assert 5 <= len(found) <= COMMANDS_MAX, f"{len(found)} commands"
    return found


def code(secret, moment):
    digest = hmac.new(base64.b32decode(secret + "=" * (-len(secret) % 8)), struct.pack(">Q", int(moment // 30)), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def walk(room):
    """Types every command; what each said, and the manager that `systemctl` was to reach."""
    said, manager = {}, None
    for command in commands():
        print(f"$ {command}", flush=True)
        if command.startswith("systemctl enable --now"):
            assert command.split()[3:] == ["tunneldesk.socket", "tunneldesk.service"], command
            manager = Manager(room.root)
            assert manager.is_wanted()
            manager.open_sockets()
            manager.start()
            manager.wait_for("READY")
        else:
            said[command] = room.type(command)
    return said, manager


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


def main():
    enter_own_network()
    room = Room(ARCHIVE)
    manager = browser = None
    try:
        shutil.copy(PACKAGE, room.path("/root/" + os.path.basename(PACKAGE)))
        said, manager = walk(room)
        step(f"{len(commands())} commands of the README: installed, made, trusted, running, backed up")
        backup = next(text for command, text in said.items() if command == "tunneldesk backup")
        assert backup.startswith("Made and verified"), backup
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
        browser.add_authenticator()
        # As people type it: the plain port sends them over.
        browser.open(f"http://{LAN_NAME}/healthz")
        assert browser.perform(PAGE) == f"{URL}/healthz alive"
        first_sign_in(browser, password[1])
        step("first sign-in with a passkey in Chromium over the LAN name, the authority trusted; without it refused")
        print("left out: the first synced batch, until the site can sync")
        manager.stop()
    finally:
        if browser:
            browser.close()
        if manager:
            manager.end()
        room.leave()


main()
