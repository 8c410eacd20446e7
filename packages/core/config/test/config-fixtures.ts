/** A build with features whose sections mirror the specification's, a home of its own, and a config in it. */
import { type CatalogueEntry, channelKeys, type FeatureDefinition, httpUrl, secret } from "@svc/contract";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import {
  ConfigError,
  type Home,
  type LoadedConfig,
  type Problem,
  createRedactor,
  formatProblems,
  homeOf,
  loadConfig,
} from "../src/index.ts";

const load = () => Promise.reject(new Error("the config never loads a feature"));

export const providerA: FeatureDefinition = {
  id: "channel-provider-a",
  section: "channels_config.provider_a",
  config: v.strictObject({
    access_token: v.pipe(secret(), v.description("Access token.")),
    phone_number_id: v.string(),
    verify_token: secret(),
    app_secret: v.optional(secret({ env: "SVC_PROVIDER_A_APP_SECRET", envMode: "override" })),
    allowed_numbers: v.optional(v.array(v.pipe(v.string(), v.regex(/^(\*|\+\d+)$/, "an E.164 number or *"))), []),
  }),
  load,
};

export const mailpush: FeatureDefinition = {
  id: "channel-mailpush",
  section: "channels_config.mailpush",
  config: v.strictObject({
    enabled: v.optional(v.boolean(), false),
    topic: v.string(),
    oauth_token: v.optional(secret({ env: "MAILPUSH_OAUTH_TOKEN", envMode: "fallback" })),
    ...channelKeys,
    label_filter: v.optional(v.array(v.string()), ["INBOX"]),
    webhook_url: v.optional(httpUrl()),
  }),
  load,
};

/** Every shape the walk must see through. */
export const shapes: FeatureDefinition = {
  id: "shapes",
  section: "shapes",
  config: v.pipe(
    v.strictObject({
      keys: v.optional(v.array(secret()), []),
      boards: v.optional(
        v.array(
          v.strictObject({
            board: v.string(),
            transport: v.optional(v.picklist(["serial", "native", "bridge"]), "serial"),
            baud: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 9600),
            token: v.optional(secret()),
          }),
        ),
        [],
      ),
      accounts: v.optional(
        v.record(v.string(), v.strictObject({ password: secret(), user: v.optional(v.string()) })),
        {},
      ),
      ratio: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0.5),
      low: v.optional(v.number()),
      high: v.optional(v.number()),
      either: v.optional(v.union([v.boolean(), v.pipe(v.number(), v.integer()), v.strictObject({ pin: secret() })])),
    }),
    v.check(({ low, high }) => low === undefined || high === undefined || low <= high, "low must not exceed high"),
  ),
  load,
};

export const webhookOut: FeatureDefinition = {
  id: "channel-webhook",
  extends: "channels_config.webhook",
  config: v.strictObject({ url: httpUrl(), retries: v.optional(v.pipe(v.number(), v.integer()), 3) }),
  load,
};

/** Calls `change` when the schemas are walked for the `walk`th time: after a config was read to be changed, say. */
export function meddler(walk: number, change: () => void): FeatureDefinition {
  let asked = 0;
  return {
    id: "meddler",
    section: "meddler",
    get config() {
      asked += 1;
      // Each walk asks twice.
      if (asked === 2 * walk) change();
      return v.strictObject({});
    },
    load,
  };
}

export const alwaysOn: FeatureDefinition = { id: "always", load };

export const FEATURES = [providerA, mailpush, shapes, webhookOut, alwaysOn];

const entry = (id: string, sections: string[], rest: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  id,
  flag: id,
  kind: "channel",
  summary: "",
  sections,
  tools: [],
  ingress: [],
  routes: [],
  open: [],
  commands: [],
  children: [],
  platforms: [],
  native: [],
  included: false,
  planned: false,
  profiles: [],
  build: `npx pnpm build home --with ${rest.flag ?? id}`,
  ...rest,
});

export const CATALOGUE: readonly CatalogueEntry[] = [
  entry("channel-provider-a", ["channels_config.provider_a"], { included: true }),
  entry("provider-a-web", ["channels_config.provider_a"], { profiles: ["full"] }),
  entry("channel-federated", ["channels_config.federated"], { profiles: ["standard", "full"] }),
  entry("robot", ["robot.safety"], { planned: true, flag: "safety" }),
];

export interface Fixture {
  readonly home: Home;
  remove(): void;
  write(toml: string, mode?: number): void;
  load(env?: Record<string, string>, toml?: string): Promise<LoadedConfig>;
  problems(toml: string, env?: Record<string, string>): Promise<readonly Problem[]>;
  /** The problems as a person reads them. */
  lines(toml: string, env?: Record<string, string>): Promise<string[]>;
}

export function makeFixture(): Fixture {
  const root = mkdtempSync(join(tmpdir(), "svc-config-"));
  const home = homeOf({ SVC_HOME: root });
  const fixture: Fixture = {
    home,
    remove: () => rmSync(root, { recursive: true, force: true }),
    write: (toml, mode = 0o600) => {
      rmSync(home.config, { force: true });
      writeFileSync(home.config, toml, { mode });
    },
    load: (env = {}, toml) => {
      if (toml !== undefined) fixture.write(toml);
      return loadConfig({ home, env, features: FEATURES, catalogue: CATALOGUE });
    },
    problems: async (toml, env = {}) => {
      try {
        await fixture.load(env, toml);
        return [];
      } catch (error) {
        if (error instanceof ConfigError) return error.problems;
        throw error;
      }
    },
    lines: async (toml, env) =>
      formatProblems(await fixture.problems(toml, env))
        .split("\n")
        .filter((line) => line !== ""),
  };
  return fixture;
}

export const PROVIDER_A = `[channels_config.provider_a]
access_token = "token-of-a"
phone_number_id = "1"
verify_token = "verify-of-a"
`;

/** Of `texts` those that the config does not know as its secrets, neither as text nor by a hash. */
export function unknownIn(config: LoadedConfig, texts: readonly string[]): string[] {
  const known = config.secrets();
  const { redact } = createRedactor(known);
  return texts.filter((text) => !known.includes(text) && redact(text) === text);
}
