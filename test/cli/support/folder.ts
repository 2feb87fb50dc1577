import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory for one test, gone with it. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "entelix-otel-cli-test-"));

  at(...names: string[]): string {
    return join(this.path, ...names);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
