/**
 * Slack as far as a bot meets it: the Web API, files, and Socket Mode, on one port. It takes what the platform's documents say and
 * nothing else. https://docs.slack.dev
 */
import type { Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { argumentsOf, tokenOf } from "./arguments.ts";
import { type SlackMessage, slackMention, slackMessageEvent, slackPress } from "./events.ts";
import { slackFiles, type SlackFiles } from "./files.ts";
import { METHODS } from "./methods/index.ts";
import { encoded } from "./mrkdwn.ts";
import { SlackRefusal } from "./refusal.ts";
import { slackSocket, type SlackSocket } from "./socket.ts";
import { SLACK_BOT, type SlackPerson, type SlackStored, type Workspace, workspaceOf } from "./workspace.ts";

export interface SlackOptions {
  readonly botToken: string;
  readonly appToken: string;
  readonly people?: readonly SlackPerson[];
}

/** A message of ours that people see. */
export interface SlackSent {
  readonly text: string;
  /** Labels. */
  readonly buttons: readonly string[];
  readonly channel: string;
  /** As the platform has it. */
  readonly message: SlackStored;
}

export interface Slack extends FakePlatform {
  readonly apiUrl: string;
  readonly workspace: Workspace;
  readonly files: SlackFiles;
  readonly socket: SlackSocket;
  readonly sent: readonly SlackSent[];
  /** Of the bot's token. */
  readonly scopes: Set<string>;
  /** `channel thread status`, in order. */
  readonly statuses: readonly string[];
  /** What methods are asked for, in order. */
  readonly called: readonly string[];
  /** Words that methods are refused with, whatever they are asked. */
  readonly refusals: Map<string, string>;
  /** A person writes: the message is stored, and connected clients get it. Returns its timestamp. */
  write(message: Omit<SlackMessage, "id"> & { readonly own?: boolean }): string;
  /** A person presses a button of the question that was posted last. */
  press(press: { readonly from: string; readonly approved: boolean; readonly atMs: number; readonly id: string }): void;
}

/** All that a bot like ours asks for. */
const SCOPES = [
  "app_mentions:read channels:history channels:read chat:write commands files:read files:write groups:history groups:read",
  "im:history im:read im:write mpim:history mpim:read reactions:read reactions:write users:read",
].flatMap((words) => words.split(" "));

export async function startSlack({ botToken, appToken, people = [] }: SlackOptions): Promise<Slack> {
  const workspace = workspaceOf(people);
  const scopes = new Set(SCOPES);
  const statuses: string[] = [];
  const called: string[] = [];
  const refusals = new Map<string, string>();

  function answer(request: PlatformRequest): Readonly<Record<string, Json>> {
    const name = request.path.slice("/api/".length);
    called.push(name);
    const { token, isHeader } = tokenOf(request);
    if (token === undefined) throw new SlackRefusal("not_authed");
    if (name === "apps.connections.open") return connection(token, isHeader, request);
    if (token === appToken) throw new SlackRefusal("not_allowed_token_type");
    if (token !== botToken) throw new SlackRefusal("invalid_auth");
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (method === undefined) throw new SlackRefusal("unknown_method");
    const refusal = refusals.get(name);
    if (refusal !== undefined) throw new SlackRefusal(refusal);
    const args = argumentsOf(request, method.args);
    const call = { args, workspace, files, scopes, notes: { status: (text: string) => void statuses.push(text) } };
    const needed = typeof method.scopes === "function" ? method.scopes(call) : method.scopes;
    const missing = needed.filter((scope) => !scopes.has(scope));
    if (missing.length > 0) {
      throw new SlackRefusal("missing_scope", { needed: missing.join(","), provided: [...scopes].join(",") });
    }
    return method.handle(call);
  }

  /** https://docs.slack.dev/reference/methods/apps.connections.open */
  function connection(token: string, isHeader: boolean, request: PlatformRequest): Readonly<Record<string, Json>> {
    argumentsOf(request, []);
    if (token === botToken || !isHeader) throw new SlackRefusal("not_allowed_token_type");
    if (token !== appToken) throw new SlackRefusal("invalid_auth");
    const refusal = refusals.get("apps.connections.open");
    if (refusal !== undefined) throw new SlackRefusal(refusal);
    return { url: socket.ticket() };
  }

  function respond(request: PlatformRequest): PlatformReply {
    const granted = request.path.endsWith("/apps.connections.open") ? ["connections:write"] : [...scopes];
    const headers = { "x-oauth-scopes": granted.join(","), "cache-control": "private, no-cache, no-store" };
    try {
      return { headers, json: { ok: true, ...answer(request) } };
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      return { headers, json: { ok: false, error: error.error, ...error.more } };
    }
  }

  const url = (): string => base.url;
  const files = slackFiles(url, botToken);
  const socket = slackSocket(url);
  const base = await startPlatform(
    async (request) => {
      if (request.path.startsWith("/api/")) return respond(request);
      return (await files.serve(request)) ?? { status: 404, bytes: Buffer.from("Not found") };
    },
    { upgrade: socket.upgrade },
  );

  // Not Object.assign, which would read what `sent` is now.
  return Object.defineProperties(base, {
    ...Object.getOwnPropertyDescriptors({
      apiUrl: `${base.url}/api`,
      workspace,
      files,
      socket,
      scopes,
      statuses,
      called,
      refusals,
      get sent(): SlackSent[] {
        return sentIn(workspace);
      },
      write: (message: Parameters<Slack["write"]>[0]) => write(workspace, socket, message),
      press({ approved, ...more }: Parameters<Slack["press"]>[0]) {
        const asked = sentIn(workspace).findLast(({ message }) => message.buttons.length > 1)!;
        const { ts, threadTs, buttons } = asked.message;
        const button = buttons[approved ? 0 : 1]!;
        socket.send("interactive", slackPress({ ...more, channel: asked.channel, ts, threadTs, button }));
      },
    }),
  }) as Slack;
}

function sentIn({ conversations }: Workspace): SlackSent[] {
  return [...conversations.values()]
    .flatMap(({ id, messages }) => messages.map((message) => ({ channel: id, message })))
    .filter(({ message }) => message.botId === SLACK_BOT.bot)
    .toSorted((one, other) => (one.message.ts < other.message.ts ? -1 : 1))
    .map(({ channel, message }) => ({
      text: message.seen,
      buttons: message.buttons.map(({ label }) => label),
      channel,
      message,
    }));
}

function write(
  workspace: Workspace,
  socket: SlackSocket,
  { own = false, ...message }: Parameters<Slack["write"]>[0],
): string {
  const { text, from, atMs, threadTs, files, kind = "im" } = message;
  const conversation =
    message.channel === undefined
      ? workspace.dm(from)
      : (workspace.conversations.get(message.channel) ?? workspace.add({ id: message.channel, kind }));
  const ts = workspace.nextTs(atMs);
  const user = own ? SLACK_BOT.user : from;
  const ours = own ? { bot_id: SLACK_BOT.bot, app_id: SLACK_BOT.app } : {};
  workspace.post(conversation, {
    ts,
    user,
    text: encoded(text),
    seen: text,
    buttons: [],
    ...(own && { botId: SLACK_BOT.bot }),
    ...(threadTs !== undefined && { threadTs }),
    ...(files !== undefined && { files, subtype: "file_share" }),
  });
  const { id: channel } = conversation;
  const sent: SlackMessage = { ...message, id: ts, from: user, channel, kind: conversation.kind };
  socket.send("events_api", slackMessageEvent({ ...sent, event: { ...ours, ...message.event } }));
  if (text.includes(`<@${SLACK_BOT.user}>`) && conversation.kind !== "im") {
    socket.send("events_api", slackMention({ ...sent, channel }));
  }
  return ts;
}
