/** A new approval: in one transaction with the questions that go out for it. */
import { type Conversation, SvcError } from "@svc/contract";
import { keyOfConversation, asJson } from "@svc/kit";
import type { Approval, Delivery, NewApproval } from "@svc/store";
import type { ApprovalOptions, ApprovalRequest, Pending, Requested } from "./types.ts";
import { promptText, requestEvent } from "./prompt-text.ts";
import { createHash } from "node:crypto";
import { type Keywords, checkedKeywords } from "./keywords.ts";
import { cut, oneLine, wellFormed } from "./plain-text.ts";

/** People can't answer more; whoever asks for more runs wild. */
export const MAX_WAITING = 10_000;

/** A request that is well-formed. */
export interface Checked {
  readonly approval: NewApproval;
  readonly conversations: readonly Conversation[];
  /** Account whose message caused it. */
  readonly asker: string | undefined;
}

const exists = (): SvcError =>
  new SvcError("APPROVAL_EXISTS", undefined, {
    hint: "Take another step_id; what was asked under this one: svc approvals list --status all",
  });

export class Requester {
  readonly #options: ApprovalOptions;
  readonly #announced: Announced;
  readonly #onAdded: () => void;
  /** Channels without approvers of which the log was told. */
  readonly #warned = new Set<string>();

  /** `onAdded` is called after the commit of each new one. */
  constructor(options: ApprovalOptions, announced: Announced, onAdded: () => void) {
    this.#options = options;
    this.#announced = announced;
    this.#onAdded = onAdded;
  }

  /** Throws BAD_REQUEST. */
  check(request: ApprovalRequest): Checked {
    const { asker, conversations } = request;
    return { approval: newApproval(request, this.#options), conversations: distinct(conversations), asker };
  }

  /** Inside a transaction. What it returns as an error has changed nothing: whoever shares the transaction is not undone. */
  requestIn({ approval, conversations, asker }: Checked): Pending<Requested> | SvcError {
    const { store } = this.#options;
    const { runId, stepId, digest } = approval;
    const existing = store.approvals.byKey(runId, stepId);
    if (existing) {
      if (existing.digest !== digest || existing.status !== "waiting") return exists();
      return {
        result: { state: "existing", approval: existing },
        committed: () => void this.#announced.tell(existing),
      };
    }
    if (store.approvals.countWaiting() >= MAX_WAITING) {
      return new SvcError("BUSY", "Too many approval requests are waiting.", { hint: "See: svc approvals list" });
    }
    return this.#addIn(approval, conversations, asker);
  }

  #addIn(approval: NewApproval, conversations: readonly Conversation[], asker: string | undefined): Pending<Requested> {
    const { store, onRequested, wake } = this.#options;
    const n = store.approvals.add(approval);
    const deliveries = conversations.map((conversation) => this.#askIn({ ...approval, n }, conversation, asker));
    const added = store.approvals.read(n)!;
    onRequested?.(added);
    return {
      result: { state: "new", approval: added },
      committed: () => {
        this.#announced.tell(added);
        this.#onAdded();
        wake(deliveries);
        for (const { channel } of conversations) this.#warn(channel, asker);
      },
    };
  }

  /** Once for each channel: from a chat without approvers no answer can come. */
  #warn(channel: string, asker: string | undefined): void {
    const { log, settings } = this.#options;
    if (this.#warned.has(channel) || settings(channel).approvers.length > 0) return;
    this.#warned.add(channel);
    const fix = addApproverCommand(channel, asker);
    log.warn("no account may answer approval requests in this channel", { channel, fix });
  }

  #askIn(approval: NewApproval & Pick<Approval, "n">, conversation: Conversation, asker: string | undefined): Delivery {
    const { store, clock, settings } = this.#options;
    const { n } = approval;
    const conversationKey = keyOfConversation(conversation);
    const { approvers, maxChars } = settings(conversation.channel);
    const hasApprovers = approvers.length > 0;
    const addApprover = addApproverCommand(conversation.channel, asker);
    const text = promptText(approval, { hasApprovers, maxChars, ...(!hasApprovers && { addApprover }) });
    const row = {
      conversation,
      conversationKey,
      text,
      files: [],
      key: `approval:${n}:${conversationKey}`,
      approval: n,
    };
    const delivery = store.outbox.add([row], clock.now())[0]!;
    store.approvals.addPrompt(n, conversation, delivery.n);
    return delivery;
  }
}

/** Each approval is told of by one event, whose id is kept with it. */
const MAX_IDS = 10_000;

export class Announced {
  readonly #options: Pick<ApprovalOptions, "publish" | "store">;
  /** Of the last ones: the row that somebody has read may be older than the id in it. */
  readonly #ids = new Map<number, string>();

  constructor(options: Pick<ApprovalOptions, "publish" | "store">) {
    this.#options = options;
  }

  /** Called after the commit. Tells of it unless that was done; a process that was killed in between may not have come to it. */
  tell(approval: Approval): string {
    const { publish, store } = this.#options;
    const known = approval.eventId ?? this.#ids.get(approval.n);
    if (known !== undefined) return known;
    const { id } = publish(requestEvent(approval));
    this.#ids.set(approval.n, id);
    if (this.#ids.size > MAX_IDS) this.#ids.delete(this.#ids.keys().next().value!);
    // Not waited for: where it is lost, the next process tells of it again.
    store.write(() => store.approvals.announced(approval.n, id)).catch(() => undefined);
    return id;
  }
}

/** A request as it is kept: checked, bounded, without secrets, and with what tells it from another one of the same key. */
const MAX = { title: 300, message: 16_384, askedBy: 200, conversations: 64 } as const;

/** Throws BAD_REQUEST. */
export function newApproval(
  request: ApprovalRequest,
  { clock, expireMs, redact }: Pick<ApprovalOptions, "clock" | "expireMs" | "redact">,
): NewApproval {
  const { runId, stepId, origin, channels = [] } = request;
  checkId(runId, "run_id");
  checkId(stepId, "step_id");
  if (request.conversations.length > MAX.conversations) {
    throw new SvcError("BAD_REQUEST", `An approval is asked for in at most ${MAX.conversations} conversations.`);
  }
  const keywords = checkedKeywords(request.approveKeywords, request.rejectKeywords);
  const nowMs = clock.now();
  return {
    runId,
    stepId,
    origin,
    title: cut(oneLine(redact(request.title)), MAX.title),
    message: cut(wellFormed(redact(request.message)), MAX.message),
    ...keywords,
    channels,
    askedBy: cut(oneLine(redact(request.askedBy)), MAX.askedBy),
    digest: digestOf(request, keywords),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + (request.expireMs ?? expireMs()),
    ...(request.detail && { detail: asJson(request.detail) }),
    ...(request.offers && { offers: request.offers }),
  };
}

/** Each once, in their order. */
const distinct = (conversations: readonly Conversation[]): Conversation[] => [
  ...new Map(conversations.map((conversation) => [keyOfConversation(conversation), conversation])).values(),
];

/** It is part of a path of the API and of command lines. */
function checkId(id: string, field: string): void {
  if (!/^(?!\.{1,2}$)[^\p{C}\p{Z}]{1,256}$/u.test(id)) {
    throw new SvcError("BAD_REQUEST", `${field} must be 1 to 256 visible characters.`);
  }
}

/**
 * Where there is a subject, it alone is what is asked: another version of svc, or another rule of the policy, words the same
 * question in another way.
 */
export function digestOf({ origin, title, message, channels, subject }: ApprovalRequest, keywords?: Keywords): string {
  const asked = subject === undefined ? { title, message, channels: channels ?? [], ...keywords } : { subject };
  return createHash("sha256")
    .update(JSON.stringify([origin, asked]))
    .digest("hex");
}

// How an operator lets somebody answer approval requests in a chat.

/**
 * The command that makes this account the channel's approver, where it has none. An account is what a platform says: one with a
 * character that a shell reads differently is left for the operator to fill in.
 */
export function addApproverCommand(channel: string, account?: string): string {
  const name = account !== undefined && PLAIN.test(account) ? account : "<account>";
  return `svc config set channels_config.${channel}.approvers '["${name}"]'`;
}

const PLAIN = /^[A-Za-z0-9_@.+:-]{1,128}$/;
