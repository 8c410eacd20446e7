/** An installation in which nothing is open, and what opens it: for tests of `svc doctor --security`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { doctor, type Found, type Report } from "./doctor-report.ts";

/** Sections by name, each with its keys; one without a value is not there. */
export type Config = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const SECRET = "planted-9f86d081884c7d659a2feaa0c55ad015";

/** Secrets come by the environment: in the file they would stand as they are. */
export const STRICT_ENV = {
  SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: SECRET,
  SVC__CHANNELS_CONFIG__PROVIDER_B__API_TOKEN: `${SECRET}-b`,
  SVC__CHANNELS_CONFIG__PROVIDER_B__SIGNING_SECRET: `${SECRET}-s`,
} as const;

/** One that is for another system: whatever this machine has, nothing confines commands. */
export const NO_SANDBOX = { backend: process.platform === "darwin" ? "jail" : "seatbelt" } as const;

const STRICT: Config = {
  "security.sandbox": NO_SANDBOX,
  gateway: { port: 0 },
  // Nobody listens there, and nobody is asked.
  model: { provider: "openai-compatible", name: "m", base_url: "http://127.0.0.1:9/v1" },
  tools: { disabled: ["shell", "http_get"] },
  "channels_config.provider_b": {
    from_phone: "+15550009999",
    allowed_senders: ["+15551234567"],
    approvers: ["+15551234567"],
    api_url: "http://127.0.0.1:9",
  },
};

/** `changes` go over the strict config, key by key. */
export function strictHome(changes: Config = {}): TemporaryHome {
  const home = temporaryHome();
  writeConfig(home.path, changes);
  return home;
}

function writeConfig(home: string, changes: Config): void {
  const names = new Set([...Object.keys(STRICT), ...Object.keys(changes)]);
  const sections = [...names].map((name) => sectionText(name, { ...STRICT[name], ...changes[name] }));
  writeFileSync(join(home, "config.toml"), sections.join("\n"), { mode: 0o600 });
}

const sectionText = (name: string, keys: Readonly<Record<string, unknown>>): string =>
  [`[${name}]`, ...Object.entries(keys).flatMap(line), ""].join("\n");

/** Texts, numbers, truth and lists are in TOML as they are in JSON. */
const line = ([key, value]: readonly [string, unknown]): string[] =>
  value === undefined ? [] : [`${key} = ${JSON.stringify(value)}`];

/** A procedure of the default agent's workspace with one step without a model. */
export function writeProcedure(home: string, name: string, step: string): void {
  const folder = join(home, "workspace/sops", name);
  mkdirSync(folder, { recursive: true });
  const head = `[sop]\nname = "${name}"\ndescription = "d"\nversion = "1"\nexecution_mode = "deterministic"\n`;
  const trigger = '[[triggers]]\ntype = "manual"\n';
  writeFileSync(join(folder, "SOP.toml"), `${head}${trigger}[[steps]]\ntitle = "t"\ntool = "file_write"\n${step}\n`);
}

export const posture = (home: string, env: Record<string, string> = {}, binary?: string): Promise<Report> =>
  doctor(home, ["--security"], { ...STRICT_ENV, ...env }, binary);

/** `group/id level` of all that is open, but for what the machine of the test opens. Whether it works is another question. */
export const openLines = ({ findings }: Report): string[] =>
  findings
    .filter(({ group, level, id }) => group !== "health" && level !== "ok" && !OF_THE_MACHINE.has(id))
    .map(({ group, id, level }: Found) => `${group}/${id} ${level}`)
    .sort();

/** Who runs the tests, and with which limits. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(["root", "core-dumps"]);
