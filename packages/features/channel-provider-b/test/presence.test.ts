// Received files, typing indicators, read receipts, `svc channels test`, and the channel's start.
import { SvcError } from "@svc/contract";
import { settled } from "@svc/testkit/fake-clock";
import { type ProviderB, startProviderB } from "@svc/testkit/platforms/provider-b/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LINE, never, open, TOKEN } from "./open-channel.ts";

let platform: ProviderB;
beforeEach(async () => {
  platform = await startProviderB({ token: TOKEN, lines: ["+15550001111", LINE] });
});
afterEach(() => platform.close());

const opened = () => open({ api_url: platform.apiUrl });

describe("a received file", () => {
  const fetched = async (ref: string) => {
    const chunks: Uint8Array[] = [];
    const media = { kind: "image", ref, placeholder: "[IMAGE]" } as const;
    const fetchedMedia = await opened().channel.media.fetch(media, async (chunk) => void chunks.push(chunk), never);
    return { media: fetchedMedia, bytes: Buffer.concat(chunks) };
  };

  test("is fetched without the token", async () => {
    const link = platform.host(Buffer.alloc(300_000, 7), "image/heic");
    const { media, bytes } = await fetched(link);
    expect(media).toEqual({ mimeType: "image/heic" });
    expect(bytes.equals(Buffer.alloc(300_000, 7))).toBe(true);
    expect(JSON.stringify(platform.requests[0]?.headers)).not.toContain(TOKEN);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]:1/",
    "http://localhost:1/",
    "file:///etc/passwd",
  ])("is not fetched from %s", async (link) => {
    await expect(fetched(link)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
  });

  test("that is gone fails with MEDIA_REFUSED", async () => {
    await expect(fetched(`${platform.url}/files/none`)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
  });
});

describe("typing indicator and read receipt", () => {
  const conversation = (id: string) => ({ channel: "provider_b", id });

  test("reach a chat of two", async () => {
    const chat = platform.openChat(["+12025550123"]);
    const { typing, readMarks } = opened().channel;
    await readMarks.mark(conversation(chat), "m-1", never);
    await typing.start(conversation(chat), "m-1", never);
    expect(platform.signs).toEqual([`read ${chat}`, `typing ${chat}`]);
  });

  test("do nothing, without an error, in groups and in chats that are gone", async () => {
    const group = platform.openChat(["+12025550123", "+12025550124"]);
    const { typing } = opened().channel;
    await typing.start(conversation(group), undefined, never);
    await typing.start(conversation("8f392755-6865-4b18-880a-227f9d8b458f"), undefined, never);
    expect(platform.signs).toEqual([]);
  });
});

describe("`Channel.check`", () => {
  test("reports the line, and the number of lines", async () => {
    expect(await opened().channel.check(never)).toBe(`${LINE}, one of the account's 2 lines`);
  });

  test("reports a from_phone that is not one of the lines", async () => {
    const { channel } = open({ api_url: platform.apiUrl, from_phone: "+15550002222" });
    expect(await channel.check(never)).toContain("from_phone is not one of the account's");
  });

  test.each([
    [{ refuses: 401 }, "CHANNEL_UNAUTHORIZED"],
    [{ refuses: 403 }, "CHANNEL_UNAUTHORIZED"],
    [{ refuses: 404 }, "REMOTE_UNREACHABLE"],
    [{ refuses: 503 }, "REMOTE_UNREACHABLE"],
    ["resets", "REMOTE_UNREACHABLE"],
  ] as const)("if the platform %j, fails with %s", async (mood, code) => {
    platform.mood = mood;
    await expect(opened().channel.check(never)).rejects.toMatchObject({ code });
  });

  test("accepts a list of lines that can't be read", async () => {
    const answer = { status: 200, headers: {}, bytes: Buffer.from("[]"), truncated: false };
    const { channel } = open({}, async (url) => ({ ...answer, url }));
    expect(await channel.check(never)).toContain("takes the token");
  });
});

test("a wrong token disables the channel; an unreachable platform does not", async () => {
  platform.mood = { refuses: 401 };
  await expect(opened().run(never)).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  platform.mood = "resets";
  await expect(opened().run(never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  platform.mood = "takes";
  const stop = new AbortController();
  const { run, context } = opened();
  const running = run(stop.signal);
  await platform.arrived(2);
  while (context.log.lines.length === 0) await settled();
  stop.abort(new SvcError("DRAINING"));
  await running;
  expect(context.log.text()).not.toContain(TOKEN);
});
