/** `npm run checks`: exit 0 when every rule holds, 1 when one is broken, 64 for wrong arguments. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT } from "@svc/contract";
import { type GeneratedPage, generatedPages } from "@svc/docs";
import { LINEAR_LIST, linearList } from "./checks/linear-regexes.ts";
import { readArguments } from "./command-line.ts";
import { renderJson, renderText } from "./report.ts";
import { allChecks, runChecks } from "./run.ts";
import { readWorkspace, type Workspace } from "./workspace.ts";

const root = join(import.meta.dirname, "../../../..");
const pages = await readPages();
const checks = allChecks(pages);

const HELP = `Usage: npm run checks -- [options]

Judges the sources: layers, manifests, conformance, names, docs.

  --only <ids>  run only these checks, separated by commas
  --write       write the pages and lists that are made of the code before checking
  --json        print the result as JSON
  -h, --help    print this

Checks:
${checks.map(({ id, rule }) => `  ${id.padEnd(18)} ${rule}`).join("\n")}

Examples:
  npm run checks
  npm run checks -- --only layers,manifests
  npm run checks -- --write
`;

process.exitCode = main(process.argv.slice(2));

function main(argv: readonly string[]): number {
  const ids = checks.map(({ id }) => id);
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
  if (options.write) {
    writePages(readWorkspace(root));
    writeFileSync(join(root, LINEAR_LIST), linearList(readWorkspace(root)));
  }
  const chosen = options.only.length === 0 ? checks : checks.filter(({ id }) => options.only.includes(id));
  const outcomes = runChecks(readWorkspace(root), chosen);
  process.stdout.write(options.json ? renderJson(outcomes) : renderText(outcomes));
  return outcomes.every(({ ok }) => ok) ? EXIT.ok : EXIT.failure;
}

function writePages({ files }: Workspace): void {
  for (const { path, render } of pages()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), render(files));
  }
}

/** Code that can't be read fails the check of its pages, not the other checks. */
function readPages(): Promise<() => readonly GeneratedPage[]> {
  return generatedPages(root).then(
    (read) => () => read,
    (error: unknown) => () => {
      throw error;
    },
  );
}
