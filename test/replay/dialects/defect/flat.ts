import type { Signal } from "../../../../src/events/door.ts";

/** What a signal says beside run and time, with the end of a call as what is known of it. */
export function flat(signal: Signal): Record<string, unknown> {
  const { at: _at, runId: _run, signal: _signal, tenantId: _tenant, ...said } = signal;
  if (signal.signal !== "call_closes" && signal.signal !== "model_closes") return said;
  const { attributes, ...end } = signal.end;
  const { end: _end, ...rest } = { ...said, end };
  switch (end.outcome) {
    case "complete":
      return { ...rest, ...("content" in end ? { content: end.content } : {}), attributes };
    case "unfinished":
      return { ...rest, unfinished: true, attributes };
    default:
      return { ...rest, problem: "problem" in end ? end.problem : end, attributes };
  }
}
