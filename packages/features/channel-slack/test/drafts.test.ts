// An answer that is being written is changed many times: no change may be lost for its length, or take away what others may ask.
import type { SentMessage } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { failure, fixtureAndPlatform, message, never, PERSON } from "./fixture.ts";

const DM = `D${PERSON.slice(1)}`;
const conversation = { channel: "slack", id: DM };

async function begun(section = {}) {
  const opened = await fixtureAndPlatform(section);
  opened.slack.workspace.dm(PERSON);
  const { platformId = "" } = await opened.channel.send(message("An ans"), never);
  const sent: SentMessage = { conversation, platformId };
  const edit = (text: string): Promise<void> => opened.channel.drafts.edit(sent, text, never);
  return { ...opened, sent, edit, seen: () => opened.slack.sent[0]! };
}

describe("an edit", () => {
  test("is a text as long as the platform takes one", async () => {
    const { edit, seen, slack } = await begun();
    await using _ = slack;
    await edit("An **answer**");
    expect(seen()).toMatchObject({ text: "An answer", message: { text: "An *answer*" } });
    expect(seen().message).not.toHaveProperty("blocks");
    // Four thousand bytes, however many characters.
    for (const text of ["x".repeat(4000), "日".repeat(1333), "&".repeat(800)]) {
      await edit(text);
      expect(seen().message).not.toHaveProperty("blocks");
      expect(seen().text).toBe(text);
    }
  });

  test.each(["日", "👋", "&", "**b** ", "word "])("of more of %j is whole, as a block", async (unit) => {
    const { edit, seen, slack } = await begun();
    await using _ = slack;
    const text = unit.repeat(Math.floor(4_000 / unit.length)) + "&".repeat(900);
    await edit(text);
    expect(seen().message.blocks).toHaveLength(1);
    expect(seen().text.replaceAll(/\s/g, "")).toBe(text.replaceAll("**", "").replaceAll(/\s/g, ""));
    expect(Buffer.byteLength(seen().message.text)).toBeLessThanOrEqual(4_000);
  });

  test("to a short text takes the block away again", async () => {
    const { edit, seen, slack } = await begun();
    await using _ = slack;
    await edit("日".repeat(3_000));
    await edit("Short.");
    expect(seen()).toMatchObject({ text: "Short." });
    expect(seen().message).not.toHaveProperty("blocks");
  });

  test("that the platform takes as a block only is made one", async () => {
    const { edit, seen, slack } = await begun();
    await using _ = slack;
    const blocked: unknown[] = [];
    slack.mood = ({ path, body }) => {
      const isText = path.endsWith("chat.update") && !Buffer.from(body).toString().includes("blocks=");
      if (isText) blocked.push(path);
      return isText ? { babbles: '{"ok":false,"error":"block_mismatch"}' } : "takes";
    };
    await edit("Short.");
    expect([blocked.length, seen().text]).toEqual([1, "Short."]);
  });

  test.each(["message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "msg_too_long"])(
    "that is refused with %s is DELIVERY_REFUSED",
    async (word) => {
      const { edit, slack } = await begun();
      await using _ = slack;
      slack.refusals.set("chat.update", word);
      expect(await failure(edit("x"))).toMatchObject({ code: "DELIVERY_REFUSED" });
    },
  );
});

describe("edits", () => {
  test("of many answers at a time share what a workspace may ask for in a minute", async () => {
    const { channel, slack, context, sent } = await begun({ draft_update_interval_ms: 1_000 });
    await using _ = slack;
    const { drafts } = channel;
    expect(drafts.intervalMs(conversation)).toBe(1_000);
    const others = Array.from({ length: 9 }, async () => {
      const { platformId = "" } = await channel.send(message("Another"), never);
      await drafts.edit({ ...sent, platformId }, "Another answer", never);
    });
    await Promise.all(others);
    expect(drafts.intervalMs(conversation)).toBe(12_000);
    await context.clock.advance(60_000);
    expect(drafts.intervalMs(conversation)).toBe(1_000);
  });

  test("are off where the section says so", async () => {
    await using opened = await fixtureAndPlatform({ stream_mode: "off" });
    expect(opened.channel).not.toHaveProperty("drafts");
  });
});
