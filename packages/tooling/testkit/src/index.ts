/** `@svc/testkit`: conformance suites, fakes, vectors, and the real binary under test. Never in a binary. */
export * from "./binary/run-binary.ts";
export * from "./binary/spawn-binary.ts";
export * from "./binary/start-binary.ts";
export * from "./capture-logger.ts";
export * from "./check.ts";
export * from "./conformance/channel-conformance.ts";
export * from "./conformance/feature-conformance.ts";
export * from "./conformance/tool-conformance.ts";
export * from "./fake-clock.ts";
export * from "./fake-model/server.ts";
export type { ModelStep, ModelToolCall } from "./fake-model/step.ts";
export * from "./fake-tool-context.ts";
export * from "./fake-workspace.ts";
export * from "./io-guard/construct-guarded.ts";
export type { Violation } from "./io-guard/guard.ts";
export * from "./require-real.ts";
export * from "./temporary-home.ts";
export * from "./vectors.ts";
