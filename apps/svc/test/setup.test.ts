// The wizard must not need a line for each new channel or sandbox: what it asks and offers comes from manifests and schemas.
import { homeOf } from "@svc/config";
import { type CatalogueEntry, defineFeature, type FeatureDefinition, type SandboxProbe, secret } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { channelsOf } from "../src/setup/channels.ts";
import { Draft, type Setup } from "../src/setup/draft.ts";
import { publicUrlProblem } from "../src/setup/wizard.ts";
import { sandboxOptions } from "../src/setup/sandbox.ts";

const chat = defineFeature({
  id: "channel-chat",
  section: "channels_config.chat",
  config: v.strictObject({
    bot_token: secret(),
    verify_token: v.optional(secret({ generate: true })),
    app_secret: secret({ generate: true }),
    rooms: v.array(v.string()),
    mode: v.optional(v.picklist(["poll", "push"]), "poll"),
    signing_secret: v.optional(secret({ ask: true })),
    server: v.strictObject({ host: v.string(), port: v.optional(v.number(), 1) }),
    proxy: v.optional(v.strictObject({ url: v.string() })),
    people: v.optional(v.record(v.string(), v.strictObject({ token: secret() })), {}),
  }),
  load: () => Promise.reject(new Error("set-up never loads a channel")),
});

const entry = (id: string, kind: CatalogueEntry["kind"], rest: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  id,
  flag: id,
  kind,
  summary: `summary of ${id}`,
  sections: [],
  tools: [],
  ingress: [],
  routes: [],
  open: [],
  platforms: [],
  native: [],
  commands: [],
  children: [],
  included: true,
  planned: false,
  profiles: [],
  build: `npx pnpm build home --with ${id}`,
  ...rest,
});

test("a channel is asked for its required keys and those that say so, secrets of ours are generated, and nothing else is asked", () => {
  const tool = { ...chat, id: "tool-x", section: "x" };
  const [webhook, found, ...more] = channelsOf(
    [chat, tool],
    [entry("channel-chat", "channel"), entry("tool-x", "tool")],
  );
  expect(more).toEqual([]);
  expect(webhook).toMatchObject({ id: "webhook", asked: [], core: true });
  expect(webhook!.generated.map(({ key }) => key)).toEqual(["channels_config.webhook.secret"]);
  expect(found).toMatchObject({ id: "chat", summary: "summary of channel-chat", core: false });
  expect(found!.asked.map(({ key }) => key.replace("channels_config.chat.", ""))).toEqual([
    "bot_token",
    "rooms",
    "signing_secret",
    "server.host",
  ]);
  expect(found!.generated.map(({ path }) => path.at(-1))).toEqual(["verify_token", "app_secret"]);
});

describe("the draft of a config", () => {
  const draftWith = (features: readonly FeatureDefinition[], env = {}): Draft =>
    new Draft({
      home: homeOf({ SVC_HOME: "/nowhere" }),
      env,
      composition: {
        version: "0",
        commit: "0",
        profile: "test",
        recipe: { profile: "home", with: [], without: [] },
        features,
        catalogue: [],
      },
    });

  test("tells what is wrong with an answer, and not what is wrong with the next one", async () => {
    const draft = draftWith([]);
    expect(await draft.problemWith("model.provider", "openai")).toBeUndefined();
    draft.set("model.provider", "openai");
    expect(await draft.problemWith("model.api_key", "")).toContain("is required");
    expect(await draft.problemWith("model.api_key", "sk-x")).toBeUndefined();
    expect(await draft.problemWith("model.api_key", "a b")).toContain("HTTP header");
    expect(await draft.problemWith("gateway.public_url", "nonsense")).toContain("URL");
    expect(await draft.problemWith("gateway.port", 70_000)).toContain("65535");
    expect(draft.settings.has("model.api_key")).toBe(false);
  });

  test("has every answer in its text, secrets as they are sealed and in no other form", async () => {
    const draft = draftWith([chat]);
    draft.set("channels_config.chat.enabled", true);
    draft.set("channels_config.chat.bot_token", "planted-1");
    draft.set("channels_config.chat.app_secret", 'pl"anted-2\n');
    draft.set("channels_config.chat.rooms", ["a", "b"]);
    draft.set("channels_config.chat.server.host", "h");
    draft.set("model.price.input_per_million", 1);
    draft.set("model.price.output_per_million", 2);
    const { core } = await draft.load();
    expect(core.model.price).toEqual({ input_per_million: 1, output_per_million: 2 });
    const text = await draft.text((plain) => `enc2:${plain.length}`);
    expect(text).not.toContain("anted");
    expect(text).toContain('app_secret = "enc2:11"');
  });
});

describe("sandboxes", () => {
  const sandbox = (id: string, probe: () => Promise<SandboxProbe>) =>
    defineFeature({
      id: `sandbox-${id}`,
      load: async () => ({
        create: () => ({ sandbox: { id, probe, open: () => Promise.reject(new Error("not here")) } }),
      }),
    });

  test("each is tried where it is built in; the others say why they can't be used", async () => {
    const features = [
      sandbox("userns", async () => ({ available: true, unenforced: [] })),
      sandbox("jail", async () => ({ available: false, reason: "firejail is not installed" })),
      sandbox("container", () => Promise.reject(new Error("sk-planted"))),
    ];
    const catalogue = [
      ...features.map(({ id }) => entry(id, "sandbox")),
      entry("sandbox-seatbelt", "sandbox", { included: false, platforms: ["elsewhere"] }),
      entry("sandbox-fsrestrict", "sandbox", { included: false }),
      entry("sandbox-later", "sandbox", { included: false, planned: true }),
    ];
    const composition = {
      version: "0",
      commit: "0",
      profile: "test",
      recipe: { profile: "home", with: [], without: [] },
      features,
      catalogue,
    };
    const draft = new Draft({ home: homeOf({ SVC_HOME: "/nowhere" }), env: {}, composition });
    const options = await sandboxOptions(
      { composition, home: homeOf({ SVC_HOME: "/nowhere" }) } as unknown as Setup,
      await draft.load(),
    );
    expect(Object.fromEntries(options.map(({ backend, unavailable }) => [backend, unavailable]))).toEqual({
      userns: undefined,
      jail: "firejail is not installed",
      container: "its check failed",
      seatbelt: "not for this system",
      fsrestrict: "not in this build; add it with: npx pnpm build home --with sandbox-fsrestrict",
      later: "not written yet",
    });
  });
});

test.for([
  ["https://svc.example.org", true],
  ["http://127.0.0.1:8080", true],
  ["http://localhost", true],
  ["http://[::1]:1", true],
  ["http://svc.example.org", false],
  ["http://127.0.0.1.example.org", false],
  ["http://localhost.example.org", false],
  ["http://10.0.0.1", false],
] as const)("a public URL %s is taken: %j", ([url, taken]) => {
  expect(publicUrlProblem(url) === undefined).toBe(taken);
});
