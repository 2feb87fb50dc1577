// `entelix-otel/register`, for `node --import entelix-otel/register app.mjs`: reports agents without any code.
import { register, registerSettings, unknownVariables } from "../agents/door.ts";

const say = (line: string) => process.stderr.write(`entelix-otel: ${line}\n`);
try {
  const settings = registerSettings(process.env);
  if (settings !== undefined) {
    for (const line of unknownVariables(process.env)) say(line);
    say(register(settings, process.argv[1]));
  }
} catch (error) {
  // The application must start even if this fails.
  say(`nothing is reported: ${String(error)}`);
}
