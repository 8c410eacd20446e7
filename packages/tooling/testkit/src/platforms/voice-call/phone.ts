/** The person at the other end of a call. */
import type { FakeClock } from "../../fake-clock.ts";
import type { CallResource } from "./call-resource.ts";
import type { Line } from "./line.ts";
import type { Doing, Heard } from "./line-types.ts";

export interface VoicePhone {
  readonly sid: string;
  readonly call: Readonly<CallResource>;
  /** All that was heard up to now, oldest first. */
  readonly heard: readonly Heard[];
  /** The texts of it. */
  readonly texts: readonly string[];
  readonly doing: Doing;
  /** Picks up. */
  answers(): Promise<void>;
  isBusy(): Promise<void>;
  /** Says something; false: nobody listens, and the words are lost. Resolves once the platform has been answered. */
  says(text: string): Promise<boolean>;
  presses(key: string): Promise<boolean>;
  hangsUp(): Promise<void>;
  /** So long the person says nothing; what the platform does meanwhile has happened. */
  waits(ms: number): Promise<void>;
  /** Resolves once the platform does that, or `over`. Time stands still. */
  until(doing: Doing): Promise<void>;
  /** Lets time go by until the platform does that, or the call is over: until what is being said has been said. */
  hears(until: Doing): Promise<void>;
}

export interface PhoneDeps {
  readonly call: CallResource;
  readonly line: Line;
  readonly clock: FakeClock;
  /** Picked up, or not. */
  readonly picked: (how: "answers" | "busy") => void;
  /** Resolves when everything that was to be told has been told. */
  readonly told: () => Promise<void>;
}

const STEP_MS = 250;

export function phone({ call, line, clock, picked, told }: PhoneDeps): VoicePhone {
  const rests = async (): Promise<void> => {
    await line.until(() => line.doing !== "asking");
    await told();
  };
  const waits = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= STEP_MS) {
      await rests();
      await clock.advance(Math.min(STEP_MS, left));
    }
    await rests();
  };
  const after = async (work: () => boolean | void): Promise<boolean> => {
    await rests();
    const taken = work() !== false;
    // Its consequences begin in the microtasks that follow.
    await Promise.resolve();
    await clock.advance(0);
    await rests();
    return taken;
  };
  return {
    sid: call.sid,
    call,
    heard: line.heard,
    get texts() {
      return line.heard.map(({ text }) => text);
    },
    get doing() {
      return line.doing;
    },
    answers: async () => void (await after(() => picked("answers"))),
    isBusy: async () => void (await after(() => picked("busy"))),
    says: (text) => after(() => line.input({ kind: "speech", text })),
    presses: (key) => after(() => line.input({ kind: "key", key })),
    hangsUp: async () => void (await after(() => line.tell({ kind: "hangup" }))),
    waits,
    until: (doing) => line.until(() => line.doing === doing || line.doing === "over"),
    async hears(until) {
      await rests();
      while (line.doing !== until && line.doing !== "over") await waits(STEP_MS);
    },
  };
}
