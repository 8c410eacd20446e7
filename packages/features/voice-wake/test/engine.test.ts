// A command that loses its first word, one that was meant for somebody else, a bill for what a television says, a room that is never
// quiet, and a machine that answers itself.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Action, type EngineOptions, FRAME_SAMPLES, SAMPLE_RATE, WakeEngine } from "../src/engine.ts";

const OPTIONS: EngineOptions = {
  wakeWord: "Computer",
  silenceMs: 1_500,
  energyThreshold: 0.01,
  maxCaptureMs: 30_000,
  maxPerHour: 120,
};

/** Milliseconds of the recordings that were asked to be transcribed. */
const msOf = (samples: Int16Array): number => (samples.length / SAMPLE_RATE) * 1_000;

class Room {
  readonly engine: WakeEngine;
  readonly actions: Action[] = [];
  /** What a transcription says, asked at once; undefined: it is not answered yet. */
  answer: (samples: Int16Array) => string | undefined = () => "";
  readonly asked: Int16Array[] = [];
  readonly pending: { id: number; samples: Int16Array }[] = [];
  #at = 0;
  #seed = 1;

  constructor(more: Partial<EngineOptions> = {}) {
    this.engine = new WakeEngine({ ...OPTIONS, ...more });
  }

  /** `level`: RMS of a voice of syllables; `noise`: of what is under it all the time. */
  sound(ms: number, level: number, noise = 0.0005, isOurs = false): this {
    for (let frame = 0; frame < Math.round(ms / 30); frame += 1) {
      const samples = Int16Array.from({ length: FRAME_SAMPLES }, () => {
        this.#at += 1;
        const syllable = 0.35 + 0.65 * Math.abs(Math.sin((Math.PI * this.#at) / (SAMPLE_RATE * 0.2)));
        const voice = level * syllable * 1.6 * Math.sin((2 * Math.PI * 180 * this.#at) / SAMPLE_RATE);
        return 32_767 * Math.max(-1, Math.min(1, voice + noise * this.#random()));
      });
      this.#take(this.engine.push(samples, isOurs));
    }
    return this;
  }

  reply(text: string | undefined): this {
    const { id } = this.pending.shift()!;
    this.#take(this.engine.transcribed(id, text));
    return this;
  }

  get dispatched(): string[] {
    return this.actions.flatMap((action) => (action.kind === "dispatch" ? [action.text] : []));
  }

  get states(): string[] {
    return this.actions.flatMap((action) => (action.kind === "state" ? [action.state] : []));
  }

  #take(actions: readonly Action[]): void {
    this.actions.push(...actions);
    for (const action of actions) {
      if (action.kind !== "transcribe") continue;
      this.asked.push(action.samples);
      const text = this.answer(action.samples);
      if (text === undefined) this.pending.push(action);
      else this.#take(this.engine.transcribed(action.id, text));
    }
  }

  /** White, of RMS 1. */
  #random(): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (this.#seed / 1_073_741_824 - 1) * Math.sqrt(3);
  }
}

describe("a command in the breath of its wake word", () => {
  test("is kept whole, with what was said before the gate opened", () => {
    const room = new Room();
    room.answer = () => "Computer, turn on the light.";
    room.sound(2_000, 0).sound(1_400, 0.2).sound(2_000, 0);
    expect(room.dispatched).toEqual(["turn on the light."]);
    expect(room.asked).toHaveLength(1);
    // 1.4 s of speech, what was before it, and the silence behind.
    expect(msOf(room.asked[0]!)).toBeGreaterThan(1_400 + 400 + 1_400);
  });

  test("that is long is looked at early, and transcribed once more as a whole", () => {
    const room = new Room();
    room.answer = (samples) =>
      msOf(samples) < 3_000 ? "computer turn on" : "computer turn on all of the lights please";
    room.sound(1_000, 0).sound(6_000, 0.2);
    expect(room.states.at(-1)).toBe("capturing");
    room.sound(2_000, 0);
    expect(room.dispatched).toEqual(["turn on all of the lights please"]);
    expect(room.asked.map((samples) => Math.round(msOf(samples) / 500) * 500)).toEqual([2_500, 8_000]);
  });

  test("that never ends is cut at the longest, and what follows needs the word again", () => {
    const room = new Room({ maxCaptureMs: 5_000 });
    room.answer = (samples) => (msOf(samples) < 3_000 ? "computer go" : `computer go ${room.asked.length}`);
    room.sound(500, 0).sound(5_000, 0.2);
    expect(room.dispatched).toEqual(["go 2"]);
    expect(msOf(room.asked[1]!)).toBeLessThanOrEqual(5_000);
  });
});

describe("the wake word alone", () => {
  const words = (room: Room, ...texts: string[]): void => {
    room.answer = () => texts.shift() ?? "";
  };

  test("makes the next utterance a command, without the word in it", () => {
    const room = new Room();
    words(room, "Computer.", "turn on the light");
    room.sound(1_000, 0).sound(700, 0.2).sound(2_000, 0);
    expect([room.engine.state, room.dispatched]).toEqual(["triggered", []]);
    room.sound(1_500, 0.2).sound(2_000, 0);
    expect([room.engine.state, room.dispatched]).toEqual(["listening", ["turn on the light"]]);
    expect(room.states).toEqual(["processing", "triggered", "capturing", "processing", "listening"]);
  });

  test("is forgotten after eight seconds", () => {
    const room = new Room();
    words(room, "computer", "turn on the light");
    room.sound(1_000, 0).sound(700, 0.2).sound(10_500, 0).sound(1_500, 0.2).sound(2_000, 0);
    expect(room.dispatched).toEqual([]);
    expect(room.engine.state).toBe("listening");
  });

  test("counts for what was begun while it was still being transcribed", () => {
    const room = new Room();
    room.answer = () => undefined;
    room.sound(1_000, 0).sound(700, 0.2).sound(1_700, 0).sound(4_000, 0.2);
    expect(room.pending).toHaveLength(1);
    room.reply("computer").sound(2_000, 0);
    expect(room.pending).toHaveLength(1);
    room.reply("turn on all of the lights");
    expect(room.dispatched).toEqual(["turn on all of the lights"]);
    expect(room.asked).toHaveLength(2);
  });

  test("and then a command with the word again is that command", () => {
    const room = new Room();
    words(room, "computer", "computer lights off");
    room.sound(1_000, 0).sound(700, 0.2).sound(2_000, 0).sound(1_500, 0.2).sound(2_000, 0);
    expect(room.dispatched).toEqual(["lights off"]);
  });
});

describe("what is not meant for it", () => {
  test("is transcribed for two and a half seconds, and never dispatched", () => {
    const room = new Room();
    room.answer = () => "and now the weather";
    room.sound(1_000, 0).sound(25_000, 0.2).sound(3_000, 0);
    expect(room.dispatched).toEqual([]);
    expect(room.asked.map((samples) => Math.round(msOf(samples) / 100) * 100)).toEqual([2_500]);
  });

  test.each([0.002, 0.02, 0.1])(
    "noise of RMS %d all the time costs nothing, and commands are heard above it",
    (noise) => {
      const room = new Room();
      room.answer = () => "computer lights on";
      room.sound(20_000, 0, noise);
      expect(room.asked).toEqual([]);
      room.sound(1_800, noise * 6 + 0.05, noise).sound(2_500, 0, noise);
      expect(room.dispatched).toEqual(["lights on"]);
    },
  );

  test("a fan that is switched on costs one transcription, and commands are heard above it", () => {
    const room = new Room();
    room.answer = () => (room.asked.length === 1 ? "" : "computer lights on");
    room.sound(3_000, 0).sound(20_000, 0, 0.03);
    expect(room.asked).toHaveLength(1);
    room.sound(1_500, 0.3, 0.03).sound(2_500, 0, 0.03);
    expect(room.dispatched).toEqual(["lights on"]);
  });

  test("a click is no speech", () => {
    const room = new Room();
    for (let click = 0; click < 20; click += 1) room.sound(60, 0.5).sound(900, 0);
    expect(room.asked).toEqual([]);
  });

  test("what it says itself is not heard, and ends what was being said", () => {
    const room = new Room();
    room.answer = () => "computer lights on";
    room.sound(1_000, 0).sound(900, 0.2).sound(5_000, 0.3, 0.0005, true).sound(3_000, 0);
    expect(room.asked).toEqual([]);
  });
});

describe("transcriptions", () => {
  test("run one at a time, and the next begins with the end of the last", () => {
    const room = new Room();
    room.answer = () => undefined;
    for (let said = 0; said < 4; said += 1) room.sound(900, 0.2).sound(2_000, 0);
    expect(room.pending).toHaveLength(1);
    room.reply("computer one");
    expect([room.pending.length, room.asked.length]).toEqual([1, 2]);
    expect(room.dispatched).toEqual(["one"]);
  });

  test("that fail lose their command only", () => {
    const room = new Room();
    room.answer = () => undefined;
    room.sound(500, 0).sound(900, 0.2).sound(2_000, 0);
    room.reply(undefined).sound(900, 0.2).sound(2_000, 0).reply("computer two");
    expect(room.dispatched).toEqual(["two"]);
  });

  test("are no more in an hour than they may be, and go on in the next", () => {
    const room = new Room({ maxPerHour: 3 });
    room.answer = () => "computer go";
    room.sound(500, 0);
    for (let said = 0; said < 5; said += 1) room.sound(900, 0.2).sound(2_000, 0);
    expect(room.asked).toHaveLength(3);
    expect(room.engine.usage.transcriptions).toBe(3);
    expect(room.actions.filter(({ kind }) => kind === "lost")).toHaveLength(2);
    // An hour of silence.
    const silence = new Int16Array(FRAME_SAMPLES);
    for (let frame = 0; frame < 120_000; frame += 1) room.engine.push(silence);
    expect(room.engine.usage).toEqual({ transcriptions: 0, secs: 0 });
    room.sound(900, 0.2).sound(2_000, 0);
    expect(room.asked).toHaveLength(4);
  });
});

test("whatever is heard and told, one transcription runs, memory is bounded, and only commands are dispatched", () => {
  const piece = fc.record({
    ms: fc.integer({ min: 30, max: 6_000 }),
    level: fc.constantFrom(0, 0, 0.03, 0.2, 0.6),
    noise: fc.constantFrom(0, 0.001, 0.01),
    isOurs: fc.boolean(),
    reply: fc.constantFrom(undefined, "", "computer", "Computer, go", "no", "…computer!", "…"),
    replies: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), fc.integer({ min: 1, max: 6 }), (pieces, maxPerHour) => {
      const room = new Room({ maxCaptureMs: 5_000, maxPerHour });
      room.answer = () => undefined;
      for (const { ms, level, noise, isOurs, reply, replies } of pieces) {
        room.sound(ms, level, noise, isOurs && level > 0.1);
        expect(room.pending.length).toBeLessThanOrEqual(1);
        if (replies && room.pending.length > 0) room.reply(reply);
      }
      expect(room.asked.length).toBeLessThanOrEqual(maxPerHour);
      for (const samples of room.asked) expect(msOf(samples)).toBeLessThanOrEqual(5_000 + 30);
      for (const text of room.dispatched) expect(text).toMatch(/[\p{L}\p{N}]/u);
    }),
    { numRuns: cases(100) },
  );
});
