/** `npm run checks`: exit 0 when every rule holds, 1 when one is broken, 64 for wrong arguments. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ERRORS, EXIT } from "@svc/contract";
import { ERROR_PAGE, renderErrorPage } from "./checks/error-page.ts";
import { readArguments } from "./command-line.ts";
import { renderJson, renderText } from "./report.ts";
import { CHECKS, runChecks } from "./run.ts";
import { readWorkspace } from "./workspace.ts";

const HELP = `Usage: npm run checks -- [options]

Judges the sources: layers, manifests, conformance, names, sizes, docs.

  --only <ids>  run only these checks, separated by commas
  --write       write the generated pages (${ERROR_PAGE}) before checking
  --json        print the result as JSON
  -h, --help    print this

Checks:
${CHECKS.map(({ id, rule }) => `  ${id.padEnd(18)} ${rule}`).join("\n")}

Examples:
  npm run checks
  npm run checks -- --only layers,manifests
  npm run checks -- --write
`;

process.exitCode = main(process.argv.slice(2));

function main(argv: readonly string[]): number {
  const ids = CHECKS.map(({ id }) => id);
  let options: ReturnType<typeof readArguments>;
  try {
    options = readArguments(argv, ids);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nTry: npm run checks -- --help\n`);
    return EXIT.usage;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  const root = join(import.meta.dirname, "../../../..");
  if (options.write) writePage(join(root, ERROR_PAGE), renderErrorPage(ERRORS));
  const chosen = options.only.length === 0 ? CHECKS : CHECKS.filter(({ id }) => options.only.includes(id));
  const outcomes = runChecks(readWorkspace(root), chosen);
  process.stdout.write(options.json ? renderJson(outcomes) : renderText(outcomes));
  return outcomes.every(({ ok }) => ok) ? EXIT.ok : EXIT.failure;
}

function writePage(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
