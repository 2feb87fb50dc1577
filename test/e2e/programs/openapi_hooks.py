"""What schemathesis needs to send NDJSON: bodies that are nearly events, and their bytes.

SCHEMATHESIS_HOOKS names this module; EVENT_LINES a file with an event of every kind on a line each.
"""

import gzip
import json
import os
import random

import schemathesis

def as_sent(golden):
    """A golden event as a line: some have no time, and stand beside their envelope."""
    line = {"timestamp": "2026-04-29T12:00:00Z", "session_id": "s1", **golden.get("envelope", {}), **golden["event"]}
    return golden["source"].split()[0], line


with open(os.environ["EVENT_LINES"], encoding="utf-8") as file:
    LINES = [as_sent(json.loads(line)) for line in file if line.strip()]

# In one request the lines of other runtimes than the first's are refused: few bodies have any.
RUNTIMES = [[line for source, line in LINES if source == name] for name in sorted({source for source, _ in LINES})]
ALL = [line for _, line in LINES]

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


def line(text, events, chance):
    roll = chance.random()
    if roll < 0.1:
        return text
    if roll < 0.2:
        return ""
    event = chance.choice(events)
    written = json.dumps(event if roll < 0.55 else mutated(event, text, chance))
    return written[: chance.randrange(len(written))] if roll > 0.95 else written


@schemathesis.hook
def map_body(context, body):
    """Most of what is made of a schema of text would be refused at its first letter."""
    text = body if isinstance(body, str) else json.dumps(body, default=str)
    chance = random.Random(text)
    events = chance.choice(RUNTIMES) if chance.random() < 0.8 else ALL
    lines = [line(text, events, chance) for _ in range(chance.randrange(1, 40))]
    return chance.choice(["\n", "\r\n"]).join(lines)


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    written = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    # What is said to be gzip is, but for some.
    said = (context.case.headers or {}).get("Content-Encoding")
    return gzip.compress(written) if said == "gzip" and len(written) % 7 != 0 else written
