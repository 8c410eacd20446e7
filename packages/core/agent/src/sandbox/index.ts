/** Running commands: the backend that confines nothing, and the choice among those that do. */
export { chooseSandbox, type SandboxChoice, type SandboxChoiceOptions } from "./choose-sandbox.ts";
export { createNoneBackend, noneBackend, type NoneBackendOptions } from "./none-backend.ts";
