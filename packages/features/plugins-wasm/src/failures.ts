/** Failures of a plugin as errors for its caller. */
import { SvcError } from "@svc/contract";
import type { FailureKind } from "./frames.ts";

/** `text`: of the plugin or its process; a model reads it as it reads what a tool gives. */
export function failureOf(how: FailureKind, text: Uint8Array): SvcError {
  const said = printable(text) || "it did not say what";
  switch (how) {
    case "invalid":
      return new SvcError("PLUGIN_INVALID", `The engine does not take the plugin's module: ${said}`);
    case "reported":
      return new SvcError("TOOL_FAILED", `The plugin reports an error: ${said}`);
    case "crashed":
      return new SvcError("TOOL_FAILED", `The plugin crashed: ${said}`);
    case "stopped":
      return new SvcError("TOOL_FAILED", `The plugin was stopped: ${said}`);
  }
}

export const tookTooLong = (limitMs: number): SvcError =>
  new SvcError("TOOL_FAILED", `The plugin was stopped: it took longer than ${limitMs / 1000} s.`);

export const tookTooMuchMemory = (): SvcError =>
  new SvcError("TOOL_FAILED", "The plugin was stopped: it used more memory than it may have.");

export const endedByItself = (): SvcError =>
  new SvcError(
    "TOOL_FAILED",
    "The plugin's process came to an end before the call did: it used more memory than it may have, or broke the engine.",
  );

export const brokeFormat = (): SvcError =>
  new SvcError("TOOL_FAILED", "The plugin was stopped: its process said what no plugin can say.");

export const cannotStart = (cause?: unknown): SvcError =>
  new SvcError("TOOL_FAILED", "The process that the plugin runs in can't be started, or not with its module.", {
    cause,
  });

export const tooManyWait = (): SvcError =>
  new SvcError("BUSY", "Too many calls of this plugin are waiting; try again shortly.");

export const tooManyRun = (): SvcError =>
  new SvcError("BUSY", "Too many plugins are running at once; try again shortly.");

/** One line, without what drives a terminal or hides text. */
export const printable = (text: Uint8Array): string =>
  new TextDecoder()
    .decode(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
