"""Verifies webhooks with the standard's own library: one request a line as JSON, one verdict a line.

The clock of the library is the site's at the moment of the request, which the line has as `now`.
"""

import json
import sys
from datetime import datetime, timezone

import standardwebhooks.webhooks as library


class Clock(datetime):
    moment = 0

    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(cls.moment, tz=tz or timezone.utc)


library.datetime = Clock
for line in sys.stdin:
    request = json.loads(line)
    Clock.moment = request["now"]
    try:
        library.Webhook(request["secret"]).verify(request["body"], request["headers"])
        print("verified")
    except library.WebhookVerificationError as error:
        print(f"refused: {error}")
