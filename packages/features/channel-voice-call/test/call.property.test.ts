// Whatever comes in between, a lost answer, a busy platform, a caller who interrupts, a process that dies: nothing is said
// twice, nothing of ours cuts off what is being said, and the parts of an answer come in their order.
import { type Inbound, type OutgoingMessage, SvcError } from "@svc/contract";
import type { PlatformMood } from "@svc/testkit/platforms/mood";
import type { VoicePhone } from "@svc/testkit/platforms/voice-call/phone";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fixture, type Fixture, PERSON } from "./fixture.ts";

type Step =
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "speak"; readonly parts: readonly number[] }
  | { readonly do: "notice"; readonly chars: number }
  | { readonly do: "mood"; readonly mood: PlatformMood }
  | { readonly do: "die" };

const moods: readonly PlatformMood[] = [
  "takes",
  "takes",
  "resets",
  "loses answers",
  { refuses: 503 },
  { rateLimits: 1 },
];
const chars = fc.integer({ min: 25, max: 420 });

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 250, max: 12_000 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("speak" as const),
        parts: fc.array(chars, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("notice" as const), chars }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("mood" as const), mood: fc.constantFrom(...moods) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const) }) },
  ),
  { minLength: 3, maxLength: 14 },
);

interface Said {
  readonly text: string;
  readonly end: "sent" | "refused";
}

/** Core's way with a message: again until the platform has it, or refuses it; a minute for each try. */
class Core {
  readonly ended: Said[] = [];
  readonly #at: Fixture;
  #open = 0;
  #life = new AbortController();
  #queue: Promise<void> = Promise.resolve();

  constructor(at: Fixture) {
    this.#at = at;
  }

  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** In order, as all of a conversation. */
  send(message: OutgoingMessage): void {
    this.#open += 1;
    this.#queue = this.#queue.then(async () => {
      this.ended.push({ text: message.text, end: await this.#deliver(message) });
      this.#open -= 1;
    });
  }

  die(): void {
    this.#life.abort(new Error("killed"));
    this.#life = new AbortController();
    this.#at.restart();
  }

  async #deliver(message: OutgoingMessage): Promise<Said["end"]> {
    const { clock } = this.#at;
    for (;;) {
      const limit = new AbortController();
      const cancel = clock.after(60_000, () => limit.abort(new SvcError("REMOTE_TIMEOUT")));
      const signal = AbortSignal.any([this.#life.signal, limit.signal]);
      try {
        await this.#at.channel.send(message, signal);
        return "sent";
      } catch (error) {
        if (error instanceof SvcError && error.code === "DELIVERY_REFUSED") return "refused";
        await clock.sleep(500);
      } finally {
        cancel();
      }
    }
  }
}

/** Of this length, and no other's. */
const words = (name: string, length: number): string => `${name} ${"and so on ".repeat(50)}`.slice(0, length).trim();

async function play(at: Fixture, phone: VoicePhone, core: Core, script: readonly Step[]): Promise<void> {
  for (const [at_, step] of script.entries()) {
    if (phone.doing === "over") return;
    if (step.do === "wait") await phone.waits(step.ms);
    else if (step.do === "mood") at.platform.mood = step.mood;
    else if (step.do === "die") core.die();
    else if (step.do === "notice") core.send(at.message(words(`notice ${at_}`, step.chars)));
    else if (await phone.says(`question number ${at_} of the caller's`)) {
      const question: Inbound = at.inbound.at(-1)!;
      for (const [part, length] of step.parts.entries()) {
        core.send(at.answer(words(`answer ${at_} part ${part}`, length), question));
      }
    }
  }
}

test("what is sent is said once, whole, in order, or refused", { timeout: 400_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      await using at = await fixture({ section: { max_call_secs: 3_000, filler: "" } });
      const phone = await at.platform.ring(PERSON);
      const core = new Core(at);
      await play(at, phone, core, script);
      at.platform.mood = "takes";
      for (let waited = 0; waited < 400 && !core.isIdle; waited += 1) await phone.waits(1_000);
      expect(core.isIdle, "a message is neither sent nor refused").toBe(true);
      await phone.hears("listening");
      expect(phone.heard.filter(({ cut }) => cut === "update")).toEqual([]);
      expect(at.platform.warnings).toEqual([]);
      const heard = phone.texts.filter((text) => /^(?:answer|notice)/.test(text));
      expect(new Set(heard).size, "something was said twice").toBe(heard.length);
      const sent = core.ended.filter(({ end }) => end === "sent").map(({ text }) => text);
      expect(heard.filter((text) => sent.includes(text))).toEqual(sent);
    }),
    { numRuns: cases(200) },
  );
});
