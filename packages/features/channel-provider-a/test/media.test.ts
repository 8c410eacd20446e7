// A file that someone sends must be fetched with the token, which must reach no one but the platform.
import type { InboundMedia } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { harness, harnessAndPlatform, never } from "./harness.ts";

const named = (ref: string): InboundMedia => ({ kind: "image", ref, placeholder: "[image]" });

const fetching = async (at: Pick<Awaited<ReturnType<typeof harnessAndPlatform>>, "channel">, ref: string) => {
  const chunks: Uint8Array[] = [];
  const write = (chunk: Uint8Array) => Promise.resolve(void chunks.push(chunk));
  const { mimeType } = await at.channel.media.fetch(named(ref), write, never);
  return { mimeType, bytes: Buffer.concat(chunks) };
};

test("the id is looked up, and the file fetched from where the platform says", async () => {
  await using at = await harnessAndPlatform();
  const bytes = Buffer.alloc(300_000, 9);
  const ref = at.platform.host(bytes, "image/jpeg");
  expect(await fetching(at, ref)).toEqual({ mimeType: "image/jpeg", bytes });
  expect(at.platform.requests.map(({ path }) => path)).toEqual([`/v25.0/${ref}`, "/whatsapp_business/attachments/"]);
  expect(at.platform.requests[0]?.query.get("phone_number_id")).toBe("106540352242922");
});

test("a file that is gone, or larger than may be, is refused", async () => {
  await using at = await harnessAndPlatform();
  const [gone, large] = [Buffer.alloc(1), Buffer.alloc(25 * 1_048_576 + 1)].map((bytes) =>
    at.platform.host(bytes, "video/mp4"),
  );
  at.platform.forget(gone!);
  await expect(fetching(at, gone!)).rejects.toMatchObject({
    code: "MEDIA_REFUSED",
    message: "The file is gone; the platform keeps one for seven days.",
  });
  await expect(fetching(at, large!)).rejects.toMatchObject({
    code: "MEDIA_REFUSED",
    message: "The file is larger than 25 MiB.",
  });
  // Told by its size, before a byte of it was fetched.
  expect(at.platform.requests.map(({ path }) => path)).toEqual([`/v25.0/${gone}`, `/v25.0/${large}`]);
});

test.each(["", "../106540352242922/messages", "1?fields=x", "a/b", "%2e%2e", "1".repeat(257), "."])(
  "an id like %j is no path of the API: nothing is asked",
  async (ref) => {
    await using at = await harnessAndPlatform();
    await expect(fetching(at, ref)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
    expect(at.platform.requests).toEqual([]);
  },
);

describe("the token", () => {
  test.each([
    "https://evil.example/whatsapp_business/attachments/?mid=1",
    "https://lookaside.fbsbx.com.evil.example/",
    "https://evilfbsbx.com/",
    "http://lookaside.fbsbx.com/",
    "https://lookaside.fbsbx.com:8443/",
    "https://user:pass@evil.example/",
    "file:///etc/passwd",
    "//lookaside.fbsbx.com/",
    "not a url",
  ])("is not taken to %s", async (link) => {
    await using at = await harnessAndPlatform();
    const ref = at.platform.host(Buffer.alloc(1), "image/jpeg", link);
    await expect(fetching(at, ref)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
    expect(at.platform.requests).toHaveLength(1);
  });

  test.each(["https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", "https://mmg.whatsapp.net/x"])(
    "is taken to %s, the platform's own, and no redirect takes it further",
    async (link) => {
      const asked: { url: string; headers: unknown; redirects: unknown }[] = [];
      const fetch: NonNullable<NonNullable<Parameters<typeof harness>[1]>["fetch"]> = (url, options = {}) => {
        asked.push({ url, headers: options.headers, redirects: options.redirects });
        const json = { url: link, mime_type: "image/jpeg", file_size: "1", id: "1" };
        const bytes = asked.length === 1 ? Buffer.from(JSON.stringify(json)) : new Uint8Array();
        return Promise.resolve({ status: 200, headers: {}, bytes, truncated: false, url });
      };
      await fetching(harness({}, { fetch }), "1");
      expect(asked[1]).toMatchObject({
        url: link,
        headers: { authorization: "Bearer EAAG-access-token-of-a" },
        redirects: "same-host",
      });
    },
  );
});

test("a page that comes instead of the file is not kept as one", async () => {
  await using at = await harnessAndPlatform();
  const ref = at.platform.host(Buffer.from("<html>Sorry</html>"), "text/html");
  expect(await fetching(at, ref)).toMatchObject({ mimeType: "text/html" });
  const fetch: NonNullable<NonNullable<Parameters<typeof harness>[1]>["fetch"]> = (url) => {
    const json = { url: "https://lookaside.fbsbx.com/", mime_type: "image/jpeg", id: "1" };
    const headers = url.includes("lookaside") ? { "content-type": "text/html; charset=utf-8" } : {};
    return Promise.resolve({
      status: 200,
      headers,
      bytes: Buffer.from(JSON.stringify(json)),
      truncated: false,
      url,
    } as never);
  };
  await expect(fetching(harness({}, { fetch }), "1")).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
});

test.each([
  [{ refuses: 401 }, "CHANNEL_UNAUTHORIZED", undefined],
  [{ refuses: 400 }, "MEDIA_REFUSED", undefined],
  [{ refuses: 500 }, "REMOTE_UNREACHABLE", undefined],
  [{ rateLimits: 3 }, "REMOTE_UNREACHABLE", 3_000],
] as const)("a look-up that meets %j ends in %s", async (mood, code, retryAfterMs) => {
  await using at = await harnessAndPlatform();
  const ref = at.platform.host(Buffer.alloc(1), "image/jpeg");
  at.platform.mood = mood;
  await expect(fetching(at, ref)).rejects.toMatchObject({ code, retryAfterMs });
});
