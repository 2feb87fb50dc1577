import type { RelatedRun } from "../../format.ts";
import { runAddress } from "../route.ts";
import { LinkText, Text } from "../shell/text.tsx";

/** The name of a related run, with a link if the run is in the list. */
export function RunLink({ run: { agent, key, run_id } }: { readonly run: RelatedRun }) {
  const name = agent ?? run_id;
  if (key === undefined) return <Text limit={60} value={name} />;
  return (
    <a href={runAddress(key)} title={run_id}>
      <LinkText value={name} />
    </a>
  );
}
