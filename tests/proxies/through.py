"""A site of the demo behind one of the recipes: a clerk signs in, books, sees it live and uploads a photo, a partner signs a
request, and the site learns the caller's own address. through.py EXECUTABLE nginx|caddy|haproxy"""

import hashlib
import hmac
import http.client
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zlib

EXECUTABLE, RECIPE = os.path.abspath(sys.argv[1]), sys.argv[2]
NAME = "tunnel.example.org"
ROOT = os.path.abspath("target/proxies/root")
RECIPES = os.path.abspath("packaging/proxies")
# Where the caller seems to be: another address than the proxy's.
CALLER = "127.0.0.2"
CLAIMED = "203.0.113.9"
WAIT_MAX = 20


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Place:
    """A directory with a certificate, and the ports of the site and of the proxy."""

    def __init__(self, directory):
        self.directory = directory
        self.site, self.plain, self.secure = free_port(), free_port(), free_port()
        self.certificate, self.key = f"{directory}/cert.pem", f"{directory}/key.pem"
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}", "-addext",
             f"subjectAltName=DNS:{NAME}", "-keyout", self.key, "-out", self.certificate], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        with open(f"{directory}/both.pem", "w") as both:
            both.write(open(self.certificate).read() + open(self.key).read())

    def recipe(self, file, changes):
        """The recipe with the test's own ports and paths. Each change must apply."""
        text = open(f"{RECIPES}/{file}").read()
        for old, new in changes:
            assert old in text, f"{file} has no {old!r}"
            text = text.replace(old, new)
        path = f"{self.directory}/{file}"
        with open(path, "w") as out:
            out.write(text)
        return path

    def nginx(self):
        own = self.recipe("nginx.conf", [
            ("server 127.0.0.1:8080", f"server 127.0.0.1:{self.site}"), ("listen 80;", f"listen 127.0.0.1:{self.plain};"),
            ("listen 443", f"listen 127.0.0.1:{self.secure}"), (f"/etc/ssl/{NAME}.pem", self.certificate),
            (f"/etc/ssl/{NAME}.key", self.key)])
        paths = " ".join(f"{kind}_temp_path {self.directory}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main = f"{self.directory}/main.conf"
        with open(main, "w") as out:
            out.write(f"daemon off; pid {self.directory}/pid; error_log stderr; events {{}}\n"
                      f"http {{ access_log off; {paths} include {own}; }}\n")
        return [f"{ROOT}/usr/sbin/nginx", "-e", "stderr", "-c", main]

    def caddy(self):
        own = self.recipe("Caddyfile", [
            ("reverse_proxy 127.0.0.1:8080", f"reverse_proxy 127.0.0.1:{self.site}"), (f"{NAME} {{", f"{NAME}:{self.secure} {{"),
            (f"/etc/ssl/{NAME}.pem", self.certificate), (f"/etc/ssl/{NAME}.key", self.key)])
        with open(own) as recipe:
            text = recipe.read()
        with open(own, "w") as recipe:
            recipe.write(f"{{\n\tadmin off\n\thttp_port {self.plain}\n\thttps_port {self.secure}\n}}\n{text}")
        return [f"{ROOT}/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config", own]

    def haproxy(self):
        own = self.recipe("haproxy.cfg", [
            ("site 127.0.0.1:8080", f"site 127.0.0.1:{self.site}"), ("bind :80", f"bind 127.0.0.1:{self.plain}"),
            ("bind :443", f"bind 127.0.0.1:{self.secure}"), (f"/etc/ssl/{NAME}.pem", f"{self.directory}/both.pem")])
        return [f"{ROOT}/usr/sbin/haproxy", "-db", "-f", own]


class Browser:
    """One client with its cookies. Connects to the proxy from CALLER and claims to come from elsewhere."""

    def __init__(self, place):
        self.place, self.cookies = place, {}
        self.tls = ssl.create_default_context(cafile=place.certificate)

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.place.secure), WAIT_MAX, (CALLER, 0))
        connection = http.client.HTTPConnection(NAME, self.place.secure)
        connection.sock = self.tls.wrap_socket(plain, server_hostname=NAME)
        return connection

    def start(self, method, path, body=None, headers=None):
        connection = self.connect()
        host = f"{NAME}:{self.place.secure}"
        headers = {"Host": host, "X-Forwarded-For": CLAIMED, "X-Request-Id": f"through-{RECIPE}", **(headers or {})}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if method == "POST":
            headers.setdefault("Origin", f"https://{host}")
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        for line in answer.headers.get_all("set-cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer

    def get(self, path, **more):
        answer = self.start("GET", path, **more)
        text = answer.read().decode()
        assert answer.status == 200, f"{path}: {answer.status} {text[:300]}"
        return text

    def submit(self, path, fields, status=303):
        answer = self.start("POST", path, urllib.parse.urlencode(fields), {"Content-Type": "application/x-www-form-urlencoded"})
        text = answer.read().decode()
        assert answer.status == status, f"{path}: {answer.status} {text[:600]}"
        return answer.headers["location"] or text


def hidden(page, name):
    found = re.search(rf'name="{name}"[^>]*value="([^"]*)"', page) or re.search(rf'value="([^"]*)"[^>]*name="{name}"', page)
    assert found, f"the page has no {name}"
    return found[1]


def noise(side):
    """A PNG of `side` × `side` that no compression makes smaller."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + os.urandom(3 * side) for _ in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def until(what, attempt):
    end = time.monotonic() + WAIT_MAX
    while True:
        try:
            if found := attempt():
                return found
        except OSError:
            pass
        assert time.monotonic() < end, f"not within {WAIT_MAX} s: {what}"
        time.sleep(0.1)


def walk(place, facts, log):
    clerk = next(one for one in facts["members"] if one["role"] == "desk")
    flyer = facts["members"][0]
    browser = Browser(place)
    until("the proxy answers", lambda: browser.get("/healthz"))

    went = browser.submit("/desk/sign-in", {"username": clerk["username"], "password": clerk["password"]})
    assert went.endswith("/desk"), went
    # The site knows from its public address that browsers speak https with the proxy.
    assert any(name.startswith("__Host-") for name in browser.cookies), browser.cookies.keys()
    print(f"{RECIPE}: signed in", flush=True)

    live = browser.start("GET", "/desk/live")
    assert live.status == 200 and live.readline().startswith(b"retry:"), live.status
    page = browser.get("/desk")
    booking = {"member": flyer["member_id"], "minutes": "10", "number": hidden(page, "number"), "here": "1", "full_quarter": str(int(time.time()) // 900 * 900)}
    # The flyer is booked today: the page asks, and names the booking beside which this one would stand.
    asked = browser.submit("/desk/bookings", booking, 422)
    browser.submit("/desk/bookings", {**booking, "beside": hidden(asked, "beside")})
    began = time.monotonic()
    while b"changed" not in (line := live.readline()):
        assert line and time.monotonic() - began < 5, f"no event within 5 s: {line!r}"
    print(f"{RECIPE}: booked, and seen live after {time.monotonic() - began:.1f} s", flush=True)

    picture, edge = noise(1200), "edge-of-a-part"
    assert 4_000_000 < len(picture) < 5 * 1024 * 1024, len(picture)
    part = f'--{edge}\r\nContent-Disposition: form-data; name="photo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
    body = part.encode() + picture + f"\r\n--{edge}--\r\n".encode()
    path = f"/desk/members/{flyer['member_id']}/photo"
    sent = browser.start("POST", path, body, {"Content-Type": f"multipart/form-data; boundary={edge}"})
    assert sent.status == 303, f"{sent.status} {sent.read()[:300]}"
    photo = browser.start("GET", path)
    assert photo.status == 200 and photo.read().startswith(b"\xff\xd8"), photo.status
    print(f"{RECIPE}: uploaded {len(picture)} bytes", flush=True)

    partner, text = facts["partner"], json.dumps({"limit": 10, "offset": 0})
    signed = hmac.new(partner["secret"].encode(), text.encode(), hashlib.sha256).hexdigest()
    stranger = Browser(place)
    answer = stranger.start("POST", "/api/external/partner-metrics/op", json.dumps({"email": "through@example.com"}), {
        "Content-Type": "application/json", "client-id": partner["client_id"], "token": signed})
    assert answer.status == 401, f"a wrong signature: {answer.status}"
    text = json.dumps({"email": f"through-{RECIPE}@example.com"})
    signed = hmac.new(partner["secret"].encode(), text.encode(), hashlib.sha256).hexdigest()
    answer = stranger.start("POST", "/api/external/partner-metrics/op", text, {
        "Content-Type": "application/json", "client-id": partner["client_id"], "token": signed})
    assert answer.status in (200, 201), f"{answer.status} {answer.read()}"

    lines = [json.loads(line) for line in open(log) if f"through-{RECIPE}" in line]
    addresses = {line["address"] for line in lines}
    assert addresses == {CALLER}, f"the site took the caller for {addresses}: {lines[:1]}"
    told = subprocess.run([EXECUTABLE, "doctor", "--json", "--data", f"{os.path.dirname(log)}/tunneldesk-demo"], capture_output=True, text=True)
    spoiled = [fact for fact in json.loads(told.stdout)["facts"] if fact["name"] in ("forms", "callers")]
    assert not spoiled, f"the doctor tells of the recipe: {spoiled}"
    print(f"{RECIPE}: the site knows the caller, and the doctor is content", flush=True)

    plain = http.client.HTTPConnection("127.0.0.1", place.plain, timeout=WAIT_MAX)
    plain.request("GET", "/desk", headers={"Host": NAME})
    answer = plain.getresponse()
    assert answer.status in (301, 308) and answer.headers["location"].startswith(f"https://{NAME}"), (answer.status, answer.headers)


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        place = Place(directory)
        settings = {"TUNNELDESK_LISTEN": f"127.0.0.1:{place.site}", "TUNNELDESK_METRICS_LISTEN": "", "TUNNELDESK_NAMES": NAME,
                    "TUNNELDESK_PUBLIC_URL": f"https://{NAME}:{place.secure}", "TUNNELDESK_PROXIES": "127.0.0.1"}
        log, said = f"{directory}/log", f"{directory}/said"
        site = subprocess.Popen([EXECUTABLE, "serve", "--demo"], cwd=directory, env=settings, stdout=open(said, "w"), stderr=open(log, "w"))
        environment = {"LD_LIBRARY_PATH": f"{ROOT}/usr/lib/x86_64-linux-gnu:{ROOT}/usr/lib/aarch64-linux-gnu", "HOME": directory}
        proxy = None
        try:
            facts = f"{directory}/tunneldesk-demo/demo.json"
            until("the site serves", lambda: os.path.exists(facts) and "listening" in open(log).read())
            command = getattr(place, RECIPE)()
            proxy = subprocess.Popen(command, env=environment, stdout=open(f"{directory}/proxy", "w"), stderr=subprocess.STDOUT)
            try:
                walk(place, json.load(open(facts)), log)
            except Exception:
                print(open(f"{directory}/proxy").read()[-3000:], open(log).read()[-3000:], sep="\n")
                raise
        finally:
            for process in (proxy, site):
                if process:
                    process.kill()
                    process.wait(10)


main()
