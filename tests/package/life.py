"""A package's life: installed, started as systemd would, upgraded with an older site's file, removed, purged."""

import json
import os
import shutil
import sqlite3
import stat
import sys
import urllib.error
import urllib.request

from manager import Manager
from room import Room, enter_own_network, step

ARCHIVE, OLDER, NEWER, LATER = sys.argv[1:5]
WATCHDOG_SECONDS = 1.5
DATA = "/var/lib/tunneldesk"


def get(path, port=80):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return answer.read().decode()


def owner_and_mode(path):
    found = os.stat(path)
    return found.st_uid, stat.S_IMODE(found.st_mode)


def installed(room):
    said = room.type("dpkg -i /older.deb 2>&1")
    assert "tunneldesk init" in said, said
    version = room.type("dpkg-query -W -f '${Version}' tunneldesk")
    assert version == "0.0.9", version
    uid = int(room.type("id -u tunneldesk"))
    assert owner_and_mode(room.path(DATA)) == (uid, 0o700)
    assert owner_and_mode(room.path("/etc/tunneldesk/tunneldesk.toml")) == (0, 0o640)
    assert room.type("bash -n /usr/share/bash-completion/completions/tunneldesk && test -s /usr/share/man/man1/tunneldesk.1.gz") == ""
    assert "completion" in room.type("head -3 /usr/share/fish/vendor_completions.d/tunneldesk.fish; echo completion")
    room.type("dpkg --verify tunneldesk")
    manager = Manager(room.root)
    assert not manager.is_wanted(), "it would be started before there is a site"
    step("installed: user, directories, manual and completions; not started before there is a site")
    return uid


def made(room, uid):
    room.type('tunneldesk init --name "Windwerk" --country CH')
    for name in ("tunneldesk.sqlite", "site.key"):
        assert owner_and_mode(room.path(f"{DATA}/{name}")) == (uid, 0o600), f"root's command left {name} to root"
    room.type("sed -i 's/^names = .*/names = [\"tunnel.example.org\"]/' /etc/tunneldesk/tunneldesk.toml")
    room.type("tunneldesk tls init --name tunnel.example.org")
    os.makedirs(room.path("/etc/credstore"))
    with open(room.path("/etc/credstore/tunneldesk.callbacks.payment_secret"), "w") as secret:
        secret.write("whsec_credential\n")
    said = room.type("tunneldesk export members --to members.csv")
    assert "0 rows in members.csv" in said, said
    assert owner_and_mode(room.path("/root/members.csv")) == (0, 0o600), "root's list is not root's"
    step("root's commands act as the owner of the data directory; what they write for root is root's")


def started(room, manager):
    manager.open_sockets()
    manager.start()
    heard = manager.wait_for("READY")
    assert "https://tunnel.example.org" in heard[-1]["STATUS"], heard
    assert get("/readyz").startswith("ready")
    status = os.stat(f"/proc/{manager.pid}")
    assert status.st_uid == int(room.type("id -u tunneldesk"))
    # The passed credential is the callback's key: without it the answer would be 503.
    request = urllib.request.Request("http://127.0.0.1/api/payment-webhook", b"{}", {"content-type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=10)
        raise AssertionError("a callback without a signature was taken")
    except urllib.error.HTTPError as e:
        assert e.code != 503, "the credential did not arrive"
    manager.wait_for("WATCHDOG")
    manager.wait_for("WATCHDOG")
    assert "ready" in room.type("tunneldesk health")
    step("started by its unit: READY=1, the passed sockets, the credential, WATCHDOG=1 again and again")


def starved(room, manager):
    """Somebody holds the file's lock, so the writer cannot answer: no sign of life until it can."""
    holder = sqlite3.connect(room.path(DATA + "/tunneldesk.sqlite"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    manager.silence(2 * WATCHDOG_SECONDS)
    holder.execute("ROLLBACK")
    holder.close()
    manager.wait_for("WATCHDOG")
    step("a writer that does not answer starves the watchdog, and one that does again feeds it")


def upgraded(room, manager, uid):
    room.type("printf violet-anvil-harbour-93 | tunneldesk member add jane --email jane@example.com --confirmed --password-stdin")
    manager.stop()
    # A build for tests takes it for a migration of its own: the site is then one of an older version.
    shutil.copy(LATER, room.path("/later.sql"))
    os.chmod(room.path("/later.sql"), 0o644)
    later = {"LATER_MIGRATION_FOR_TESTS": "/later.sql"}
    manager.environment = manager.environment | later
    as_later = " ".join(f"{name}={value}" for name, value in later.items())
    assert "refusing" not in room.type("dpkg -i /newer.deb 2>&1")
    assert room.type("cat /etc/tunneldesk/tunneldesk.toml").count("tunnel.example.org") >= 1, "the settings were lost"
    manager.start()
    heard = manager.wait_for("READY")
    steps = [said for said in heard if "EXTEND_TIMEOUT_USEC" in said]
    assert any("upgrading" in said["STATUS"] for said in steps), f"a long start does not say that it is none that hangs: {heard}"
    members = json.loads(room.type(f"{as_later} tunneldesk member list --json"))
    assert [member["username"] for member in members] == ["jane"], members
    backup = [name for name in os.listdir(room.path(DATA + "/backups")) if "-schema-" in name]
    assert len(backup) == 1, backup
    heard = manager.stop()
    assert any(said.get("STOPPING") == "1" for said in heard)
    said = room.type(f"{as_later} tunneldesk rollback")
    assert "replaced-1" in said, said
    for directory, _, files in os.walk(room.path(DATA)):
        for name in files:
            assert os.stat(os.path.join(directory, name)).st_uid == uid, f"{directory}/{name} is root's"
    step("upgraded with an older site's file, and rolled back; the socket stayed open meanwhile")


def removed(room):
    room.type("dpkg -r tunneldesk")
    assert not os.path.exists(room.path("/usr/bin/tunneldesk"))
    assert os.path.exists(room.path("/etc/tunneldesk/tunneldesk.toml"))
    assert os.path.exists(room.path(DATA + "/tunneldesk.sqlite"))
    said = room.type("dpkg -P tunneldesk 2>&1")
    assert "rm -r /var/lib/tunneldesk" in said, said
    assert os.path.exists(room.path(DATA + "/tunneldesk.sqlite")), "people's logbooks were deleted by the way"
    assert not os.path.exists(room.path("/etc/tunneldesk"))
    room.type("rm -r /var/lib/tunneldesk")
    left = room.type("find / -xdev -name '*tunneldesk*' -not -path '/proc/*' -not -path '/run/*' -not -path '/etc/credstore/*'")
    assert left == "", f"left behind: {left}"
    room.type("dpkg -i /newer.deb >/dev/null 2>&1 && dpkg -P tunneldesk 2>&1")
    assert not os.path.exists(room.path(DATA)), "an empty data directory is left behind"
    step("removed and purged: the site stays until it is removed by name, nothing else does")


def main():
    enter_own_network()
    room = Room(ARCHIVE)
    manager = None
    try:
        shutil.copy(OLDER, room.path("/older.deb"))
        shutil.copy(NEWER, room.path("/newer.deb"))
        uid = installed(room)
        made(room, uid)
        manager = Manager(room.root, WATCHDOG_SECONDS)
        started(room, manager)
        starved(room, manager)
        upgraded(room, manager, uid)
        removed(room)
    finally:
        if manager:
            manager.end()
        room.leave()


main()
