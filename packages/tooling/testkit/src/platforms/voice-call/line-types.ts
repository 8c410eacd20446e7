/** What goes on in a call, what is heard in it, and what interrupts it. */
import type { FakeClock } from "../../fake-clock.ts";
import type { TwimlNode } from "./twiml.ts";

/** What goes on at this moment. `asking`: a webhook is under way. */
export type Doing = "ringing" | "asking" | "saying" | "pausing" | "listening" | "recording" | "over";

export interface Heard {
  /** Of a recording that was played: its bytes as a text. */
  readonly text: string;
  readonly by: "voice" | "audio";
  /** Who ended it before its end. */
  readonly cut?: "update" | "caller" | "hangup";
}

/** What the platform does next. */
export type Next =
  | { readonly kind: "fetch"; readonly url: string; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: "document"; readonly verbs: readonly TwimlNode[] };

/** What a person does, or an update of the call. */
export type LineEvent =
  | { readonly kind: "update"; readonly next: Next }
  | { readonly kind: "hangup" }
  | { readonly kind: "speech"; readonly text: string }
  | { readonly kind: "key"; readonly key: string };

export interface LineOptions {
  readonly clock: FakeClock;
  /** Posts a webhook; resolves with the verbs it was answered with. Rejects when they can't be used. */
  fetch(url: string, fields: Readonly<Record<string, string>>): Promise<readonly TwimlNode[]>;
  audio(url: string): Promise<Uint8Array>;
  /** Keeps what was recorded; the fields that tell of it. */
  record(text: string): Readonly<Record<string, string>>;
  /** Called once, when the call has ended. */
  ended(how: "completed" | "rejected"): void;
  /** What went wrong; the platform says that there was an error, and hangs up. */
  failed(why: string): void;
}
