// Adds up what the steps of `npm test` gave, and writes the line that ends it.

/** @typedef {{ passed: number, failed: number, skipped: number }} Tally */

const lastLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/u;

/** @param {readonly Tally[]} tallies @returns {Tally} */
export function sum(tallies) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const tally of tallies) {
    total.passed += tally.passed;
    total.failed += tally.failed;
    total.skipped += tally.skipped;
  }
  return total;
}

/** @param {Tally} tally */
export function tallyLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Reads the closing line of an earlier run back. A run without one crashed, and a crash is a failure.
 * @param {string} output
 * @param {number} code the run's exit code
 * @returns {Tally}
 */
export function readTally(output, code) {
  // npm may add lines of its own after ours.
  const match = output
    .split(/\r?\n/u)
    .reduce((/** @type {RegExpExecArray | null} */ last, line) => lastLine.exec(line.trim()) ?? last, null);
  if (!match) return { passed: 0, failed: 1, skipped: 0 };
  const tally = { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3]) };
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

/**
 * The failures that a test run listed, as it printed them; "" without any.
 * @param {string} output
 */
export function readFailures(output) {
  const lines = output.split(/\r?\n/u);
  const from = lines.lastIndexOf("Failed:") + 1;
  if (from === 0) return "";
  const to = lines.findIndex((line, index) => index >= from && !line.startsWith("  "));
  return lines.slice(from, to === -1 ? undefined : to).join("\n");
}

/**
 * Makes one vitest run's report trustworthy together with its exit code.
 * @param {string | undefined} json the report's text; undefined when the runner wrote none
 * @param {number} code
 * @returns {import("./vitest-reporter.mjs").Report}
 */
export function readReport(json, code) {
  /** @type {import("./vitest-reporter.mjs").Report} */
  let report = { passed: 0, failed: [], skipped: [], slowest: [] };
  try {
    report = JSON.parse(json ?? "");
  } catch {
    report.failed.push({ name: "test runner", why: `ended with exit code ${code} and no report` });
  }
  const ran = report.passed + report.failed.length + report.skipped.length;
  if (ran === 0) report.failed.push({ name: "test runner", why: "ran no test at all" });
  if (code !== 0 && report.failed.length === 0) {
    report.failed.push({ name: "test runner", why: `ended with exit code ${code} although no test failed` });
  }
  return report;
}
