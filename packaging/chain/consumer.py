#!/usr/bin/env python3
"""Takes the batches of all halls out of a JetStream of NATS into PostgreSQL.

How far it is stands in the database and is written with the rows, so that a kill between the two loses and repeats nothing. What
comes twice is stored once. Where rows of a hall are missing, because a stream was lost or dropped them, it answers on the hall's
own subject how far it is, and the hall sends everything behind that again. Whatever fails is tried again.
"""

import argparse
import asyncio
import gzip
import http.server
import json
import logging
import ssl
import threading
import zlib

import nats
import nats.errors
import psycopg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StreamConfig
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError

UNPACKED_BYTES_MAX = 32 * 1024 * 1024
MESSAGES_MAX = 100
IDLE_SECONDS = 5
DAY = 86_400
log = logging.getLogger("chain")


class NoBatch(Exception):
    """A message that is no batch of the hall in whose name it came."""


def unpacked(message, place):
    """The batch in a message, as text for the database, and its site. A hall may publish to its own subject alone."""
    try:
        unzip = zlib.decompressobj(31)
        text = unzip.decompress(message.data, UNPACKED_BYTES_MAX)
        if not unzip.eof:
            raise NoBatch("it is cut off, or too large")
        batch = json.loads(text)
        site, after = batch["site_id"], batch["after"]
    except (zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoBatch(f"it is no batch: {error}"[:500]) from None
    if site != message.subject.split(".")[place]:
        raise NoBatch("it came on the subject of another hall")
    if not isinstance(after, int):
        raise NoBatch("it is no batch: after is no number")
    return text.decode(), site, after


async def store(db, stream, place, messages):
    """Stores messages and how far the stream is, in one transaction. Returns the halls of which rows are missing."""
    missing = {}
    async with db.transaction():
        for message in messages:
            seq = message.metadata.sequence.stream
            try:
                text, site, after = unpacked(message, place)
                async with db.transaction():
                    taken = await db.execute("SELECT last, moment FROM take(%s, %s)", (text, len(message.data)))
                    last, moment = await taken.fetchone()
                missing.pop(site, None)
                if last < after:
                    missing[site] = (message.subject, seq, last, moment)
            except (NoBatch, psycopg.DataError, psycopg.IntegrityError) as reason:
                log.error("message %s on %s is passed over: %s", seq, message.subject, reason)
                await db.execute("INSERT INTO refused (stream, seq, subject, reason) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                                 (stream, seq, message.subject, str(reason)[:500]))
        await db.execute("UPDATE streams SET seq = %s, at = now() WHERE stream = %s", (seq, stream))
    return missing


async def ask_for_rows(stream, subject, site, last, moment, newest):
    """Says on a hall's subject up to which row its rows are here; it sends those behind. Nothing, where it has sent more meanwhile."""
    body = json.dumps({"site_id": site, "after": last, "last": last, "history": [], "bookings": []})
    headers = {"Content-Encoding": "gzip", "Tunneldesk-Last-Seq": str(last), "Nats-Expected-Last-Subject-Sequence": str(newest)}
    if moment is not None:
        headers["Tunneldesk-Last-At"] = str(moment)
    try:
        await stream.publish(subject, gzip.compress(body.encode(), mtime=0), headers=headers)
        log.warning("rows of %s behind %s are missing; it is asked for them", site, last)
    except JetStreamError as error:
        log.info("%s has sent more: %s", site, error)


async def begin(jetstream, db, args):
    """Makes the stream if there is none, and returns how far the database is in it."""
    subjects = [args.subject.replace("{site_id}", "*")]
    try:
        info = await jetstream.stream_info(args.stream)
    except NotFoundError:
        info = await jetstream.add_stream(StreamConfig(
            name=args.stream, subjects=subjects, max_age=args.keep_days * DAY, max_bytes=args.keep_bytes, num_replicas=args.replicas))
        log.warning("stream %s is made", args.stream)
        for site, last, moment in await (await db.execute("SELECT site_id, last_seq, extract(epoch FROM last_at)::bigint FROM sites")).fetchall():
            await ask_for_rows(jetstream, args.subject.replace("{site_id}", site), site, last, moment, 0)
    created = str(info.created)
    known = await (await db.execute("SELECT seq FROM streams WHERE stream = %s AND created = %s", (args.stream, created))).fetchone()
    if known is None:
        await db.execute("INSERT INTO streams (stream, created, seq) VALUES (%s, %s, 0) "
                         "ON CONFLICT (stream) DO UPDATE SET (created, seq) = (excluded.created, 0)", (args.stream, created))
    return known[0] if known else 0


async def tell(error):
    log.debug("%s", error)


async def follow(args, page):
    """Takes batches until something fails."""
    security = ssl.create_default_context(cafile=args.ca) if args.ca else None
    secret = open(args.credentials).read().strip().partition(":") if args.credentials else ("", "", "")
    server = await nats.connect(args.nats, tls=security, user=secret[0] or None, password=secret[2] or None, name="tunneldesk-chain",
                                allow_reconnect=False, connect_timeout=10, error_cb=tell)
    db = await psycopg.AsyncConnection.connect(args.database, autocommit=True, connect_timeout=10)
    try:
        jetstream, place = server.jetstream(timeout=10), args.subject.split(".").index("{site_id}")
        seq = await begin(jetstream, db, args)
        config = ConsumerConfig(deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=seq + 1, ack_policy=AckPolicy.NONE,
                                inactive_threshold=60, mem_storage=True)
        messages = await jetstream.pull_subscribe(args.subject.replace("{site_id}", "*"), stream=args.stream, config=config)
        log.info("goes on behind message %s of %s", seq, args.stream)
        while True:
            try:
                came = await messages.fetch(MESSAGES_MAX, timeout=IDLE_SECONDS)
            except nats.errors.TimeoutError:
                came = []
            if came:
                for site, (subject, newest, last, moment) in (await store(db, args.stream, place, came)).items():
                    await ask_for_rows(jetstream, subject, site, last, moment, newest)
            if len(came) < MESSAGES_MAX:
                pending = (await messages.consumer_info()).num_pending
                page["text"], = await (await db.execute("SELECT metrics(%s)", (pending,))).fetchone()
    finally:
        page["text"] = ""
        await db.close()
        await server.close()


def serve(address, page):
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = page["text"].encode()
            self.send_response(200 if text else 503)
            self.send_header("content-type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        log_message = lambda self, *words: None

    host, _, port = address.rpartition(":")
    threading.Thread(target=http.server.ThreadingHTTPServer((host, int(port)), Page).serve_forever, daemon=True).start()


async def main(args):
    page, wait = {"text": ""}, 1
    if args.metrics:
        serve(args.metrics, page)
    while True:
        begun = asyncio.get_running_loop().time()
        try:
            await follow(args, page)
        except (OSError, TimeoutError, nats.errors.Error, psycopg.Error) as error:
            log.error("%s: %s", type(error).__name__, str(error).strip() or "no reason given")
        wait = 1 if asyncio.get_running_loop().time() - begun > 60 else min(2 * wait, 30)
        await asyncio.sleep(wait)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--nats", default="nats://127.0.0.1:4222", help="the server: nats:// or tls://")
    parser.add_argument("--credentials", help="a file with USER:PASSWORD")
    parser.add_argument("--ca", help="PEM: the authority of the server's certificate, if it has one of its own")
    parser.add_argument("--database", default="dbname=chain user=chain_writer", help="the connection, in libpq's words")
    parser.add_argument("--stream", default="TUNNELDESK", help="made if there is none")
    parser.add_argument("--subject", default="tunneldesk.{site_id}.history", help="sync.subject of the halls")
    parser.add_argument("--keep-days", type=int, default=30, help="of a stream that is made")
    parser.add_argument("--keep-bytes", type=int, default=8 << 30, help="of a stream that is made")
    parser.add_argument("--replicas", type=int, default=1, help="of a stream that is made; 3 in a cluster")
    parser.add_argument("--metrics", default="127.0.0.1:9465", help="where Prometheus finds /metrics; empty: nowhere")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    asyncio.run(main(args))
