/** What opens the strict fixture, one thing at a time, and every line of `svc doctor --security` that it shows then. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, writeProcedure } from "./strict-fixture.ts";

/** `open`: `group/id level` of each line that is not ok. `env`: over that of the strict fixture. */
export type Opening = readonly [name: string, changes: Config, open: readonly string[], env?: Record<string, string>];

export const PUBLIC = { gateway: { public_url: "https://svc.example.org" } };
/** With a public name strangers find the page, and whoever is told by it is told more. */
export const WHEN_PUBLIC = ["reach/public-address note", "told/public-paths note"];
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

/** What is changed in the strict fixture, and everything that is open then. */
export const OPENINGS: readonly Opening[] = [
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
    "the same in a read-only fixture",
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
export const FILE_OPENINGS: readonly (readonly [
  name: string,
  change: (home: string) => void,
  open: readonly string[],
])[] = [
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

/** Of a build that has observability and passkeys. */
export const OPENINGS_OF_THE_FULLEST: readonly Opening[] = [
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
