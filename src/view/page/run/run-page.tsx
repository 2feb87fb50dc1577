import { useEffect, useState } from "preact/hooks";
import type { RunDetail } from "../../format.ts";
import type { RunData } from "../data.ts";
import { listAddress } from "../route.ts";

/** One run: its timeline, and beside it the details of the selected span. */
export function RunPage({
  data,
  runKey,
}: {
  readonly data: RunData;
  readonly runKey: string;
  readonly query: URLSearchParams;
}) {
  const [detail, setDetail] = useState<RunDetail>();
  useEffect(() => {
    void data.run(runKey).then(setDetail);
  }, [data, runKey]);
  return (
    <main>
      <a href={listAddress()}>All runs</a>
      <h1>{runKey}</h1>
      <ul>
        {detail?.spans.map((span) => (
          <li key={span.span_id}>{span.name}</li>
        ))}
      </ul>
    </main>
  );
}
