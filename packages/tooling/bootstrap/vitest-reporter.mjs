// Counts what vitest did, for test.mjs: exact numbers and the reason of every skip, which no built-in reporter gives.
// Nothing may slip through as "0 failed": a test that never finished, a suite that could not be set up, a file that
// could not be loaded and a skip without a reason are failures.
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** The environment variable that names the file for the report. */
export const reportVariable = "SVC_TEST_REPORT";

/**
 * Where a task of turbo.json leaves its report.
 * @param {string} folder of the package, or the root
 * @param {string} task
 */
export const reportPath = (folder, task) => join(folder, ".reports", `${task}.json`);
/** Lines of progress on stdout begin with this. */
export const progressMark = "svc-tests:";
/** Lines on stdout that name a test that failed just now begin with this. */
export const failureMark = "svc-failed:";

/** @typedef {{ file: string, seconds: number }} FileTime */
/**
 * `slowest`: files that took a while, the slowest first.
 * @typedef {{ passed: number, failed: { name: string, why: string }[], skipped: { name: string, reason: string }[], slowest: FileTime[] }} Report
 */

const slowAfterSeconds = 20;
const mostClosingMs = 60_000;
/** Characters of what is said of one failure. */
const mostReason = 4000;

/** The report on disk holds at each moment what is known by then: a run that is killed has not lost what it found. */
export default class CountingReporter {
  #tests = 0;
  /** @type {Map<string, import("vitest/node").TestModule>} */
  #running = new Map();
  /** @type {import("vitest/node").TestModule[]} */
  #ended = [];

  /** @param {import("vitest/node").TestModule} module */
  onTestModuleStart(module) {
    this.#running.set(module.id, module);
    this.#tell();
  }

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state !== "failed") return;
    const [why] = reasonOf(errors[0]).split("\n", 1);
    process.stdout.write(`${failureMark} ${test.module.relativeModuleId} > ${test.fullName}: ${why}\n`);
  }

  /** @param {import("vitest/node").TestModule} module */
  onTestModuleEnd(module) {
    this.#running.delete(module.id);
    this.#ended.push(module);
    this.#tests += [...module.children.allTests()].length;
    this.#tell();
  }

  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const report = count(modules, unhandledErrors);
    save(report);
    // vitest waits for the output of its workers, which a process that a test left behind holds open.
    setTimeout(() => {
      report.failed.push({ name: "test runner", why: "did not end: a test left a process behind" });
      save(report);
      process.exit(1);
    }, mostClosingMs).unref();
  }

  #tell() {
    const running = [...this.#running.values()].map(({ relativeModuleId }) => relativeModuleId);
    const report = count(this.#ended, []);
    for (const name of running) report.failed.push({ name, why: "did not end" });
    report.failed.push({ name: "test runner", why: "was ended before it had run everything" });
    save(report);
    const now = running.length > 0 ? `, now ${running.map((name) => basename(name)).join(" ")}` : "";
    process.stdout.write(`${progressMark} ${this.#tests} tests done${now}\n`);
  }
}

/** @param {Report} report */
function save(report) {
  const file = process.env[reportVariable];
  if (file) writeFileSync(file, JSON.stringify(report));
}

/**
 * @param {readonly import("vitest/node").TestModule[]} modules
 * @param {readonly unknown[]} unhandledErrors
 * @returns {Report}
 */
export function count(modules, unhandledErrors) {
  /** @type {Report} */
  const report = { passed: 0, failed: [], skipped: [], slowest: [] };
  for (const module of modules) {
    const file = module.relativeModuleId;
    const seconds = Math.round(module.diagnostic().duration / 1000);
    if (seconds >= slowAfterSeconds) report.slowest.push({ file, seconds });
    /** @param {string} name @param {string} why */
    const fail = (name, why) => void report.failed.push({ name: name ? `${file} > ${name}` : file, why });
    const tests = [...module.children.allTests()];
    const errors = module.errors();
    if (errors.length > 0) fail("", errors[0]?.message ?? "could not be loaded");
    else if (tests.length === 0) fail("", "holds no test, or never ran");
    for (const suite of module.children.allSuites()) {
      const [error] = suite.errors();
      if (error) fail(suite.fullName, error.message);
    }
    for (const test of tests) {
      const result = test.result();
      if (result.state === "passed") report.passed++;
      else if (result.state === "failed") fail(test.fullName, reasonOf(result.errors[0]));
      else if (result.state === "pending") fail(test.fullName, "did not finish");
      else {
        const reason = result.note ?? skipReason(test.meta());
        if (reason) report.skipped.push({ name: `${file} > ${test.fullName}`, reason });
        else fail(test.fullName, "skipped without a reason: use ctx.skip(reason), or { meta: { skipReason } }");
      }
    }
  }
  report.slowest.sort((a, b) => b.seconds - a.seconds);
  for (const error of unhandledErrors) {
    report.failed.push({
      name: "unhandled error",
      why: String(/** @type {{ message?: string }} */ (error)?.message ?? error),
    });
  }
  return report;
}

/**
 * What went wrong, with what was found in place of what was expected: the message alone says `[ …(4) ]`.
 * @param {import("vitest").TestError | undefined} error
 */
function reasonOf(error) {
  const parts = [];
  for (let one = error; one !== undefined && parts.length < 6; one = one.cause) {
    parts.push(one.message, ...(one.diff ? [stripVTControlCharacters(one.diff)] : []));
  }
  const reason = parts.join("\n");
  return reason.length > mostReason ? `${reason.slice(0, mostReason)} …` : reason || "failed";
}

/** @param {object} meta */
function skipReason(meta) {
  return "skipReason" in meta && typeof meta.skipReason === "string" ? meta.skipReason : undefined;
}
