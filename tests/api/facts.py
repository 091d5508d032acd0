"""Writes down what the demo site holds, for requests that shall find something: numbers of members and tunnels."""

import json
import os
import pathlib
import sys

facts = json.load(open(os.environ["TUNNELDESK_DEMO"]))
directory = pathlib.Path(sys.argv[1])
members = [str(member["member_id"]) for member in facts["members"]]
(directory / "members.txt").write_text("".join(f'"{member}"\n' for member in members[:4]))
(directory / "tunnels.txt").write_text(f'"{facts["tunnel_id"]}"\n')
