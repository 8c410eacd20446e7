// Each answer of the daemon on its control socket is what `@svc/api/control` says, to the last field: commands take it for that
// without looking. And what a command sends is checked before a handler sees it.
import { type ControlName, CONTROL } from "@svc/api/control";
import { homeOf } from "@svc/config/home";
import { ERRORS, type Json } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { startBinary, type RunningBinary } from "@svc/testkit/binary/start-binary";
import * as v from "valibot";
import { afterAll, beforeAll, expect, test } from "vitest";
import { homeWith, post, UNGUARDED } from "./daemon.ts";

type Body = { readonly [key: string]: Json };

const home = homeWith(UNGUARDED);
let daemon: RunningBinary;
beforeAll(async () => {
  daemon = await startBinary({ home: home.path });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const call = (name: string, body: Body = {}): Promise<Json> =>
  callDaemon({ socketFile: homeOf({ SVC_HOME: daemon.home }).controlSocket, name, body });

/** Of other tests: they need a channel, a passkey, a feature's route, an upload, or they end the daemon or its key. */
const ELSEWHERE: readonly ControlName[] = [
  "answer",
  "approval-answer",
  "approval-rule-revoke",
  "attach",
  "backup",
  "channel-link",
  "channel-setup",
  "channel-test",
  "channel-verify",
  "feature-route",
  "feature-stream",
  "inbox-drop",
  "inbox-replay",
  "inbox-show",
  "passkey-remove",
  "passkey-rename",
  "passkeys",
  "restart",
  "restore",
  "secrets-rotate",
  "send",
  "sop-retry",
];

test("every answer is as its schema says, without a field beside it", async () => {
  await post(daemon, await daemon.pair(), "hello");
  const asked = new Set<string>(ELSEWHERE);
  const ask = async <Name extends ControlName>(name: Name, body: Body = {}) => {
    asked.add(name);
    const answer = await call(name, body);
    const said = v.parse(CONTROL[name].output as v.GenericSchema, answer);
    expect([name, said]).toEqual([name, answer]);
    return said as v.InferOutput<(typeof CONTROL)[Name]["output"]>;
  };
  for (const name of [
    "ping",
    "status",
    "features",
    "tools",
    "reload",
    "doctor",
    "channels",
    "approval-rules",
  ] as const) {
    await ask(name);
  }
  await ask("pair", { scope: "read", name: "a clock" });
  const { devices } = await ask("devices");
  await ask("device-rename", { id: devices[0]!.id, name: " kitchen " });
  await ask("device-revoke", { id: devices[0]!.id });
  await ask("model-test");
  await ask("chat", { text: "a word to look for" });
  await ask("tool", { name: "file_list", input: '{"path":"."}' });
  await ask("detach", { id: "0".repeat(16) });
  const { sessions } = await ask("sessions", { limit: 10 });
  const { id } = sessions.find(({ device }) => device === null)!;
  await ask("session-search", { query: "word" });
  await ask("session-messages", { id, limit: 5 });
  await ask("session-update", { id, changes: { title: "Words", pinned: true } });
  await ask("session-export", { id, format: "json" });
  await ask("session-cancel", { id });
  await ask("session-delete", { id });
  await ask("inbox", { limit: "5" });
  await ask("inbox-ended", { state: "dead" });
  await ask("inbox-replay-all", { state: "failed" });
  const { toml, markdown } = await ask("sop-draft", { name: "tidy" });
  await ask("sop-save", { name: "tidy", toml, markdown });
  await ask("sop-switch", { name: "tidy", enabled: true });
  const { revision } = await ask("sop-read", { name: "tidy" });
  expect(revision).toMatch(/^[0-9a-f]{32}$/);
  await ask("sop-validate", { name: "tidy" });
  await ask("sop-copy", { name: "tidy", to: "tidy-too" });
  await ask("sop-rename", { name: "tidy-too", to: "tidy-more" });
  await ask("sop-switch", { name: "tidy-more", enabled: false });
  const { version } = await ask("sop-delete", { name: "tidy-more" });
  const { revision: before } = await ask("sop-version", { version: version! });
  await ask("sop-versions", { name: "tidy-more" });
  await ask("sop-undo", { version: version!, revision: before });
  await ask("sops");
  const run = await ask("sop-run", { name: "tidy" });
  await ask("sop-show", { name: "tidy" });
  await ask("sop-show", { name: run.id });
  await ask("sop-runs", { limit: 5 });
  await ask("approvals", { status: "all" });
  // It waits for a yes; a second one would be one too many.
  await ask("sop-cancel", { run: run.id });
  await ask("sop-test", { name: "tidy", payload: "{}" });
  await ask("sop-calendar", { days: 3 });
  await ask("audit", { limit: 3 });
  await ask("audit-verify");
  expect([...asked].toSorted()).toEqual(Object.keys(CONTROL).toSorted());
});

test.each<[string, Body, string, string]>([
  ["sop-runs", { limit: 0 }, "USAGE", "--limit takes a whole number from 1 to 1000."],
  ["sop-runs", { limit: "many" }, "USAGE", "--limit takes a whole number from 1 to 1000."],
  ["sop-runs", { limit: {} }, "USAGE", "--limit takes a whole number from 1 to 1000."],
  [
    "sop-runs",
    { status: "odd" },
    "USAGE",
    "--status takes pending, running, waiting_approval, completed, failed, cancelled.",
  ],
  ["sessions", { limit: 10_001 }, "USAGE", "The limit must be 1 to 10000."],
  ["session-export", { id: "", format: "pdf" }, "USAGE", "--format takes markdown or json."],
  ["approvals", { status: 7 }, "USAGE", "--status takes waiting, approved, rejected, expired, cancelled or all."],
  [
    "approval-answer",
    { run: "1", approved: true, holds: "ever" },
    "USAGE",
    "--for takes once, conversation or always.",
  ],
  // Nothing but yes is a yes.
  ["approval-answer", { run: "1", approved: "true" }, "BAD_REQUEST", ERRORS.BAD_REQUEST.sentence],
  ["answer", { id: "x", approved: 1 }, "BAD_REQUEST", ERRORS.BAD_REQUEST.sentence],
  ["inbox", { box: "both" }, "USAGE", "--box takes in or out."],
  ["pair", { scope: "root" }, "USAGE", "The scope must be operator, webhook or read."],
  ["device-rename", { id: "x", name: "\n" }, "USAGE", "A device's name is 1 to 64 printable characters."],
  ["attach", { copy: "../../config.toml", name: "a" }, "BAD_REQUEST", ERRORS.BAD_REQUEST.sentence],
  ["backup", { file: 7 }, "BAD_REQUEST", ERRORS.BAD_REQUEST.sentence],
  ["chat", { text: ["a"] }, "BAD_REQUEST", ERRORS.BAD_REQUEST.sentence],
  ["session-update", { id: "x", changes: null }, "BAD_REQUEST", ERRORS.BAD_REQUEST.sentence],
])("%s refuses %o with %s", async (name, body, code, message) => {
  await expect(call(name, body)).rejects.toMatchObject({ code, message });
});
