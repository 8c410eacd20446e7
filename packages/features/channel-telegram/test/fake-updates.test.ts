// Updates of the fake platform must be handed over, confirmed and posted as those of the real one: all that the channel promises
// about lost messages rests on it.
import { startPlatform } from "@svc/testkit/platforms/base";
import { describe, expect, test } from "vitest";
import { opened, refusal, write } from "./fake-fixture.ts";
import { ADA, GROUP } from "./fixture.ts";

describe("updates", () => {
  const ids = (updates: readonly { update_id: number }[]): number[] => updates.map(({ update_id: id }) => id);

  test("are handed over until an offset behind them is asked for", async () => {
    await using at = await opened();
    for (const id of ["1", "2", "3"]) write(at.platform, id, id);
    const first = ids(await at.api.getUpdates());
    expect(first).toHaveLength(3);
    expect(ids(await at.api.getUpdates({ limit: 2 }))).toEqual(first.slice(0, 2));
    expect(ids(await at.api.getUpdates({ offset: first[1]! }))).toEqual(first.slice(1));
    expect(ids(await at.api.getUpdates({ offset: -1 }))).toEqual(first.slice(2));
    expect(ids(await at.api.getUpdates({ offset: first[2]! + 1 }))).toEqual([]);
    expect(ids(await at.api.getUpdates())).toEqual([]);
  });

  test("come only if they are wanted", async () => {
    await using at = await opened();
    const reaction = { message_reaction: { chat: GROUP, message_id: 1 } };
    expect(at.platform.push(reaction)).toBeUndefined();
    await at.api.getUpdates({ allowed_updates: ["message_reaction"] });
    expect(at.platform.push(reaction)).toBeDefined();
    expect(write(at.platform, "1", "x")).toBeUndefined();
    await at.api.getUpdates({ allowed_updates: [] });
    expect(write(at.platform, "2", "x")).toBeDefined();
  });

  test("one of two who ask is told that there is another", async () => {
    await using at = await opened();
    const first = refusal(at.api.getUpdates({ timeout: 50 }));
    await at.platform.arrived(0);
    const second = at.api.getUpdates({ timeout: 50 });
    expect(await first).toEqual([
      409,
      "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    ]);
    write(at.platform, "1", "x");
    expect(await second).toHaveLength(1);
  });

  test("are posted to a webhook, again until they are taken, and nobody may ask for them meanwhile", async () => {
    let target = "";
    await using at = await opened({ webhook: { target: () => target } });
    const posts: unknown[] = [];
    await using receiver = await startPlatform((request) => {
      posts.push([request.headers["x-telegram-bot-api-secret-token"], request.json]);
      const isRight = posts.length > 2;
      return { status: isRight ? 200 : 503, json: { method: "sendMessage", chat_id: Number(ADA), text: "by answer" } };
    });
    target = receiver.url;
    const waiting = write(at.platform, "1", "before");
    await at.api.setWebhook("https://svc.example.org/telegram", { secret_token: "s_e-c" });
    await at.platform.webhook.deliver();
    expect(at.platform.webhook.statuses).toEqual([503, 503, 200]);
    expect(posts).toEqual(Array.from({ length: 3 }, () => ["s_e-c", waiting]));
    expect(at.platform.sent).toMatchObject([{ text: "by answer" }]);
    expect(await refusal(at.api.getUpdates())).toEqual([409, expect.stringContaining("while webhook is active")]);
    expect(await at.api.getWebhookInfo()).toMatchObject({
      url: "https://svc.example.org/telegram",
      pending_update_count: 0,
    });
    await at.api.deleteWebhook();
    expect(await at.api.getUpdates()).toEqual([]);
  });

  test.each([
    ["http://svc.example.org/telegram", {}, "bad webhook: An HTTPS URL must be provided for webhook"],
    ["https://svc.example.org:8080/", {}, "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"],
    ["https://svc.example.org/", { secret_token: "a b" }, "secret token contains unallowed characters"],
  ])("a webhook at %s is refused", async (url, more, description) => {
    await using at = await opened();
    expect(await refusal(at.api.setWebhook(url, more))).toEqual([400, `Bad Request: ${description}`]);
  });
});
