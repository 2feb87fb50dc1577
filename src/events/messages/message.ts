// Messages in the form of OpenTelemetry's GenAI conventions: `gen_ai.input.messages`, `gen_ai.output.messages` and
// `gen_ai.system_instructions`.

/** A text to or from a model. */
export interface TextPart {
  readonly type: "text";
  readonly content: string;
}

/** A model's reasoning, as far as its provider shows it. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly content: string;
}

/** A tool call that the model requests. */
export interface ToolCallPart {
  readonly type: "tool_call";
  readonly id?: string | null;
  readonly name: string;
  readonly arguments?: unknown;
}

/** The result of a tool call, as the model receives it. */
export interface ToolCallResponsePart {
  readonly type: "tool_call_response";
  readonly id?: string | null;
  readonly response: unknown;
}

/** Data within the message. */
export interface BlobPart {
  readonly type: "blob";
  /** `image`, `audio`, `video`, or another word such as `document`. */
  readonly modality: string;
  readonly mime_type?: string | null;
  /** Base64. */
  readonly content: string;
}

/** Data at an address. */
export interface UriPart {
  readonly type: "uri";
  readonly modality: string;
  readonly mime_type?: string | null;
  readonly uri: string;
}

/** A file that was uploaded to the provider. */
export interface FilePart {
  readonly type: "file";
  readonly modality: string;
  readonly mime_type?: string | null;
  readonly file_id: string;
}

/** Any other part, such as `server_tool_call`: a tool that ran at the provider. */
export interface GenericPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A part of a message. */
export type MessagePart =
  | TextPart
  | ReasoningPart
  | ToolCallPart
  | ToolCallResponsePart
  | BlobPart
  | UriPart
  | FilePart
  | GenericPart;

/** A message to a model or an agent. */
export interface InputMessage {
  /** `system`, `user`, `assistant`, `tool`, or a word of the sender's own. */
  readonly role: string;
  readonly parts: readonly MessagePart[];
  /** The speaker, if several share a role. */
  readonly name?: string | null;
}

/** A message of a model's or an agent's answer. */
export interface OutputMessage extends InputMessage {
  /** `stop`, `length`, `content_filter`, `tool_call`, `error`, a provider's own word, or `unknown`. */
  readonly finish_reason: string;
}
