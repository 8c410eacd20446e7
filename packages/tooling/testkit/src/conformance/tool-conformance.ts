/**
 * What every tool keeps. A package joins with a line a tool:
 *
 *     toolConformance(fileRead, { input: { path: "notes.txt" }, files: { "notes.txt": "hello" } });
 */
import type { ErrorCode, Tool } from "@svc/contract";
import { describeChecks, type Check } from "../check.ts";
import type { FakeToolContextOptions } from "../fake-tool-context.ts";
import { runToolChecks, staticToolChecks } from "./tool-checks.ts";

export interface ToolSubject extends FakeToolContextOptions {
  /** An input that works with `files` and the answers given here. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Inputs the schema must refuse, beside those no tool may take. */
  readonly badInputs?: readonly unknown[];
  /** Inputs the schema takes and the call must refuse, with the code of the refusal. */
  readonly refused?: readonly { readonly input: Readonly<Record<string, unknown>>; readonly code: ErrorCode }[];
  /** Largest result as JSON, in bytes. Default 1 MiB. */
  readonly maxResultBytes?: number;
}

export function toolConformance(tool: Tool, subject: ToolSubject): void {
  describeChecks(`tool ${tool.name}`, toolChecks(tool, subject));
}

export const toolChecks = (tool: Tool, subject: ToolSubject): Check[] => [
  ...staticToolChecks(tool),
  ...runToolChecks(tool, subject),
];
