"""A chain of real halls: bookings in fast motion while halls, NATS, PostgreSQL and the consumer are killed, the stream is deleted, the disk of
the database fills up, a member is erased, and a hall is put back to an earlier second. In the end the database must say what the
halls say, row by row, and what it cost is printed. Arguments: the program, the recipe's directory, a directory for all of it."""

import concurrent.futures
import csv
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time

from halls import Hall, free_port

PROGRAM, RECIPE, DIR = sys.argv[1:4]
HALLS = int(os.environ.get("TUNNELDESK_CHAIN_HALLS", "200"))
SECONDS = int(os.environ.get("TUNNELDESK_CHAIN_SECONDS", "600"))
SEED = int(os.environ.get("TUNNELDESK_SEED", "1"))
PAUSE = float(os.environ.get("TUNNELDESK_CHAIN_PAUSE", "0.05"))
CAUGHT_UP_SECONDS_MAX = 300
# A hall would take them for settings.
for name in [name for name in os.environ if name.startswith("TUNNELDESK_")]:
    del os.environ[name]

BOOKINGS = """SELECT site_id, booking_id, member_id, tunnel_id, extract(epoch FROM flight_date)::bigint, minutes_booked, ended,
              extract(epoch FROM arrived_at)::bigint FROM chain.bookings"""


class Chain:
    """The recipe, started as its README says."""

    def __init__(self):
        self.dir = f"{DIR}/chain"
        self.nats, self.postgres, self.monitor, self.metrics = (free_port() for _ in range(4))
        os.makedirs(f"{self.dir}/postgres")
        os.chmod(self.dir, 0o711)
        # A disk of its own, which can be full.
        self.has_disk = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g,mode=700", "tmpfs", f"{self.dir}/postgres"], capture_output=True).returncode == 0
        if self.has_disk:
            subprocess.run(["chown", "postgres", f"{self.dir}/postgres"], check=True)
        else:
            os.rmdir(f"{self.dir}/postgres")
        ports = {"CHAIN_NATS": self.nats, "CHAIN_POSTGRES": self.postgres, "CHAIN_MONITOR": self.monitor, "CHAIN_METRICS": self.metrics}
        self.process = subprocess.Popen([f"{RECIPE}/start", self.dir], env=os.environ | {name: str(port) for name, port in ports.items()},
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("The chain runs"), f"the recipe does not start: {line}"
        self.lock = threading.Lock()

    def enlist(self, site_id):
        with self.lock:
            subprocess.run([f"{RECIPE}/hall", self.dir, site_id], check=True, stdout=subprocess.DEVNULL)

    def pid(self, name):
        return int(open(f"{self.dir}/{name}.pid").read())

    def kill(self, name):
        how = signal.SIGQUIT if name == "postgres" else signal.SIGKILL
        os.kill(self.pid(name), how)

    def delete_stream(self):
        script = """import asyncio, nats, ssl, sys
async def main():
    user, _, word = open(sys.argv[1] + "/consumer.secret").read().strip().partition(":")
    server = await nats.connect("tls://localhost:" + sys.argv[2], user=user, password=word, tls=ssl.create_default_context(cafile=sys.argv[1] + "/authority.pem"))
    await server.jetstream().delete_stream("TUNNELDESK")
    await server.close()
asyncio.run(main())"""
        return subprocess.run([f"{self.dir}/room/bin/python", "-c", script, self.dir, str(self.nats)], capture_output=True).returncode == 0

    def fill_disk(self, seconds):
        # As the database, because root may write more than there is room.
        path = f"{self.dir}/postgres/filler"
        subprocess.run(["dd", "if=/dev/zero", f"of={path}", "bs=1M"], capture_output=True)
        time.sleep(seconds)
        os.remove(path)

    def rows(self, sql):
        words = ["runuser", "-u", "postgres", "--", "psql", "--csv", "--tuples-only", "--no-psqlrc", f"--host={self.dir}/postgres",
                 f"--port={self.postgres}", "--dbname=chain", "--command", sql]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(done.stderr)
        return list(csv.reader(io.StringIO(done.stdout)))

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        if self.has_disk:
            subprocess.run(["umount", f"{self.dir}/postgres"])


class Run:
    def __init__(self):
        self.random, self.tally, self.ends = random.Random(SEED), {}, threading.Event()
        self.halls, self.chain = [], Chain()

    def open(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            make = lambda n: Hall(n, f"{DIR}/hall{n}", PROGRAM, self.chain, self.chain.enlist)
            self.halls = list(pool.map(make, range(HALLS)))
        self.locks = [threading.Lock() for _ in self.halls]

    def count(self, what, by=1):
        self.tally[what] = self.tally.get(what, 0) + by

    def book(self, part):
        """Bookings at some of the halls, one after the other."""
        dice = random.Random(part)
        while not self.ends.is_set():
            hall = self.halls[dice.randrange(part, len(self.halls), 4) if part < len(self.halls) else 0]
            with self.locks[hall.number]:
                try:
                    status = hall.step()
                    self.count(f"answers {status}")
                except OSError:
                    self.count("no answer")
            time.sleep(PAUSE)

    def kill_hall(self):
        hall = self.random.choice(self.halls)
        hall.process.send_signal(signal.SIGKILL)
        with self.locks[hall.number]:
            hall.process.wait()
            hall.start()

    def restore(self):
        hall = self.random.choice([hall for hall in self.halls if hall.off_site] or self.halls)
        moment = int(time.time()) - 1
        time.sleep(4)
        with self.locks[hall.number]:
            # What is gone was upstream already.
            for _ in range(10):
                hall.step()
            until = time.monotonic() + 90
            while subprocess.run([PROGRAM, "sync", "--config", hall.settings], capture_output=True).returncode != 0:
                assert time.monotonic() < until, "nothing goes upstream"
                time.sleep(1)
            time.sleep(2)
            hall.restore(moment)
            hall.open.clear()

    def erase(self):
        hall = self.random.choice(self.halls)
        with self.locks[hall.number]:
            member = self.random.choice(list(hall.pins))
            name = hall.names.pop(member, None)
            if name and len(hall.pins) > 2:
                hall.type("member", "erase", name, "--yes")
                del hall.pins[member]
                hall.open = {number: sent for number, sent in hall.open.items() if sent["member_id"] != member}

    def storm(self):
        once = [("a full disk", lambda: self.chain.fill_disk(8))] if self.chain.has_disk else []
        once += [("a deleted stream", self.chain.delete_stream), ("a restored hall", self.restore), ("an erased member", self.erase),
                 ("a kill of PostgreSQL", lambda: self.chain.kill("postgres"))]
        usual = [("a kill of a hall", self.kill_hall), ("a kill of NATS", lambda: self.chain.kill("nats")),
                 ("a kill of the consumer", lambda: self.chain.kill("consumer"))]
        until, step = time.monotonic() + SECONDS, 0
        while time.monotonic() < until or step < 2 * len(once):
            time.sleep(max(0.2, SECONDS / 120))
            name, act = once[step // 2 % len(once)] if step % 2 == 0 else self.random.choice(usual)
            print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
            act()
            self.count(name)
            step += 1

    def differences(self):
        theirs = {hall.site_id: (set(), set()) for hall in self.halls}
        number = lambda text: int(text) if text else None
        for site, booking, member, tunnel, date, minutes, ended, arrived in self.chain.rows(BOOKINGS):
            theirs[site][0].add((int(booking), number(member), int(tunnel), int(date), int(minutes), ended or None, number(arrived)))
        for site, seq in self.chain.rows("SELECT site_id, seq FROM chain.history WHERE NOT void"):
            theirs[site][1].add(int(seq))
        found = []
        for hall in self.halls:
            for what, own, their in zip(("bookings", "rows"), hall.own(), theirs[hall.site_id]):
                if own != their:
                    found.append(f"hall {hall.number}, {what}: {len(own)} there, {len(their)} here; only there {sorted(own - their, key=str)[:2]}, only here {sorted(their - own, key=str)[:2]}")
        return found

    def settle(self):
        begun, found = time.monotonic(), ["nothing was compared"]
        while found and time.monotonic() - begun < CAUGHT_UP_SECONDS_MAX:
            for hall in self.halls:
                # A hall without new rows learns that rows are missing once it asks.
                subprocess.run([PROGRAM, "sync", "--config", hall.settings], capture_output=True, timeout=120)
            time.sleep(3)
            try:
                found = self.differences()
            except OSError as error:
                found = [str(error)]
        return found, time.monotonic() - begun

    def judge(self):
        found, seconds = self.settle()
        sums = self.chain.rows("SELECT count(*), coalesce(sum(minutes_booked) FILTER (WHERE ended IS NULL), 0) FROM chain.bookings")[0]
        weeks = self.chain.rows("SELECT sum(bookings), sum(minutes) FROM chain.weeks")[0]
        if sums != weeks:
            found.append(f"the weeks say {weeks}, the bookings {sums}")
        for refused in self.chain.rows("SELECT subject, reason FROM chain.refused LIMIT 5"):
            found.append(f"passed over: {refused}")
        if self.chain.rows("SELECT count(*) FROM chain.history h WHERE h::text ILIKE '%visitor%'") != [["0"]]:
            found.append("the database names a person")
        print(f"{HALLS} halls, {sums[0]} bookings with {sums[1]} minutes; caught up after {seconds:.0f} s; {dict(sorted(self.tally.items()))}")
        return found

    def trespass(self):
        """What a hall's key and a reader's role must not open."""
        found, (hall, other) = [], self.halls[:2]
        for table in ("history", "bookings", "sites"):
            try:
                self.chain.rows(f"SET ROLE chain_reader; SELECT count(*) FROM chain.{table}")
                found.append(f"a reader sees the table {table}")
            except OSError as error:
                assert "permission denied" in str(error), error
        self.chain.rows("SET ROLE chain_reader; SELECT count(*) FROM chain.weeks")
        # A booking that waits for somebody who sends it.
        hall.stop()
        hall.start(TUNNELDESK_SYNC_SCHEDULED="false")
        while hall.json("sync", "--status")["status"]["waiting_rows"] == 0:
            hall.step()
        hall.stop()
        words = [PROGRAM, "sync", "--config", hall.settings]
        foreign = os.environ | {"TUNNELDESK_SYNC_CREDENTIALS_FILE": f"{self.chain.dir}/halls/{other.site_id}.seed"}
        if subprocess.run(words, env=foreign, capture_output=True, timeout=120).returncode == 0:
            found.append("a hall publishes with the key of another")
        subprocess.run(words, check=True, capture_output=True, timeout=120)
        hall.start()
        return found

    def cost(self):
        rows, size, bytes_in, batches = (float(n) for n in self.chain.rows("""SELECT (SELECT count(*) FROM chain.history),
            (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'chain'::regnamespace AND relkind = 'r'),
            (SELECT sum(bytes) FROM chain.sites), (SELECT sum(batches) FROM chain.sites)""")[0])
        usage = [hall.resident() for hall in self.halls if hall.process.poll() is None]
        print(f"a hall: {sum(kilobytes for kilobytes, _ in usage) / len(usage) / 1024:.1f} MiB resident, {sum(s for _, s in usage) / len(usage):.2f} s of processor since its start")
        print(f"a row: {bytes_in / rows:.0f} bytes on the wire in batches of {rows / batches:.1f}, {size / rows:.0f} bytes in the database")
        for name in ("nats", "consumer"):
            pid = self.chain.pid(name)
            status, fields = open(f"/proc/{pid}/status").read(), open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            print(f"{name}: {int(status.split('VmRSS:')[1].split()[0]) / 1024:.0f} MiB, {seconds:.2f} s of processor since its last kill")

    def replay(self):
        """How fast the consumer takes all that the stream has, into an empty database."""
        rows = int(self.chain.rows("SELECT count(*) FROM chain.history")[0][0])
        self.chain.rows("TRUNCATE chain.history, chain.bookings, chain.sites, chain.streams")
        self.chain.kill("consumer")
        begun = time.monotonic()
        while (found := self.settle())[0] and time.monotonic() - begun < CAUGHT_UP_SECONDS_MAX:
            pass
        print(f"an emptied database has all {rows} rows again after {time.monotonic() - begun:.0f} s")
        return [f"after an emptied database: {what}" for what in found[0]]

    def go(self):
        self.open()
        threads = [threading.Thread(target=self.book, args=(part,), daemon=True) for part in range(4)]
        for thread in threads:
            thread.start()
        self.storm()
        self.ends.set()
        for thread in threads:
            thread.join()
        found = self.judge()
        self.cost()
        found += self.trespass()
        found += self.replay()
        return found

    def end(self):
        for hall in self.halls:
            hall.remove()
        self.chain.stop()


run = Run()
try:
    found = run.go()
finally:
    run.end()
for what in found:
    print(f"DIFFERENCE {what}")
print(f"{len(found)} differences")
sys.exit(1 if found else 0)
