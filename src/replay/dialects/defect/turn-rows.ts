import type { ContentPart, GraphEvent, ModelUsage } from "../../../audit/door.ts";
import { formatRfc3339, type Instant, isCount } from "../../../events/door.ts";
import type { ProjectedRow } from "../mapping.ts";
import { blockText, outputOf, toContentPart } from "./content.ts";
import type { AcpContentBlock, DefectUsage, ToolCallFields } from "./events.ts";

/** Limit of counts in a `ModelUsage`. */
const U32 = 2 ** 32;

/**
 * The audit rows of one turn, held until it is known whether the turn is rolled back. Streamed parts without a break
 * between them become one message, or one `thinking_delta`.
 */
export class TurnRows {
  readonly #runId: string;
  readonly #budget: RowBudget;
  #rows: ProjectedRow[] = [];
  #characters = 0;
  #thinking: { readonly at: Readonly<Instant>; text: string } | undefined;
  #answer: { at: Readonly<Instant>; readonly parts: ContentPart[]; text: string } | undefined;

  constructor(runId: string, budget: RowBudget) {
    this.#runId = runId;
    this.#budget = budget;
  }

  prompt(content: readonly AcpContentBlock[], at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    this.#add({
      kind: "user_message",
      content: content.map(toContentPart),
      timestamp: formatRfc3339(at),
    });
  }

  thought(block: AcpContentBlock, at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    this.#endAnswer();
    const text = blockText(block) ?? "";
    if (!this.#hold(text.length)) return;
    if (this.#thinking === undefined) this.#thinking = { at, text };
    else this.#thinking.text += text;
  }

  text(block: AcpContentBlock, at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    this.#endThinking();
    const text = blockText(block);
    if (!this.#hold(text?.length ?? sizeOf(block))) return;
    this.#answer ??= { at, parts: [], text: "" };
    this.#answer.at = at;
    if (text !== undefined) this.#answer.text += text;
    else {
      endText(this.#answer);
      this.#answer.parts.push(toContentPart(block));
    }
  }

  /**
   * A model call succeeded. Its answer becomes one message with its usage.
   *
   * @returns whether there is a message. A call without an answer and without usable usage has none.
   */
  modelEnds(usage: DefectUsage | null | undefined, at: Readonly<Instant>): boolean {
    if (!this.#budget.wanted) return false;
    this.#endThinking();
    const used = modelUsage(usage);
    if (this.#answer === undefined && used === null) return false;
    this.#answer ??= { at, parts: [], text: "" };
    this.#answer.at = at;
    this.#endAnswer(used);
    return true;
  }

  toolCall(id: string, name: string, fields: ToolCallFields, at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    const input = fields.rawInput ?? null;
    this.#add({ kind: "tool_call", id, name, input, timestamp: formatRfc3339(at) });
  }

  toolResult(id: string, name: string, fields: ToolCallFields, at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    this.#add({
      kind: "tool_result",
      tool_use_id: id,
      name,
      content: outputOf(fields),
      is_error: fields.status === "failed",
      timestamp: formatRfc3339(at),
    });
  }

  /** @param thread thread of the sub-agent's own rows. */
  subAgent(agent: string, thread: string, at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    this.#add({
      kind: "sub_agent_invoked",
      agent_id: agent,
      sub_thread_id: thread,
      timestamp: formatRfc3339(at),
    });
  }

  cancelled(at: Readonly<Instant>): void {
    if (!this.#budget.wanted) return;
    this.#add({ kind: "cancelled", reason: "cancelled", timestamp: formatRfc3339(at) });
  }

  /** Returns the rows and frees their budget. */
  release(): readonly ProjectedRow[] {
    this.#settle();
    const rows = this.#rows;
    this.#budget.give(rows.length, this.#characters);
    this.#rows = [];
    this.#characters = 0;
    return rows;
  }

  #settle(): void {
    this.#endThinking();
    this.#endAnswer();
  }

  #endThinking(): void {
    const thinking = this.#thinking;
    if (thinking === undefined) return;
    this.#thinking = undefined;
    const { at, text } = thinking;
    this.#push({ kind: "thinking_delta", text, timestamp: formatRfc3339(at) });
  }

  #endAnswer(usage: ModelUsage | null = null): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#answer = undefined;
    endText(answer);
    const timestamp = formatRfc3339(answer.at);
    this.#push({ kind: "assistant_message", content: answer.parts, usage, timestamp });
  }

  #add(event: GraphEvent): void {
    this.#settle();
    if (this.#hold(sizeOf(event))) this.#push(event);
  }

  #push(event: GraphEvent): void {
    if (this.#budget.take(1, 0)) this.#rows.push({ runId: this.#runId, event });
  }

  #hold(characters: number): boolean {
    if (!this.#budget.take(0, characters)) return false;
    this.#characters += characters;
    return true;
  }
}

function endText(answer: { readonly parts: ContentPart[]; text: string }): void {
  if (answer.text === "") return;
  answer.parts.push({ type: "text", text: answer.text });
  answer.text = "";
}

/** `null` unless input and output tokens are known and fit into a row. */
function modelUsage(usage: DefectUsage | null | undefined): ModelUsage | null {
  const input = u32(usage?.input_tokens);
  const output = u32(usage?.output_tokens);
  if (input === undefined || output === undefined) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: u32(usage?.cache_read_input_tokens) ?? 0,
    cache_creation_input_tokens: u32(usage?.cache_creation_input_tokens) ?? 0,
    reasoning_tokens: 0,
    safety_ratings: [],
  };
}

function u32(count: number | bigint | null | undefined): number | undefined {
  return isCount(count) && count < U32 ? count : undefined;
}

/** Bounds the audit rows that wait for the end of their turns, in all turns. */
export class RowBudget {
  /** Rows, and streamed parts of rows, that were dropped because the limit was reached. */
  over = 0;
  /** Whether rows are made at all. */
  readonly wanted: boolean;
  readonly #mostRows: number;
  readonly #mostCharacters: number;
  #rows = 0;
  #characters = 0;

  constructor(mostRows: number, mostCharacters: number, wanted: boolean) {
    this.wanted = wanted;
    this.#mostRows = mostRows;
    this.#mostCharacters = mostCharacters;
  }

  /** @returns false, and counts it, if there is no room. */
  take(rows: number, characters: number): boolean {
    const fits =
      this.#rows + rows <= this.#mostRows && this.#characters + characters <= this.#mostCharacters;
    if (!fits) {
      this.over++;
      return false;
    }
    this.#rows += rows;
    this.#characters += characters;
    return true;
  }

  /** Counts released rows that are dropped. */
  lose(rows: number): void {
    this.over += rows;
  }

  give(rows: number, characters: number): void {
    this.#rows -= rows;
    this.#characters -= characters;
  }
}

/** Approximate JSON length of a value in characters. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "bigint") return 20;
  if (typeof value !== "object" || value === null) return 5;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 2);
  let size = 2;
  for (const [name, field] of Object.entries(value)) size += name.length + sizeOf(field);
  return size;
}
