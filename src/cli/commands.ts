import { auditErase } from "./audit-erase.ts";
import { auditShow } from "./audit-show.ts";
import { auditVerify } from "./audit-verify.ts";
import type { Command } from "./command.ts";
import { consume } from "./consume.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { replay } from "./replay.ts";
import { report } from "./report.ts";
import { runs } from "./runs.ts";
import { serve } from "./serve.ts";
import { token } from "./token.ts";
import { view } from "./view.ts";
import { where } from "./where.ts";

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
