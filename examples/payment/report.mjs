// A payment of 900 that a person approves, edits, or rejects. Each program of this folder prints one line
// of JSON for each decision: what spans and audit rows say, and whether a recording makes the same ones again.
import { liveAndReplayed } from "../live-and-replayed.mjs";

/** The possible answers of Eve, who is asked. */
export const DECISIONS = ["approve", "edit", "reject"];

/**
 * @param decisions those that the framework knows.
 * @param pay asks for the payment in a first run, and continues with the decision in a second one.
 *   It resolves when all events were sent.
 */
export async function report(decisions, pay) {
  for (const decision of decisions) {
    const { isIdentical, isVerified, rows, spans } = await liveAndReplayed(
      (sink) => pay(decision, sink),
      // Names are personal data, so spans have them only with this option.
      { approvalPerson: true },
    );
    const line = { decision, ...seen(spans, rows), isVerified, isIdentical };
    console.log(JSON.stringify(line));
  }
}

function seen(spans, rows) {
  // A run's span ends when its rows are stored, so the order of the ends says nothing.
  const runs = spans
    .filter(({ name }) => name.startsWith("invoke_agent"))
    .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  const calls = spans.filter(({ name }) => name.startsWith("execute_tool"));
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return {
    runs: runs.map((run) => runOf(run, nameOf)),
    calls: calls.map(callOf),
    rows: rows.map(({ event, span_id }) => ({ span: nameOf.get(span_id), ...rowOf(event) })),
  };
}

function runOf({ attributes, links, status }, nameOf) {
  return {
    outcome: attributes["entelix.run.outcome"],
    waitsFor: attributes["entelix.interruption.tool_use_id"] ?? null,
    continues: links.map(({ context }) => nameOf.get(context.spanId)),
    isError: status.code === 2,
  };
}

function callOf({ attributes, endTime, startTime, status }) {
  return {
    id: attributes["gen_ai.tool.call.id"],
    outcome: attributes["entelix.tool.outcome"],
    input: attributes["gen_ai.tool.call.arguments"] ?? null,
    result: attributes["gen_ai.tool.call.result"] ?? null,
    approval: attributes["entelix.approval.outcome"],
    by: attributes["entelix.approval.by"],
    person: attributes["entelix.approval.person"],
    reason: attributes["entelix.approval.reason"] ?? null,
    proposed: attributes["entelix.approval.proposed_input"] ?? null,
    isWaitKnown: attributes["entelix.approval.wait_ms"] >= 0,
    isWithoutLength: String(startTime) === String(endTime),
    isError: status.code === 2,
  };
}

/** What an auditor reads, without times and the IDs of runs. */
function rowOf({ kind, ...event }) {
  switch (kind) {
    case "entelix.run_started": {
      // A continued run has an ID of its own, or is the next segment of the paused one.
      const continues = event.resumed_from_run_id !== undefined || event.segment === 2;
      return { kind, agent: event.agent, asked: askedIn(event.input), continues };
    }
    case "interrupt": {
      const { tool_use_id, type } = event.interruption_kind;
      return { kind, type, call: tool_use_id };
    }
    case "entelix.tool_call_decided": {
      const { by, decision, name, person, proposed_input, reason, tool_use_id, wait_ms } = event;
      return {
        kind,
        call: tool_use_id,
        tool: name,
        decision,
        by,
        person,
        reason: reason ?? null,
        proposed: proposed_input ?? null,
        isWaitKnown: wait_ms >= 0,
      };
    }
    case "tool_call":
      return { kind, call: event.id, tool: event.name, input: event.input };
    case "tool_result":
      return { kind, call: event.tool_use_id, content: event.content, isError: event.is_error };
    case "entelix.run_ended": {
      const { approved_calls: approved, denied_calls: denied, input, outcome, tool_calls } = event;
      // Where the framework says what was asked at the end only.
      const question = input === undefined ? {} : { asked: askedIn(input) };
      return { kind, outcome, calls: tool_calls, approved, denied, ...question };
    }
    default:
      return { kind };
  }
}

/** The user's words. A resumed run was asked nothing new. */
function askedIn(input) {
  return input?.role === "user" ? input.parts[0].content : null;
}
