/** Where a program of the docs leaves room for the agent. */
const AGENT = "  // … the agent\n";

/**
 * Reads a recipe of the docs, so that what stands there is what is run.
 *
 * @param page its text, in Markdown.
 * @param heading of the section with the recipe: one `npm install` line and one program.
 * @returns `packages`, name to version, without the package itself, and the `program`.
 */
export function readRecipe(page, heading) {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  const install = block(section, "sh")?.replaceAll("\\\n", " ");
  const program = block(section, "js");
  if (!install?.startsWith("npm install ") || program === undefined) {
    throw new Error(`${heading}: expected an npm install in sh, and a program in js`);
  }
  const specs = install.trim().split(/\s+/).slice(2);
  const packages = specs
    .filter((spec) => spec !== "entelix-otel")
    .map((spec) => {
      const at = spec.lastIndexOf("@");
      if (at < 1) throw new Error(`${heading}: expected a version with ${spec}`);
      return [spec.slice(0, at), spec.slice(at + 1)];
    });
  return { packages: Object.fromEntries(packages), program };
}

/** The program of a recipe as one that sends a run to the bridge it makes, and prints the run's id. */
export function withRun({ program }) {
  if (program.split(AGENT).length !== 2) {
    throw new Error(`expected one line in the program: ${AGENT.trim()}`);
  }
  const send = "  console.log(await sendRun(bridge));\n";
  return `import { sendRun } from "./send-run.mjs";\n${program.replace(AGENT, send)}`;
}

function block(section, language) {
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(section)?.[1];
}
