"""The container's files as its root directory, run by its own words (ENV, USER, ENTRYPOINT, CMD, HEALTHCHECK), as somebody
without rights. No container engine runs in a test."""

import json
import os
import re
import signal
import subprocess
import sys

from room import enter_own_network, step

ROOT = os.path.abspath(sys.argv[1])


def containerfile():
    words = {}
    for line in open(f"{ROOT}/Containerfile"):
        if match := re.match(r"(FROM|ENV|USER|VOLUME|ENTRYPOINT|CMD|HEALTHCHECK|COPY) (.*)", line):
            words.setdefault(match[1], []).append(match[2])
    return words


WORDS = containerfile()
ENVIRONMENT = dict(pair.split("=", 1) for pair in WORDS["ENV"][0].split(" "))
UID, GID = (int(number) for number in WORDS["USER"][0].split(":"))
ENTRYPOINT, COMMAND = json.loads(WORDS["ENTRYPOINT"][0]), json.loads(WORDS["CMD"][0])
HEALTH = json.loads(WORDS["HEALTHCHECK"][0].split("CMD ", 1)[1])


def start(words):
    def enter():
        os.chroot(ROOT)
        os.chdir("/")
        os.setgroups([])
        os.setresgid(GID, GID, GID)
        os.setresuid(UID, UID, UID)

    return subprocess.Popen(words, env=ENVIRONMENT,
                            preexec_fn=enter, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(words, code=0):
    process = start(words)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == code, f"{words}: {process.returncode}: {said}"
    return said


def main():
    enter_own_network()
    assert WORDS["FROM"] == ["scratch"] and UID != 0 and WORDS["VOLUME"] == ["/data"]
    assert "COPY" in WORDS and f"--chown={UID}:{GID} data /data" in WORDS["COPY"]
    os.chown(f"{ROOT}/data", UID, GID)
    os.chmod(f"{ROOT}/data", 0o700)
    run(ENTRYPOINT + ["init", "--name", "Windwerk", "--country", "CH"])
    assert "nobody answers" in run(HEALTH, code=2)
    server = start(ENTRYPOINT + COMMAND)
    try:
        said = []
        for line in server.stdout:
            said.append(line)
            if '"listening"' in line:
                break
        assert said and '"listening"' in said[-1], said
        assert "ready" in run(HEALTH)
        run(ENTRYPOINT + ["member", "add", "jane", "--email", "jane@example.com"])
        assert "Made and verified" in run(ENTRYPOINT + ["backup"])
    finally:
        server.send_signal(signal.SIGTERM)
        rest, _ = server.communicate(timeout=30)
    assert server.returncode == 0, rest
    step("the container's files run from scratch as nobody in particular, and its health check tells")


main()
