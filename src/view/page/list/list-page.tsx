import { useEffect, useState } from "preact/hooks";
import type { RunList } from "../../format.ts";
import type { RunData } from "../data.ts";
import { runAddress } from "../route.ts";

/** All runs: filters, failures over time, and a table. */
export function ListPage({ data }: { readonly data: RunData; readonly query: URLSearchParams }) {
  const [list, setList] = useState<RunList>();
  useEffect(() => {
    void data.list().then(setList);
  }, [data]);
  return (
    <main>
      <h1>Runs</h1>
      <ul>
        {list?.runs.map((run) => (
          <li key={run.key}>
            <a href={runAddress(run.key)}>{run.run_id}</a> {run.agent} {run.outcome}
          </li>
        ))}
      </ul>
    </main>
  );
}
