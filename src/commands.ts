import { auditErase } from "./cli/audit-erase.ts";
import { auditShow } from "./cli/audit-show.ts";
import { auditVerify } from "./cli/audit-verify.ts";
import type { Command } from "./cli/command.ts";
import { consume } from "./cli/consume.ts";
import { doctor } from "./cli/doctor.ts";
import { replay } from "./cli/replay.ts";
import { runs } from "./cli/runs.ts";
import { serve } from "./cli/serve.ts";
import { token } from "./cli/token.ts";
import { where } from "./cli/where.ts";
import { demo } from "./view/commands/demo.ts";
import { report } from "./view/commands/report.ts";
import { view } from "./view/commands/view.ts";

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
