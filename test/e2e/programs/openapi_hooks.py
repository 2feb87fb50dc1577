"""What schemathesis needs to send NDJSON: bodies that are nearly events, and their bytes.

SCHEMATHESIS_HOOKS names this module; EVENT_LINES a file with an event of every kind on a line each.
"""

import gzip
import json
import os
import random

import schemathesis

with open(os.environ["EVENT_LINES"], encoding="utf-8") as file:
    EVENTS = [json.loads(line) for line in file if line.strip()]

ODD = [None, True, -1, 1e400, 10**30, "", "\u0000", "\ud800", "x" * 5000, [], {}, [[[[]]]], {"type": "x"}]


def mutated(event, text, chance):
    """The event with some fields replaced, left out or added, at any depth."""
    if isinstance(event, dict):
        changed = {}
        for name, value in event.items():
            roll = chance.random()
            if roll < 0.05:
                continue
            changed[name] = chance.choice([*ODD, text]) if roll < 0.15 else mutated(value, text, chance)
        if chance.random() < 0.1:
            changed[text] = chance.choice(ODD)
        return changed
    return event


def line(text, chance):
    roll = chance.random()
    if roll < 0.1:
        return text
    if roll < 0.2:
        return ""
    event = chance.choice(EVENTS)
    written = json.dumps(event if roll < 0.4 else mutated(event, text, chance))
    return written[: chance.randrange(len(written))] if roll > 0.95 else written


@schemathesis.hook
def map_body(context, body):
    """Most of what is made of a schema of text would be refused at its first letter."""
    text = body if isinstance(body, str) else json.dumps(body, default=str)
    chance = random.Random(text)
    lines = [line(text, chance) for _ in range(chance.randrange(1, 40))]
    return chance.choice(["\n", "\r\n"]).join(lines)


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    written = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    # What is said to be gzip is, but for some.
    said = (context.case.headers or {}).get("Content-Encoding")
    return gzip.compress(written) if said == "gzip" and len(written) % 7 != 0 else written
