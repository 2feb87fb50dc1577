"""A run of an agent with one tool call, told by the ten lines beside this: python3 agent.py TENANT"""

import json
import sys
import uuid

from entelix_otel import event, send

run = {"run_id": str(uuid.uuid4()), "tenant_id": sys.argv[1]}
call = {**run, "tool_use_id": "call_1", "tool": "lookup_order"}
results = send(event("started", agent="support", parent_run_id=None, **run))
results += send(event("tool_start", input={"order": 7}, **call))
# … the tool does its work …
results += send(
    event("tool_complete", duration_ms=12, output={"total": "19.90"}, **call),
    event("complete", state=None, usage=None, **run),
)
print(json.dumps({"run_id": run["run_id"], "results": [result["status"] for result in results]}))
