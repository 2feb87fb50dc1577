/** How long a provider may keep a block in its prompt cache. */
export type CacheTtl = "five_minutes" | "one_hour";

/** Marks a block of a prompt as cached. In Rust: `CacheControl` of entelix-core. */
export interface CacheControl {
  readonly ttl: CacheTtl;
}

/**
 * A token that a provider wants to receive unchanged on the next turn.
 *
 * In Rust: `ProviderEchoSnapshot` of entelix-core.
 */
export interface ProviderEcho {
  readonly provider: string;
  /** Any JSON. */
  readonly payload: unknown;
}

interface Echoing {
  /** Left out if empty. */
  readonly provider_echoes?: readonly ProviderEcho[];
}

interface Cacheable extends Echoing {
  /** Left out if not set. */
  readonly cache_control?: CacheControl | null;
}

/**
 * The output of a tool. entelix's type is untagged: a string is text, and any other JSON value is structured. A
 * string output and an error text differ only in `is_error`.
 */
export type ToolResultContent = unknown;

/**
 * One block of a user's or an assistant's message.
 *
 * In Rust: `ContentPart` of entelix-core, tagged by `type`.
 */
export type ContentPart =
  | (Cacheable & { readonly type: "text"; readonly text: string })
  | (Cacheable & { readonly type: "image"; readonly source: MediaSource })
  | (Cacheable & { readonly type: "audio"; readonly source: MediaSource })
  | (Cacheable & { readonly type: "video"; readonly source: MediaSource })
  | (Cacheable & {
      readonly type: "document";
      readonly source: MediaSource;
      /** Written as `null` if unknown. */
      readonly name?: string | null;
    })
  | (Cacheable & { readonly type: "thinking"; readonly text: string })
  | (Echoing & { readonly type: "redacted_thinking" })
  | (Cacheable & {
      readonly type: "citation";
      readonly snippet: string;
      readonly source: CitationSource;
    })
  | (Echoing & {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      /** Any JSON. */
      readonly input: unknown;
    })
  | (Echoing & { readonly type: "image_output"; readonly source: MediaSource })
  | (Echoing & {
      readonly type: "audio_output";
      readonly source: MediaSource;
      /** Written as `null` if there is none. */
      readonly transcript?: string | null;
    })
  | (Cacheable & {
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly name: string;
      readonly content: ToolResultContent;
      /** Default false. */
      readonly is_error?: boolean;
    });

/**
 * The source of an image, audio, video or document part.
 *
 * In Rust: `MediaSource` of entelix-core, tagged by `kind`. An unknown `media_type` is written as `null`.
 */
export type MediaSource =
  | { readonly kind: "url"; readonly url: string; readonly media_type?: string | null }
  | { readonly kind: "base64"; readonly media_type: string; readonly data: string }
  | { readonly kind: "file_id"; readonly id: string; readonly media_type?: string | null };

/**
 * The source of a citation.
 *
 * In Rust: `CitationSource` of entelix-core, tagged by `kind`. A missing title is written as `null`.
 */
export type CitationSource =
  | { readonly kind: "url"; readonly url: string; readonly title?: string | null }
  | {
      readonly kind: "document";
      /** Index among the documents of the request, from 0. */
      readonly document_index: number;
      readonly title?: string | null;
    };
