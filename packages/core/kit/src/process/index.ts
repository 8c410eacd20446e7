/** `@svc/kit/process`: programs that are run to their end, for sandboxes and whoever else starts one. */
export { commandPath } from "./command-environment.ts";
export * from "./confined-session.ts";
export { withoutDescriptors } from "./descriptors.ts";
export * from "./find-program.ts";
export * from "./limit-signs.ts";
export * from "./prove-confinement.ts";
export * from "./run-process.ts";
export * from "./sandbox-user.ts";
export * from "./session-group.ts";
export * from "./shell-word.ts";
