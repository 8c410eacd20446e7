/** What an app tells about itself. */
import type { Reports } from "../src/routes/reports.ts";

const FEATURE = {
  id: "tool-shell",
  flag: "tool-shell",
  kind: "tool",
  summary: "Runs commands",
  included: true,
  planned: false,
  profiles: ["minimal"],
  build: "npx pnpm build minimal --with tool-shell",
  sections: [],
  tools: ["shell"],
  state: "running" as const,
  reason: null,
};

const SANDBOX = {
  effective: "none",
  confined: false,
  summary: "nothing is confined",
  fix: "install one",
  warning: "nothing is confined",
  reasons: [],
};

export const REPORTS = {
  status: () => ({
    status: "ok" as const,
    instance: "boot-1",
    version: "1.2.3",
    commit: "abc",
    profile: "minimal",
    pid: 1,
    uptime_secs: 0,
    url: "http://127.0.0.1:42617",
    public_url: null,
    home: "/home/svc",
    config: "/home/svc/config.toml",
    model: { provider: "builtin", name: "builtin", price_known: true },
    agents: [
      {
        name: "default",
        provider: "builtin",
        model: "builtin",
        models: ["builtin"],
        price_known: true,
        cost_today_usd: 0.25,
        max_cost_per_day: null,
        client_max_cost_per_day: null,
      },
    ],
    sandbox: SANDBOX,
    pairing: { required: true, devices: 1 },
    turns: { running: 0, waiting: 0 },
    channels: [],
    messages: { waiting: 0, locked: 0, failed: 0, outgoing: 0, dead: 0, oldest_waiting_secs: null },
    approvals: { waiting: 0 },
    sops: { loaded: 0, broken: 0, running: 0, waiting: 0 },
    activity: { minutes: [{ at: "2026-01-01T00:00:00.000Z", received: 2, answered: 1, delivered: 1, failed: 0 }] },
    transcription: false,
    memory_rss_bytes: 1,
    warnings: ["one"],
    database: { bytes: 4096, writable: true },
    unsigned: [],
    features: [{ id: "tool-shell", state: "running" as const, reason: null, last_failure: null, restarts: 0 }],
  }),
  tools: () => ({
    tools: [
      { name: "shell", description: "Runs a command.", approval: "ask" as const, feature: "tool-shell", enabled: true },
    ],
  }),
  features: () => ({ profile: "minimal", sandbox: SANDBOX, features: [FEATURE] }),
  channels: () => ({
    channels: [
      {
        id: "provider_a",
        feature: "channel-provider-a",
        state: "running" as const,
        reason: null,
        last_failure: { reason: "The platform did not answer.", at: "2026-01-01T00:00:00.000Z" },
        callback_urls: ["https://svc.example.org/provider-a"],
        signed: true,
        last_message_at: "2026-01-01T00:00:00.000Z",
        last_error: { code: "DELIVERY_FAILED", message: "out-7", at: "2026-01-01T00:00:00.000Z" },
      },
    ],
  }),
  configReport: () => ({ gateway: { port: 42617 }, security: { sandbox: { enabled: true } } }),
  configSchema: () => Promise.resolve({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" }),
} satisfies Reports;
