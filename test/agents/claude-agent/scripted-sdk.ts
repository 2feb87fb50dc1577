// A stand-in for the SDK: a script sends messages and calls hooks as its process does. Shapes and order
// follow `sdk.d.ts` of 0.3.332, and what its process did in `test/e2e/claude-agent.e2e.ts`.

type Hook = (input: object, id: string | undefined, options: object) => Promise<unknown>;
type Asks = (tool: string, input: object, options: object) => Promise<unknown>;

export interface ScriptedOptions {
  readonly hooks?: Readonly<Record<string, readonly { readonly hooks: readonly Hook[] }[]>>;
  readonly canUseTool?: Asks;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly abortController?: AbortController;
  readonly model?: string;
  readonly agent?: string;
  readonly resume?: string;
  readonly forkSession?: boolean;
  readonly continue?: boolean;
  readonly resumeSessionAt?: string;
  readonly sessionId?: string;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  readonly systemPrompt?: string;
  readonly includePartialMessages?: boolean;
}

export interface ScriptedParams {
  readonly prompt: string | AsyncIterable<unknown>;
  readonly options?: ScriptedOptions;
}

export type Message = Readonly<Record<string, unknown>>;
export type Script = (process: ScriptedProcess) => Promise<void>;

/** What a script does in the place of the SDK's process. */
export class ScriptedProcess {
  readonly params: ScriptedParams;
  sessionId: string;
  promptId = 0;
  interrupts = 0;
  closes = 0;
  readonly #send: (message: Message) => void;

  constructor(params: ScriptedParams, send: (message: Message) => void) {
    this.params = params;
    this.#send = send;
    const { forkSession, resume, sessionId } = params.options ?? {};
    this.sessionId = sessionId ?? (forkSession === true ? "forked" : resume) ?? "s1";
  }

  send(...messages: readonly Message[]): void {
    for (const message of messages) this.#send({ session_id: this.sessionId, ...message });
  }

  /** Lets the reader have what was sent. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 3; turns += 1) await new Promise((done) => setImmediate(done));
  }

  async hook(event: string, input: Message, id?: string): Promise<readonly unknown[]> {
    await this.settle();
    const base = { session_id: this.sessionId, prompt_id: `p${this.promptId}` };
    const whole = { ...base, hook_event_name: event, ...input };
    const matchers = this.params.options?.hooks?.[event] ?? [];
    const callbacks = matchers.flatMap(({ hooks }) => hooks);
    const said = typeof input.tool_use_id === "string" ? input.tool_use_id : undefined;
    return Promise.all(callbacks.map((callback) => callback(whole, id ?? said, {})));
  }

  /** The start of a turn. */
  async prompt(text: string): Promise<void> {
    this.promptId += 1;
    await this.hook("UserPromptSubmit", { prompt: text });
    this.send(INIT);
  }

  before(id: string, tool: string, input: object, more: Message = {}): Promise<readonly unknown[]> {
    return this.hook("PreToolUse", {
      tool_use_id: id,
      tool_name: tool,
      tool_input: input,
      ...more,
    });
  }

  async after(id: string, tool: string, content: unknown, more: Message = {}): Promise<void> {
    await this.hook("PostToolUse", {
      tool_use_id: id,
      tool_name: tool,
      tool_response: content,
      duration_ms: 7,
      ...more,
    });
    if (more.agent_id === undefined) this.send(returned(id, content));
  }

  /** A call of a tool that needs no permission. */
  async tool(id: string, tool: string, input: object, content: unknown, more: Message = {}) {
    await this.before(id, tool, input, more);
    await this.after(id, tool, content, more);
  }

  ask(id: string, tool: string, input: object, more: object = {}): Promise<unknown> {
    const { canUseTool } = this.params.options ?? {};
    if (canUseTool === undefined) throw new Error("the script asks without a `canUseTool`");
    const signal = new AbortController().signal;
    return canUseTool(tool, input, { signal, toolUseID: id, requestId: "r1", ...more });
  }
}

/** A function like the SDK's `query`, that plays one script a call. */
export function scripted(...scripts: readonly Script[]) {
  const processes: ScriptedProcess[] = [];
  const query = (params: ScriptedParams): ScriptedQuery => {
    const script = scripts[processes.length];
    if (script === undefined) throw new Error("no script is left");
    const made = new ScriptedQuery(params, script);
    processes.push(made.process);
    return made;
  };
  return { query, processes };
}

type Step = { readonly value: Message } | { readonly thrown: unknown } | undefined;

/** The stream of a script, with the methods of the SDK's `Query`. */
export class ScriptedQuery implements AsyncGenerator<Message, void> {
  readonly process: ScriptedProcess;
  readonly #steps: Step[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  constructor(params: ScriptedParams, script: Script) {
    this.process = new ScriptedProcess(params, (message) => this.#push({ value: message }));
    const { signal } = params.options?.abortController ?? {};
    const aborted = () => this.#push({ thrown: new Error("Claude Code process aborted by user") });
    signal?.addEventListener("abort", aborted);
    script(this.process).then(
      () => this.#push(undefined),
      (thrown: unknown) => this.#push({ thrown }),
    );
  }

  async next(): Promise<IteratorResult<Message, void>> {
    while (this.#steps.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const step = this.#isOver ? undefined : this.#steps.shift();
    if (step === undefined) {
      this.#isOver = true;
      return { done: true, value: undefined };
    }
    if ("value" in step) return { done: false, value: step.value };
    this.#isOver = true;
    throw step.thrown;
  }

  async return(): Promise<IteratorResult<Message, void>> {
    this.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<Message, void>> {
    this.close();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async interrupt(): Promise<{ readonly still_queued: readonly string[] }> {
    this.process.interrupts += 1;
    return { still_queued: [] };
  }

  async setPermissionMode(mode: string): Promise<{ readonly mode: string }> {
    // As in the SDK, a method that needs its own object.
    return { mode: `${mode} of ${this.process.sessionId}` };
  }

  close(): void {
    this.process.closes += 1;
    this.#isOver = true;
    this.#wake();
  }

  #push(step: Step): void {
    this.#steps.push(step);
    this.#wake();
  }
}

export const INIT: Message = { type: "system", subtype: "init", model: "claude-sonnet-4-5" };
export const REQUESTING: Message = { type: "system", subtype: "status", status: "requesting" };

export const text = (said: string) => ({ type: "text", text: said });
export const uses = (id: string, name: string, input: object = {}) => ({
  type: "tool_use",
  id,
  name,
  input,
});

/** One content block of an answer, as the SDK gives it. */
export function says(id: string, block: object, more: Message = {}): Message {
  const usage = { input_tokens: 11, output_tokens: 1 };
  return {
    type: "assistant",
    parent_tool_use_id: null,
    message: {
      id,
      role: "assistant",
      model: "claude-sonnet-4-5-20250929",
      content: [block],
      stop_reason: null,
      usage,
    },
    ...more,
  };
}

/** A failed request, after its retries. */
export function apiError(word: string, said: string): Message {
  const content = [text(said)];
  const message = { id: "e1", role: "assistant", model: "<synthetic>", content };
  return { type: "assistant", parent_tool_use_id: null, error: word, message };
}

export function retry(status: number | null, error: string): Message {
  const delay = { attempt: 1, max_retries: 10, retry_delay_ms: 5 };
  return { type: "system", subtype: "api_retry", error_status: status, error, ...delay };
}

export function returned(id: string, content: unknown, more: Message = {}): Message {
  const block = { type: "tool_result", tool_use_id: id, content };
  return {
    type: "user",
    parent_tool_use_id: null,
    message: { role: "user", content: [block] },
    ...more,
  };
}

export function failed(id: string, content: unknown, more: Message = {}): Message {
  const block = { type: "tool_result", tool_use_id: id, content, is_error: true };
  return {
    type: "user",
    parent_tool_use_id: null,
    message: { role: "user", content: [block] },
    ...more,
  };
}

/** Totals of one model, in the units of tests. */
export function totals(input: number, output: number, cost: number, model = "claude-sonnet-4-5") {
  const tokens = { inputTokens: input, outputTokens: output };
  const cached = { cacheReadInputTokens: 3 * input, cacheCreationInputTokens: 2 * input };
  return { total_cost_usd: cost, modelUsage: { [model]: { ...tokens, ...cached, costUSD: cost } } };
}

export function result(said: string, more: Message = {}): Message {
  return {
    type: "result",
    subtype: "success",
    is_error: false,
    result: said,
    num_turns: 1,
    stop_reason: "end_turn",
    terminal_reason: "completed",
    permission_denials: [],
    ...totals(10, 5, 0.01),
    ...more,
  };
}

export function resultError(
  subtype: string,
  errors: readonly string[],
  more: Message = {},
): Message {
  return result("", { subtype, is_error: true, errors, result: undefined, ...more });
}
