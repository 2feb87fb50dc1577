import { auditFlips } from "./families/audit-flips.ts";
import { clock } from "./families/clock.ts";
import { disk } from "./families/disk.ts";
import { expressions } from "./families/expressions.ts";
import { folders } from "./families/folders.ts";
import { gzip } from "./families/gzip.ts";
import { http } from "./families/http.ts";
import { journalFlips } from "./families/journal-flips.ts";
import { kill } from "./families/kill.ts";
import { largeRecords } from "./families/large-records.ts";
import { lateStreamsFamily } from "./families/late-streams.ts";
import { lines } from "./families/lines.ts";
import { locks } from "./families/locks.ts";
import { names } from "./families/names.ts";
import { objects } from "./families/objects.ts";
import { outputs } from "./families/outputs.ts";
import { tenants } from "./families/tenants.ts";
import { values } from "./families/values.ts";
import type { Family } from "./family.ts";

/** Every family, in the order of the table. */
export const FAMILIES: readonly Family[] = [
  kill,
  auditFlips,
  journalFlips,
  gzip,
  lines,
  http,
  tenants,
  outputs,
  disk,
  clock,
  objects,
  names,
  folders,
  locks,
  largeRecords,
  expressions,
  values,
  lateStreamsFamily,
];
