// The steps of `npm test`, cheapest first.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, pinnedNode, root } from "./checkout.mjs";
import { toolsEnv } from "./install.mjs";
import { run } from "./run.mjs";
import { readReport } from "./tally.mjs";
import { progressMark, reportVariable } from "./vitest-reporter.mjs";

/** A step that hangs is a failure, not a job that somebody has to cancel. */
const limitMs = 30 * 60_000;

/**
 * @typedef {object} Outcome
 * @property {import("./tally.mjs").Tally} tally
 * @property {string} output shown when something failed
 * @property {{ name: string, reason: string }[]} skips
 * @property {{ name: string, why: string }[]} failures
 * @property {import("./vitest-reporter.mjs").FileTime[]} slowest
 */
/** @typedef {{ name: string, work: (note: (detail: string) => void) => Promise<Outcome> }} TestStep */

/** Node's permissions: all but the network. The site must build on a machine that has none. */
const withoutNetwork = [
  "--permission",
  "--allow-fs-read=*",
  "--allow-fs-write=*",
  "--allow-addons",
  "--allow-child-process",
  "--allow-worker",
  "--disable-warning=SecurityWarning",
];

/** @returns {TestStep[]} */
export function staticSteps() {
  return [
    command("types", bin("tsc"), ["-b"]),
    command("types of tests", bin("tsc"), ["-p", "tsconfig.tests.json"]),
    command("lint", bin("oxlint"), ["--deny-warnings"]),
    command("format", bin("oxfmt"), ["--check"]),
    command("layers, manifests, docs", pinnedNode(), [join("packages", "tooling", "checks", "src", "cli.ts")]),
    command("unused code", bin("knip"), []),
    command("docs", pinnedNode(), [...withoutNetwork, join("packages", "tooling", "docs", "src", "build.ts")]),
  ];
}

/**
 * One command is one test: its exit code is the result.
 * @param {string} name
 * @param {string} program
 * @param {string[]} args
 * @returns {TestStep}
 */
function command(name, program, args) {
  return {
    name,
    work: async (note) => {
      const { code, output } = await run(program, args, { cwd: root, env: toolsEnv(), onLine: note, limitMs });
      return code === 0 ? onePassed() : oneFailed(name, `ended with exit code ${code}`, output);
    },
  };
}

/**
 * All tests of one vitest project.
 * @param {string} name
 * @param {string} project
 * @returns {TestStep}
 */
export function tests(name, project) {
  return {
    name,
    work: async (note) => {
      const folder = mkdtempSync(join(tmpdir(), "svc-test-report-"));
      const file = join(folder, "report.json");
      try {
        const reporter = join(root, "packages", "tooling", "bootstrap", "vitest-reporter.mjs");
        const args = ["run", "--project", project, "--reporter=default", `--reporter=${reporter}`];
        const { code, output } = await run(bin("vitest"), args, {
          cwd: root,
          env: { ...toolsEnv(), [reportVariable]: file },
          onLine: (line) => void (line.startsWith(progressMark) && note(line.slice(progressMark.length))),
          limitMs,
        });
        const report = readReport(existsSync(file) ? readFileSync(file, "utf8") : undefined, code);
        const tally = { passed: report.passed, failed: report.failed.length, skipped: report.skipped.length };
        const shown = output.split("\n").filter((line) => !line.startsWith(progressMark));
        return {
          tally,
          output: shown.join("\n"),
          skips: report.skipped,
          failures: report.failed,
          slowest: report.slowest,
        };
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** @returns {Outcome} */
export function onePassed() {
  return { tally: { passed: 1, failed: 0, skipped: 0 }, output: "", skips: [], failures: [], slowest: [] };
}

/**
 * @param {string} name
 * @param {string} why
 * @param {string} [output]
 * @returns {Outcome}
 */
export function oneFailed(name, why, output = "") {
  return { tally: { passed: 0, failed: 1, skipped: 0 }, output, skips: [], failures: [{ name, why }], slowest: [] };
}
