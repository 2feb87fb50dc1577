import { existsSync } from "node:fs";
import module from "node:module";
import { isAbsolute, join } from "node:path";

/**
 * Lets Node keep compiled code for later starts, where it can (from 22.1 on): in `entelix-otel/compiled` of the user's
 * cache folder, `XDG_CACHE_HOME` or `~/.cache`, if that exists. Node's own default is the folder for temporary files,
 * where another user could put code. A folder that can't be written changes nothing. `NODE_COMPILE_CACHE` names another
 * folder, and with `NODE_DISABLE_COMPILE_CACHE=1` nothing is kept.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  const folder = env.XDG_CACHE_HOME || join(env.HOME ?? "", ".cache");
  const enable: unknown = Reflect.get(module, "enableCompileCache");
  if (typeof enable !== "function" || !isAbsolute(folder) || !existsSync(folder)) return;
  Reflect.apply(enable, module, [join(folder, "entelix-otel", "compiled")]);
}
