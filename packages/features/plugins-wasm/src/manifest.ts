/** `plugin.toml`: what a plugin says of itself. docs/guide/plugins.md describes the keys. */
import { SvcError } from "@svc/contract";
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import * as v from "valibot";

/**
 * The name a plugin's tool has: a prefix that no tool of svc has, so that a plugin can neither stand in for one, now or after
 * an upgrade, nor stop a start by having the same name, and an approver sees which plugin owns the tool. Manifests of
 * features that list a tool with it are refused when a binary is composed.
 */
const TOOL_PREFIX = "plugin_";

/** So that the tool's name is at most 64 characters. */
const MAX_PLUGIN_NAME_CHARS = 64 - TOOL_PREFIX.length;

export const MANIFEST_FILE = "plugin.toml";

const line = (most: number) =>
  v.pipe(
    v.string(),
    v.check((text) => text.length <= most && /\S/.test(text) && !UNPRINTABLE.test(text)),
  );
/** Also what turns the direction of writing, and so shows a person another text than the model reads. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

/** As tools are named; the prefix of its tool takes up the rest of their 64 characters. */
export const pluginName = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/), v.maxLength(MAX_PLUGIN_NAME_CHARS));
export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const hosts = v.pipe(
  v.array(v.pipe(v.string(), v.check(isHostName))),
  v.maxLength(32),
  v.check((all) => new Set(all).size === all.length),
);
/** https://semver.org/ */
const version = v.pipe(
  v.string(),
  v.maxLength(64),
  v.regex(/^(?:(?:0|[1-9]\d{0,8})\.){2}(?:0|[1-9]\d{0,8})(?:[-+][0-9A-Za-z.+-]+)?$/),
);
const limits = v.strictObject({
  memory_mb: v.optional(whole(1, 1024), 64),
  timeout_ms: v.optional(whole(1, 120_000), 10_000),
  max_output_kb: v.optional(whole(1, 1024), 64),
});

export const manifestSchema = v.strictObject({
  name: pluginName,
  description: line(1024),
  version,
  wasm: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.wasm$/)),
  sha256,
  allowed_hosts: v.optional(hosts, []),
  limits: v.optional(limits, {}),
});
export type Manifest = v.InferOutput<typeof manifestSchema>;

/** The rule of each key. Messages never quote a received value. */
const RULES: Readonly<Record<string, string>> = {
  name: `a name such as word_count: a-z, then a-z 0-9 _, at most ${MAX_PLUGIN_NAME_CHARS} characters`,
  description: "one line of text that says what the plugin does, at most 1024 characters",
  version: "a version such as 1.2.0",
  wasm: "the name of a .wasm file beside plugin.toml, without a path",
  sha256: "the SHA-256 of the wasm file: 64 digits 0-9 a-f",
  allowed_hosts:
    'a list of at most 32 hosts such as "api.example.org" or "api.example.org:8443", each once, in small letters',
  limits: "a table with memory_mb, timeout_ms and max_output_kb",
  "limits.memory_mb": "a whole number from 1 to 1024",
  "limits.timeout_ms": "a whole number from 1 to 120000",
  "limits.max_output_kb": "a whole number from 1 to 1024",
};

/** Throws PLUGIN_INVALID with every problem in it. */
export function readManifest(bytes: Uint8Array): Manifest {
  const table = readPluginToml(textOf(bytes));
  const unknown = [...unknownKeys(table)];
  const parsed = v.safeParse(manifestSchema, plain(table));
  const keys = parsed.success ? [] : parsed.issues.map((issue) => knownKey(v.getDotPath(issue) ?? ""));
  const problems = [...unknown, ...[...new Set(keys)].filter((key) => key !== "").map(rule)];
  if (parsed.success && problems.length === 0) return parsed.output;
  throw new SvcError("PLUGIN_INVALID", `plugin.toml is not right:\n${problems.map((one) => `  - ${one}`).join("\n")}`, {
    hint: "docs/guide/plugins.md describes its keys.",
  });
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SvcError("PLUGIN_INVALID", "plugin.toml is not UTF-8.", { cause });
  }
}

/** Known keys only: `unknownKeys` reports the others, whose names may be unsafe for an object. */
function plain(table: FlatTable, above = ""): unknown {
  return Object.fromEntries(
    [...table]
      .filter(([key]) => Object.hasOwn(RULES, `${above}${key}`))
      .map(([key, value]) => [key, value instanceof Map ? plain(value as FlatTable, `${above}${key}.`) : value]),
  );
}

function* unknownKeys(table: FlatTable, above = ""): Iterable<string> {
  const known = (key: string): boolean => Object.hasOwn(RULES, `${above}${key}`);
  const count = [...table.keys()].filter((key) => !known(key)).length;
  if (count > 0) {
    const where = above === "" ? "" : ` in [${above.slice(0, -1)}]`;
    yield `${count === 1 ? "a key" : `${count} keys`}${where} that nothing knows; known are: ${knownIn(above)}`;
  }
  for (const [key, value] of table)
    if (known(key) && value instanceof Map) yield* unknownKeys(value as FlatTable, `${above}${key}.`);
}

const knownIn = (above: string): string =>
  Object.keys(RULES)
    .filter((key) => key.startsWith(above) && !key.slice(above.length).includes("."))
    .map((key) => key.slice(above.length))
    .join(", ");

/** Reports `allowed_hosts.3` as `allowed_hosts`. */
const knownKey = (path: string): string => (Object.hasOwn(RULES, path) ? path : path.split(".")[0]!);
const rule = (key: string): string => `${key} must be ${RULES[key] ?? "right"}`;

/**
 * The text of a plugin.toml as plain data. Its author may be hostile, so this builds the data from the syntax tree: a parser that
 * makes objects itself writes into `Object` when a table is called `constructor`.
 */
type FlatTable = Map<string, unknown>;

/** Keys, and one level of tables. Throws PLUGIN_INVALID for invalid TOML, and for deeper tables. */
function readPluginToml(text: string): FlatTable {
  const root: FlatTable = new Map();
  for (const node of parse(text)) {
    if (node.type === "TOMLKeyValue") {
      set(root, node);
      continue;
    }
    const name = nameOf(node.key);
    if (node.kind === "array" || name === undefined) throw unexpected(node);
    const table: FlatTable = new Map();
    for (const pair of node.body) set(table, pair);
    root.set(name, table);
  }
  return root;
}

function parse(text: string): AST.TOMLTopLevelTable["body"] {
  try {
    return parseTOML(text, { tomlVersion: "1.0" }).body[0].body;
  } catch (cause) {
    const place = cause instanceof ParseError ? `, line ${cause.lineNumber}` : "";
    throw new SvcError("PLUGIN_INVALID", `plugin.toml is not TOML${place}.`, { cause });
  }
}

function set(table: FlatTable, pair: AST.TOMLKeyValue): void {
  const name = nameOf(pair.key);
  if (name === undefined) throw unexpected(pair);
  table.set(name, valueOf(pair.value, pair));
}

/** undefined: several names with dots between. */
function nameOf({ keys: [key, ...others] }: AST.TOMLKey): string | undefined {
  if (key === undefined || others.length > 0) return undefined;
  return key.type === "TOMLBare" ? key.name : key.value;
}

function valueOf(node: AST.TOMLContentNode, pair: AST.TOMLKeyValue): unknown {
  if (node.type === "TOMLValue") return node.value;
  if (node.type === "TOMLInlineTable") throw unexpected(pair);
  return node.elements.map((element) => {
    if (element.type !== "TOMLValue") throw unexpected(pair);
    return element.value;
  });
}

const unexpected = ({ loc }: AST.TOMLNode): SvcError =>
  new SvcError("PLUGIN_INVALID", `plugin.toml, line ${loc.start.line}: nothing of this kind belongs here.`, {
    hint: "It has keys, and one table [limits].",
  });

// Hosts of a plugin: each in one canonical spelling, so that the approved host is the one that is reached.

/** `example.org`, `example.org:8443`, `192.0.2.1`, `[2001:db8::1]:8443`: as a URL parser spells it, no wildcard. */
export function isHostName(text: string): boolean {
  if (text.length > 255 || !/^[a-z0-9.:[\]_-]+$/.test(text) || !URL.canParse(`https://${text}/`)) return false;
  const url = new URL(`https://${text}/`);
  // The scheme's own port and other spellings of an address are gone in `host`.
  return url.host === text && !url.port.startsWith("0") && !/^\.|\.$|\.\./.test(url.hostname) && !text.endsWith(":80");
}

/** As someone typed it: capital letters are no other host. */
export const asHostName = (text: string): string => text.trim().toLowerCase();

export const toolNameOf = (plugin: string): string => `${TOOL_PREFIX}${plugin}`;
