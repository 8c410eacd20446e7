/** `shell`: one command line in the sandbox in force. The policy judges the line before it gets here. */
import { type Contributions, defineTool, type ExecResult, type SandboxLimit } from "@svc/contract";
import * as v from "valibot";

// Both streams together stay below the 64 Ki characters of JSON at which a turn cuts results.
const MAX_OUTPUT_BYTES = 24_576;
const MAX_TIMEOUT_SECS = 86_400;
const SHELL = process.platform === "win32" ? "cmd.exe" : "/bin/sh";

export const shell = defineTool({
  name: "shell",
  description:
    `Runs a command line with ${SHELL} in the workspace and returns its exit code and both output streams. Nothing can be ` +
    `typed into it. Of each stream the first ${MAX_OUTPUT_BYTES} bytes are returned; redirect longer output to a file. ` +
    "All its processes end with the line, those in the background too. It runs in a sandbox that may have no network.",
  input: v.strictObject({
    command: v.pipe(
      v.string(),
      v.regex(/\S/, "a command line"),
      v.maxLength(65_536),
      v.description("The command line."),
    ),
    cwd: v.optional(
      v.pipe(
        v.string(),
        v.nonEmpty(),
        v.maxLength(4096),
        v.description("Folder to run it in, relative to the workspace. Default: the workspace."),
      ),
    ),
    timeout_secs: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(MAX_TIMEOUT_SECS),
        v.description("Seconds after which it is ended. The configured limit holds in any case."),
      ),
    ),
  }),
  approval: "ask",
  commandLine: ({ command }) => command,
  commandFolder: ({ cwd }) => cwd,
  lasting: Object.freeze({}),
  async run({ command, cwd, timeout_secs: timeoutSecs }, { exec, signal }) {
    signal.throwIfAborted();
    const result = await exec({
      command,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal,
      ...(cwd !== undefined && { cwd }),
      ...(timeoutSecs !== undefined && { timeoutMs: timeoutSecs * 1000 }),
    });
    const notes = notesOn(result);
    return {
      exit_code: result.exitCode,
      stdout: result.stdout,
      stderr: result.stderr,
      ...(notes.length > 0 && { notes }),
    };
  },
});

const LIMIT_NOTES: Readonly<Record<SandboxLimit, string>> = {
  memoryMb: "The command needed more memory than the sandbox allows (security.sandbox.memory_mb).",
  cpuSecs: "The command needed more processor time than the sandbox allows (security.sandbox.cpu_secs).",
  pids: "The command started more processes or threads than the sandbox allows (security.sandbox.pids).",
};

function notesOn(result: ExecResult): string[] {
  const notes: string[] = [];
  if (result.timedOut) notes.push("The command was ended because it ran past its time limit.");
  else if (result.limit !== undefined) notes.push(LIMIT_NOTES[result.limit]);
  else if (result.signal !== null) notes.push(`The command was ended by ${result.signal}.`);
  if (result.truncated) notes.push(`Output was cut: of each stream only the first ${MAX_OUTPUT_BYTES} bytes are here.`);
  return notes;
}

export const create = (): Contributions => ({ tools: [shell] });
