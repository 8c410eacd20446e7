/** The channel: what goes out by the Web API, and what comes in by Socket Mode or the Events API. */
import {
  type Channel,
  type Contributions,
  type Drafts,
  type FeatureContext,
  type Ingress,
  type IngressReply,
  type Json,
  type Parsed,
  type Prompt,
  type Prompts,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  SvcError,
  type Verdict,
} from "@svc/contract";
import { MEDIA_KINDS, asFinal, hmacSha256Hex, readJson, senderGate, sentPartsIn, verifyHmacSha256 } from "@svc/kit";
import { type AccountDeps, accountLine, setupOf, signIn, unknownSelf } from "./account.ts";
import type { Config } from "./config.ts";
import { type People, type Threads, type ReadingDeps, inboundOf, peopleOf, threadsIn } from "./events.ts";
import { MAX_MEDIA_BYTES, mediaFetcher, uploadsOf } from "./files.ts";
import {
  CHANNEL,
  EVENTS_PATH,
  choiceValue,
  conversationId,
  fieldsOf,
  messageRefOf,
  timestamp,
  userId,
  wordOf,
} from "./protocol.ts";
import { LITERAL, type Outbox, TEXT_CHARS, messageSender, placesOf, post } from "./send.ts";
import { type WebApi, webApi } from "./web-api.ts";
import { escaped, mrkdwnOf, plainMrkdwn, richTextOf } from "./markdown.ts";
import { arrivalQueue, awayIn, catchUpOf, keeper } from "./history.ts";
import type { SessionDeps } from "./socket.ts";
import { hash } from "node:crypto";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log } = context;
  const { api_url: apiUrl, app_token: appToken, signing_secret: signingSecret } = config;
  const api = webApi({ apiUrl, token: config.bot_token }, context);
  const app =
    config.mode === "socket" && appToken !== undefined ? webApi({ apiUrl, token: appToken }, context) : undefined;
  const self = unknownSelf();
  const account: AccountDeps = { bot: api, app, self };
  const threads = threadsIn(context);
  const people = peopleOf(api, context);
  const mayWrite = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  const reading: ReadingDeps = { config, self, people, threads, mayWrite };

  const outbox = { api, places: placesOf(api), threads, config };
  const send = messageSender(outbox, uploadsOf(api, apiUrl, context), sentPartsIn(context));
  const drafts = draftsOf(config, api, context);
  const readMarks = readMarksOf(api, config.ack_reaction);
  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    typing: typingOf(api),
    ...(readMarks && { readMarks }),
    ...(drafts && { drafts }),
    media: { maxBytes: MAX_MEDIA_BYTES, sends: MEDIA_KINDS, fetch: mediaFetcher(api, config, context) },
    prompts: promptsOf(outbox, send),
    check: (signal) => accountLine(account, signal),
    setup: setupOf(config),
  };
  const isPostedTo = config.mode === "events" && signingSecret !== undefined;
  return {
    channel,
    ...(isPostedTo && { ingress: ingressesOf(signingSecret, config.allowed_users, reading) }),
    register: async (signal) => {
      signal.throwIfAborted();
      await threads.load();
    },
    run: (signal) => runChannel({ context, api, account, reading, threads, people }, signal),
  };
}

/**
 * Questions with buttons. https://docs.slack.dev/reference/block-kit/blocks/actions-block,
 * https://docs.slack.dev/reference/block-kit/block-elements/button-element
 */
const SECTION_CHARS = 3_000;
const LABEL_CHARS = 75;
/** As for an edit of an answer. */
const UPDATE_BYTES = 4_000;

/** `send`: for a question that has no room for buttons. */
function promptsOf(outbox: Outbox, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      // The words, with who asks and by which number: there is nothing else around a title that a stranger may have chosen.
      const text = plainMrkdwn(message.text);
      if (!hasRoom(text, prompt)) return send(message, signal);
      const { receipt } = await post(outbox, message.conversation, { text, blocks: blocksOf(text, prompt) }, signal);
      return receipt;
    },
    async close({ platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      const message = messageRefOf(platformId);
      if (message === undefined) return;
      const said = closedText(text, outcome);
      await outbox.api.call("chat.update", { ...message, ...LITERAL, text: said, blocks: [section(said)] }, signal);
    },
  };
}

function hasRoom(text: string, { approve, reject }: Prompt): boolean {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= LABEL_CHARS;
  return text.length <= SECTION_CHARS && fits(approve) && fits(reject);
}

const blocksOf = (text: string, { id, approve, reject }: Prompt): Json => [
  section(text),
  {
    type: "actions",
    elements: [
      button(approve, choiceValue(id, true), "svc-approve", "primary"),
      button(reject, choiceValue(id, false), "svc-reject", "danger"),
    ],
  },
];

/** `verbatim`: names and addresses in it are not made links. */
const section = (text: string): Json => ({ type: "section", text: { type: "mrkdwn", text, verbatim: true } });

const button = (label: string, value: string, action: string, style: string): Json => ({
  type: "button",
  text: { type: "plain_text", text: label, emoji: false },
  action_id: action,
  value,
  style,
});

/** The question, as far as there is room for it, and how it ended. */
function closedText(question: string, outcome: string): string {
  const end = `\n\n${plainMrkdwn(outcome)}`;
  for (let chars = question.length; chars > 0; chars = Math.floor(chars * 0.8)) {
    const cut = chars === question.length ? question : `${question.slice(0, chars).toWellFormed()}…`;
    const text = plainMrkdwn(cut) + end;
    if (text.length <= SECTION_CHARS && Buffer.byteLength(text) <= UPDATE_BYTES) return text;
  }
  return end.trim().slice(0, SECTION_CHARS / 2);
}

/** The channel's loop: stores what arrives, catches up on what was missed, looks up people's names. */
interface RunDeps {
  readonly context: FeatureContext<Config>;
  readonly api: WebApi;
  readonly account: AccountDeps;
  readonly reading: ReadingDeps;
  readonly threads: Threads;
  readonly people: People;
}

/** How often it is noted that we listen: more often than the overlap when we look for what was missed. */
const NOTE_MS = 300_000;

async function runChannel(deps: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    deps.context.log.info("the platform knows this channel", { account: await signIn(deps.account, signal) });
    await listen(deps, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw asFinal(error);
  }
}

async function listen(deps: RunDeps, signal: AbortSignal): Promise<void> {
  const { context, api, reading, threads, people } = deps;
  const keep = keeper(context);
  const away = awayIn(context);
  const catchUp = catchUpOf({ api, reading, threads, keep, context }, await away.since());
  const queue = arrivalQueue({ keep, catchUp: catchUp.conversation });
  const connected = await connect(deps, { queue, mayHaveMissed: () => catchUp.again() }, signal);
  const noting = async (end: AbortSignal): Promise<void> => {
    for (;;) {
      const { gap } = catchUp;
      const isWhole = await catchUp.all(end);
      // The connection is worth more than the note, which only saves looking twice.
      if (isWhole && !gap.aborted)
        await away.caughtUp().catch(() => context.log.warn("that the channel listens could not be noted"));
      const rest = AbortSignal.any([end, gap]);
      await context.clock.sleep(NOTE_MS, rest).catch(() => end.throwIfAborted());
    }
  };
  await together(signal, [noting, (end) => queue.run(end), (end) => people.run(end), ...connected]);
}

/** Loaded where it is used: the mode "events" never connects. */
async function connect(
  { context, reading }: RunDeps,
  arrivals: Pick<SessionDeps, "queue" | "mayHaveMissed">,
  signal: AbortSignal,
): Promise<((end: AbortSignal) => Promise<void>)[]> {
  const { mode, api_url: apiUrl, app_token: appToken = "" } = context.config;
  if (mode !== "socket") return [];
  const { openSession } = await import("./socket.ts");
  const session = await openSession({ apiUrl, appToken, reading, context, ...arrivals }, signal);
  return [(end) => session.run(end)];
}

/** Until the first of them ends, or `signal` ends them all. Rejects with what the first one failed with. */
async function together(signal: AbortSignal, loops: readonly ((end: AbortSignal) => Promise<void>)[]): Promise<void> {
  const over = new AbortController();
  const end = AbortSignal.any([signal, over.signal]);
  let first: unknown;
  const running = loops.map((loop) =>
    loop(end).catch((error: unknown) => {
      if (!end.aborted) first = error;
      over.abort(error);
    }),
  );
  await Promise.all(running);
  if (!signal.aborted) throw first;
}

// What people see while an answer is made: a draft that grows, a status, a reaction.

// Answers that are seen being written: the message is changed as it grows.
// https://docs.slack.dev/reference/methods/chat.update

/** "The `text` field cannot exceed 4,000 characters"; the platform counts bytes of the escaped text. */
const TEXT_BYTES = 4_000;
/** A message with a block may have to keep it: a long answer that became short. */
const MISMATCH = "block_mismatch";
/** Edits per minute: a workspace allows fifty or more over all conversations; some are reserved for final texts. */
const EDITS_A_MINUTE = 45;
const MINUTE_MS = 60_000;

/** Undefined where there are to be none. */
function draftsOf(config: Config, api: WebApi, { clock }: Pick<FeatureContext, "clock">): Drafts | undefined {
  const { stream_mode: mode, draft_update_interval_ms: intervalMs } = config;
  if (mode === "off") return undefined;
  const edited = new Map<string, number>();
  /** Conversations in which an answer is being written. */
  const busy = (): number => {
    for (const [id, atMs] of edited) if (clock.monotonic() - atMs > MINUTE_MS / 4) edited.delete(id);
    return edited.size;
  };
  return {
    mode,
    intervalMs: () => Math.min(600_000, Math.max(intervalMs, (busy() * MINUTE_MS) / EDITS_A_MINUTE)),
    async edit({ platformId }, text, signal) {
      signal.throwIfAborted();
      const message = messageRefOf(platformId);
      if (message === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no message of Slack's.");
      edited.set(platformId, clock.monotonic());
      busy();
      const mrkdwn = mrkdwnOf(text);
      const change = (content: Readonly<Record<string, Json>>, answers?: readonly string[]) =>
        api.call("chat.update", { ...message, ...LITERAL, ...content }, signal, answers);
      if (Buffer.byteLength(mrkdwn) <= TEXT_BYTES) {
        const { error } = await change({ text: mrkdwn }, [MISMATCH]);
        if (error !== MISMATCH) return;
      }
      await change(asBlocks(text, mrkdwn));
    },
  };
}

/** The text is what notifications and searches show: the beginning does. */
const asBlocks = (text: string, mrkdwn: string): { text: string; blocks: Json } => ({
  text: beginningOf(mrkdwn),
  blocks: [richTextOf(text)],
});

function beginningOf(mrkdwn: string): string {
  let cut = mrkdwn.slice(0, 1_000).toWellFormed();
  // Half an entity or half a link would be read as text.
  cut = cut.replace(/&[a-z]*$/, "");
  const link = cut.indexOf("<", cut.lastIndexOf(">") + 1);
  if (link >= 0) cut = cut.slice(0, link);
  return cut === mrkdwn ? cut : `${cut}…`;
}

// What people see while a message is answered: a reaction on it, and, in threads, that someone is at it.
// https://docs.slack.dev/reference/methods/reactions.add, https://docs.slack.dev/reference/methods/assistant.threads.setStatus

/** The platform takes a status away after two minutes, and once a message is sent. */
const STATUS_LASTS_MS = 110_000;

/** `emoji`: blank for none. */
function readMarksOf(api: WebApi, emoji: string): Channel["readMarks"] {
  if (emoji === "") return undefined;
  const react = async (method: string, messageId: string, done: string, signal: AbortSignal): Promise<void> => {
    const message = messageRefOf(messageId);
    // A command or a press is no message that could carry one.
    if (message === undefined) return;
    const { channel, ts } = message;
    await api.call(method, { channel, timestamp: ts, name: emoji }, signal, [done]);
  };
  return {
    mark: (_conversation, messageId, signal) => react("reactions.add", messageId, "already_reacted", signal),
    clear: (_conversation, messageId, signal) => react("reactions.remove", messageId, "no_reaction", signal),
  };
}

function typingOf(api: WebApi): NonNullable<Channel["typing"]> {
  /** Conversations without a status display, known only from a failed request. */
  const without = new Set<string>();
  return {
    lastsMs: STATUS_LASTS_MS,
    async start({ id, thread }, _messageId, signal) {
      signal.throwIfAborted();
      // Only threads have one. Elsewhere the reaction is the sign.
      if (conversationId(id) === undefined || timestamp(thread) === undefined || without.has(id)) return;
      const args = { channel_id: id, thread_ts: thread, status: "is thinking…" };
      await api.call("assistant.threads.setStatus", args, signal).catch((error: unknown) => {
        if (error instanceof SvcError && error.code !== "DELIVERY_FAILED" && without.size < MOST) without.add(id);
        throw error;
      });
    },
  };
}

const MOST = 10_000;

// Ingress of the mode "events": an app names three URLs; each accepts the deliveries of all three.
// https://docs.slack.dev/apis/events-api/using-http-request-urls

const PATHS = [EVENTS_PATH, "/slack/actions", "/slack/commands"];

const ingressesOf = (secret: string, allowed: readonly string[], reading: ReadingDeps): Ingress[] =>
  PATHS.map((path) => ({
    path,
    methods: ["POST"],
    signed: true,
    verify: (request) => verified(request, secret),
    parse: (request) => parsed(request, reading),
    ...(path === EVENTS_PATH && { sample: (message) => sampleDelivery(message, secret, allowed) }),
  }));

function parsed(request: RawRequest, reading: ReadingDeps): Parsed {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");
  const payload = isForm ? formPayload(request.body) : readJson(request.body);
  const { type, challenge } = fieldsOf(payload);
  const word = type === "url_verification" ? wordOf(challenge) : undefined;
  if (word !== undefined) return { reply: plain(word) };
  const inbound = inboundOf(payload, reading);
  // The platform would show a body to the person who pressed or typed the command.
  return { inbound: inbound === undefined ? [] : [inbound], ...(isForm && { reply: plain("") }) };
}

/** A press comes as JSON in a form, a command as the form. */
function formPayload(body: Uint8Array): Json {
  const form = new URLSearchParams(Buffer.from(body).toString("utf8"));
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : readJson(Buffer.from(payload));
}

const plain = (body: string): IngressReply => ({ status: 200, contentType: "text/plain; charset=utf-8", body });

// https://docs.slack.dev/authentication/verifying-requests-from-slack

/** A delivery that someone recorded is worth nothing after this time. */
const TOLERANCE_MS = 300_000;
const VERSION = "v0";

function verified({ headers, body, receivedAtMs }: RawRequest, secret: string): Verdict {
  const timestamp = headers["x-slack-request-timestamp"] ?? "";
  const isFresh = /^\d{1,12}$/.test(timestamp) && Math.abs(receivedAtMs - Number(timestamp) * 1000) <= TOLERANCE_MS;
  if (!isFresh) return refused("X-Slack-Request-Timestamp is missing, or too far off");
  const [, hex] = /^v0=([0-9a-f]{64})$/.exec(headers["x-slack-signature"] ?? "") ?? [];
  const isRight = verifyHmacSha256({ secret, parts: signedParts(timestamp, body), header: hex, prefix: "optional" });
  return isRight ? { ok: true } : refused("X-Slack-Signature is missing, or does not fit the body");
}

const refused = (why: string): Verdict => ({ ok: false, code: "BAD_SIGNATURE", why });

const signedParts = (timestamp: string, body: Uint8Array): (string | Uint8Array)[] => [
  `${VERSION}:${timestamp}:`,
  body,
];

/** As the platform signs. */
function signatureHeaders(secret: string, body: Uint8Array, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  return {
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": `${VERSION}=${hmacSha256Hex(secret, signedParts(timestamp, body))}`,
  };
}

// A delivery as the platform would make it: for `svc webhook send`.

/** No one's. */
const EXAMPLE_SENDER = "U0000000000";

function sampleDelivery(
  { text, from, id, atMs }: SampleMessage,
  secret: string,
  allowed: readonly string[],
): SampleDelivery {
  const user = from ?? allowed.find((entry) => userId(entry) !== undefined) ?? EXAMPLE_SENDER;
  const ts = `${Math.floor(atMs / 1000)}.${fractionOf(id)}`;
  const event = {
    type: "message",
    user,
    text: escaped(text),
    ts,
    event_ts: ts,
    // The messages of one person are one conversation.
    channel: `D${user.slice(1)}`,
    channel_type: "im",
  };
  const payload = {
    type: "event_callback",
    team_id: "T0000000000",
    api_app_id: "A0000000000",
    event,
    event_id: `Ev${fractionOf(id)}`,
    event_time: Math.floor(atMs / 1000),
  };
  const body = Buffer.from(JSON.stringify(payload));
  const headers = { "content-type": "application/json", ...signatureHeaders(secret, body, atMs) };
  return { method: "POST", query: "", headers, body };
}

/** Tells messages of one second apart, as the platform's six digits do. */
const fractionOf = (id: string): string =>
  String(Number.parseInt(hash("sha256", id).slice(0, 8), 16) % 1_000_000).padStart(6, "0");
