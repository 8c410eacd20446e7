// What is open in an installation, on purpose or not, is what its owner forgets: a strict house has nothing open, and each
// opening shows as its own line and no other.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { homeOf, systemClock } from "@svc/kernel";
import { openStore } from "@svc/store";
import { fullestBinaryPath, runBinary, startBinary } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import { doctor, of, type Report } from "./doctor-report.ts";
import { type Config, openLines, posture, STRICT_ENV, strictHome, writeProcedure } from "./strict-house.ts";

const PUBLIC = { gateway: { public_url: "https://svc.example.org" } };
/** With a public name strangers find the page, and whoever is told by it is told more. */
const WHEN_PUBLIC = ["reach/public-address note", "told/public-paths note"];
const MAIL = {
  address: "agent@example.org",
  imap_host: "127.0.0.1",
  smtp_host: "127.0.0.1",
  allowed_senders: ["ann@example.org"],
  authserv_id: "mx.example.org",
};
const MAIL_ENV = { SVC_EMAIL_PASSWORD: "planted-password" };
const PASSKEYS = { enabled: true, rp_id: "localhost", rp_origin: "http://localhost:42617" };
const HOOK = "channels_config.webhook";
const B = "channels_config.provider_b";

/** What is changed in the strict house, and everything that is open then. */
const OPENINGS: readonly (readonly [
  name: string,
  changes: Config,
  open: readonly string[],
  env?: Record<string, string>,
])[] = [
  [
    "a public bind",
    { gateway: { host: "0.0.0.0", allow_public_bind: true } },
    ["reach/public-bind warning", "told/public-paths note"],
  ],
  ["a public name", PUBLIC, WHEN_PUBLIC],
  [
    "a public name without TLS",
    { gateway: { public_url: "http://svc.example.org" } },
    [...WHEN_PUBLIC, "reach/public-url warning"],
  ],
  ["more hosts", { gateway: { allowed_hosts: ["a.example.org", "b.example.org"] } }, ["reach/allowed-hosts note"]],
  [
    "proxies of the whole world",
    { gateway: { trust_forwarded_headers: true, trusted_proxies: ["0.0.0.0/0"] } },
    ["reach/trusted-proxies error"],
  ],
  ["no limit", { gateway: { webhook_rate_limit_per_minute: 0 } }, ["reach/rate-limit warning"]],
  ["no pairing, with a secret", { gateway: { require_pairing: false } }, ["proof/require-pairing warning"]],
  ["no secret beside the token", {}, ["proof/webhook-secret note"], { SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "" }],
  [
    "neither",
    { gateway: { require_pairing: false } },
    ["proof/require-pairing warning", "proof/webhook-secret warning"],
    { SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "" },
  ],
  [
    "neither, and a public name",
    { gateway: { ...PUBLIC.gateway, require_pairing: false } },
    [...WHEN_PUBLIC, "proof/require-pairing error", "proof/webhook-secret warning"],
    { SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "" },
  ],
  [
    "a channel without a secret, and an approver there",
    {},
    ["approve/approver-proof error", "proof/channel-signatures warning"],
    { SVC__CHANNELS_CONFIG__PROVIDER_B__SIGNING_SECRET: "" },
  ],
  [
    "the same, where what is not signed is refused",
    { gateway: { require_signatures: true } },
    ["proof/channel-signatures warning"],
    { SVC__CHANNELS_CONFIG__PROVIDER_B__SIGNING_SECRET: "" },
  ],
  [
    "a channel that anybody may push to, which only makes it look",
    {
      "channels_config.mailpush": {
        enabled: true,
        topic: "projects/p/topics/mail",
        allowed_senders: ["ann@example.org"],
        approvers: ["ann@example.org"],
      },
    },
    ["proof/channel-signatures warning"],
    { SVC__CHANNELS_CONFIG__MAILPUSH__OAUTH_TOKEN: "planted-token" },
  ],
  ["mail, checked by a known server", { "channels_config.email": MAIL }, [], MAIL_ENV],
  [
    "mail, checked by any server",
    { "channels_config.email": { ...MAIL, authserv_id: undefined } },
    ["proof/sender-proof note"],
    MAIL_ENV,
  ],
  [
    "mail that nobody checks, and an approver who writes it",
    { "channels_config.email": { ...MAIL, require_authenticated: false, approvers: ["ann@example.org"] } },
    ["approve/approver-proof error", "proof/sender-proof warning"],
    MAIL_ENV,
  ],
  ["everybody may write", { [B]: { allowed_senders: ["*"] } }, ["write/allowlists warning"]],
  ["nobody may write", { [B]: { allowed_senders: [], approvers: [] } }, ["write/allowlists note"]],
  [
    "a domain may write",
    { "channels_config.email": { ...MAIL, allowed_senders: ["@example.org"] } },
    ["write/allowlists note"],
    MAIL_ENV,
  ],
  [
    "the same, without the @",
    { "channels_config.email": { ...MAIL, allowed_senders: ["example.org"] } },
    ["write/allowlists note"],
    MAIL_ENV,
  ],
  ["an approver who may not write", { [B]: { approvers: ["+15550000000"] } }, ["approve/approvers warning"]],
  [
    "an agent that asks nobody",
    { "security.policy": { autonomy: "full" } },
    ["act/autonomy error", "approve/agent-approves warning"],
  ],
  [
    "the same, which answers for nobody",
    { "security.policy": { autonomy: "full" }, tools: { disabled: ["shell", "http_get", "sop_approve"] } },
    ["act/autonomy error"],
  ],
  ["every command", { "security.policy": { allowed_commands: ["*"] } }, ["act/allowed-commands error"]],
  ["files anywhere", { "security.policy": { workspace_only: false } }, ["act/workspace-only warning"]],
  [
    "commands, and nothing that confines them",
    { tools: { disabled: ["http_get"] } },
    ["act/sandbox warning", "act/workspace-only note"],
  ],
  [
    "the same in a read-only house",
    { tools: { disabled: ["http_get"] }, "security.policy": { autonomy: "read_only" } },
    [],
  ],
  ["a sandbox that is required and is not there", { "security.sandbox": { required: true } }, ["act/sandbox error"]],
  ["a workspace in the home itself", { workspace: { path: "state" } }, ["act/workspace error"]],
  ["anybody to write to", { [B]: { allowed_targets: ["*"] } }, ["act/agent-targets note"]],
  [
    "a second agent that is freer",
    { "agents.ops.policy": { autonomy: "full" } },
    ["act/autonomy error", "approve/agent-approves warning"],
  ],
  ["a model elsewhere", { model: { base_url: "https://llm.example.org/v1" } }, ["leaves/model-host note"]],
  ["a model elsewhere, in the clear", { model: { base_url: "http://10.1.2.3/v1" } }, ["leaves/model-host warning"]],
  ["recordings elsewhere", { transcription: { enabled: true } }, ["leaves/transcription-host note"]],
  ["recordings, at this machine", { transcription: { enabled: true, base_url: "http://[::1]:9" } }, []],
  ["speech elsewhere", { tts: { enabled: true } }, ["leaves/speech-host note"]],
  ["pages of the web", { tools: { disabled: ["shell"] } }, ["leaves/web-requests note"]],
  ["private addresses", { "security.net": { allow_private: ["10.0.0.1:80"] } }, ["leaves/allow-private warning"]],
  [
    "a webhook of one's own, unsigned",
    { [HOOK]: { url: "https://hook.example.org/in" } },
    ["leaves/outgoing-webhook-signature warning"],
  ],
  ["secrets as they are typed", { secrets: { encrypt: false } }, ["kept/secrets-encrypted warning"]],
  ["a short secret", {}, ["kept/secrets-weak warning"], { SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "twelve-chars" }],
  [
    "a secret too short to be kept out of the log",
    {},
    ["kept/secrets-short warning", "kept/secrets-weak warning"],
    { SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "abc" },
  ],
  ["a log that says too much", { log: { level: "debug" } }, ["kept/log-level note"]],
];

/** The same of files. */
const FILES: readonly (readonly [name: string, change: (home: string) => void, open: readonly string[]])[] = [
  ["a home that others look into", (home) => chmodSync(home, 0o755), ["kept/home warning"]],
  ["a home that others write to", (home) => chmodSync(home, 0o777), ["kept/home error"]],
  ["a config that others read", (home) => chmodSync(join(home, "config.toml"), 0o644), ["kept/file-modes warning"]],
  [
    "a key that others read",
    (home) => writeFileSync(join(home, ".secret_key"), "x", { mode: 0o644 }),
    ["kept/key-file error"],
  ],
  [
    "a procedure that trusts what comes from outside",
    (home) => writeProcedure(home, "free", 'trusted_input = true\nargs = { path = "a", content = "$.b" }'),
    ["act/trusted-input warning"],
  ],
  [
    "the same with a yes in between",
    (home) => writeProcedure(home, "asked", 'requires_confirmation = true\nargs = { path = "a", content = "$.b" }'),
    [],
  ],
];

const sound = (report: Report): void => {
  const error = report.findings.some(({ level }) => level === "error");
  expect([report.ok, report.code]).toEqual([!error, error ? 1 : 0]);
  for (const { level, fix } of report.findings) expect(fix === null).toBe(level === "ok");
  expect(report.text).not.toContain("planted");
};

describe("without a daemon", () => {
  test("a strict house has nothing open, and says so question by question", async () => {
    using home = strictHome();
    const report = await posture(home.path);
    expect(openLines(report)).toEqual([]);
    sound(report);
    const groups = [...new Set(report.findings.map(({ group }) => group))];
    for (const group of GROUPS) expect(groups).toContain(group);
    // Whatever it looks at beyond a plain svc doctor is the answer to one of its questions.
    const plain = new Set((await doctor(home.path, [], STRICT_ENV)).findings.map(({ id }) => id));
    const astray = report.findings.filter(({ group, id }) => group === "health" && !plain.has(id));
    expect(astray).toEqual([]);
  });

  test.each(OPENINGS)("%s", async (_, changes, open, env = {}) => {
    using home = strictHome(changes);
    const report = await posture(home.path, env);
    expect(openLines(report)).toEqual([...open].sort());
    sound(report);
  });

  test.each(FILES)("%s", async (_, change, open) => {
    using home = strictHome();
    change(home.path);
    const report = await posture(home.path);
    expect(openLines(report)).toEqual([...open].sort());
    sound(report);
  });
});

describe("with a daemon", () => {
  test("nothing is open either; who holds a key is told, and what came in meanwhile; no token is", async () => {
    using home = strictHome();
    await using daemon = await startBinary({ home: home.path, env: STRICT_ENV });
    const token = await daemon.pair();
    const signIn = { headers: { Origin: daemon.url, "Sec-Fetch-Site": "same-origin" }, token };
    expect((await daemon.request("/api/session", { ...signIn, body: {} })).status).toBe(200);
    const closed = await posture(home.path);
    expect(openLines(closed)).toEqual([]);
    expect(of(closed, "devices").map(({ message }) => message)).toEqual([
      expect.stringMatching(/^device \([0-9a-f]{8}\) is operator, last used \d{4}-\d\d-\d\d\.$/),
    ]);
    expect(of(closed, "page-sessions")).toMatchObject([{ level: "ok", message: "1 page is signed in." }]);

    expect((await runBinary(["pair"], { home: home.path })).code).toBe(0);
    await daemon.request("/webhook", { headers: { "X-Forwarded-For": "203.0.113.9" }, body: { message: "x" } });
    const open = await posture(home.path);
    expect(openLines(open)).toEqual(["devices/pairing-codes note", "reach/forwarded-headers error"]);
    sound(open);
    expect(closed.text + open.text).not.toContain(token);
  });

  test("it is the daemon's config and environment that count", async () => {
    using home = strictHome();
    await using daemon = await startBinary({
      home: home.path,
      env: { ...STRICT_ENV, SVC__SECURITY__POLICY__AUTONOMY: "full" },
    });
    await daemon.pair();
    expect(openLines(await posture(home.path))).toEqual(["act/autonomy error", "approve/agent-approves warning"]);
    await daemon.stop();
    expect(openLines(await posture(home.path))).toEqual([]);
  });
});

describe("without a daemon, who holds a key", () => {
  test("is read from the database, and what nobody used for 90 days is named", async () => {
    using home = strictHome();
    const file = homeOf({ SVC_HOME: home.path }).database;
    const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 1, maxKeys: 1 } });
    const device = { tokenHash: "", clientId: "c" as ClientId, lastSeenAt: undefined };
    const createdAt = Date.now() - 91 * 86_400_000;
    await store.devices.add({ ...device, id: "d1", name: "laptop", tokenHash: "1", scope: "operator", createdAt });
    await store.devices.add({ ...device, id: "d2", name: "bell", tokenHash: "2", scope: "webhook", createdAt });
    await store.vault.set("webauthn", "user/passkey", () => "sealed");
    store.close();
    chmodSync(file, 0o600);
    const report = await posture(home.path);
    expect(openLines(report)).toEqual(["devices/idle-tokens warning"]);
    expect(of(report, "idle-tokens")).toMatchObject([{ fix: "svc devices revoke d1" }]);
    expect(of(report, "passkeys").map(({ message }) => message)).toEqual([
      "Passkeys are off.",
      "1 passkey is registered.",
    ]);
    const paired = new Date(createdAt).toISOString().slice(0, 10);
    expect(of(report, "devices").map(({ message }) => message)).toEqual([
      `laptop (d1) is operator, never used, paired ${paired}.`,
      `bell (d2) is webhook, never used, paired ${paired}.`,
    ]);
  });

  test("can't be told from a database that is none", async () => {
    using home = strictHome();
    const { database, stateDir } = homeOf({ SVC_HOME: home.path });
    mkdirSync(stateDir, { mode: 0o700 });
    writeFileSync(database, "no database", { mode: 0o600 });
    expect(openLines(await posture(home.path))).toEqual(["devices/devices warning"]);
  });
});

/** Of a build that has observability and passkeys. */
const IN_THE_FULLEST: readonly (readonly [name: string, changes: Config, open: readonly string[]])[] = [
  ["metrics, for this machine", { observability: { backend: "metrics" } }, []],
  [
    "metrics, and a public name",
    { observability: { backend: "metrics" }, ...PUBLIC },
    [...WHEN_PUBLIC, "told/public-metrics warning"],
  ],
  ["traces to this machine", { observability: { backend: "otel" } }, []],
  [
    "traces elsewhere",
    { observability: { backend: "otlp", otel_endpoint: "https://traces.example.org" } },
    ["leaves/trace-host note"],
  ],
  [
    "traces elsewhere, in the clear, with what is said",
    { observability: { backend: "otel", otel_endpoint: "http://traces.example.org", otel_record_content: true } },
    ["leaves/trace-content warning", "leaves/trace-host warning"],
  ],
  ["passkeys beside the token", { "security.webauthn": { ...PASSKEYS, sign_in: false } }, []],
  ["passkeys instead of it", { "security.webauthn": { ...PASSKEYS, sign_in: true } }, ["devices/passkeys note"]],
];

describe("in the build of everything", () => {
  test.each(IN_THE_FULLEST)("%s", async (_, changes, open) => {
    using home = strictHome(changes);
    const report = await posture(home.path, {}, fullestBinaryPath());
    expect(openLines(report)).toEqual([...open].sort());
    sound(report);
  });

  test("a backend that a build does not have tells nobody anything", async () => {
    using home = strictHome({ ...PUBLIC, observability: { backend: "metrics" } });
    expect(openLines(await posture(home.path))).toEqual(WHEN_PUBLIC);
  });
});

describe("as a person sees it", () => {
  test("questions with their answers; of what else svc doctor looks at only what is wrong", async () => {
    using home = strictHome({ gateway: { allowed_hosts: ["a.example.org"] } });
    const { stdout, code } = await runBinary(["doctor", "--security"], { home: home.path, env: STRICT_ENV });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Who can reach it\nok {7}public-bind +Only this machine/);
    expect(stdout).toMatch(/\nnote {5}allowed-hosts .*\n +→ take the names/);
    const titles = stdout.split("\n").filter((line) => /^[A-Z]/.test(line));
    expect(titles).toEqual([
      "Who can reach it",
      "What is taken without a proof",
      "Who may write to the agent",
      "Who may approve",
      "What may act",
      "Devices and sign-ins",
      "What leaves this machine",
      "What strangers are told",
      "How it is kept",
      "Whether it works",
    ]);
    expect(stdout).toMatch(
      /Whether it works\n(?:(?:warning|error|  ).*\n)+\n0 errors, \d+ warnings, 1 notes, \d+ ok\n$/,
    );
    const plain = (await runBinary(["doctor"], { home: home.path, env: STRICT_ENV })).stdout;
    expect(plain).not.toMatch(/allowed-hosts|^note/m);
  });

  test("--help says what it shows", async () => {
    using home = strictHome();
    const { stdout } = await runBinary(["doctor", "--help"], { home: home.path });
    expect(stdout).toMatch(/--security +What is open here/);
    expect(stdout).toContain("svc doctor --security --json");
  });
});

const GROUPS = ["reach", "proof", "write", "approve", "act", "devices", "leaves", "told", "kept"];
