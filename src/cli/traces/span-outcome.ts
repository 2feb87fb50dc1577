import { attributeText, type FinishedSpan, operationOf } from "../../bridge/door.ts";
import { durationText } from "../../events/format/door.ts";
import { safe } from "../terminal/text.ts";

/** How a span of the bridge ended, as text. */
export interface SpanOutcome {
  readonly tone: "good" | "bad" | "other";
  /** For example `complete` or `failed: model_dispatch`. Safe for the terminal. */
  readonly words: string;
  /** The text for operators, or an empty one. Safe for the terminal. */
  readonly message: string;
}

/** The attribute with the outcome, by operation. Default: that of steps. */
const OUTCOMES: Readonly<Record<string, string>> = {
  invoke_agent: "entelix.run.outcome",
  invoke_workflow: "entelix.run.outcome",
  chat: "entelix.model.outcome",
  embeddings: "entelix.model.outcome",
  execute_tool: "entelix.tool.outcome",
};

/** Decisions about tool calls that are not visible in the outcome. */
const DECISIONS = new Set(["approved", "edited", "answered"]);

/** Reads the outcome of a run, a tool call or a model call. */
export function outcomeOf(span: FinishedSpan): SpanOutcome {
  const text = (name: string) => safe(attributeText(span, name));
  const attribute = OUTCOMES[operationOf(span.attributes) ?? ""] ?? "entelix.step.outcome";
  const isRun = attribute === "entelix.run.outcome";
  const outcome = text(attribute);
  const said = isRun ? runWords(outcome, text) : callWords(outcome, text);
  // Spans of other instrumentation have only a status.
  const words = [said === "" && span.failed ? "failed" : said, ...marks(span, text)];
  return {
    tone: span.failed ? "bad" : outcome === "complete" ? "good" : "other",
    words: words.join(", "),
    message: span.message === undefined ? text("entelix.error.message") : safe(span.message),
  };
}

type Text = (name: string) => string;

function runWords(outcome: string, text: Text): string {
  switch (outcome) {
    case "failed": {
      const tool = text("entelix.failure.tool_name");
      const kind = text("entelix.failure.kind");
      return `failed: ${kind}${tool === "" ? "" : ` (${tool}, ${text("entelix.failure.tool_error_kind")})`}`;
    }
    case "interrupted": {
      const kind = text("entelix.interruption.kind");
      return kind === "" ? "paused" : `paused: ${kind}`;
    }
    case "abandoned":
      return `abandoned: ${text("entelix.run.abandoned_reason")}`;
    default:
      return outcome;
  }
}

function callWords(outcome: string, text: Text): string {
  switch (outcome) {
    case "error": {
      const kind = text("entelix.tool.error_kind") || text("error.type");
      return kind === "" || kind === "_OTHER" ? "error" : `error: ${kind}`;
    }
    case "interrupted":
      return "paused";
    default:
      return outcome;
  }
}

function marks(span: FinishedSpan, text: Text): string[] {
  const found: string[] = [];
  const approval = text("entelix.approval.outcome");
  const decider = deciderOf(span, text);
  if (DECISIONS.has(approval)) found.push(`${approval} ${decider}`.trimEnd());
  else if (decider !== "") found.push(decider);
  if (text("entelix.run.resumed_from") !== "") {
    found.push(`resumes run ${text("entelix.run.resumed_from")}`);
  }
  if (text("entelix.run.segment") !== "") found.push(`segment ${text("entelix.run.segment")}`);
  if (span.attributes["entelix.parent.missing"] === true) found.push("parent not seen");
  if (span.attributes["entelix.run.start_unseen"] === true) found.push("start not seen");
  return found;
}

/** `by ann@acme.test after 2 min`; empty if the person is not known. */
function deciderOf({ attributes }: FinishedSpan, text: Text): string {
  const person = text("entelix.approval.person");
  if (person === "") return "";
  const waitMs = attributes["entelix.approval.wait_ms"];
  return `by ${person}${typeof waitMs === "number" ? ` after ${durationText(waitMs)}` : ""}`;
}
