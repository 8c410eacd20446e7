/** Shared by the tests of approvals: a store in a folder, a registry on it, and a chat whose messages take the usual way. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApprovalEvent, Conversation, Inbound } from "@svc/contract";
import { type Approval, type Delivery, openStore, type Store } from "@svc/store";
import { type CapturedLogger, captureLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { afterEach, beforeEach } from "vitest";
import { type ApprovalRegistry, createApprovals } from "../../src/approvals/approvals.ts";
import type { Answer, ApprovalOptions, ApprovalRequest, ChannelAnswers } from "../../src/approvals/types.ts";

export const ROOM: Conversation = { channel: "chat", id: "room" };
export const OPERATOR: Pick<Answer, "by" | "via"> = { by: "an operator at the command line", via: "cli" };
export const yes = { ...OPERATOR, approved: true };
export const DAY = 86_400_000;
export const never = new AbortController().signal;

export let clock: FakeClock;
export let log: CapturedLogger;
export let store: Store;
export let approvals: ApprovalRegistry;
export let events: ApprovalEvent[];
export let woken: Delivery[];
export const channels = new Map<string, ChannelAnswers>();
/** Of the registries that are made from here on. */
let more: Partial<ApprovalOptions>;
export const having = (options: Partial<ApprovalOptions>): void => {
  more = options;
  make();
};

let folder: string;
let boots = 0;

/** Called by the file whose tests want one each. */
export function registryForEachTest(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-approvals-"));
    clock = fakeClock();
    more = {};
    channels.clear();
    channels.set("chat", { approvers: ["alice", "bob"], maxChars: 4000 });
    events = [];
    woken = [];
    open();
  });
  afterEach(() => {
    approvals.stop();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

function open(): void {
  store = openStore({ file: join(folder, "svc.db"), clock, idempotency: { ttlMs: 1000, maxKeys: 10 } });
  log = captureLogger();
  make();
}

function make(): void {
  const boot = `boot${(boots += 1)}`;
  let n = 0;
  approvals?.stop();
  approvals = createApprovals({
    store,
    clock,
    log,
    publish: (event) => {
      events.push(event);
      return { id: `${boot}-${(n += 1)}` };
    },
    settings: (channel) => channels.get(channel) ?? { approvers: [], maxChars: 4000 },
    expireMs: () => DAY,
    redact: (text) => text.replaceAll("s3cret", "••••••"),
    wake: (deliveries) => void woken.push(...deliveries),
    ...more,
  });
  approvals.start();
}

/** A restart. */
export function restart(): void {
  approvals.stop();
  store.close();
  open();
}

export const request = (runId: string, change: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  runId,
  stepId: "gate",
  origin: "external",
  title: "Deploy?",
  message: "Version 1.4 to production",
  channels: ["chat"],
  askedBy: "a program on this machine",
  conversations: [ROOM],
  ...change,
});

export const ask = async (runId: string, change: Partial<ApprovalRequest> = {}): Promise<Approval> =>
  (await approvals.request(request(runId, change))).approval;

export const key = (runId: string): { runId: string; stepId: string } => ({ runId, stepId: "gate" });

export const said = (text: string, change: Partial<Inbound> = {}): Inbound => ({
  conversation: ROOM,
  sender: "alice",
  text,
  ...change,
});

/** As the inbox does it. Resolves with what the sender is told; `ordinary`: it goes to the agent. */
export async function say(text: string, change: Partial<Inbound> = {}): Promise<string | undefined> {
  const inbound = said(text, change);
  // Later than whatever was done before.
  clock.setWallClock(clock.now() + 1);
  const receivedAtMs = clock.now();
  if (!approvals.replies.takes(inbound, receivedAtMs)) return "ordinary";
  const taken = await store.write(() => approvals.replies.take(inbound, receivedAtMs));
  if (!taken) return "ordinary";
  taken.committed();
  return taken.text;
}

/** What goes out, oldest first: `channel/id/thread: text`. */
export const posted = (): string[] =>
  store.outbox
    .list({}, 1000)
    .toReversed()
    .map(
      ({ conversation: { channel, id, thread }, text }) =>
        `${[channel, id, thread].filter(Boolean).join("/")}: ${text}`,
    );

export const statusOf = (runId: string): string | undefined => approvals.get(key(runId))?.status;
