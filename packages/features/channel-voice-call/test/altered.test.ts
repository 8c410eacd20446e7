// One field that is not what the platform's documents say, in whichever webhook and its URL: it must be no error, which ends the
// call, no message that can't be kept, and no document that the platform can't read.
import { cases } from "@svc/cases";
import type { RawRequest } from "@svc/contract";
import { everyAlteredForm, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { fakeSpeech } from "@svc/testkit/fake-speech";
import { openChannel } from "@svc/testkit/open-channel";
import { parseTwiml } from "@svc/testkit/platforms/voice-call/twiml";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import definition from "../src/index.ts";
import { initialProgress, nextProgress, progressOf, queryOf } from "../src/progress.ts";
import { create } from "../src/voice-call.ts";
import { ACCOUNT, NUMBER, PERSON, SECTION } from "./fixture.ts";

const SID = "CA0123456789abcdef0123456789abcdef";
const CALL = { AccountSid: ACCOUNT, ApiVersion: "2010-04-01", CallSid: SID, From: PERSON, To: NUMBER };
const progress = nextProgress(initialProgress(1_000), 2_000, { said: "0123456789abcdef", hold: 2, quiet: 1 });
const asked = nextProgress(progress, 3_000, { ask: { prompt: "ap-1", approve: "Yes & so", reject: "No" } });

const GENUINE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/voice-call": {
    ...CALL,
    Direction: "inbound",
    CallStatus: "ringing",
    StirVerstat: "TN-Validation-Passed-A",
    CallerName: "ANN",
  },
  "/voice-call/next": { ...CALL, Direction: "inbound", CallStatus: "in-progress" },
  "/voice-call/speech": {
    ...CALL,
    Direction: "inbound",
    SpeechResult: "Hello there",
    Confidence: "0.9",
    Digits: "1",
    RecordingSid: `RE${"0".repeat(32)}`,
  },
  "/voice-call/status": {
    ...CALL,
    Direction: "outbound-api",
    To: PERSON,
    CallStatus: "completed",
    CallDuration: "12",
    AnsweredBy: "human",
    SequenceNumber: "3",
  },
};

const opened = () =>
  openChannel(
    { definition, create },
    { ...SECTION, webhook_url: "https://svc.example.org", allowed_numbers: ["*"], recognizer: "transcription" },
    { speech: fakeSpeech({ speak: true, transcribe: true }) },
  );

const requestTo = (path: string, query: string, body: Uint8Array): RawRequest => ({
  method: "POST",
  query: new URLSearchParams(query),
  target: path + query,
  headers: {},
  body,
  receivedAtMs: 4_000,
});

/** What is wrong with it; undefined: nothing. */
function flawIn(ingress: ReturnType<typeof opened>["ingress"], path: string, query: string, body: Uint8Array) {
  const parsed = ingress.find((way) => way.path === path)!.parse(requestTo(path, query, body));
  parseTwiml(String(parsed.reply?.body));
  return flawOf(parsed, "voice_call");
}

describe.each(Object.keys(GENUINE))("%s", (path) => {
  test("with each of its fields altered is sound", () => {
    const { ingress } = opened();
    for (const query of ["", queryOf(progress), queryOf(asked)]) {
      const flaws = everyAlteredForm(Object.entries(GENUINE[path]!)).map((body) => flawIn(ingress, path, query, body));
      expect(new Set(flaws)).toEqual(new Set([undefined]));
    }
  });

  test("with any URL is sound", () => {
    const { ingress } = opened();
    const body = Buffer.from(new URLSearchParams(GENUINE[path]).toString());
    const names = fc.constantFrom(
      "step",
      "turn",
      "said",
      "hold",
      "quiet",
      "began",
      "at",
      "ask",
      "yes",
      "no",
      "__proto__",
    );
    const odd = fc.constantFrom("-1", "1e9", "9".repeat(15), "9".repeat(20), "0", "<&>", "\u0000", "constructor");
    const value = fc.oneof(odd, fc.string({ unit: "binary", maxLength: 30 }), fc.nat().map(String));
    fc.assert(
      fc.property(fc.dictionary(names, value), (query) => {
        expect(flawIn(ingress, path, `?${new URLSearchParams(query)}`, body)).toBeUndefined();
      }),
      { numRuns: cases(500) },
    );
  });
});

test("how far a call has come is read as it was written", () => {
  const text = fc.string({ minLength: 1, maxLength: 20 }).filter((label) => label.trim() !== "");
  const any = fc.record({
    step: fc.nat(),
    turn: fc.nat(),
    said: fc.option(fc.stringMatching(/^[0-9a-f]{16}$/), { nil: undefined }),
    hold: fc.option(fc.nat(), { nil: undefined }),
    quiet: fc.nat(),
    beganMs: fc.nat(),
    atMs: fc.nat(),
    ask: fc.option(fc.record({ prompt: fc.stringMatching(/^[a-z0-9-]{1,32}$/), approve: text, reject: text }), {
      nil: undefined,
    }),
  });
  fc.assert(
    fc.property(any, (one) => {
      expect(progressOf(new URLSearchParams(queryOf(one)), 7)).toEqual(one);
    }),
  );
});
