/**
 * Where the bytes of an image, audio, video or document part come from.
 *
 * Upstream: `MediaSource` of entelix-core, tagged by `kind`. A `media_type` that is not known is
 * written as `null`.
 */
export type MediaSource =
  | { readonly kind: "url"; readonly url: string; readonly media_type?: string | null }
  | { readonly kind: "base64"; readonly media_type: string; readonly data: string }
  | { readonly kind: "file_id"; readonly id: string; readonly media_type?: string | null };

/**
 * What a citation points at.
 *
 * Upstream: `CitationSource` of entelix-core, tagged by `kind`. A missing title is written as `null`.
 */
export type CitationSource =
  | { readonly kind: "url"; readonly url: string; readonly title?: string | null }
  | {
      readonly kind: "document";
      /** Index among the documents of the request, from 0. */
      readonly document_index: number;
      readonly title?: string | null;
    };
