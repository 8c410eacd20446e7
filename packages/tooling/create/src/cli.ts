/** `pnpm new <kind> <name>`: exit 0 when the package is there and resolves, 64 for wrong arguments, 69 when linking failed. */
import { join } from "node:path";
import { EXIT, SvcError } from "@svc/contract";
import { readFixture } from "./fixture.ts";
import { linkCompiler } from "./link-compiler.ts";
import { linkPackage } from "./link.ts";
import { type Plan, planPackage } from "./plan.ts";
import { readRequest } from "./request.ts";
import { writePlan } from "./write.ts";

const HELP = `Usage: pnpm new <kind> <name> [--dry-run]

Makes a package in packages/features that passes types, lint, format, checks and tests at once; or, in plugins, a WASM plugin.

Kinds:
  feature   any other part of the service: an observer, routes below /api, a loop
  channel   a place people are answered in; the template takes signed webhooks and answers over a JSON API
  tool      something the agent can call
  plugin    a tool of your own, outside of this repository, that runs confined and is installed without a build of svc

  --dry-run   print what would be written, write nothing
  --help      print this

A name that profiles/planned.toml has takes its summary, section and tools from there, and moves to the profiles' features.

Examples:
  pnpm new tool word-count        packages/features/tool-word-count
  pnpm new channel pager          packages/features/channel-pager, [channels_config.pager]
  pnpm new feature turn-stats     packages/features/turn-stats, [turn_stats]
  pnpm new plugin word-count      plugins/word-count, the tool plugin_word_count
  pnpm new tool word-count --dry-run
`;

function main(argv: readonly string[]): number {
  if (argv.includes("--help") || argv.includes("-h")) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  try {
    return make(argv);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    process.stderr.write(`${error.message}\n${error.hint === undefined ? "" : `${error.hint}\n`}`);
    return error.exitCode;
  }
}

function make(argv: readonly string[]): number {
  const root = join(import.meta.dirname, "../../../..");
  const request = readRequest(argv);
  const plan = planPackage(request, readFixture(root));
  process.stdout.write(describe(plan, request.dryRun));
  if (request.dryRun) return EXIT.ok;
  writePlan(root, plan);
  const isPlugin = request.kind === "plugin";
  const problem = isPlugin ? linkCompiler(root, plan.folder) : linkPackage(root, plan.folder);
  if (problem !== undefined) {
    const install = isPlugin ? `cd ${plan.folder} && npm install` : "pnpm install";
    process.stderr.write(
      `\nThe files are written, but the package is not linked:\n${problem}\nMend that, then run: ${install}\n`,
    );
    return EXIT.unavailable;
  }
  process.stdout.write(isPlugin ? pluginSteps(plan) : nextSteps(plan));
  return EXIT.ok;
}

function describe({ folder, files, changes }: Plan, dryRun: boolean): string {
  const lines = [
    `${dryRun ? "Would write" : "Writing"} ${folder}:`,
    ...[...files.keys()].map((file) => `  ${file}`),
    ...[...changes.keys()].map((file) => `${dryRun ? "Would change" : "Changing"} ${file}`),
  ];
  return `${lines.join("\n")}\n`;
}

const nextSteps = ({ id, folder }: Plan): string => `
It passes already. Try it, then make it yours:
  node_modules/.bin/vitest run --project unit ${folder}
  pnpm checks
  pnpm build minimal --with ${id}
`;

const pluginSteps = ({ folder }: Plan): string => `
It works already. Build it, install it, then make it yours:
  node ${folder}/build.mjs
  svc plugin install ${folder}
`;

process.exitCode = main(process.argv.slice(2));
