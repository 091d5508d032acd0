"""A clean Debian in a directory, and commands typed in it as root."""

import os
import subprocess
import tempfile

LAN_ADDRESS = "10.93.0.5"
LAN_NAME = "tunnel.example.org"
UPSTREAM_NAME = "upstream.example.org"


class Room:
    def __init__(self, archive):
        self.holder = tempfile.TemporaryDirectory(prefix="tunneldesk-room-")
        self.root = self.holder.name
        os.chmod(self.root, 0o755)
        # Settings of the test's own, beside what is typed.
        self.environment = {}
        run("tar", "-xf", archive, "-C", self.root)
        run("mount", "-t", "proc", "proc", f"{self.root}/proc")
        # No power is cut here.
        with open(f"{self.root}/etc/dpkg/dpkg.cfg.d/quick", "w") as settings:
            settings.write("force-unsafe-io\n")
        with open(f"{self.root}/etc/hosts", "w") as hosts:
            hosts.write(f"127.0.0.1 localhost\n127.0.0.1 {UPSTREAM_NAME}\n{LAN_ADDRESS} {LAN_NAME}\n")

    def type(self, command, code=0):
        """One line, as a technician types it; what it printed."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"} | self.environment
        ran = subprocess.run(["/usr/sbin/chroot", self.root, "/bin/bash", "-c", "cd /root; " + command], env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert ran.returncode == code, f"{command}: ended with {ran.returncode}, not {code}:\n{ran.stdout}"
        return ran.stdout

    def path(self, name):
        return self.root + name

    def leave(self):
        run("umount", f"{self.root}/proc")
        self.holder.cleanup()


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def enter_own_network():
    """The caller runs in a network of its own (unshare --net): ports are free in it, and the hall's address is there."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", f"{LAN_ADDRESS}/32", "dev", "lo")


def step(text):
    print(f"ok: {text}", flush=True)
