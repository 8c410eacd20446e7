// Files that people send must be fetched from the platform and nowhere else, and the URL with the token in it must show nowhere.
import { inspect } from "node:util";
import { TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import { describe, expect, test } from "vitest";
import { failure, fixtureAndPlatform, never } from "./fixture.ts";

const media = (ref: string) => ({ kind: "document", ref, placeholder: "[document]" }) as const;

test("a file is fetched in two steps, and its type is what the message says", async () => {
  await using at = await fixtureAndPlatform();
  const bytes = Buffer.from("hello");
  const chunks: Uint8Array[] = [];
  const fetched = await at.channel.media.fetch(
    media(at.platform.files.host(bytes)),
    async (chunk) => void chunks.push(chunk),
    never,
  );
  expect(Buffer.concat(chunks)).toEqual(bytes);
  expect(fetched).toEqual({});
  expect(at.platform.requests.map(({ path }) => path.replace(TELEGRAM_TOKEN, "T"))).toEqual([
    "/botT/getFile",
    "/file/botT/documents/file_1.bin",
  ]);
});

describe("what leads elsewhere is refused before anybody is asked", () => {
  test.each(["https://elsewhere.example/x", "//elsewhere.example/x", "../../bot1/getMe", "a/../../x", "a/./b", "a//b"])(
    "%s",
    async (path) => {
      await using at = await fixtureAndPlatform();
      const fetching = at.channel.media.fetch(
        media(at.platform.files.host(Buffer.from("x"), path)),
        async () => undefined,
        never,
      );
      expect(await failure(fetching)).toMatchObject({ code: "MEDIA_REFUSED" });
      expect(at.platform.requests).toHaveLength(1);
    },
  );
});

test.each(["voice/file_1.c++", "a?x=1", "a#b", "a%2e%2e/b", "a\\b", "ä ö.pdf"])(
  "the name %s is one on the platform, and nothing else",
  async (path) => {
    await using at = await fixtureAndPlatform();
    const chunks: Uint8Array[] = [];
    const ref = at.platform.files.host(Buffer.from("x"), path);
    await at.channel.media.fetch(media(ref), async (chunk) => void chunks.push(chunk), never);
    expect(Buffer.concat(chunks).toString()).toBe("x");
  },
);

test("a server of one's own that keeps files to itself is told apart", async () => {
  await using at = await fixtureAndPlatform();
  const ref = at.platform.files.host(Buffer.from("x"), "/var/lib/telegram-bot-api/documents/file_1");
  expect(await failure(at.channel.media.fetch(media(ref), async () => undefined, never))).toMatchObject({
    code: "MEDIA_REFUSED",
    hint: "Run your Bot API server without --local.",
  });
});

test.each([
  ["unknown", "MEDIA_REFUSED", "The platform does not have the file any more."],
  ["too large for a bot", "MEDIA_REFUSED", "The file is larger than the platform takes."],
])("a file that is %s is %s", async (what, code, sentence) => {
  await using at = await fixtureAndPlatform();
  const ref = what === "unknown" ? "AgAC-unknown" : at.platform.files.host(Buffer.alloc(20_000_001));
  expect(await failure(at.channel.media.fetch(media(ref), async () => undefined, never))).toMatchObject({
    code,
    message: sentence,
  });
});

test("no redirect leads to another host, with the token in the request before it", async () => {
  await using at = await fixtureAndPlatform();
  const asked: unknown[] = [];
  const fetch: typeof at.context.fetch = (url, options) => {
    asked.push(options?.redirects);
    return at.context.fetch(url, options);
  };
  await using watched = await fixtureAndPlatform({ api_url: at.platform.apiUrl }, { given: { fetch } });
  await watched.channel.media.fetch(media(at.platform.files.host(Buffer.from("x"))), async () => undefined, never);
  expect(asked).toEqual(["same-host", "same-host"]);
});

test("no error shows the token, whatever goes wrong with the file's URL", async () => {
  await using at = await fixtureAndPlatform();
  const ref = at.platform.files.host(Buffer.from("x"));
  for (const mood of [
    { refuses: 404 },
    { refuses: 500 },
    { refuses: 401 },
    "resets",
    { redirects: "https://elsewhere.example/" },
  ] as const) {
    at.platform.mood = ({ path }) => (path.startsWith("/file/") ? mood : "takes");
    const error = await failure(at.channel.media.fetch(media(ref), async () => undefined, never));
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(TELEGRAM_TOKEN.split(":")[1]);
    expect(at.context.log.text()).not.toContain(TELEGRAM_TOKEN.split(":")[1]);
  }
});
