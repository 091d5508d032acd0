"""A server with a demo site on a Saturday at two: 300 arrivals today, of which a third are checked in."""

import random
import re
import sqlite3
import subprocess
import time

ARRIVALS = 300
MEMBERS = 1_200
ENTRIES = 30_000
HOUR, DAY = 3_600, 86_400
# At two in the afternoon no arrival of the test falls on another day.
HOUR_NOW = 14
PASSWORD = "fly-high-land-soft"


class Site:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.settings = f"{directory}/tunneldesk.toml"
        with open(self.settings, "w") as settings:
            settings.write('metrics_listen = ""\n[membership]\nyearly_fee_cents = 4900\ncurrency = "CHF"\n[tunnel]\nminutes_per_quarter_hour = 120\n')
        self.data = f"{directory}/data"
        made = [program, "demo", "--config", self.settings, "--data", self.data, "--members", str(MEMBERS), "--entries", str(ENTRIES)]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        self.fill()

    def ask(self, sql, *values):
        with sqlite3.connect(f"file:{self.data}/tunneldesk.sqlite?mode=ro", uri=True) as conn:
            return conn.execute(sql, values).fetchall()

    def fill(self):
        """The time zone in which it is two in the afternoon now."""
        chosen, now = random.Random(1), int(time.time())
        east = (HOUR_NOW - now // HOUR % 24 + 11) % 24 - 11
        midnight = (now + east * HOUR) // DAY * DAY - east * HOUR
        conn = sqlite3.connect(f"{self.data}/tunneldesk.sqlite")
        conn.execute("UPDATE tunnels SET time_zone = ?", [f"Etc/GMT{-east:+d}"])
        conn.execute("UPDATE bookings SET flight_date = flight_date - 3 * 86400 WHERE flight_date >= ? AND arrived_at IS NULL", [midnight])
        members = [row[0] for row in conn.execute("SELECT member_id FROM members WHERE role = 'member' AND banned_at IS NULL ORDER BY member_id")]
        partner, tunnel = conn.execute("SELECT min(partner_id), (SELECT min(tunnel_id) FROM tunnels) FROM partners").fetchone()
        for place, member in enumerate(chosen.sample(members, ARRIVALS)):
            at = midnight + 10 * HOUR + place * 12 * HOUR // ARRIVALS // 300 * 300
            arrived = at - chosen.randint(60, 1500) if at < now - 600 and chosen.random() < 0.93 else None
            values = [partner, member, at, chosen.choice([4, 10, 10, 15]), tunnel, now - DAY, now - DAY, arrived, 9_000_000 + place]
            conn.execute("INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at, arrived_at,"
                         " registration_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            if place % 15 == 0:
                conn.execute("UPDATE members SET paid_until = ? WHERE member_id = ?", [now - 40 * DAY, member])
        conn.commit()
        conn.close()

    def serve(self):
        """Origin of the server."""
        command = [self.program, "serve", "--config", self.settings, "--data", self.data, "--listen", "127.0.0.1:0"]
        with open(f"{self.directory}/log", "w") as log:
            self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.server.stdout:
            if found := re.search(r"http://\S+:(\d+)", line):
                return f"http://localhost:{found[1]}"
        raise AssertionError("the server ended; its log: " + open(f"{self.directory}/log").read()[-2_000:])

    def close(self):
        if hasattr(self, "server"):
            self.server.terminate()
            self.server.wait(30)
