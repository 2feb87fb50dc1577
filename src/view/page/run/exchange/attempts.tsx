import { counted } from "../../../../events/format/door.ts";
import { LinkText, Text } from "../../shell/text.tsx";
import { Fold } from "./parts.tsx";

/**
 * Failed attempts that were repeated: how many, and why the first one failed. All reasons are folded.
 *
 * @param texts the operator's text of each attempt. `undefined`: the source has none.
 */
export function Attempts({ texts }: { readonly texts: readonly (string | undefined)[] }) {
  const [first] = texts[0]?.split("\n", 1) ?? [];
  if (texts.length === 0) return null;
  return (
    <Fold
      summary={
        <>
          <span class="badge bad">
            <i aria-hidden="true">✕</i>
            {counted(texts.length, "failed attempt")}
          </span>{" "}
          {first !== undefined && (
            <span class="talk-failed">
              <LinkText limit={120} value={first} />
            </span>
          )}
        </>
      }
    >
      <ol class="talk-attempts">
        {texts.map((text, at) => (
          <li key={at}>
            {text === undefined ? (
              "The source has no text."
            ) : (
              <Text limit={1000} lines value={text} />
            )}
          </li>
        ))}
      </ol>
    </Fold>
  );
}
