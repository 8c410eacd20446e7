// Child processes of the bootstrap: output collected, ended together with us, never left behind.
import { spawn } from "node:child_process";

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] the whole environment; default: ours
 * @property {(line: string) => void} [onLine] every line of stdout and stderr as it comes
 * @property {number} [limitMs] ended, with a line in the output, when it runs longer: SIGTERM to its group, then SIGKILL
 * @property {number} [graceMs] between the two, and for output that is held open after its end; default 10 s
 */
/**
 * @typedef {object} RunResult
 * @property {number} code exit code; 128 + n when a signal ended it; 127 when it could not be started
 * @property {string} output stdout and stderr in the order they came, at most the last 1 MiB
 * @property {string} stdout stdout alone, at most the last 1 MiB
 */

/** Children that run now: a signal that ends us must end them as well. @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
let watching = false;

/**
 * Runs a program to its end. Never rejects: a program that cannot be started is a result with code 127.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const { graceMs = 10_000 } = options;
    let output = "";
    let stdout = "";
    let rest = "";
    // .cmd shims need a shell, which takes one line; Node would put the words together without quotes.
    const isShim = process.platform === "win32" && command.endsWith(".cmd");
    const [program, words] = isShim ? [shimLine(command, args), []] : [command, [...args]];
    const child = spawn(program, words, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      // No stdin: nothing in here may ever ask a question, and a tool that tries sees the end of its input.
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own (POSIX), so that killing it takes the workers along: one that lived on would also hold the
      // pipes open, and we would wait for ever.
      detached: process.platform !== "win32",
      shell: isShim,
    });
    running.add(child);
    watch();
    /** @param {string} text */
    const take = (text) => {
      output = (output + text).slice(-1_048_576);
      if (!options.onLine) return;
      const lines = (rest + text).split(/\r?\n|\r/u);
      rest = lines.pop() ?? "";
      for (const line of lines) options.onLine(line);
    };
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      stdout = (stdout + text).slice(-1_048_576);
      take(text);
    });
    child.stderr.setEncoding("utf8").on("data", take);
    /** @type {NodeJS.Timeout[]} */
    const timers = [];
    const late = () => {
      take(`\n${command} was ended: it ran longer than ${(options.limitMs ?? 0) / 1000} s\n`);
      endGroup(child, "SIGTERM");
      timers.push(setTimeout(() => endGroup(child, "SIGKILL"), graceMs));
    };
    if (options.limitMs !== undefined) timers.push(setTimeout(late, options.limitMs));
    /** @param {number} code */
    const ended = (code) => {
      for (const timer of timers) clearTimeout(timer);
      running.delete(child);
      watch();
      if (rest && options.onLine) options.onLine(rest);
      resolve({ code, output, stdout });
    };
    child.once("error", (error) => {
      output += `${command}: ${error.message}\n`;
      ended(127);
    });
    // What it started and left behind may hold its output open for as long as it lives.
    child.once("exit", () => {
      timers.push(
        setTimeout(() => {
          take(`\n${command} has ended and left a process behind that holds its output open\n`);
          endGroup(child, "SIGKILL");
          child.stdout.destroy();
          child.stderr.destroy();
        }, graceMs),
      );
    });
    child.once("close", (code, signal) => ended(code ?? 128 + signalNumber(signal)));
  });
}

/**
 * A line for cmd.exe that starts a .cmd file. Arguments here are this repository's own, and paths: no quote is in them.
 * @param {string} command
 * @param {readonly string[]} args
 */
export function shimLine(command, args) {
  return [command, ...args].map((word) => (/^[\w@:=.,+/\\-]+$/u.test(word) ? word : `"${word}"`)).join(" ");
}

/**
 * @param {NodeJS.Signals | null} signal
 * @returns {number} 0 when unknown
 */
export function signalNumber(signal) {
  return signal === null
    ? 0
    : ({ SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }[String(signal)] ?? 0);
}

/** @param {NodeJS.Signals} signal */
function endAll(signal) {
  for (const child of running) endGroup(child, "SIGTERM");
  process.exit(128 + signalNumber(signal));
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function endGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // it has ended already
  }
}

/** Signals are ours only while a child runs: between steps the default action must end the process. */
function watch() {
  if (running.size > 0 === watching) return;
  watching = !watching;
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    if (watching) process.on(signal, endAll);
    else process.off(signal, endAll);
  }
}
