// What we take for the platform's own signature, document or answer, and what the fake platform takes for ours, must be what the
// platform's own client library takes and makes.
import { cases } from "@svc/cases";
import { startVoicePlatform } from "@svc/testkit/platforms/voice-call/server";
import { parseTwiml, treeOf } from "@svc/testkit/platforms/voice-call/twiml";
import * as fc from "fast-check";
import twilio from "twilio";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import { initialProgress, nextProgress, type Progress } from "../src/progress.ts";
import { formOf } from "../src/protocol.ts";
import { isSigned, signatureOf } from "../src/webhooks.ts";
import { documents } from "../src/twiml.ts";
import { ACCOUNT, NUMBER, PERSON, SECTION, TOKEN } from "./fixture.ts";

const { getExpectedTwilioSignature, validateRequest } = twilio;

describe("signatures", () => {
  const field = fc.string({ unit: "binary", maxLength: 12 });
  const fields = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 8 }),
    fc.oneof(field, fc.array(field, { maxLength: 3 })),
  );
  const url = fc.record({
    scheme: fc.constantFrom("https", "http"),
    host: fc.constantFrom("svc.example.org", "127.0.0.1", "[::1]"),
    port: fc.constantFrom("", ":443", ":80", ":8443"),
    rest: fc.constantFrom("/voice-call", "/voice-call/next?step=2&said=0f", "/prefix/voice-call?a=%20b&c=d+e"),
  });
  const written = ({ scheme, host, port, rest }: { scheme: string; host: string; port: string; rest: string }) =>
    `${scheme}://${host}${port}${rest}`;
  const bodyOf = (values: Readonly<Record<string, string | string[]>>): Buffer => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) for (const one of [value].flat()) form.append(name, one);
    return Buffer.from(form.toString());
  };
  /** As any server reads the form: an array where a name came twice. */
  const paramsOf = (body: Buffer): Record<string, string | string[]> =>
    Object.fromEntries(
      [...formOf(body)!].map(([name, values]) => [name, values.length === 1 ? values[0]! : [...values]]),
    );

  test("are made as the library makes them", () => {
    fc.assert(
      fc.property(fields, url, (values, parts) => {
        const body = bodyOf(values);
        expect(signatureOf(TOKEN, written(parts), formOf(body)!)).toBe(
          getExpectedTwilioSignature(TOKEN, written(parts), paramsOf(body)),
        );
      }),
      { numRuns: cases(500) },
    );
  });

  test("are taken exactly where the library takes them: with the port and without, and of nothing else", () => {
    const changed = fc.constantFrom("", "x", "http", "%", " ");
    fc.assert(
      fc.property(fields, url, url, changed, (values, signedAt, calledAt, change) => {
        const body = bodyOf(values);
        const header = getExpectedTwilioSignature(TOKEN, written(signedAt) + change, paramsOf(body));
        const called = written(calledAt);
        expect(isSigned(TOKEN, { url: called, form: formOf(body)!, header })).toBe(
          validateRequest(TOKEN, header, called, paramsOf(body)),
        );
      }),
      { numRuns: cases(2_000) },
    );
  });

  test("by a blank token are nobody's", () => {
    const form = formOf(Buffer.from("a=b"))!;
    for (const token of ["", " "]) {
      const header = getExpectedTwilioSignature(token, "https://x/", { a: "b" });
      expect(isSigned(token, { url: "https://x/", form, header })).toBe(false);
    }
  });
});

describe("documents", () => {
  const base = "https://svc.example.org";
  const section = (more: object = {}) => v.parse(config, { ...SECTION, voice: "Polly.Joanna-Neural", ...more });
  const progress: Progress = nextProgress(initialProgress(1_000), 2_000, { said: "0123456789abcdef" });
  const text = 'Ann & Bob <said> "yes" – it’s fine\nand so on';
  const query = "?step=2&turn=1&began=1000&at=2000&said=0123456789abcdef";
  const say = { voice: "Polly.Joanna-Neural", language: "en-US" } as never;

  const cases: readonly (readonly [string, string, () => { toString(): string }])[] = [
    [
      "listening",
      documents(section(), base).listening(progress, {
        spoken: { text },
        silenceSecs: 5,
        onSilence: { ...progress, quiet: 1 },
      }),
      () => {
        const response = new twilio.twiml.VoiceResponse();
        const gather = response.gather({
          input: ["speech"],
          action: `${base}/voice-call/speech${query}`,
          method: "POST",
          timeout: 5,
          language: "en-US",
          speechTimeout: "auto",
        });
        gather.say(say, text);
        response.redirect({ method: "POST" }, `${base}/voice-call/next${query}&quiet=1`);
        return response;
      },
    ],
    [
      "recording",
      documents(section({ recognizer: "transcription", speech_timeout_secs: 3 }), base).listening(progress, {
        spoken: undefined,
        silenceSecs: 5,
        onSilence: progress,
      }),
      () => {
        const response = new twilio.twiml.VoiceResponse();
        const action = `${base}/voice-call/speech${query}`;
        const how = { timeout: 3, maxLength: 60, playBeep: false, trim: "trim-silence", finishOnKey: "" } as const;
        response.record({ action, method: "POST", ...how });
        response.redirect({ method: "POST" }, `${base}/voice-call/next${query}`);
        return response;
      },
    ],
    [
      "telling",
      documents(section(), base).telling({ audioUrl: `${base}/voice-call/audio?id=a&b=c` }, progress),
      () => {
        const response = new twilio.twiml.VoiceResponse();
        response.play(`${base}/voice-call/audio?id=a&b=c`);
        response.redirect({ method: "POST" }, `${base}/voice-call/next${query}`);
        return response;
      },
    ],
    [
      "holding",
      documents(section(), base).holding(progress, 10),
      () => {
        const response = new twilio.twiml.VoiceResponse();
        response.pause({ length: 10 });
        response.redirect({ method: "POST" }, `${base}/voice-call/next${query}`);
        return response;
      },
    ],
    [
      "ending",
      documents(section(), base).ending({ text: "Goodbye." }),
      () => {
        const response = new twilio.twiml.VoiceResponse();
        response.say(say, "Goodbye.");
        response.hangup();
        return response;
      },
    ],
    [
      "refusing",
      documents(section(), base).refusal,
      () => {
        const response = new twilio.twiml.VoiceResponse();
        response.reject();
        return response;
      },
    ],
  ];

  test.each(cases)("%s is what the library's builder writes", (_, ours, theirs) => {
    expect(treeOf(ours)).toEqual(treeOf(theirs().toString()));
    // And the fake platform takes both.
    expect(parseTwiml(ours)).toEqual(parseTwiml(theirs().toString()));
  });
});

describe("the library's client, against the fake platform", () => {
  /** Sends everything to the fake. */
  class Here extends twilio.RequestClient {
    readonly #url: string;

    constructor(url: string) {
      super();
      this.#url = url;
    }

    override request<T>(options: Parameters<InstanceType<typeof twilio.RequestClient>["request"]>[0]) {
      return super.request<T>({ ...options, uri: options.uri.replace("https://api.twilio.com", this.#url) } as never);
    }
  }

  test("places, finds, changes and ends calls, sets the number up, and is refused as by the platform", async () => {
    await using platform = await startVoicePlatform({ accountSid: ACCOUNT, authToken: TOKEN, number: NUMBER });
    const client = twilio(ACCOUNT, TOKEN, { httpClient: new Here(platform.url) });
    expect(await client.api.accounts(ACCOUNT).fetch()).toMatchObject({ friendlyName: "Lucky Shrub", status: "active" });
    const twiml = "<Response><Say>Hello there</Say><Pause length='30'/></Response>";
    const made = await client.calls.create({ to: PERSON, from: NUMBER, twiml, timeLimit: 60 });
    expect(made).toMatchObject({ status: "queued", direction: "outbound-api", to: PERSON });
    expect(made.dateCreated.getTime()).toBe(platform.clock.now());
    const phone = platform.phoneOf(PERSON);
    await phone.answers();
    expect((await client.calls(made.sid).fetch()).status).toBe("in-progress");
    await client.calls(made.sid).update({ twiml: "<Response><Say>Something else</Say></Response>" });
    await phone.hears("over");
    expect(phone.heard).toEqual([
      { text: "Hello there", by: "voice", cut: "update" },
      { text: "Something else", by: "voice" },
    ]);
    const listed = await client.calls.list({ to: PERSON, from: NUMBER, limit: 5 });
    expect(listed).toMatchObject([{ sid: made.sid, status: "completed" }]);
    await expect(client.calls(made.sid).update({ twiml })).rejects.toMatchObject({ status: 400, code: 21220 });
    await expect(client.calls.create({ to: "5551234", from: NUMBER, twiml })).rejects.toMatchObject({ code: 21211 });
    await expect(client.calls.create({ to: PERSON, from: PERSON, twiml })).rejects.toMatchObject({ code: 21210 });
    await expect(client.calls("CA00000000000000000000000000000000").fetch()).rejects.toMatchObject({ code: 20404 });
    const [number] = await client.incomingPhoneNumbers.list({ phoneNumber: NUMBER, limit: 5 });
    await client.incomingPhoneNumbers(number!.sid).update({ voiceUrl: "https://svc.example.org/voice-call" });
    expect(platform.number.voiceUrl).toBe("https://svc.example.org/voice-call");
    const stranger = twilio(ACCOUNT, `${TOKEN}x`, { httpClient: new Here(platform.url) });
    await expect(stranger.calls.list({ limit: 1 })).rejects.toMatchObject({ status: 401, code: 20003 });
  });
});
