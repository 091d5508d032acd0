"""The unit's filter of system calls against what a server really calls: one that starts from an older file (an upgrade),
answers in the clear and over https, hashes a password, writes, makes a backup and a drill, and stops."""

import json
import os
import pwd
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.request

from manager import read_unit
from room import enter_own_network, step

# Root calls what the service's user does not.
PASSWORD = "violet-anvil-harbour-93"
SOMEBODY = pwd.getpwnam("nobody")
EXECUTABLE, UNIT, LATER = (os.path.abspath(path) for path in sys.argv[1:4])


def group(name):
    """The calls of one of systemd's sets, with those of the sets in it."""
    said = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True).stdout
    words = [line.strip() for line in said.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return {call for word in words for call in (group(word) if word.startswith("@") else [word])}


def allowed():
    calls = set()
    for value in read_unit(UNIT)["Service.SystemCallFilter"]:
        taken_away, words = value.startswith("~"), value.lstrip("~").split()
        named = {call for word in words for call in (group(word) if word.startswith("@") else [word])}
        calls = calls - named if taken_away else calls | named
    # systemd allows these to whatever has a filter at all.
    return calls | group("@default")


def post(address, path, body):
    request = urllib.request.Request(f"http://{address}/api{path}", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def called(directory):
    """The names of all calls of a server's life."""
    data, trace = f"{directory}/data", f"{directory}/trace"
    os.mkdir(data, 0o700)
    later = shutil.copy(LATER, directory)
    for path in (directory, data, later):
        os.chown(path, SOMEBODY.pw_uid, SOMEBODY.pw_gid)
    environment = {"TUNNELDESK_DATA": data, "TUNNELDESK_LISTEN": "127.0.0.1:8080", "TUNNELDESK_TLS_LISTEN": "127.0.0.1:8443",
                   "TUNNELDESK_NAMES": "tunnel.example.org", "NOTIFY_SOCKET": "@nobody-listens", "WATCHDOG_USEC": "500000"}

    def command(*words, said=""):
        subprocess.run([EXECUTABLE, *words], env=environment, check=True, capture_output=True, timeout=120, input=said, text=True)

    command("init", "--name", "Windwerk", "--country", "CH")
    command("tls", "init", "--name", "tunnel.example.org")
    command("member", "add", "jane", "--email", "jane@example.com", "--confirmed", "--password-stdin", said=PASSWORD)
    # A build for tests takes it for a migration of its own: the server starts from an older file.
    environment["LATER_MIGRATION_FOR_TESTS"] = later
    server = subprocess.Popen(["strace", "-f", "-qq", "-u", SOMEBODY.pw_name, "-o", trace, EXECUTABLE, "serve"], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        said = []
        for line in server.stderr:
            said.append(line)
            if "listening for metrics" in line:
                break
        assert any("listening for https" in line for line in said), said

        assert post("127.0.0.1:8080", "/auth/login", {"username": "jane", "password": PASSWORD})["status"]
        command("member", "add", "new", "--email", "new@example.com")
        command("backup")
        command("backup", "drill")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        assert urllib.request.urlopen("https://127.0.0.1:8443/readyz", context=context, timeout=30).status == 200
        assert urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=30).status == 200
    finally:
        child = int(open(f"/proc/{server.pid}/task/{server.pid}/children").read().split()[0])
        os.kill(child, signal.SIGTERM)
        server.stderr.read()
        server.wait(timeout=60)
    names = (re.match(r"\d+ +(?:<\.\.\. )?([a-z0-9_]+)(?:\(| resumed)", line) for line in open(trace))
    return {name[1] for name in names if name}


def main():
    enter_own_network()
    with tempfile.TemporaryDirectory() as directory:
        calls = called(directory)
    assert len(calls) > 40 and {"fsync", "accept4", "sched_setattr"} <= calls, f"the server was not seen: {calls}"
    refused = calls - allowed() - {"execve"}
    assert not refused, f"the unit's filter would refuse {refused}"
    step(f"the unit's filter lets through the {len(calls)} system calls of a server's life, and refuses {len(group('@system-service') - allowed())} of a usual service's")


main()
