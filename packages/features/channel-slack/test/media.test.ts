// A file that someone sends must be fetched with the token, which must reach no one but the platform.
import type { InboundMedia } from "@svc/contract";
import type { SlackFileOptions } from "@svc/testkit/platforms/slack/files";
import { describe, expect, test } from "vitest";
import { failure, fixtureAndPlatform, never } from "./fixture.ts";

const named = (ref: string): InboundMedia => ({ kind: "image", ref, placeholder: "[image]" });
const PNG = { mimetype: "image/png", name: "a b.png" } as const satisfies SlackFileOptions;

type Opened = Awaited<ReturnType<typeof fixtureAndPlatform>>;
const fetched = async ({ channel }: Pick<Opened, "channel">, ref: string) => {
  const chunks: Uint8Array[] = [];
  const { mimeType } = await channel.media.fetch(named(ref), async (chunk) => void chunks.push(chunk.slice()), never);
  return { mimeType, bytes: Buffer.concat(chunks) };
};

test("a file is looked up, and fetched with the token", async () => {
  await using opened = await fixtureAndPlatform();
  const bytes = Buffer.alloc(300_000, 7);
  const id = opened.slack.files.host(bytes, PNG);
  expect(await fetched(opened, id)).toEqual({ mimeType: "image/png", bytes });
  expect(opened.slack.requests.map(({ path }) => path)).toEqual([
    "/api/files.info",
    `/files-pri/T0123ABCD-${id}/download/a%20b.png`,
  ]);
});

test("a file that is gone, or larger than may be, is refused before a byte of it is fetched", async () => {
  await using opened = await fixtureAndPlatform();
  const gone = opened.slack.files.host(Buffer.alloc(1), PNG);
  opened.slack.files.forget(gone);
  const large = opened.slack.files.host(Buffer.alloc(26_214_401), PNG);
  const deleted = opened.slack.files.host(Buffer.alloc(1), { ...PNG, mode: "tombstone" });
  for (const id of [gone, large, deleted])
    expect(await failure(fetched(opened, id))).toMatchObject({ code: "MEDIA_REFUSED" });
  expect(opened.slack.requests.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => "/api/files.info"));
});

test.each(["", "F", "../F0FILE123", "f0file123", "F0FILE123&token=x", "https://files.slack.com/x", "F".repeat(40)])(
  "an id like %j is asked for nowhere",
  async (id) => {
    await using opened = await fixtureAndPlatform();
    expect(await failure(fetched(opened, id))).toMatchObject({ code: "MEDIA_REFUSED" });
    expect(opened.slack.requests).toEqual([]);
  },
);

describe("the token", () => {
  test.each([
    "https://evil.example/x",
    "https://files.slack.com.evil.example/x",
    "https://evilfiles.slack.com/x",
    "http://files.slack.com/x",
    "https://files.slack.com:8443/x",
    "https://user:pass@files.slack.com/x",
    "file:///etc/passwd",
    "//files.slack.com/x",
    "not a url",
  ])("is not taken to %s", async (link) => {
    await using opened = await fixtureAndPlatform();
    const id = opened.slack.files.host(Buffer.alloc(1), { ...PNG, link });
    expect(await failure(fetched(opened, id))).toMatchObject({ code: "MEDIA_REFUSED" });
    expect(opened.slack.requests).toHaveLength(1);
  });

  test("is taken to the platform's host of files, and no redirect takes it further", async () => {
    const asked: { url: string; headers: unknown; redirects: unknown }[] = [];
    const file = {
      id: "F0FILE123",
      url_private: "https://files.slack.com/files-pri/T0-F0/a.png",
      mimetype: "image/png",
    };
    const opened = await fixtureAndPlatform(
      {},
      {
        fetch: (url, options = {}) => {
          asked.push({ url, headers: options.headers, redirects: options.redirects });
          const bytes = Buffer.from(JSON.stringify({ ok: true, file }));
          return Promise.resolve({ status: 200, headers: {}, bytes, truncated: false, url });
        },
      },
    );
    await using _ = opened.slack;
    await fetched(opened, "F0FILE123");
    expect(asked[1]).toEqual({
      url: file.url_private,
      headers: { authorization: "Bearer xoxb-12-34-bot-token" },
      redirects: "same-host",
    });
  });

  test("that may not read files is told so, or sent to a page that is not kept", async () => {
    await using opened = await fixtureAndPlatform();
    const id = opened.slack.files.host(Buffer.alloc(1), PNG);
    opened.slack.scopes.delete("files:read");
    const error = await failure(fetched(opened, id));
    expect(error).toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
    expect(error.hint).toContain("files:read");
    opened.slack.scopes.add("files:read");
    opened.slack.mood = ({ path }) =>
      path.startsWith("/files-pri/") ? { redirects: "https://acme.slack.com/?redir=x" } : "takes";
    expect(await failure(fetched(opened, id))).toMatchObject({ code: "MEDIA_REFUSED" });
    opened.slack.mood = "takes";
    const page = opened.slack.files.host(Buffer.from("<html>Sign in</html>"), { ...PNG, mimetype: "text/html" });
    opened.slack.mood = ({ path }) =>
      path.endsWith("files.info")
        ? {
            babbles: JSON.stringify({
              ok: true,
              file: { ...(opened.slack.files.info(page) as object), mimetype: "image/png" },
            }),
          }
        : "takes";
    expect(await failure(fetched(opened, page))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });
});
