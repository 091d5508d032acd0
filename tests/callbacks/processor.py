"""Sends events as the payment processor does: built and signed by its own SDK.

Takes the webhook's address, the signing secret, the time and the member's number; prints one line of JSON an event:
what was sent and what was answered.
"""

import json
import sys
import urllib.error
import urllib.request

import stripe

address, secret, now, member_id = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def event(name, kind, thing):
    return stripe.Event.construct_from(
        {"id": name, "object": "event", "api_version": stripe.api_version, "created": now, "livemode": False,
         "pending_webhooks": 1, "type": kind, "data": {"object": thing}},
        None,
    )


def intent(status):
    return {"id": "pi_3SdkExample", "object": "payment_intent", "amount": 12000, "currency": "chf", "status": status,
            "metadata": {"member_id": member_id}}


def charge(back):
    return {"id": "ch_3SdkExample", "object": "charge", "amount": 12000, "amount_refunded": back, "currency": "chf",
            "refunded": back == 12000, "payment_intent": "pi_3SdkExample", "metadata": {}}


def send(sent, header):
    body = str(sent).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "Stripe-Signature": header(body.decode())}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=20) as answer:
            status, said = answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        status, said = refusal.code, refusal.read()
    print(json.dumps({"event": sent.type, "status": status, "said": json.loads(said)}), flush=True)


def signed(at=now, key=secret):
    def header(body):
        made = stripe.WebhookSignature.generate_signature_header(body, key, timestamp=at)
        # The SDK takes its own header, so what we are sent is what a receiver is meant to get.
        stripe.WebhookSignature.verify_header(body, made, key)
        return made
    return header


succeeded = event("evt_sdk_2", "payment_intent.succeeded", intent("succeeded"))
send(succeeded, signed())
send(event("evt_sdk_1", "payment_intent.created", intent("requires_payment_method")), signed())
send(succeeded, signed())
send(event("evt_sdk_3", "charge.refunded", charge(5000)), signed())
send(event("evt_sdk_4", "customer.created", {"id": "cus_1", "object": "customer"}), signed())
send(event("evt_sdk_5", "charge.refunded", charge(12000)), signed(at=now - 301))
send(event("evt_sdk_5", "charge.refunded", charge(12000)), signed(key="whsec_other"))
send(event("evt_sdk_5", "charge.refunded", charge(12000)), signed(at=now - 300))
