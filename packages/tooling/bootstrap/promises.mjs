// The whole-binary tests of `npm test`: each promise of the documentation once. `npm run test:all` runs all there are.

/**
 * Files by what they show.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const promises = Object.freeze({
  "the first start: config, code, pairing, a turn": ["apps/svc/test/first-run.test.ts"],
  "commands and their help": ["apps/svc/test/setup.test.ts", "packages/tooling/compose/test/commands.e2e.test.ts"],
  "only what is used is loaded": ["apps/svc/test/evaluated.test.ts"],
  "webhooks: secrets, signatures, ids, limits, CSRF of the page": [
    "apps/svc/test/everyday.test.ts",
    "apps/svc/test/channel-forgery.test.ts",
    "apps/svc/test/page-session.test.ts",
    "apps/svc/test/abuse-secrets.test.ts",
  ],
  "each provider's delivery and reply": [
    "apps/svc/test/channel-words.test.ts",
    "apps/svc/test/email.test.ts",
    "apps/svc/test/mailpush.test.ts",
    "apps/svc/test/provider-a.test.ts",
    "apps/svc/test/provider-d.test.ts",
    "apps/svc/test/voice-call.test.ts",
  ],
  "child agents: what they may do, and that none outlives its owner": [
    "apps/svc/test/child-agents.test.ts",
    "apps/svc/test/child-agents-chaos.test.ts",
  ],
  "a message survives a restart and a kill": [
    "apps/svc/test/restart.test.ts",
    "apps/svc/test/channel-crash.test.ts",
    "apps/svc/test/kill-at-every-write.test.ts",
    "apps/svc/test/disk-faults.test.ts",
  ],
  "an action waits for a person": [
    "apps/svc/test/approvals.test.ts",
    "apps/svc/test/approval-expiry.test.ts",
    "apps/svc/test/approval-races.test.ts",
  ],
  "a procedure": ["apps/svc/test/procedures-triggers.test.ts", "apps/svc/test/sop-wait.test.ts"],
  "a command in a sandbox": ["apps/svc/test/sandbox.e2e.test.ts", "apps/svc/test/unasked-commands.test.ts"],
  "a new config without a restart": ["apps/svc/test/reload.test.ts"],
  "backup and restore": ["apps/svc/test/backup-governed.test.ts", "apps/svc/test/backup-engine.test.ts"],
  "a plugin": ["packages/features/plugins-wasm/test/plugins.e2e.test.ts"],
  "the page in Chromium": ["apps/dashboard/test/dashboard.test.ts"],
});
