"""Runs the package's service in a root directory as systemd would, by what its units say: the sockets they list, the user,
the credentials, the watchdog, and the datagrams that it is told. No systemd runs in a test."""

import ctypes
import os
import select
import shlex
import signal
import socket
import time

PATIENCE = 30
PR_SET_NO_NEW_PRIVS = 38


def read_unit(path):
    """Section.Key → the values, in order; an empty one begins anew, as systemd has it."""
    values, section = {}, ""
    for line in open(path):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            section = line.strip("[]")
            continue
        key, value = line.split("=", 1)
        values.setdefault(f"{section}.{key}", []).append(value)
    return values


class Manager:
    def __init__(self, root, watchdog=None, environment=None):
        """`environment`: settings of the test's own."""
        self.environment = environment or {}
        units = f"{root}/usr/lib/systemd/system"
        self.root, self.watchdog, self.pid = root, watchdog, None
        self.service = read_unit(f"{units}/tunneldesk.service")
        self.socket = read_unit(f"{units}/tunneldesk.socket")
        self.sockets = []
        os.makedirs(f"{root}/run", exist_ok=True)
        self.told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = f"{root}/run/notify"
        if os.path.exists(address):
            os.unlink(address)
        self.told.bind(address)
        os.chmod(address, 0o666)

    def open_sockets(self):
        """What tunneldesk.socket does; they outlive the server."""
        for port in self.socket["Socket.ListenStream"]:
            opened = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            opened.bind(("::", int(port)))
            opened.listen(1024)
            self.sockets.append(opened)

    def is_wanted(self):
        return all(os.path.exists(self.root + path) for path in self.service["Unit.ConditionPathExists"])

    def start(self):
        assert self.is_wanted(), "the condition of the unit does not hold"
        assert self.service["Service.Type"] == ["notify"]
        user = next(line.split(":") for line in open(f"{self.root}/etc/passwd") if line.startswith(self.service["Service.User"][0] + ":"))
        uid, gid = int(user[2]), int(user[3])
        credentials = self.lay_credentials(uid)
        state = f"{self.root}/var/lib/{self.service['Service.StateDirectory'][0]}"
        assert os.stat(state).st_uid == uid, "systemd would have to change the owner of the state directory"
        seconds = self.watchdog or int(self.service["Service.WatchdogSec"][0])
        words = shlex.split(self.service["Service.ExecStart"][0])
        self.pid = os.fork()
        if self.pid == 0:
            self.become(words, uid, gid, seconds, credentials)

    def become(self, words, uid, gid, seconds, credentials):
        """The child, up to its new program."""
        try:
            log = os.open(f"{self.root}/run/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            passed = [os.dup(s.fileno()) for s in self.sockets]
            high = [os.dup2(descriptor, 100 + i, inheritable=True) for i, descriptor in enumerate(passed)]
            os.dup2(log, 1)
            os.dup2(log, 2)
            for i, descriptor in enumerate(high):
                os.dup2(descriptor, 3 + i, inheritable=True)
            os.closerange(3 + len(high), 256)
            os.chroot(self.root)
            os.chdir("/")
            os.umask(0o077)
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            pid = str(os.getpid())
            environment = {"PATH": "/usr/bin", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_PID": pid,
                           "WATCHDOG_USEC": str(int(seconds * 1_000_000)), "CREDENTIALS_DIRECTORY": credentials} | self.environment
            if high:
                environment |= {"LISTEN_PID": pid, "LISTEN_FDS": str(len(high))}
            os.execve(words[0], words, environment)
        except BaseException as e:  # The child must never go on as its parent.
            os.write(2, f"cannot start: {e}\n".encode())
        finally:
            os._exit(127)

    def lay_credentials(self, uid):
        directory = "/run/credentials/tunneldesk.service"
        os.makedirs(self.root + directory, mode=0o700, exist_ok=True)
        for credential in self.service["Service.LoadCredential"]:
            name, source = credential.split(":")
            found = f"{self.root}/etc/credstore/{source}"
            if os.path.exists(found):
                laid = f"{self.root}{directory}/{name}"
                with open(laid, "w") as file:
                    file.write(open(found).read())
                os.chown(laid, uid, -1)
                os.chmod(laid, 0o400)
        os.chown(self.root + directory, uid, -1)
        return directory

    def next_told(self, patience=PATIENCE):
        """One datagram as a dictionary; None: silence."""
        if not select.select([self.told], [], [], patience)[0]:
            return None
        said = self.told.recv(65536).decode()
        return dict(line.split("=", 1) for line in said.splitlines())

    def wait_for(self, key, value="1"):
        """Everything that was told up to `key`=`value`."""
        heard, until = [], time.monotonic() + PATIENCE
        while time.monotonic() < until:
            said = self.next_told(until - time.monotonic())
            if said is None:
                break
            heard.append(said)
            if said.get(key) == value:
                return heard
        raise AssertionError(f"{key}={value} was not received; received: {heard}; log:\n{open(self.root + '/run/log').read()}")

    def silence(self, seconds):
        """Forgets what was told, and is sure that nothing like a sign of life comes for a while."""
        while self.next_told(0) is not None:
            pass
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            said = self.next_told(left)
            assert said is None or "WATCHDOG" not in said, f"a sign of life of what does not work: {said}"

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        heard = self.wait_for("STOPPING")
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        assert os.waitstatus_to_exitcode(status) == 0, f"ended with {status}: {open(self.root + '/run/log').read()}"
        return heard

    def end(self):
        """What must go when a test fails."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        for opened in self.sockets:
            opened.close()
