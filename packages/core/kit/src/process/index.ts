/** `@svc/kit/process`: runs programs to their end, for sandboxes and other features. */
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
