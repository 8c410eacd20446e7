// Building through the composer, exactly as `pnpm build` does, with the pinned Node.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pinnedNode, root } from "./checkout.mjs";
import { toolsEnv } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { BootstrapError } from "./progress.mjs";
import { run } from "./run.mjs";

/**
 * What to build.
 * @typedef {object} BuildRequest
 * @property {string} profile minimal, home, standard, full or all
 * @property {readonly string[]} [with] features added
 * @property {readonly string[]} [without] features taken away
 */

/**
 * Builds if the binary is stale (the composer decides) and returns its path.
 * @param {BuildRequest} request
 * @param {{ progress: import("./progress.mjs").Progress, checkout?: string }} options
 * @returns {Promise<string>}
 * @throws {BootstrapError} with the composer's exit code (64 for names it does not know)
 */
export async function build(request, { progress, checkout = root }) {
  const composer = join("packages", "tooling", "compose", "src", "cli.ts");
  const args = [composer, ...composerArguments(request), "--json"];
  // A folder given with --with starts from where the person stands.
  const env = { ...toolsEnv(checkout), INIT_CWD: process.cwd() };
  const result = await progress.step(
    `build ${request.profile}`,
    ({ note }) =>
      withLock(
        join(checkout, "dist", ".build.lock"),
        () => run(pinnedNode(checkout), args, { cwd: checkout, env, onLine: note }),
        () => note("another build is running in this checkout; waiting for it"),
      ),
    ({ code, stdout }) => ({ ok: code === 0, text: code === 0 ? outcome(answerOf(stdout)) : "failed" }),
  );
  const answer = answerOf(result.stdout);
  if (result.code !== 0) throw new BootstrapError(failure(answer, result.output), result.code);
  if (!answer?.binary || !existsSync(answer.binary)) {
    throw new BootstrapError(`The build reported success, but there is no binary.\n${result.output}`, 70);
  }
  return answer.binary;
}

/**
 * What the composer prints with --json.
 * @typedef {{ binary?: string, reason?: string, error?: string, code?: string, hint?: string }} Answer
 */

/**
 * @param {string} stdout
 * @returns {Answer | undefined} undefined when it died before it could answer
 */
function answerOf(stdout) {
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** @param {Answer | undefined} answer */
function outcome(answer) {
  return answer?.reason === undefined ? "up to date" : `built (${answer.reason})`;
}

/**
 * @param {Answer | undefined} answer
 * @param {string} output
 */
function failure(answer, output) {
  if (!answer?.error) return output.trimEnd();
  return `${answer.code}: ${answer.error}${answer.hint ? `\n→ ${answer.hint}` : ""}`;
}

/**
 * The composer's arguments, as they follow `pnpm build`.
 * @param {BuildRequest} request
 */
export function composerArguments(request) {
  const args = [request.profile];
  if (request.with?.length) args.push("--with", request.with.join(","));
  if (request.without?.length) args.push("--without", request.without.join(","));
  return args;
}
