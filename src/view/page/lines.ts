import { breath } from "./breath.ts";

/**
 * The lines of an answer, as they come. The page can draw and react in between: what came at once is not read at once.
 *
 * @throws the error of the connection.
 */
export async function* linesOf({ body }: Response): AsyncGenerator<string, void, undefined> {
  if (body === null) return;
  const breathe = breath();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // A long line is joined once, not with every piece that comes.
  let begun: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      let from = 0;
      for (let end = value.indexOf("\n"); end >= 0; end = value.indexOf("\n", from)) {
        begun.push(value.slice(from, end));
        from = end + 1;
        yield begun.join("");
        begun = [];
        await breathe();
      }
      if (from < value.length) begun.push(value.slice(from));
    }
  } finally {
    await reader.cancel();
  }
}
