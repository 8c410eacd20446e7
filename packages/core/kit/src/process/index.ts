/** `@svc/kit/process`: runs programs to their end, for sandboxes and other features. */
export { commandPath, findProgram, hasSandboxUser, SANDBOX_USER } from "./command-environment.ts";
export * from "./confined-session.ts";
export { shellWord, withoutDescriptors } from "./descriptors.ts";
export * from "./prove-confinement.ts";
export * from "./run-process.ts";
export * from "./session-group.ts";
