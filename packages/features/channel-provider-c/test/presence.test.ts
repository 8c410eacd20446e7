// What is not a message: files that are fetched with our token, "is writing", and the platform's word on who we are.
import { type FetchOptions, SvcError } from "@svc/contract";
import { settled } from "@svc/testkit/fake-clock";
import { startPlatform } from "@svc/testkit/platforms/base";
import { type ProviderC, startProviderC } from "@svc/testkit/platforms/provider-c/server";
import { vectorCases } from "@svc/testkit/vectors";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isOwnFile } from "../src/payload.ts";
import { never, open, TOKEN } from "./open-channel.ts";

let platform: ProviderC;
beforeEach(async () => {
  platform = await startProviderC({ token: TOKEN });
});
afterEach(() => platform.close());

interface Host {
  readonly api_url?: string;
  readonly media_url?: string;
  readonly content_length?: number;
}

test.each(vectorCases<Host, { allowed: boolean }>("media_host.provider_c"))("$name", async ({ input, expected }) => {
  const { api_url: apiUrl = "https://live-c.example.test", media_url: ref = `${apiUrl}/m`, content_length } = input;
  const bytes = new Uint8Array();
  const seen: FetchOptions[] = [];
  const { channel } = open({ api_url: apiUrl }, async (url, options = {}) => {
    seen.push(options);
    const truncated = (content_length ?? 0) > (options.maxBytes ?? 0);
    return { status: 200, headers: {}, bytes, truncated, url };
  });
  const media = { kind: "image", ref, placeholder: "" } as const;
  const outcome = await channel.media.fetch(media, async () => undefined, never).catch((error: SvcError) => error.code);
  expect(outcome).toEqual(expected.allowed ? {} : "MEDIA_REFUSED");
  // Where it may not go, nothing went: the token least of all.
  expect(seen).toHaveLength(expected.allowed || content_length !== undefined ? 1 : 0);
  expect(channel.media.maxBytes).toBe(26_214_400);
});

test.each([
  ["https://c.test", "https://c.test:443/m", true],
  ["https://c.test:8443", "https://c.test:8443/m", true],
  ["https://c.test:8443", "https://c.test/m", false],
  ["https://c.test", "http://c.test/m", false],
  ["https://c.test", "http://c.test:443/m", false],
  ["https://c.test", "https://C.TEST/m", true],
  ["https://c.test", "https://c.test./m", false],
  ["https://c.test", "https://user@c.test/m", false],
  ["https://c.test", "https://:pw@c.test/m", false],
  ["https://c.test", "https://c.test\\@evil.test/m", true],
  ["https://c.test", "https:c.test/m", true],
  ["https://c.test", "//c.test/m", false],
  ["https://c.test", "https://evil.test#@c.test/", false],
  ["https://c.test", "javascript:alert(1)", false],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080/m", true],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8081/m", false],
  ["http://127.0.0.1:8080", "http://localhost:8080/m", false],
  ["http://[::1]:8080", "http://[::1]:8080/m", true],
  ["http://c.test", "http://c.test/m", false],
  ["http://127.evil.test", "http://127.evil.test/m", false],
])("with the API at %s the file %s is its own: %s", (api, link, own) => {
  // Whatever the parser makes of an odd spelling is the host that is asked: it decides here as there.
  expect(isOwnFile(api, link)).toBe(own);
});

describe("a file that came", () => {
  const fetched = async (ref: string) => {
    const chunks: Uint8Array[] = [];
    const { channel } = open({ api_url: platform.url });
    const media = { kind: "audio", ref, placeholder: "" } as const;
    const told = await channel.media.fetch(media, async (chunk) => void chunks.push(chunk), never);
    return { told, bytes: Buffer.concat(chunks) };
  };

  test("is fetched with the token, by its link or its message's id", async () => {
    const sound = Buffer.alloc(300_000, 7);
    const link = platform.host(sound, "audio/ogg; codecs=opus", "audios/a.opus");
    expect(await fetched(link)).toEqual({ told: { mimeType: "audio/ogg" }, bytes: sound });
    platform.hostFor("6928", sound, "audio/ogg");
    expect(await fetched("message:6928")).toEqual({ told: { mimeType: "audio/ogg" }, bytes: sound });
  });

  test("an id of a message leads to no other path of the API", async () => {
    await expect(fetched("message:../../channels?x=#")).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
    expect(platform.requests[0]?.path).toMatch(/\/messages\/file\/[^/]+$/);
    await expect(fetched("message:..")).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
    expect(platform.requests).toHaveLength(1);
  });

  test("does not take the token to another host that it leads on to", async () => {
    await using thief = await startPlatform(() => ({ bytes: Buffer.from("loot") }));
    for (const to of [`${thief.url}/x`, "https://files.example.test/x"]) {
      await expect(fetched(platform.redirect(to))).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
    }
    expect(thief.requests).toEqual([]);
  });

  test("may lead on within the platform", async () => {
    const link = platform.host(Buffer.from("sound"), "audio/ogg", "audios/b.opus");
    expect((await fetched(platform.redirect(link))).bytes.toString()).toBe("sound");
  });

  test("that is gone is told as such", async () => {
    await expect(fetched(`${platform.url}/none`)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
  });
});

describe("the check", () => {
  const checked = (changes = {}) => open({ api_url: platform.url, ...changes }).channel.check(never);

  test("tells the lines, and of a tenant_id that is none of them", async () => {
    expect(await checked()).toBe("Line: Main 15550009999");
    expect(await checked({ tenant_id: "Main" })).toBe("Line: Main 15550009999");
    expect(await checked({ tenant_id: "15550009999" })).toBe("Line: Main 15550009999");
    expect(await checked({ tenant_id: "other" })).toContain("tenant_id does not match");
  });

  test("passes with a token that may send and not list", async () => {
    platform.mood = { refuses: 403 };
    expect(await checked()).toContain("takes the token");
  });

  test.each([
    [{ refuses: 401 }, "CHANNEL_UNAUTHORIZED"],
    [{ refuses: 404 }, "REMOTE_UNREACHABLE"],
    [{ refuses: 503 }, "REMOTE_UNREACHABLE"],
    ["resets", "REMOTE_UNREACHABLE"],
  ] as const)("against a platform that %j fails with %s", async (mood, code) => {
    platform.mood = mood;
    await expect(checked()).rejects.toMatchObject({ code });
  });
});

test("a wrong token keeps the channel off; a platform that is away does not", async () => {
  platform.mood = { refuses: 401 };
  await expect(open({ api_url: platform.url }).run(never)).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  platform.mood = "resets";
  await expect(open({ api_url: platform.url }).run(never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  platform.mood = "takes";
  const stop = new AbortController();
  const { run, context } = open({ api_url: platform.url });
  const running = run(stop.signal);
  while (context.log.lines.length === 0) await settled();
  stop.abort(new SvcError("DRAINING"));
  await running;
  expect(context.log.text()).not.toContain(TOKEN);
});

test("that somebody is writing is shown, and nothing to complain of where the account has it turned off", async () => {
  const { channel } = open({ api_url: platform.url });
  const conversation = { channel: "provider_c", id: "+12025550123" };
  await channel.typing.start(conversation, "m-1", never);
  platform.mood = { refuses: 403 };
  await channel.typing.start(conversation, "m-1", never);
  expect(platform.typing).toEqual(["12025550123"]);
});
