import { numberIn, textIn } from "./attributes.ts";
import { Callers } from "./callers.ts";
import {
  type ChatMessage,
  type ChatPart,
  instructionsIn,
  messageOf,
  messageOfText,
  rawMessagesIn,
  roleOf,
} from "./conversation.ts";
import { earlierCount } from "./earlier-messages.ts";
import type {
  CallDecision,
  CallItem,
  ErrorItem,
  Exchange,
  ExchangeItem,
  MessageItem,
  RunItem,
  StateItem,
} from "./exchange-items.ts";
import { indentedJson } from "./json-text.ts";
import { answerKey, type MessageKey, messageKey, SeenMessages } from "./seen-messages.ts";
import type { SpanNode } from "./span-tree.ts";
import { shortName } from "./span-words.ts";

type Open<Item> = { -readonly [name in keyof Item]: Item[name] };

interface OpenCall extends Omit<Open<CallItem>, "attempts" | "runs"> {
  readonly attempts: SpanNode[];
  readonly runs: RunItem[];
}

interface OpenError extends Omit<Open<ErrorItem>, "attempts"> {
  readonly attempts: (string | undefined)[];
}

/** The calls with one ID, or of one tool: IDs are not unique, and messages or spans may have none. */
interface SameCalls {
  /** Asked for by a message. Those from `nextAsked` on may have no span so far. */
  readonly asked: OpenCall[];
  nextAsked: number;
  /** With a span, and from `nextRun` on without a message so far. */
  readonly run: OpenCall[];
  nextRun: number;
  last: OpenCall | undefined;
}

/** The exchange of one run while it is put together. Its spans come in the order of time. */
export class Talk {
  readonly #items: ExchangeItem[] = [];
  readonly #systems: MessageItem[] = [];
  readonly #earlier: ExchangeItem[] = [];
  /** Calls of the history without a span so far. */
  readonly #askedBefore = new Set<ExchangeItem>();
  /** Calls of the history that this run made: they are items of this run. */
  readonly #madeNow = new Set<ExchangeItem>();
  readonly #systemKeys = new Set<string>();
  readonly #seen = new SeenMessages();
  /** The texts of answers: the answer of a run may have them without the calls beside them. */
  readonly #answers = new Set<string>();
  readonly #callers = new Callers();
  /** The calls of the message that asked last, which have no result so far: results may have no IDs. */
  #pending: OpenCall[] = [];
  /** By ID, and by tool. */
  readonly #calls = new Map<string, SameCalls>();
  readonly #byNode = new Map<SpanNode, OpenCall>();
  /** Calls without a span and without a result. */
  readonly #undone = new Set<OpenCall>();
  /** The model calls that failed last. */
  #error: OpenError | undefined;
  #first: SpanNode | undefined;
  #wasAnswered = false;
  /** Number of messages that the last input had. */
  #inputs = 0;
  #state: StateItem | undefined;
  readonly #exchange: { items: readonly ExchangeItem[] } = { items: [] };

  /** Complete after {@link finish}. */
  get exchange(): Exchange {
    return this.#exchange;
  }

  add(item: ExchangeItem): void {
    this.#items.push(item);
  }

  /** Takes the input of a model or run, and adds its new messages. */
  input(node: SpanNode, resumes = false): void {
    const { attributes } = node.span;
    const instructions = textIn(attributes, "gen_ai.system_instructions");
    if (instructions !== undefined) {
      this.#system(instructions, node, () => instructionsIn(instructions));
    }
    const text = textIn(attributes, "gen_ai.input.messages");
    const earlier = earlierCount(node.span);
    const before = this.#inputs;
    this.#inputs = earlier;
    if (text === undefined) return;
    const messages: (MessageKey & { readonly message: () => ChatMessage })[] = [];
    let callerKey = `${textIn(attributes, "gen_ai.request.model")}\n${instructions}`;
    for (const raw of rawMessagesIn(text) ?? [text]) {
      this.#inputs += 1;
      const message = () =>
        typeof raw === "string" ? messageOfText(raw, "input") : messageOf(raw, "input");
      const key = messageKey(raw, "input");
      if (SYSTEM.has(roleOf(raw, "input"))) {
        callerKey += `\n${key.key}`;
        this.#system(key.key, node, message);
      } else messages.push({ ...key, message });
    }
    const isCall = node.span.kind === "model";
    const since = isCall ? this.#callers.asks(node, callerKey) : undefined;
    // A span that only adds to the messages of the call before it repeats only answers. If the application cut or
    // changed the conversation, it repeats others as well.
    const adds = earlier > 0 && (earlier >= before || !messages.some((one) => one.isAnswer));
    const isNew = adds
      ? messages.map((one) => !one.isAnswer || !this.#seen.has(one))
      : this.#seen.newIn(messages, since);
    const lastAnswer = messages.findLastIndex(({ isAnswer }) => isAnswer);
    // Answers before the first of this run are of the runs before it.
    const history = this.#wasAnswered ? 0 : lastAnswer + 1;
    const past = messages.filter((_, index) => index < history && isNew[index] === true);
    this.#seen.addBefore(past);
    for (const { message } of past) this.#message(message(), node, this.#earlier);
    for (const [index, one] of messages.entries()) {
      if (index < history || isNew[index] !== true) continue;
      this.#seen.add(one);
      this.#message(one.message(), node, this.#items, resumes);
    }
    this.#first ??= node;
    this.#wasAnswered ||= lastAnswer >= 0;
  }

  /** A model's answer. */
  answer(node: SpanNode): void {
    this.#retries(node);
    if (this.#error !== undefined && this.#items.at(-1) === this.#error) {
      this.#error.isRetried = true;
    }
    this.#error = undefined;
    this.#wasAnswered = true;
    const text = textIn(node.span.attributes, "gen_ai.output.messages");
    if (text === undefined) this.#items.push({ kind: "message", node, message: NOT_CAPTURED });
    else this.#output(text, node);
    this.#callers.answered(node, this.#seen.end);
  }

  /** A run's answer: mostly the last one of its models, which is not added again. */
  result(node: SpanNode): void {
    const text = textIn(node.span.attributes, "gen_ai.output.messages");
    if (text !== undefined) this.#output(text, node, true);
  }

  #output(text: string, node: SpanNode, onlyNew = false): void {
    for (const raw of rawMessagesIn(text) ?? [text]) {
      const isText = typeof raw === "string";
      const message = isText ? messageOfText(raw, "output") : messageOf(raw, "output");
      const said = message.parts.filter(isSaid);
      const words = answerKey(
        said.map((part) => (part.kind === "reasoning" ? "" : part.text)).join("\n"),
      );
      if (onlyNew && (said.length === 0 || this.#answers.has(words))) continue;
      this.#answers.add(words);
      this.#seen.add(messageKey(raw, "output"));
      this.#message(onlyNew ? { ...message, parts: said } : message, node);
    }
  }

  /** A call of a tool. */
  call(node: SpanNode, decision: CallDecision | undefined): void {
    const { attributes } = node.span;
    const callId = textIn(attributes, "gen_ai.tool.call.id") ?? "";
    const tool = shortName(node.span);
    const same = this.#callsOf(callId, tool);
    const { last } = same;
    // A call that has its result already is of an earlier turn, unless the ID says that it is this one.
    const isOver = (one: OpenCall | undefined) =>
      one?.node !== undefined || (callId === "" && one?.received !== undefined);
    while (isOver(same.asked[same.nextAsked])) same.nextAsked++;
    let call = same.asked[same.nextAsked];
    if (call === undefined) {
      if (last?.node !== undefined && isRetry(last.node, node) && this.#items.at(-1) === last) {
        call = last;
        call.attempts.push(last.node);
        delete call.result;
      } else {
        call = { kind: "call", tool, asker: node, attempts: [], runs: [] };
        same.run.push(call);
        this.#items.push(call);
      }
    }
    if (this.#askedBefore.delete(call)) {
      this.#madeNow.add(call);
      this.#items.push(call);
    }
    same.last = call;
    this.#callsOf("", tool).last = call;
    this.#goesOn(call);
    this.#byNode.set(node, call);
    call.node = node;
    call.tool = tool;
    const input = textIn(attributes, "gen_ai.tool.call.arguments");
    if (input !== undefined) call.input = indentedJson(input) ?? input;
    const result = textIn(attributes, "gen_ai.tool.call.result");
    if (result !== undefined) call.result = indentedJson(result) ?? result;
    if (decision !== undefined) call.decision = decision;
  }

  /** The run of a sub-agent, in the tool call that has it. */
  subRun(item: RunItem, tool: SpanNode | undefined): void {
    const call = tool === undefined ? undefined : this.#byNode.get(tool);
    if (call === undefined) this.#items.push(item);
    else call.runs.push(item);
  }

  /** Another agent has control: a call handed it over, which is neither run nor decided. */
  handsOver(agent: string): void {
    const calls = [...this.#undone];
    const call = calls.find(({ tool }) => plainName(tool).endsWith(plainName(agent))) ?? calls[0];
    if (call === undefined) return;
    call.handoff = agent;
    this.#goesOn(call);
  }

  /** A failed model call. One that is repeated without news in between is a retry. */
  modelError(node: SpanNode, text: string | undefined): void {
    this.#retries(node);
    this.#attempt(node, text);
  }

  #attempt(node: SpanNode, text: string | undefined): void {
    const open = this.#error;
    if (open !== undefined && this.#items.at(-1) === open) {
      open.attempts.push(text);
      open.node = node;
      return;
    }
    this.#error = { kind: "error", node, attempts: [text], isRetried: false };
    this.#items.push(this.#error);
  }

  /** The failed attempts within one model call. */
  #retries(node: SpanNode): void {
    const { attributes, events } = node.span;
    const told = events.filter(({ name }) => name === "entelix.retry");
    for (const event of told)
      this.#attempt(node, textIn(event.attributes, "entelix.error.message"));
    const count = Math.min(numberIn(attributes, "entelix.retry.count") ?? 0, MOST_RETRIES);
    for (let at = told.length; at < count; at++) this.#attempt(node, undefined);
  }

  /** The run is paused: its calls without a result wait. */
  pause(): void {
    for (const call of this.#undone) call.waits = true;
  }

  /** The state at the end of the run; the last one counts. */
  state(node: SpanNode): void {
    const text = textIn(node.span.attributes, "entelix.run.state");
    if (text !== undefined) {
      this.#state = { kind: "state", node, text: indentedJson(text) ?? text };
    }
  }

  finish(): void {
    const first = this.#first;
    const items = this.#earlier.filter((item) => !this.#madeNow.has(item));
    const earlier: readonly ExchangeItem[] =
      first === undefined || items.length === 0 ? [] : [{ kind: "earlier", node: first, items }];
    const state = this.#state === undefined ? [] : [this.#state];
    this.#exchange.items = [...this.#systems, ...earlier, ...this.#items, ...state];
  }

  /** Instructions are added once. They come first, unless the models had answered already. */
  #system(key: string, node: SpanNode, message: () => ChatMessage): void {
    if (this.#systemKeys.has(key)) return;
    this.#systemKeys.add(key);
    const item: MessageItem = { kind: "message", node, message: message() };
    if (this.#wasAnswered) this.#items.push(item);
    else this.#systems.push(item);
  }

  /** A message, its calls and its results. */
  #message(message: ChatMessage, node: SpanNode, into = this.#items, resumes = false): void {
    if (this.#isResult(message)) return;
    const parts = message.parts.filter(isSaid);
    if (parts.length > 0) {
      const item = { kind: "message", node, message: { ...message, parts } } as const;
      into.push(resumes ? { ...item, resumes } : item);
    }
    if (message.parts.some(({ kind }) => kind === "tool_call")) this.#pending = [];
    for (const part of message.parts) {
      if (part.kind === "tool_call") this.#asked(part, node, into);
      if (part.kind === "tool_result") this.#received(part, node, into);
    }
  }

  #asked({ callId = "", name = "", text }: ChatPart, asker: SpanNode, into: ExchangeItem[]): void {
    const ofTool = this.#callsOf("", name);
    const ofId = this.#callsOf(callId, name);
    // A span without an ID is found by its tool.
    for (const same of [ofId, ofTool]) {
      const run = same.run[same.nextRun];
      if (run === undefined) continue;
      same.nextRun++;
      ofId.last = run;
      this.#pending.push(run);
      if (text !== "") run.input ??= text;
      return;
    }
    const input = text === "" ? {} : { input: text };
    const call: OpenCall = { kind: "call", tool: name, asker, ...input, attempts: [], runs: [] };
    for (const same of new Set([ofId, ofTool])) {
      same.asked.push(call);
      same.last = call;
    }
    this.#undone.add(call);
    this.#pending.push(call);
    if (into === this.#earlier) this.#askedBefore.add(call);
    into.push(call);
  }

  #received({ callId = "", text }: ChatPart, asker: SpanNode, into: ExchangeItem[]): void {
    const last = callId === "" ? this.#pending[0] : this.#calls.get(callKey(callId, ""))?.last;
    if (last === undefined) {
      into.push({ kind: "call", tool: "", asker, received: text, attempts: [], runs: [] });
      return;
    }
    // Calls beside each other may have one ID: their results come in the same order.
    const isSame = (one: OpenCall) => this.#callsOf(callId, one.tool).asked.includes(one);
    const call = callId === "" ? last : (this.#pending.find(isSame) ?? last);
    this.#pending = this.#pending.filter((one) => one !== call);
    call.received ??= text;
    this.#goesOn(call);
  }

  /** It does not wait any more. */
  #goesOn(call: OpenCall): void {
    this.#undone.delete(call);
    delete call.waits;
  }

  /** Some instrumentations send a result as a message with the tool's name as its role. */
  #isResult({ from, parts, role }: ChatMessage): boolean {
    const isTool = from === "input" && !ROLES.has(role);
    const call = isTool ? this.#calls.get(callKey("", role))?.last : undefined;
    if (call === undefined) return false;
    call.received ??= parts.map(({ text }) => text).join("\n");
    this.#goesOn(call);
    return true;
  }

  #callsOf(callId: string, tool: string): SameCalls {
    const key = callKey(callId, tool);
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const none: SameCalls = { asked: [], nextAsked: 0, run: [], nextRun: 0, last: undefined };
    this.#calls.set(key, none);
    return none;
  }
}

function callKey(callId: string, tool: string): string {
  return callId === "" ? `tool ${tool}` : `id ${callId}`;
}

/** The SDKs make names of tools from those of agents: `transfer_to_Billing_Desk`. */
function plainName(name: string): string {
  return name.replace(/\W/g, "_").toLowerCase();
}

const ROLES: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);
const SYSTEM: ReadonlySet<string> = new Set(["system", "developer"]);

/** Counts of retries come from outside. */
const MOST_RETRIES = 100;

const NOT_CAPTURED: ChatMessage = { role: "assistant", from: "output", parts: [] };

function isSaid({ kind, text }: ChatPart): boolean {
  return kind !== "tool_call" && kind !== "tool_result" && text.trim() !== "";
}

/** Whether a call repeats another one that failed. Calls that overlap are not retries. */
function isRetry(before: SpanNode, node: SpanNode): boolean {
  const isOver = before.end !== undefined && before.end <= node.start;
  return before.span.failed && isOver && shortName(before.span) === shortName(node.span);
}
