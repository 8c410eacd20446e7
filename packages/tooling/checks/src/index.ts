/** `@svc/checks`: the rules of this repository, as functions over the files of a checkout. */
export type { Check, Finding } from "./check.ts";
export { allChecks, type Outcome, runChecks } from "./run.ts";
export { inMemory, readWorkspace, type Workspace } from "./workspace.ts";
