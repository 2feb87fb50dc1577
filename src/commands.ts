import {
  auditErase,
  auditShow,
  auditVerify,
  type Command,
  consume,
  doctor,
  replay,
  runs,
  serve,
  token,
  where,
} from "./cli/door.ts";
import { demo, report, view } from "./view/door.ts";

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  demo,
  view,
  report,
  replay,
  where,
  serve,
  token,
  runs,
  consume,
  auditVerify,
  auditShow,
  auditErase,
  doctor,
];
