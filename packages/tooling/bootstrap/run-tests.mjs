#!/usr/bin/env node
// One task of the graph in turbo.json that runs tests: `run-tests.mjs unit` in a package, `promises` or `whole-binary` in the
// root. What came of them is left in `.reports/<task>.json` there.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { bin, root } from "./checkout.mjs";
import { promises } from "./promises.mjs";
import { run } from "./run.mjs";
import { reportPath, reportVariable } from "./vitest-reporter.mjs";

/** What hangs is a failure that is named, and not a job that has to be cancelled. */
const limitMinutes = 120;

const [task = ""] = process.argv.slice(2);
const here = process.cwd();
const report = reportPath(here, task);
mkdirSync(dirname(report), { recursive: true });
rmSync(report, { force: true });

const reporter = join(root, "packages", "tooling", "bootstrap", "vitest-reporter.mjs");
const args = ["run", ...chosen(), "--reporter=default", `--reporter=${reporter}`];
const { code } = await run(bin("vitest"), args, {
  cwd: root,
  env: { ...process.env, [reportVariable]: report },
  onLine: (line) => void process.stdout.write(`${line}\n`),
  limitMs: limitMinutes * 60_000,
});
process.exitCode = code === 0 && existsSync(report) ? 0 : 1;

/** The arguments of vitest. */
function chosen() {
  if (task === "promises") return ["--project", "e2e", ...Object.values(promises).flat()];
  if (task === "whole-binary") return ["--project", "e2e"];
  // One worker each: other packages' tests run at the same time.
  return ["--project", "unit", "--maxWorkers=1", `${relative(root, here).split(sep).join("/")}/`];
}
