// A link in a message is fetched where the platform keeps its files, without the token, and nowhere else.
import type { FetchOptions } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { cdnOf } from "../src/send.ts";
import { fixture, never } from "./fixture.ts";

async function fetched(ref: string): Promise<{ asked: readonly [string, FetchOptions][]; outcome: unknown }> {
  const asked: [string, FetchOptions][] = [];
  const fetch = async (url: string, options: FetchOptions = {}) => {
    asked.push([url, options]);
    return { status: 200, headers: { "content-type": "image/png" }, bytes: new Uint8Array(), truncated: false, url };
  };
  await using at = await fixture({ api_url: "https://discord.com/api" }, { fetch });
  const media = { kind: "image", ref, placeholder: "[image]" } as const;
  const outcome = await at.channel.media
    .fetch(media, async () => undefined, never)
    .catch((error: { code: string }) => error.code);
  return { asked, outcome };
}

test.each([
  "https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&is=2&hm=3&",
  "https://media.discordapp.net/stickers/1.gif",
])("%s is fetched, without the token and without being led elsewhere", async (url) => {
  const { asked, outcome } = await fetched(url);
  expect(outcome).toEqual({ mimeType: "image/png" });
  expect(asked).toMatchObject([[url, { redirects: "same-host" }]]);
  expect(JSON.stringify(asked)).not.toMatch(/authorization|bot-token/i);
});

test.each([
  "https://example.org/a.png",
  "http://cdn.discordapp.com/a.png",
  "https://cdn.discordapp.com:8443/a.png",
  "https://cdn.discordapp.com.example.org/a.png",
  "https://example.org/cdn.discordapp.com/a.png",
  "https://cdn.discordapp.com@example.org/a.png",
  "data:image/png;base64,AAAA",
  "cdn.discordapp.com/a.png",
])("%s is not", async (url) => {
  expect(await fetched(url)).toEqual({ asked: [], outcome: "MEDIA_REFUSED" });
});

describe("stickers are", () => {
  test.each([
    ["https://discord.com/api", "https://cdn.discordapp.com", "https://media.discordapp.net"],
    ["https://canary.discord.com/api", "https://cdn.discordapp.com", "https://media.discordapp.net"],
    ["https://notdiscord.com/api", "https://notdiscord.com", "https://notdiscord.com"],
    ["http://127.0.0.1:9/api", "http://127.0.0.1:9", "http://127.0.0.1:9"],
  ])("for %s at %s and %s", (apiUrl, images, moving) => {
    expect(cdnOf({ api_url: apiUrl })).toEqual({ images, moving });
  });
});
