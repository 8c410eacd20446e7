/** How to run this very svc once more. */
import { isSea } from "node:sea";

/** Set for the process that does the checks; whoever has it prints findings as lines of JSON. */
export const DOCTOR_PART = "SVC_DOCTOR_PART";

export interface SelfCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/** The binary; from the sources, Node with the flags and the entry it was given. */
export function selfCommand(): SelfCommand {
  if (isSea()) return { file: process.execPath, args: [] };
  return { file: process.execPath, args: [...process.execArgv, process.argv[1]!] };
}
