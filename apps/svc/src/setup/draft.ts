/**
 * The config as it would be written. Nothing of it is on disk, and every answer is judged at once by the rules of a
 * start: the whole text is loaded with the answer in it, and what is said about its key is the verdict.
 */
import {
  applyConfigEdits,
  type ConfigEdit,
  ConfigError,
  type ConfigValue,
  defaultConfigText,
  type DefaultModel,
  expectation,
  type Home,
  loadConfig,
  type LoadedConfig,
  readText,
  type SchemaNode,
  setConfigValues,
  walkSchema,
} from "@svc/config";
import { type Composition, type FeatureDefinition, SvcError } from "@svc/contract";
import { PASSKEYS } from "../service/context.ts";
import type { CommandContext } from "../cli/command.ts";

export type Setting = ConfigValue;

export interface DraftSurroundings {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly composition: Composition;
  /** Text of the config that is there and is changed; undefined: there is none. */
  readonly base?: string | undefined;
}

export class Draft {
  readonly #surroundings: DraftSurroundings;
  readonly #settings = new Map<string, Setting>();

  constructor(surroundings: DraftSurroundings) {
    this.#surroundings = surroundings;
  }

  /** Dotted key, then value, in the order they were set. */
  get settings(): ReadonlyMap<string, Setting> {
    return this.#settings;
  }

  /** A config is there already. */
  get isChange(): boolean {
    return this.#surroundings.base !== undefined;
  }

  /** What the answers change in the config that is there. */
  get edits(): readonly ConfigEdit[] {
    return editsOf(this.#settings);
  }

  set(key: string, value: Setting | undefined): void {
    if (value === undefined) this.#settings.delete(key);
    else this.#settings.set(key, value);
  }

  get(key: string): Setting | undefined {
    return this.#settings.get(key);
  }

  /** What is wrong with `value` at `key`; what is wrong elsewhere is some other answer's. */
  async problemWith(key: string, value: Setting | undefined): Promise<string | undefined> {
    const settings = new Map(this.#settings);
    if (value === undefined) settings.delete(key);
    else settings.set(key, value);
    try {
      await this.#load(settings);
      return undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const problem = error.problems.find((problem) => problem.key === key || problem.key.startsWith(`${key}[`));
      return problem && sentence(problem);
    }
  }

  /** Throws ConfigError with every problem. */
  load(): Promise<LoadedConfig> {
    return this.#load(this.#settings);
  }

  /** What is to be written, each secret as `seal` makes it. */
  async text(seal: (secret: string) => string): Promise<string> {
    const secrets = new Set(
      walkSchema(this.#surroundings.composition.features).flatMap(({ key, node }) => (node.marks.secret ? [key] : [])),
    );
    const sealed = [...this.#settings].map(
      ([key, value]) => [key, secrets.has(key) && typeof value === "string" ? seal(value) : value] as const,
    );
    return textOf(new Map(sealed), this.#surroundings);
  }

  async #load(settings: ReadonlyMap<string, Setting>): Promise<LoadedConfig> {
    const { home, env, composition } = this.#surroundings;
    const { features, catalogue } = composition;
    return loadConfig({ home, env, features, catalogue, text: await textOf(settings, this.#surroundings) });
  }
}

function editsOf(settings: ReadonlyMap<string, Setting>): ConfigEdit[] {
  const path = (key: string): string[] => key.split(".");
  // Nothing of one provider is another's, its key least of all.
  const isKept = (key: string): boolean => [...settings.keys()].some((set) => set === key || set.startsWith(`${key}.`));
  const gone = settings.has("model.provider") ? MODEL_KEYS.filter((key) => !isKept(key)) : [];
  return [
    ...gone.map((key) => ({ path: path(key), remove: true as const })),
    ...[...settings].map(([key, value]) => ({ path: path(key), value })),
  ];
}

const MODEL_KEYS = ["model.name", "model.base_url", "model.api_key", "model.price"] as const;

/** The first run's config with the answers in it: those it shows as comments in their place, the others where they belong. */
async function textOf(
  settings: ReadonlyMap<string, Setting>,
  { composition: { features }, base }: Pick<DraftSurroundings, "composition" | "base">,
): Promise<string> {
  if (base !== undefined) return applyConfigEdits(base, editsOf(settings));
  const said = (key: string): string | undefined => {
    const value = settings.get(key);
    return typeof value === "string" ? value : undefined;
  };
  const [name, baseUrl, apiKey, webhookSecret] = SHOWN_KEYS.map(said);
  const provider = (said("model.provider") ?? "builtin") as DefaultModel["provider"];
  const text = defaultConfigText({
    model: {
      provider,
      ...(name !== undefined && { name }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(apiKey !== undefined && { apiKey }),
    },
    ...(webhookSecret !== undefined && { webhookSecret }),
    // Browsers use none on a public address without https.
    passkeys: features.some(({ id }) => id === PASSKEYS) && /^https:/i.test(said("gateway.public_url") ?? "https:"),
  });
  const shown = new Set<string>(["model.provider", ...SHOWN_KEYS]);
  const others = [...settings].filter(([key]) => !shown.has(key));
  return setConfigValues(
    text,
    others.map(([key, value]) => ({ path: key.split("."), value })),
  );
}

const SHOWN_KEYS = ["model.name", "model.base_url", "model.api_key", "channels_config.webhook.secret"] as const;

function sentence({ message, allowed, env }: ConfigError["problems"][number]): string {
  const from = env === undefined ? "" : ` (set by ${env})`;
  return `${message}${allowed === undefined ? "" : ` (allowed: ${allowed})`}${from}`;
}

/** What `svc init` works with while it asks: the draft of the config, and what is to be said when it is written. */
export interface Setup {
  readonly context: CommandContext;
  readonly home: Home;
  readonly composition: Composition;
  readonly draft: Draft;
  /** `--insecure`: a webhook without a secret is taken. */
  readonly insecure: boolean;
  /** Secrets made here, by their key. Each is shown once, at the end: the config keeps it encrypted. */
  readonly generated: Map<string, GeneratedSecret>;
}

interface GeneratedSecret {
  readonly secret: string;
  /** What it is for. */
  readonly use: string | undefined;
}

/** An answer as text, made what its key takes. Text that can't be read so stays text, and the schema says what is wrong with it. */
export const readSetting = (node: SchemaNode, text: string): Setting =>
  (readText(node, text)?.value as Setting | undefined) ?? text;

/** Throws USAGE for a key that is none, and for a secret: an argument is seen by every user of the machine. */
export function settingOf(features: readonly FeatureDefinition[], key: string, text: string): Setting {
  const found = walkSchema(features).find((schemaKey) => schemaKey.key === key);
  if (!found) throw new SvcError("USAGE", "There is no key of that name.", { hint: "All keys: svc config schema" });
  if (found.node.marks.secret) {
    throw new SvcError("USAGE", `${key} is a secret and is not taken as an argument.`, {
      hint: `Set it afterwards: svc secrets set ${key}`,
    });
  }
  const read = readText(found.node, text);
  if (!read) throw new SvcError("USAGE", `${key} must be ${expectation(found.node)}.`);
  return read.value as Setting;
}
