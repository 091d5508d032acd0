"""An SMS gateway for tests: HTTP on loopback. Prints its port, then each message it took as a JSON line.

The number's last digits say how it is treated: …503 is answered with 503 once, …422 with 422, …000 is
taken without an answer, all else is taken.
"""

import argparse
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "gateway-key"
seen = set()


class Gateway(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.headers["authorization"] != f"Bearer {TOKEN}":
            return self.answer(401)
        message = json.loads(body)
        number = message["to"]
        if number.endswith("422"):
            return self.answer(422)
        if number.endswith("503") and number not in seen:
            seen.add(number)
            return self.answer(503)
        print(json.dumps(message | {"key": self.headers["idempotency-key"]}), flush=True)
        if number.endswith("000"):
            self.close_connection = True
            return None
        self.answer(202)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


args = argparse.ArgumentParser()
args.add_argument("--port", type=int, default=0)
server = ThreadingHTTPServer(("127.0.0.1", args.parse_args().port), Gateway)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
# It ends with the test that started it, however that ends.
sys.stdin.read()
os._exit(0)
