/** `@svc/api/control`: what `svc` posts to the control socket, and what it is answered. */
import type * as v from "valibot";
import type { Output } from "../schema.ts";
import { CHANNELS } from "./channels.ts";
import { type ChatEvent, CONVERSATIONS, type QuestionEvent } from "./conversations.ts";
import { GOVERNANCE, type RunEvent } from "./governance.ts";
import { type FeatureStreamEvent, SERVICE } from "./service.ts";

export type { PlatformAnswer } from "./channels.ts";
export type { ChatAnswer, ChatEvent, QuestionEvent } from "./conversations.ts";
export type { RunEvent } from "./governance.ts";
export { type DaemonReport, type DeviceLine, type ModelReport, PasskeyLine, type ReloadReport } from "./service.ts";

/** For the check of a message. `import("valibot")` would keep all of the library in the chunk that a start loads. */
export { safeParse } from "valibot";

/** By the name that is posted. */
export const CONTROL = { ...SERVICE, ...CONVERSATIONS, ...CHANNELS, ...GOVERNANCE };

export type ControlName = keyof typeof CONTROL;

/** What a command sends. */
export type ControlInput<Name extends ControlName> = Output<
  v.GenericSchema<unknown, v.InferInput<(typeof CONTROL)[Name]["input"]>>
>;

/** What a handler gets: checked, with what was left out filled in. */
export type ControlBody<Name extends ControlName> = Output<(typeof CONTROL)[Name]["input"]>;

export type ControlAnswer<Name extends ControlName> = Output<(typeof CONTROL)[Name]["output"]>;

/** Told ahead of the answer. */
export type ControlEvent<Name extends ControlName> = Name extends keyof Events ? Events[Name] : never;

interface Events {
  readonly chat: ChatEvent;
  readonly tool: QuestionEvent;
  readonly "sop-run": RunEvent;
  readonly "sop-test": RunEvent;
  readonly "feature-stream": FeatureStreamEvent;
}
