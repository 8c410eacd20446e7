// Telephone calls through the whole of it: the caller's words become a turn, its answer is spoken in the call, nobody is called up
// unless a person said so, and a kill in the middle of a call loses no word.
import type { VoicePhone } from "@svc/testkit/platforms/voice-call/phone";
import { expect, test, vi } from "vitest";
import { MOTHER, PERSON, startVoiceFixture } from "./voice-fixture.ts";

const GREETING = "Hello. How can I help you?";
const WAIT = { timeout: 60_000, interval: 20 };

/** The daemon works in its own time: the caller's stands still until something is said. */
async function hearsNext(phone: VoicePhone): Promise<void> {
  await vi.waitFor(() => expect(phone.doing).toBe("saying"), WAIT);
  await phone.hears("listening");
}

const lastWords = (body: { readonly [key: string]: unknown }): string => {
  const messages = body["messages"] as { role: string; content: unknown }[];
  const { content } = messages.findLast(({ role }) => role === "user")!;
  return typeof content === "string" ? content : (content as { text: string }[]).map(({ text }) => text).join("");
};

test("a call is a conversation, in the session and in the voice of the config, which a reload changes", async () => {
  await using fixture = await startVoiceFixture(({ body }) => ({ text: `You said **${lastWords(body)}**` }));
  const phone = await fixture.platform.ring(PERSON);
  await phone.hears("listening");
  await phone.says("good morning to you all");
  await hearsNext(phone);
  for (const voice of ["ann", "bob"]) {
    fixture.config(`enabled = true\nvoice = "${voice}"`);
    expect((await fixture.svc("reload")).code).toBe(0);
    await phone.says(`speak like ${voice} please, would you`);
    await hearsNext(phone);
  }
  await phone.hangsUp();
  expect(phone.heard).toEqual([
    { text: GREETING, by: "voice" },
    { text: "You said good morning to you all", by: "voice" },
    { text: "ann: You said speak like ann please, would you", by: "audio" },
    { text: "bob: You said speak like bob please, would you", by: "audio" },
  ]);
  expect(fixture.platform.warnings).toEqual([]);
  const stranger = await fixture.platform.ring(MOTHER);
  expect([stranger.doing, stranger.texts]).toEqual(["over", []]);
  const { stdout } = await fixture.svc("sessions", "list", "--json");
  const { sessions } = JSON.parse(stdout) as { sessions: { id: string }[] };
  expect(sessions).toHaveLength(1);
  const shown = (await fixture.svc("sessions", "show", sessions[0]!.id)).stdout;
  for (const words of ["good morning to you all", "You said **speak like bob please, would you**"])
    expect(shown).toContain(words);
  const log = (await fixture.svc("logs", "--json")).stdout;
  expect(log).not.toMatch(/auth-token-of-the-calls|key-of-the-speech|good morning/);
});

test("somebody is called up when a person says yes, by a key, and no one else", async () => {
  await using fixture = await startVoiceFixture(({ body }) => {
    const hasResult = JSON.stringify(body["messages"]).includes('"role":"tool"');
    if (hasResult) return { text: "I called her." };
    const input = { channel: "voice_call", to: MOTHER, text: "Your child is late." };
    return { calls: [{ name: "channel_send", input }] };
  });
  const phone = await fixture.platform.ring(PERSON);
  await phone.hears("listening");
  await phone.says("call my mother and tell her that I am late");
  await hearsNext(phone);
  expect(phone.texts.at(-1)).toMatch(/^Approval needed .*Press 1 for Approve, or 2 for Reject\.$/s);
  expect(fixture.platform.sent).toEqual([]);
  expect(await phone.presses("1")).toBe(true);
  await vi.waitFor(() => expect(fixture.platform.sent).toHaveLength(1), WAIT);
  const mother = fixture.platform.phoneOf(MOTHER);
  await mother.answers();
  await mother.hears("over");
  expect(mother.texts).toEqual(["Your child is late."]);
  await vi.waitFor(async () => {
    await phone.waits(1_000);
    expect(phone.texts.at(-1)).toBe("I called her.");
  }, WAIT);
  const sent = (await fixture.svc("inbox", "list", "--json")).stdout;
  expect(sent).toContain("Your child is late.");
});

test("svc send calls somebody up; what became of it is told", async () => {
  await using fixture = await startVoiceFixture(({ body }) => ({ text: `You said ${lastWords(body)}` }));
  const { stdout } = await fixture.svc("send", "voice_call", PERSON, "The backup is done.");
  const id = /out-\d+/.exec(stdout)![0];
  await vi.waitFor(() => expect(fixture.platform.sent).toHaveLength(1), WAIT);
  const phone = fixture.platform.phoneOf(PERSON);
  await phone.answers();
  await phone.hears("listening");
  await phone.says("thank you very much for that");
  await hearsNext(phone);
  expect(phone.texts).toEqual(["The backup is done.", "You said thank you very much for that"]);
  expect(JSON.parse((await fixture.svc("inbox", "show", id, "--json")).stdout)).toMatchObject({
    state: "sent",
    platform_status: "delivered",
  });
  await phone.hangsUp();
});

test("a kill while the answer is thought about: the next process says it in the same call, once", async () => {
  await using fixture = await startVoiceFixture((_, index) =>
    index === 0 ? { fault: "hang" } : { text: "Forty-two." },
  );
  const phone = await fixture.platform.ring(PERSON);
  await phone.hears("listening");
  await phone.says("what is the answer to everything");
  await fixture.model.arrived(0);
  await fixture.daemon.kill9();
  await fixture.start();
  await vi.waitFor(async () => {
    await phone.waits(500);
    expect(phone.texts.at(-1)).toBe("Forty-two.");
  }, WAIT);
  await phone.hears("listening");
  await phone.hangsUp();
  expect(phone.texts.filter((text) => text === "Forty-two.")).toHaveLength(1);
  expect([fixture.platform.warnings, fixture.platform.sent]).toEqual([[], []]);
});
