import { expect } from "vitest";
import { z } from "zod";

// The form that OpenTelemetry's GenAI conventions have for messages (their JSON schemas, May 2026), stricter in
// one point: a part of a type that they name must be as they say.

const nullableText = z.string().nullish();
const part = <T extends string>(type: T, fields: z.ZodRawShape) =>
  z.looseObject({ type: z.literal(type), ...fields });

const KNOWN = [
  part("text", { content: z.string() }),
  part("reasoning", { content: z.string() }),
  part("tool_call", { id: nullableText, name: z.string() }),
  part("tool_call_response", { id: nullableText, response: z.json() }),
  part("server_tool_call", {
    id: nullableText,
    name: z.string(),
    server_tool_call: z.looseObject({ type: z.string() }),
  }),
  part("server_tool_call_response", {
    id: nullableText,
    server_tool_call_response: z.looseObject({ type: z.string() }),
  }),
  part("blob", { mime_type: nullableText, modality: z.string(), content: z.string() }),
  part("uri", { mime_type: nullableText, modality: z.string(), uri: z.string() }),
  part("file", { mime_type: nullableText, modality: z.string(), file_id: z.string() }),
] as const;

const NAMES = new Set(KNOWN.map(({ shape }) => shape.type.value));

const anyPart = z.union([
  ...KNOWN,
  z.looseObject({ type: z.string().refine((type) => !NAMES.has(type as never)) }),
]);

const message = z.looseObject({
  role: z.string().min(1),
  parts: z.array(anyPart),
  name: nullableText,
});

export const inputForm = z.array(message);
export const outputForm = z.array(message.extend({ finish_reason: z.string().min(1) }));
export const partsForm = z.array(anyPart);
export const toolsForm = z.array(z.looseObject({ type: z.string(), name: z.string() }));

/** Content attributes, and the form that each has. */
const FORMS = {
  "gen_ai.input.messages": inputForm,
  "gen_ai.output.messages": outputForm,
  "gen_ai.system_instructions": partsForm,
  "gen_ai.tool.definitions": toolsForm,
};

/** Checks the messages on spans; returns how many attributes with messages there were. */
export function expectMessageForm(
  spans: readonly { readonly attributes: Readonly<Record<string, unknown>> }[],
): number {
  let count = 0;
  for (const { attributes } of spans) {
    for (const [name, form] of Object.entries(FORMS)) {
      const text = attributes[name];
      if (text === undefined) continue;
      count += 1;
      const { error } = form.safeParse(JSON.parse(String(text)));
      expect(error, `${name}: ${String(text)}`).toBeUndefined();
    }
  }
  return count;
}
