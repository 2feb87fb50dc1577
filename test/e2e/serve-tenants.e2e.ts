import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { v7 } from "uuid";
import { expect, it } from "vitest";
import { RunIds } from "../../src/entries/context.ts";
import { stringifyExact } from "../../src/entries/events.ts";
import { formatRfc3339 } from "../../src/events/door.ts";
import { OtlpServer, type WireSpan } from "../support/otlp-server.ts";
import { RunEvents, second } from "../support/run-events.ts";
import { ServeProcess } from "./support/serve-process.ts";
import { sendLines } from "./support/serve-sender.ts";
import { untilHolds } from "./support/until.ts";

/** A trace of the victim's own, from outside. */
const FOREIGN_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

function line(at: number, event: object, envelope: object = {}): string {
  const timestamp = formatRfc3339(second(at));
  return stringifyExact({ event_id: v7(), timestamp, ...event, ...envelope });
}

function tokensFile(): string {
  const entry = (token: string, tenant: string, more: object = {}) => {
    return { tenant, sha256: createHash("sha256").update(token).digest("hex"), ...more };
  };
  return JSON.stringify({
    tokens: [
      entry("victim", "acme"),
      entry("attacker", "globex"),
      entry("trusted", "initech", { trusted: true }),
    ],
  });
}

async function serveTo(receiver: OtlpServer): Promise<ServeProcess> {
  return ServeProcess.start(async (folder) => {
    await writeFile(`${folder}/tokens.json`, tokensFile());
    const to = ["--endpoint", receiver.url, "--service-name", "tenants"];
    return { args: ["--tokens", `${folder}/tokens.json`, ...to] };
  });
}

function ofTenant(spans: readonly WireSpan[], tenant: string): WireSpan[] {
  return spans.filter((span) => span.attributes["entelix.tenant_id"] === tenant);
}

it("keeps an attacker out of a victim's lines, runs and traces, also after kill -9", async () => {
  await using receiver = await OtlpServer.start();
  await using serve = await serveTo(receiver);
  const victim = new RunEvents(v7(), "acme");
  const opened = await sendLines(serve.url, [line(0, victim.started("bank"))], { token: "victim" });
  expect(opened.results).toEqual([{ line: 1, status: "accepted" }]);

  // As the victim, by name: each line is refused.
  const asVictim = [
    line(1, victim.toolStart("call_1")),
    line(2, victim.complete()),
    line(2, { type: "brand_new", run_id: victim.run_id, tenant_id: "acme" }),
  ];
  const refused = await sendLines(serve.url, asVictim, { token: "attacker" });
  expect(refused.results.map((each) => [each.status, each.field])).toEqual([
    ["rejected", "tenant_id"],
    ["rejected", "tenant_id"],
    ["rejected", "type"],
  ]);
  for (const token of ["nobody", undefined]) {
    const sent = await sendLines(serve.url, asVictim, token === undefined ? {} : { token });
    expect([sent.status, sent.code, sent.results]).toEqual([401, "token", []]);
  }

  // As itself, with the victim's ids wherever an id can stand.
  const inside = new RunEvents(victim.run_id, "globex");
  const child = new RunEvents(v7(), "globex");
  const below = new RunEvents(v7(), "globex");
  const attack = [
    line(1, inside.toolStart("call_1")),
    line(1, inside.complete()),
    line(1, child.started("spy", victim.run_id)),
    line(1, below.started("spy"), {
      root_run_id: victim.run_id,
      thread_id: victim.run_id,
      traceparent: `00-${victim.run_id.replaceAll("-", "")}-00f067aa0ba902b7-01`,
    }),
    line(3, below.complete(), { root_run_id: victim.run_id }),
  ];
  const taken = await sendLines(serve.url, attack, { token: "attacker" });
  expect(taken.results.map(({ status }) => status)).toEqual(attack.map(() => "accepted"));

  await serve.crash();
  const later = [
    line(4, inside.started("spy")),
    line(5, child.complete()),
    line(6, inside.complete()),
  ];
  const after = await sendLines(serve.url, later, { token: "attacker" });
  expect(after.results.map(({ status }) => status)).toEqual(later.map(() => "accepted"));
  await sendLines(
    serve.url,
    [
      line(7, victim.toolStart("call_1")),
      line(8, victim.toolComplete("call_1")),
      line(9, victim.complete()),
    ],
    { token: "victim" },
  );
  await sendLines(
    serve.url,
    [
      line(10, new RunEvents(v7(), "acme").started("bank"), {
        traceparent: `00-${FOREIGN_TRACE}-00f067aa0ba902b7-01`,
      }),
    ],
    { token: "victim" },
  );

  await untilHolds("all spans are there", () => {
    expect(ofTenant(receiver.spans, "acme").length).toBe(2);
    // The run under the victim's id, its call, and the two that name it as parent and as root.
    expect(ofTenant(receiver.spans, "globex").length).toBe(4);
  });
  const trace = victim.run_id.replaceAll("-", "");
  const [acme, globex] = ["acme", "globex"].map((tenant) => ofTenant(receiver.spans, tenant));
  expect(acme?.map(({ traceId }) => traceId)).toEqual([trace, trace]);
  expect(acme?.map(({ name }) => name).toSorted()).toEqual([
    "execute_tool fetch",
    "invoke_agent bank",
  ]);
  // The victim's run is as it would be without the attack.
  const run = acme?.find(({ name }) => name === "invoke_agent bank");
  expect([run?.startTimeUnixNano, run?.endTimeUnixNano]).toEqual(
    [second(0), second(9)].map(([s, ns]) => String(BigInt(s) * 1_000_000_000n + BigInt(ns))),
  );
  expect(globex?.filter(({ traceId }) => traceId === trace)).toEqual([]);
  const { traceId } = RunIds.hashed("globex", victim.run_id);
  expect(globex?.filter((span) => span.traceId === traceId).length).toBeGreaterThanOrEqual(2);
  const ids = new Set(acme?.map(({ spanId }) => spanId));
  expect(globex?.filter(({ parentSpanId = "" }) => ids.has(parentSpanId))).toEqual([]);
});

it("follows a traceparent only of a sender that is trusted", async () => {
  await using receiver = await OtlpServer.start();
  await using serve = await serveTo(receiver);
  const traceparent = `00-${FOREIGN_TRACE}-00f067aa0ba902b7-01`;
  for (const [token, tenant] of [
    ["victim", "acme"],
    ["trusted", "initech"],
  ] as const) {
    const run = new RunEvents(v7(), tenant);
    const lines = [
      line(0, run.started("a"), { traceparent }),
      line(1, run.complete(), { traceparent }),
    ];
    await sendLines(serve.url, lines, { token });
  }
  await untilHolds("both spans are there", () => expect(receiver.spans.length).toBe(2));
  const [plain] = ofTenant(receiver.spans, "acme");
  const [trusted] = ofTenant(receiver.spans, "initech");
  expect(trusted?.traceId).toBe(FOREIGN_TRACE);
  expect(trusted?.parentSpanId).toBe("00f067aa0ba902b7");
  expect(plain?.traceId).not.toBe(FOREIGN_TRACE);
  expect(plain?.parentSpanId).toBeUndefined();
});
