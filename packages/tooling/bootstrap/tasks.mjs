// Runs tasks of turbo.json, side by side where they may be, and tells what came of each.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bin, root } from "./checkout.mjs";
import { run } from "./run.mjs";
import { readReport } from "./tally.mjs";
import { failureMark, progressMark, reportPath } from "./vitest-reporter.mjs";

/**
 * @typedef {object} Outcome
 * @property {string} name
 * @property {number} seconds
 * @property {boolean} isCached it ran before, on the same files
 * @property {import("./tally.mjs").Tally} tally
 * @property {string} output shown when something failed
 * @property {{ name: string, reason: string }[]} skips
 * @property {{ name: string, why: string }[]} failures
 * @property {import("./vitest-reporter.mjs").FileTime[]} slowest
 */
/**
 * As turbo's summary has it, in what is used here.
 * @typedef {object} TaskSummary
 * @property {string} taskId
 * @property {string} task
 * @property {string} command
 * @property {string} directory
 * @property {{ status: string }} cache
 * @property {{ startTime: number, endTime: number, exitCode: number | null }} [execution]
 */

/** Tests wait for much of their time. */
const sideBySide = 3;
/** Of what a task prints: the end says what is wrong. */
const mostLines = 400;
const summaries = join(root, ".turbo", "runs");
/** Tasks whose tests are counted one by one. */
const counted = new Set(["unit", "promises", "whole-binary"]);

/**
 * @param {readonly string[]} tasks
 * @param {{ env: NodeJS.ProcessEnv, limitMs: number, flags?: readonly string[], note: (detail: string) => void, failed: (test: string) => void }} options
 *   note: what is being done now; failed: a test, as soon as it has
 * @returns {Promise<Outcome[]>} with one outcome at least
 */
export async function runTasks(tasks, { env, limitMs, flags = [], note, failed }) {
  rmSync(summaries, { recursive: true, force: true });
  /** By task, as its lines begin: `@svc/kit:unit: `. @type {Map<string, string[]>} */
  const printed = new Map();
  const onLine = (/** @type {string} */ line) => {
    const [, of, text = ""] = /^(\S+:[\w:-]+): (.*)$/u.exec(line) ?? [];
    if (of === undefined) return;
    if (text.startsWith(failureMark)) failed(text.slice(failureMark.length).trim());
    if (text.startsWith(progressMark)) return note(`${of}:${text.slice(progressMark.length)}`);
    printed.set(of, [...(printed.get(of) ?? []).slice(-mostLines), text]);
  };
  const result = await run(
    bin("turbo"),
    [
      "run",
      ...tasks,
      "--continue=dependencies-successful",
      `--concurrency=${sideBySide}`,
      "--summarize",
      "--output-logs=new-only",
      "--log-order=stream",
      "--log-prefix=task",
      "--no-color",
      ...flags,
    ],
    { cwd: root, env, onLine, limitMs },
  );
  const [file] = existsSync(summaries) ? readdirSync(summaries) : [];
  if (file === undefined) return [outcomeOf("turbo", { failures: ["it left no summary"], output: result.output })];
  /** @type {{ tasks: TaskSummary[] }} */
  const summary = JSON.parse(readFileSync(join(summaries, file), "utf8"));
  const outcomes = summary.tasks
    .filter(({ command }) => command !== "<NONEXISTENT>")
    .map((task) => judge(task, printed.get(task.taskId.replace("#", ":")) ?? []));
  // turbo leaves out what it did not begin.
  const begun = new Set(summary.tasks.map(({ task }) => task));
  const missing = tasks.filter((task) => !begun.has(task));
  return [...outcomes, ...missing.map((task) => outcomeOf(task, { failures: ["not run: what it needs failed"] }))];
}

/**
 * @param {TaskSummary} summary
 * @param {readonly string[]} printed
 * @returns {Outcome}
 */
export function judge({ taskId, task, directory, cache, execution }, printed) {
  const name = taskId
    .replace(/^\/\/#/u, "")
    .replace("@svc/", "")
    .replace("#", ": ");
  if (execution === undefined) return outcomeOf(name, { failures: ["not run: what it needs failed"] });
  const code = execution.exitCode ?? 1;
  const about = {
    name,
    seconds: (execution.endTime - execution.startTime) / 1000,
    isCached: cache.status === "HIT",
  };
  const output = code === 0 ? "" : printed.join("\n");
  if (!counted.has(task)) {
    return { ...outcomeOf(name, { failures: code === 0 ? [] : [`ended with exit code ${code}`], output }), ...about };
  }
  const file = reportPath(join(root, directory), task);
  const report = readReport(existsSync(file) ? readFileSync(file, "utf8") : undefined, code);
  return {
    ...about,
    tally: { passed: report.passed, failed: report.failed.length, skipped: report.skipped.length },
    output,
    skips: report.skipped,
    failures: report.failed,
    slowest: report.slowest,
  };
}

/**
 * Of something that counts as one test.
 * @param {string} name
 * @param {{ failures?: readonly string[], output?: string }} [what]
 * @returns {Outcome}
 */
export function outcomeOf(name, { failures = [], output = "" } = {}) {
  const failed = failures.length > 0 ? 1 : 0;
  return {
    name,
    seconds: 0,
    isCached: false,
    tally: { passed: 1 - failed, failed, skipped: 0 },
    output,
    skips: [],
    failures: failures.map((why) => ({ name, why })),
    slowest: [],
  };
}

/**
 * Changes when a program is installed or removed: what was skipped without it has to run then. What npm adds of this checkout
 * to PATH is new after the first install, and no such program.
 */
export function machine(path = process.env["PATH"] ?? "") {
  const folders = path.split(delimiter).filter((folder) => !folder.startsWith(root));
  const changed = folders.map((folder) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return createHash("sha256")
    .update(JSON.stringify([process.getuid?.(), folders, changed]))
    .digest("hex")
    .slice(0, 16);
}
