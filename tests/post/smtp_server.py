"""A mail server for tests: real SMTP, real TLS, on loopback. Prints its port, then each mail it took as a JSON line.

The recipient's name says how it is treated: `nobody…` is refused for good, `later…` once for now, `slow…` after some
seconds the first time, which it tells when it begins to wait, `cut…` loses the connection at the first try.
"""

import argparse
import asyncio
import email
import email.policy
import json
import logging
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

SLOW_SECONDS = 4


class Post:
    """Decides about each recipient and prints what was taken."""

    def __init__(self):
        self.seen = set()

    def is_first(self, what):
        first = what not in self.seen
        self.seen.add(what)
        return first

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody"):
            return f"550 5.1.1 <{address}>: there is nobody of that name"
        if address.startswith("later") and self.is_first(address):
            return "451 4.7.1 come again later"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        address = envelope.rcpt_tos[0]
        if address.startswith("slow") and self.is_first(address):
            print(json.dumps({"begun": address}), flush=True)
            await asyncio.sleep(SLOW_SECONDS)
        if address.startswith("cut") and self.is_first(address):
            server.transport.abort()
            return "421 gone"
        mail = told(session, envelope) | {"tls": server.transport.get_extra_info("ssl_object") is not None}
        print(json.dumps(mail), flush=True)
        return "250 taken"


def told(session, envelope):
    mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
    leaves = [part for part in mail.walk() if not part.is_multipart()]
    return {
        "from": envelope.mail_from,
        "to": envelope.rcpt_tos,
        "user": session.auth_data.decode() if session.auth_data else None,
        "headers": [[name, str(value)] for name, value in mail.items()],
        "type": mail.get_content_type(),
        "parts": [{"type": part.get_content_type(), "text": part.get_content()} for part in leaves],
        "ascii": envelope.content.isascii(),
    }


def authenticator(account):
    def check(server, session, envelope, mechanism, data):
        good = f"{data.login.decode()}:{data.password.decode()}" == account
        return AuthResult(success=good, auth_data=data.login if good else None)

    return check


async def main():
    # Clients that break off are part of the tests, and no news.
    logging.disable()
    args = argparse.ArgumentParser()
    args.add_argument("--port", type=int, default=0)
    args.add_argument("--security", choices=["starttls", "tls", "none"], required=True)
    args.add_argument("--keys", required=True)
    args.add_argument("--account")
    args = args.parse_args()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(f"{args.keys}/server.pem", f"{args.keys}/server.key")
    options = {"hostname": "post.test", "enable_SMTPUTF8": True}
    if args.security == "starttls":
        options |= {"tls_context": context, "require_starttls": True}
    if args.account:
        options |= {"authenticator": authenticator(args.account), "auth_required": True}
        options |= {"auth_require_tls": args.security == "starttls"}
    post = Post()
    wrapped = context if args.security == "tls" else None
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(post, **options), "127.0.0.1", args.port, ssl=wrapped
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    # It ends with the test that started it, however that ends.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
