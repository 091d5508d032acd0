"""Chromium, driven over WebDriver: a virtual authenticator, and scripts in the page."""

import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]


class Browser:
    def __init__(self, trusted, hosts):
        """`trusted`: PEM files of authorities; `hosts`: name → address."""
        self.home = tempfile.TemporaryDirectory(prefix="tunneldesk-browser-")
        if trusted:
            self.trust(trusted)
        environment = os.environ | {"HOME": self.home.name, "TMPDIR": self.home.name}
        # It takes a free port of IPv4 and wants the same of IPv6, and ends where somebody has that one: it chooses anew.
        port = next(port for port in (self.start_driver(environment) for _ in range(5)) if port)
        self.base = f"http://127.0.0.1:{port}"
        rules = ",".join(f"MAP {name} {address}" for name, address in hosts.items())
        flags = FLAGS + [f"--user-data-dir={self.home.name}/profile", f"--host-resolver-rules={rules}"]
        options = {"browserName": "chrome", "goog:chromeOptions": {"args": flags}}
        self.session = ""
        self.session = "/session/" + self.order("/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]
        self.order("/timeouts", {"script": 60_000})

    def trust(self, trusted):
        store = f"{self.home.name}/.pki/nssdb"
        os.makedirs(store)
        subprocess.run(["certutil", "-d", f"sql:{store}", "-N", "--empty-password"], check=True)
        for i, authority in enumerate(trusted):
            subprocess.run(["certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", f"authority {i}", "-i", authority], check=True)

    def start_driver(self, environment):
        """Its port; None: it ended."""
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return line.split("port ")[1].strip(" .\n")
        self.driver.wait()
        return None

    def order(self, path, body):
        request = urllib.request.Request(self.base + self.session + path, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{path}: {json.load(e)['value']['message'].splitlines()[0]}") from None

    def open(self, url):
        self.order("/url", {"url": url})

    def add_authenticator(self):
        self.order("/webauthn/authenticator", {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserConsenting": True, "isUserVerified": True})

    def perform(self, script, *arguments):
        """A script whose last argument is called with its outcome."""
        return self.order("/execute/async", {"script": script, "args": list(arguments)})

    def close(self):
        if self.session:
            urllib.request.urlopen(urllib.request.Request(self.base + self.session, method="DELETE"), timeout=30)
        self.driver.terminate()
        self.driver.wait()
        self.home.cleanup()
