/**
 * Tests that attack a running daemon or its commands, relative to the repository. Those of `minimal` start the binary of that
 * profile, those of `all` the fullest one.
 */
export const ATTACK_FILES: Readonly<Record<string, readonly string[]>> = {
  "hostile requests, floods, slow and broken connections": [
    "apps/svc/test/abuse.test.ts",
    "apps/svc/test/abuse-connections.test.ts",
    "apps/svc/test/abuse-floods.test.ts",
  ],
  "other programs and users of the machine: races over files, links, inherited descriptors, debuggers": [
    "apps/svc/test/abuse-local-program.test.ts",
    "apps/svc/test/file-races.test.ts",
    "apps/svc/test/file-modes.test.ts",
    "apps/svc/test/inherited.test.ts",
    "apps/svc/test/inspector.test.ts",
  ],
  "browsers, other sites, stolen sign-ins": [
    "apps/svc/test/abuse-page.test.ts",
    "apps/svc/test/page-session.test.ts",
    "apps/svc/test/passkeys.test.ts",
    "apps/svc/test/proxies.test.ts",
  ],
  "forged, repeated and odd deliveries": [
    "apps/svc/test/channel-forgery.test.ts",
    "apps/svc/test/provider-d.test.ts",
    "apps/svc/test/provider-details.test.ts",
  ],
  "secrets where they don't belong": ["apps/svc/test/abuse-secrets.test.ts", "apps/svc/test/secret-leak.test.ts"],
  "approvals that nobody gave": [
    "apps/svc/test/approval-races.test.ts",
    "apps/svc/test/approvals-in-groups.test.ts",
    "apps/svc/test/abuse-procedures.test.ts",
  ],
  "everything at once, kills, a disk with errors": [
    "apps/svc/test/races.test.ts",
    "apps/svc/test/races-end.test.ts",
    "apps/svc/test/races-reload.test.ts",
    "apps/svc/test/restart.test.ts",
    "apps/svc/test/kill-at-every-write.test.ts",
    "apps/svc/test/disk-faults.test.ts",
    "apps/svc/test/rotation.test.ts",
    "apps/svc/test/rotation-agents.test.ts",
  ],
  "commands that try to get out": [
    "apps/svc/test/unasked-commands.test.ts",
    "apps/svc/test/sandbox.e2e.test.ts",
    "apps/svc/test/child-agents-sandbox.test.ts",
    "apps/svc/test/plugins-running.test.ts",
  ],
  "hostile archives and releases": ["apps/svc/test/backup-hostile.test.ts", "apps/svc/test/update.test.ts"],
  "limits of one client": ["apps/svc/test/client-limits.test.ts"],
};
