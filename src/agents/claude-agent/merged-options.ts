import { type Fence, type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import { reportLongWait } from "../runtime/door.ts";
import { canUseToolDecision, type Decided, hookDecision } from "./decisions.ts";
import type { ClaudeAgentOptions, QueryMetadata } from "./options.ts";
import { HOOK_EVENTS } from "./sdk.ts";
import type { Session } from "./session.ts";

/** Receives the reports of the merged options. */
export interface Reports {
  readonly session: Session;
  readonly options: ClaudeAgentOptions;
  readonly metadata: QueryMetadata;
  readonly fence: Fence;
}

type Callback = (...args: readonly unknown[]) => unknown;

/** Events whose hooks may decide about a call. */
const DECIDING: ReadonlySet<string> = new Set(["PreToolUse", "PermissionRequest"]);

/** The application's hooks, followed by ours. */
export function mergedHooks(given: unknown, reports: Reports): Fields {
  const hooks: Record<string, unknown> = { ...fieldsOf(given) };
  for (const event of DECIDING) {
    const matchers = listOf(hooks[event]);
    if (matchers !== undefined) hooks[event] = matchers.map((each) => watched(each, reports));
  }
  const own = { hooks: [listener(reports)] };
  for (const event of HOOK_EVENTS) hooks[event] = [...(listOf(hooks[event]) ?? []), own];
  return hooks;
}

function listener({ fence, session }: Reports) {
  return async (input: unknown): Promise<object> => {
    fence.contain(() => session.hookCalled(fieldsOf(input) ?? {}));
    return {};
  };
}

/** A matcher with the same hooks, whose decisions are reported. */
function watched(matcher: unknown, reports: Reports): unknown {
  const fields = fieldsOf(matcher);
  const hooks = listOf(fields?.hooks);
  if (fields === undefined || hooks === undefined) return matcher;
  return {
    ...fields,
    hooks: hooks.map((hook) => (isCallback(hook) ? watchedHook(hook, reports) : hook)),
  };
}

function watchedHook(hook: Callback, { fence, session }: Reports): Callback {
  return async (...args) => {
    const [given, second] = args;
    const input = fieldsOf(given) ?? {};
    // Only the input of `PreToolUse` has the call's ID. The second argument mostly has it, too.
    const named = textOf(input.tool_use_id) ?? textOf(second);
    const known = named === undefined ? undefined : session.findCall(named);
    const isNamed = textOf(input.tool_use_id) !== undefined || known !== undefined;
    const toolUseId = isNamed ? named : undefined;
    const ask = () => session.asked(toolUseId, input);
    const asked = isNamed ? fence.contain(ask) : undefined;
    let decided: Decided | undefined;
    try {
      const output = await hook(...args);
      fence.contain(() => {
        const tool = textOf(input.tool_name) ?? "";
        const call = { tool, toolUseId: toolUseId ?? "", input: input.tool_input };
        decided = hookDecision(output, call);
      });
      return output;
    } finally {
      fence.contain(() => session.answered(toolUseId, input, decided, asked));
    }
  };
}

/** The application's `canUseTool`, whose decisions are reported. */
export function watchedCanUseTool(canUseTool: Callback, reports: Reports): Callback {
  const { fence, metadata, options, session } = reports;
  return async (...args) => {
    const [tool, input, third] = args;
    const about = fieldsOf(third);
    const toolUseId = textOf(about?.toolUseID);
    const as = { tool_name: tool, tool_input: input, agent_id: about?.agentID };
    const asked = fence.contain(() => session.asked(toolUseId, as));
    const before = performance.now();
    let decided: Decided | undefined;
    try {
      const result = await reportLongWait((async () => canUseTool(...args))(), () =>
        fence.contain(() => {
          if (asked?.state === "asking") asked.run.waits(asked);
        }),
      );
      fence.contain(() => {
        const call = { tool: textOf(tool) ?? "", toolUseId: toolUseId ?? "", input };
        const waitMs = performance.now() - before;
        decided = canUseToolDecision(result, call, waitMs, options, metadata, fence.report);
        if (decided !== undefined && fieldsOf(result)?.interrupt === true) session.interrupted();
      });
      return result;
    } finally {
      fence.contain(() => session.answered(toolUseId, as, decided, asked));
    }
  };
}

export function isCallback(value: unknown): value is Callback {
  return typeof value === "function";
}
