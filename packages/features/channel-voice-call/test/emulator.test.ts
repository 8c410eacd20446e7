// The fake platform was written by anyone who wrote the channel: another one, written by others, must take the same requests, and
// its webhooks must get in.
import { createEmulator, type Emulator } from "emulate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { initialProgress, queryOf } from "../src/progress.ts";
import { ACCOUNT, fixture, type Fixture, never, NUMBER, PERSON, STRANGER, TOKEN } from "./fixture.ts";

let at: Fixture;
let emulator: Emulator;

const headers = {
  authorization: `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString("base64")}`,
  "content-type": "application/x-www-form-urlencoded",
};

const simulate = (what: string, fields: Record<string, string>): Promise<Response> =>
  fetch(`${emulator.url}/_twilio/simulate/${what}`, {
    method: "POST",
    headers,
    body: new URLSearchParams(fields).toString(),
  });

const callsOf = async (): Promise<Record<string, unknown>[]> =>
  ((await (await fetch(`${emulator.url}/2010-04-01/Accounts/${ACCOUNT}/Calls.json`, { headers })).json()) as never)[
    "calls"
  ];

beforeAll(async () => {
  emulator = await createEmulator({
    service: "twilio",
    port: 0,
    seed: {
      twilio: {
        account: { sid: ACCOUNT, auth_token: TOKEN, friendly_name: "Emulated account" },
        phone_numbers: [{ phone_number: NUMBER, friendly_name: "Line" }],
      },
    },
  });
  at = await fixture({ section: { api_url: emulator.url } });
});

afterAll(async () => {
  await at[Symbol.asyncDispose]();
  await emulator.close();
});

describe("an emulator of the platform by others", () => {
  test("knows the account, and has its number set up", async () => {
    expect(await at.channel.check!(never)).toBe(`Emulated account, ${NUMBER}`);
    expect(await at.channel.setup!({ url: "" }, never)).toContain(
      `Calls to ${NUMBER} come in at ${at.base}/voice-call`,
    );
  });

  test("calls us by signed webhooks: who may call is greeted, who may not is not", async () => {
    const before = at.targets.length;
    await simulate("inbound-call", { To: NUMBER, From: PERSON });
    expect(at.targets.slice(before)).toEqual(["/voice-call"]);
    expect(at.notices).toHaveLength(1);
    await simulate("inbound-call", { To: NUMBER, From: STRANGER });
    expect(at.notices).toHaveLength(1);
    for (const { sid } of await callsOf()) await simulate("call-status", { CallSid: String(sid), Status: "completed" });
  });

  test("places our call with our words, and tells us how it went", async () => {
    const message = at.message("Your train leaves at six.", { mayOpen: true });
    const { platformId } = await at.channel.send(message, never);
    expect(await callsOf()).toContainEqual(
      expect.objectContaining({ sid: platformId, to: PERSON, from: NUMBER, direction: "outbound-api" }),
    );
    for (const Status of ["in-progress", "completed"]) await simulate("call-status", { CallSid: platformId!, Status });
    const told = at.updates.filter((update) => update.platformId === platformId).map(({ status }) => status);
    expect(told).toEqual(["sent", "delivered", "delivered"]);
    // The same again is that call.
    const count = (await callsOf()).length;
    at.restart();
    expect(await at.channel.send(message, never)).toEqual({ platformId });
    expect(await callsOf()).toHaveLength(count);
  });

  test("takes an update of a call with an answer", async () => {
    await simulate("inbound-call", { To: NUMBER, From: PERSON });
    const [call] = await callsOf();
    const sid = String(call!["sid"]);
    const fields = { CallSid: sid, Direction: "inbound", From: PERSON, To: NUMBER };
    const progress = queryOf({ ...initialProgress(at.clock.now()), step: 2 });
    await at.post(`/voice-call/speech${progress}`, { ...fields, SpeechResult: "How are you?" });
    expect(await at.channel.send(at.answer("Very well."), never)).toEqual({});
  });
});
