"""Client of a tunneldesk site. `Client` has a method for each operation, and `events` hears what happens as it happens."""

from .client import Client, Event, Lost, Partner, Refused
from .operations import Code
from .webhooks import Forged, verify

__all__ = ["Client", "Code", "Event", "Forged", "Lost", "Partner", "Refused", "verify"]
__version__ = "1.0"
