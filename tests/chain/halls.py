"""Real halls on this machine, each a `tunneldesk serve` of its own that sends its history to the chain, and a partner who books there."""

import hashlib
import hmac
import http.client
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

MEMBERS = 6


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Hall:
    def __init__(self, number, directory, program, chain, enlist):
        self.number, self.dir, self.program = number, directory, program
        self.data = f"{directory}/data"
        self.port, self.process, self.count = free_port(), None, 0
        self.random = random.Random(number)
        self.pins, self.names, self.open = {}, {}, {}
        os.makedirs(directory)
        self.settings = f"{directory}/tunneldesk.toml"
        self.write(f'listen = ["127.0.0.1:{self.port}"]\nmetrics_listen = "127.0.0.1:{free_port()}"\ndata = "{self.data}"\n')
        self.type("init", "--name", f"Hall {number}", "--country", "CH")
        self.secret = self.json("partner", "add", "Skyline", "--client-id", "skyline", "--requests-per-minute", "0")["secret"]
        members = [self.json("member", "add", f"visitor{n}", "--email", f"visitor{n}@example.org", "--confirmed") for n in range(MEMBERS)]
        self.site_id = self.json("sync", "--status")["status"]["site_id"]
        enlist(self.site_id)
        # Every second hall has its copy off site, and can go back to any second.
        self.off_site = number % 2 == 1
        os.makedirs(f"{directory}/off-site")
        with open(self.settings, "a") as settings:
            settings.write(f"""[sync]
url = "tls://localhost:{chain.nats}"
credentials_file = "{chain.dir}/halls/{self.site_id}.seed"
ca_file = "{chain.dir}/authority.pem"
interval_seconds = 1
""")
            if self.off_site:
                settings.write(f'[backup]\noff_site = "{directory}/off-site"\n')
        self.start()
        for member in members:
            name, password = member["username"], member["password"]
            self.names[member["member_id"]] = name
            token = self.call("POST", "/api/auth/login", {"username": name, "password": password})[1]["token"]
            pin = self.call("POST", "/api/account/profile/booking-pin", {}, token=token)[1]
            self.pins[member["member_id"]] = str(pin["pin"] if isinstance(pin, dict) else pin)

    def write(self, text):
        with open(self.settings, "w") as settings:
            settings.write(text)

    def type(self, *words):
        done = subprocess.run([self.program, *words, "--config", self.settings], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"hall {self.number}: {words}: {done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *words):
        return json.loads(self.type(*words, "--json"))

    def start(self, **environment):
        log = open(f"{self.dir}/log", "a")
        words = [self.program, "serve", "--config", self.settings]
        self.process = subprocess.Popen(words, stdout=log, stderr=log, env=os.environ | environment)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if self.call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"hall {self.number} does not start: {open(f'{self.dir}/log').read()[-2000:]}")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)

    def call(self, method, path, body=None, **headers):
        text = b"" if body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, text, {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()})
            answer = connection.getresponse()
            said = answer.read()
            return answer.status, json.loads(said) if said[:1] in (b"{", b"[", b'"') else said
        finally:
            connection.close()

    def signed(self, text):
        return hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()

    def book(self, sent):
        text = json.dumps(sent).encode()
        return self.call("POST", "/api/external/partner-metrics/op/generate-token", sent, client_id="skyline", token=self.signed(text))

    def step(self):
        """A booking, a change of one, or the end of one. What the network lost is not asked again: the hall knows what it did."""
        dice = self.random.random()
        if dice < 0.6 or not self.open:
            self.count += 1
            member = self.random.choice(list(self.pins))
            sent = {"member_id": member, "member_pin": self.pins[member], "registration_id": self.count,
                    "flight_date": int(time.time()) + self.random.randrange(8 * 7 * 86_400),
                    "minutes_booked": self.random.randrange(1, 60), "tunnel_id": 1}
            status, said = self.book(sent)
            if status == 200 and said["status"]:
                self.open[self.count] = sent
            return status
        number = self.random.choice(list(self.open))
        if dice < 0.8:
            sent = self.open[number]
            sent["flight_date"] += 86_400
            sent["minutes_booked"] = self.random.randrange(1, 60)
            return self.book(sent)[0]
        del self.open[number]
        path = f"/api/external/partner-metrics/bookings/{number}"
        stamp, nonce = str(int(time.time())), f"{self.number}-{time.time_ns()}"
        token = self.signed(f"{stamp}.{nonce}.DELETE {path}.".encode())
        return self.call("DELETE", path, client_id="skyline", token=token, x_timestamp=stamp, x_nonce=nonce)[0]

    def restore(self, moment):
        """Puts the hall back to an earlier second while its server is stopped."""
        self.stop()
        said = self.type("restore", "--at", time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment)) + "Z")
        self.start()
        return said

    def own(self):
        """The bookings and the rows as the hall itself has them."""
        with sqlite3.connect(f"file:{self.data}/tunneldesk.sqlite?mode=ro", uri=True) as base:
            bookings = set(base.execute("SELECT booking_id, member_id, tunnel_id, flight_date, minutes_booked, ended_as, arrived_at FROM bookings"))
            return bookings, {seq for seq, in base.execute("SELECT seq FROM history")}

    def resident(self):
        """Kilobytes of memory, and seconds of the processor."""
        status = open(f"/proc/{self.process.pid}/status").read()
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        kilobytes = int(status.split("VmRSS:")[1].split()[0])
        return kilobytes, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def remove(self):
        if self.process and self.process.poll() is None:
            self.stop(signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)
