// The channels that people use every day, from a message at the platform to the answer there, with the real binary: nothing
// between a person's words and the agent's may depend on which of them it is.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type EverydayFixture, startEveryday } from "./everyday-fixture.ts";
import type { EverydayPlatform } from "@svc/testkit/platforms/everyday";

const WAIT = { timeout: 60_000, interval: 20 };

describe.each(["telegram", "discord", "slack"] as const)("%s", (channel) => {
  let fixture: EverydayFixture;
  let platform: EverydayPlatform;

  beforeAll(async () => {
    fixture = await startEveryday({
      channels: [channel],
      keys: "draft_update_interval_ms = 100",
      script: (request) => ({ text: `You said: ${lastWords(request.body)}` }),
    });
    platform = fixture.platforms[0]!;
    // What was said before a bot was ever there is not said to it.
    await fixture.daemon.waitFor(/the platform knows this channel/);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const texts = (): string[] => platform.seen().map(({ text }) => text);
  const sees = (text: string) => vi.waitFor(() => expect(texts()).toContain(text), WAIT);

  test("somebody on the list is answered, once; a stranger is not", async () => {
    platform.write("who are you?", "stranger");
    platform.write("hello");
    await sees("You said: hello");
    expect(texts()).toEqual(["You said: hello"]);
  });

  test("svc channels test and list know it", async () => {
    expect(await fixture.json("channels", "test", channel)).toMatchObject({ ok: true });
    const { channels } = await fixture.json<{ channels: object[] }>("channels", "list");
    expect(channels).toMatchObject([{ id: channel, state: "running" }]);
  });

  test("svc send says something there, and tells what became of it", async () => {
    const { code, stdout } = await fixture.svc("send", channel, platform.chat, "from the operator");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^out-\d+ sent/)]);
    await sees("from the operator");
  });

  test("a conversation begins anew by /new, and no model is asked", async () => {
    const asked = fixture.model!.requests.length;
    platform.write("/new");
    await vi.waitFor(() => expect(texts().at(-1)).toContain("new conversation"), WAIT);
    expect(fixture.model!.requests).toHaveLength(asked);
  });

  test("what is written while the daemon is down is answered when it is back", async () => {
    await fixture.daemon.kill9();
    platform.write("are you there?");
    await fixture.start();
    await sees("You said: are you there?");
    expect(texts().filter((text) => text === "You said: hello")).toHaveLength(1);
  });

  test("no secret of the section is in the log or in what people see", async () => {
    const { stdout } = await fixture.svc("logs", "--json");
    for (const secret of platform.secrets) {
      expect(stdout).not.toContain(secret);
      expect(texts().join()).not.toContain(secret);
    }
  });
});

function lastWords(body: { readonly [key: string]: unknown }): string {
  const messages = body["messages"] as { role: string; content: unknown }[];
  const { content } = messages.findLast(({ role }) => role === "user")!;
  return typeof content === "string" ? content : (content as { text: string }[]).map(({ text }) => text).join("");
}
