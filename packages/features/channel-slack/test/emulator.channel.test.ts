// The channel against a workspace that is not ours: what it sends, changes and fetches there is what people would find.
import type { InboundMedia } from "@svc/contract";
import { expect, test } from "vitest";
import { ADMIN, clientOf, GENERAL, startEmulator } from "./emulator/workspaces.ts";
import { failure, fixture, message, never } from "./fixture.ts";

const at = (id: string, thread?: string) => ({ conversation: { channel: "slack", id, ...(thread && { thread }) } });

test("a text is sent, changed, replied to and reacted to", async () => {
  await using workspace = await startEmulator();
  const { channel } = fixture({ api_url: workspace.apiUrl, mode: "events" });
  const client = clientOf(workspace);
  expect(await channel.check(never)).toContain("svc in Acme");

  const { platformId = "", opened } = await channel.send(message("A **draft** <!channel>", at(GENERAL)), never);
  const [, ts = ""] = platformId.split(":");
  expect(opened).toEqual({ channel: "slack", id: GENERAL, thread: ts });
  const seen = async () => (await client.conversations.replies({ channel: GENERAL, ts })).messages ?? [];
  expect((await seen())[0]?.text).toBe("A *draft* &lt;!channel&gt;");

  const sent = { conversation: { channel: "slack", id: GENERAL }, platformId };
  await channel.drafts.edit(sent, "The **answer**", never);
  await channel.drafts.edit(sent, "The **answer**", never);
  expect((await seen())[0]?.text).toBe("The *answer*");
  await channel.drafts.edit(sent, "日".repeat(3_000), never);
  expect((await seen())[0]?.blocks?.[0]?.type).toBe("rich_text");

  await channel.readMarks.mark(sent.conversation, platformId, never);
  await channel.readMarks.mark(sent.conversation, platformId, never);
  expect((await seen())[0]?.reactions).toMatchObject([{ name: "eyes", count: 1 }]);
  await channel.readMarks.clear?.(sent.conversation, platformId, never);
  expect((await seen())[0]?.reactions ?? []).toEqual([]);

  await channel.send(message("A reply", at(GENERAL, ts)), never);
  expect((await seen()).map(({ text, thread_ts: thread }) => [text, thread])).toEqual([
    [expect.any(String), undefined],
    ["A reply", ts],
  ]);
});

test("files are shared in the thread, and fetched from where the platform keeps them", async () => {
  await using workspace = await startEmulator();
  const { channel } = fixture({ api_url: workspace.apiUrl, mode: "events" });
  const client = clientOf(workspace);
  const { platformId = "" } = await channel.send(message("Look", at(GENERAL)), never);
  const [, ts = ""] = platformId.split(":");
  const bytes = Buffer.alloc(100_000, 5);
  const file = {
    kind: "document",
    name: "a b.bin",
    mimeType: "application/octet-stream",
    read: () => Promise.resolve(bytes),
  } as const;
  await channel.send(message("", { ...at(GENERAL, ts), files: [file] }), never);
  const shared = (await client.conversations.replies({ channel: GENERAL, ts })).messages?.at(-1);
  expect(shared).toMatchObject({ subtype: "file_share", thread_ts: ts, files: [{ name: "a b.bin", size: 100_000 }] });

  const chunks: Uint8Array[] = [];
  const media: InboundMedia = { kind: "document", ref: String(shared?.files?.[0]?.id), placeholder: "[document]" };
  await channel.media.fetch(media, async (chunk) => void chunks.push(chunk.slice()), never);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
});

test("a question has buttons until it is settled", async () => {
  await using workspace = await startEmulator();
  const { channel } = fixture({ api_url: workspace.apiUrl, mode: "events" });
  const prompt = { id: "ap-1", title: "Deploy?", message: "Now.", approve: "Approve", reject: "Reject" };
  const question = message("Deploy?", at(ADMIN));
  const { platformId = "", opened } = await channel.prompts.post(question, prompt, never);
  const [direct = "", ts = ""] = platformId.split(":");
  expect(opened).toEqual({ channel: "slack", id: direct });
  const seen = async () => (await clientOf(workspace).conversations.replies({ channel: direct, ts })).messages?.[0];
  expect((await seen())?.blocks?.map(({ type }) => type)).toEqual(["section", "actions"]);
  await channel.prompts.close?.({ ...question, platformId }, "Approved by admin", never);
  expect(await seen()).toMatchObject({ text: "Deploy?\n\nApproved by admin", blocks: [{ type: "section" }] });
});

test("what it refuses is told as such", async () => {
  await using workspace = await startEmulator();
  const { channel } = fixture({ api_url: workspace.apiUrl, mode: "events" });
  expect(await failure(channel.send(message("x", at("C0NOWHERE1")), never))).toMatchObject({
    code: "DELIVERY_REFUSED",
  });
  const gone = { conversation: { channel: "slack", id: GENERAL }, platformId: `${GENERAL}:1700000000.000100` };
  expect(await failure(channel.drafts.edit(gone, "x", never))).toMatchObject({ code: "DELIVERY_REFUSED" });
});
