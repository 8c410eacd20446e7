/** Conversations: a token sees its own, an operator everybody's, marked with the device. */
import {
  checkedTitle,
  EXPORT_FORMATS,
  type ExportFormat,
  exportSession,
  foundJson,
  pageJson,
  type SessionInfo,
  sessionJson,
  type SessionMessage,
  type SessionOwner,
  type SessionUpdate,
  TITLE_CHARS,
} from "@svc/agent";
import { type ClientId, integer, type Json, SvcError } from "@svc/contract";
import type { Author, Device } from "@svc/store";
import * as v from "valibot";
import type { Devices } from "../auth/devices.ts";
import { jsonReply, Reply } from "../http/reply.ts";
import { limit, limitOf, name, oneOf, time } from "./fields.ts";
import { FILE_ENTRIES, type FileRouteDeps, fileRoutes } from "./files.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody } from "./route.ts";
import { isOfProcedure, type SessionTurnDeps, sessionTurnRoutes } from "./session-turns.ts";

/** Completes "The turn was stopped by …". */
const BY = "an operator";

const pageCursor = () =>
  v.optional(v.pipe(v.string(), v.maxLength(200), v.description("the cursor of a page that was read before")));

const nextPage = (what: string) =>
  v.pipe(v.nullable(v.string()), v.description(`Cursor of the ${what}; null: no more.`));

const SESSION = v.object({
  id: name("The conversation's id, for the paths below."),
  session_id: name("The owner's name for it (X-Session-Id)."),
  device: v.nullable(v.object({ id: v.string(), name: v.string() })),
  title: v.pipe(v.nullable(v.string()), v.description("null: no message has words.")),
  titled_by: v.pipe(v.picklist(["words", "model", "person"]), v.description("words: the first of the conversation.")),
  preview: v.pipe(v.string(), v.description("The beginning of what was said last, in one line.")),
  unread: v.pipe(integer(0), v.description("Turns that no operator has read: one count for all devices of operators.")),
  pinned: v.boolean(),
  archived: v.boolean(),
  agent: v.pipe(v.nullable(v.string()), v.description("Chosen for this conversation; null: as configured.")),
  model: v.pipe(v.nullable(v.string()), v.description("Chosen for this conversation; null: as configured.")),
  turns: integer(0),
  kind: v.pipe(
    v.picklist(["chat", "channel", "procedure"]),
    v.description("chat: of the page, the command line or /webhook."),
  ),
  channel: v.pipe(
    v.nullable(v.object({ channel: v.string(), id: v.string(), thread: v.nullable(v.string()) })),
    v.description("Where its people are, if it is one with people on a channel."),
  ),
  running: v.pipe(v.boolean(), v.description("A turn of it runs or waits.")),
  created_at: time(),
  updated_at: time(),
});

const CALL = v.object({
  call_id: v.string(),
  tool: v.string(),
  input: v.unknown(),
  ok: v.boolean(),
  outcome: v.pipe(
    v.picklist(["done", "failed", "rejected"]),
    v.description("rejected: a person said no, and nothing was done."),
  ),
  output: v.unknown(),
});

const PAGE = v.object({
  messages: v.array(
    v.object({
      turn_id: v.string(),
      at: time(),
      role: v.picklist(["user", "assistant"]),
      text: v.string(),
      files: v.pipe(v.array(v.object(FILE_ENTRIES)), v.description("What the message came with.")),
      calls: v.pipe(v.array(CALL), v.description("What the assistant had done along with it.")),
      state: v.pipe(
        v.picklist(["done", "stopped", "failed", "running", "waiting"]),
        v.description("Of its turn. While it runs, the text is what has come so far."),
      ),
      kind: v.pipe(
        v.picklist(["message", "continue", "by_hand"]),
        v.description(
          "continue: asks for the rest of the answer before, in the service's words. by_hand: a person answered in the place of the model.",
        ),
      ),
      author: v.nullable(
        v.object({
          kind: v.picklist(["device", "person", "terminal", "anonymous"]),
          id: v.nullable(v.string()),
          name: v.nullable(v.string()),
        }),
      ),
      replaced: v.pipe(v.boolean(), v.description("A later attempt took the place of its turn.")),
      problem: v.pipe(
        v.nullable(
          v.object({
            code: v.string(),
            reason: v.string(),
            fix: v.nullable(v.string()),
            said: v.pipe(
              v.nullable(v.string()),
              v.description("What the model provider said, without secrets; for operators only."),
            ),
          }),
        ),
        v.description("Why its turn was stopped, or failed."),
      ),
    }),
  ),
  before: v.pipe(v.nullable(v.string()), v.description("Cursor of the messages before these; null: no more.")),
  newest: v.pipe(
    v.nullable(v.object({ turn_id: v.string(), can: v.array(v.picklist(["continue", "retry", "edit"])) })),
    v.description("The newest turn, and what can be done about it; null: nothing."),
  ),
});

const params = { id: name("The conversation's id.") };
const errors = ["SESSION_UNKNOWN"] as const;

const LIST: ApiSpec = {
  method: "GET",
  path: "/api/sessions",
  access: "read",
  summary: "Lists conversations: pinned ones first, then the most recently active.",
  details: "A token sees its own; an operator's sees all of them.",
  query: { limit: limit("conversations"), before: pageCursor(), archived: oneOf(["false", "true", "all"]) },
  answers: {
    200: {
      description: "The conversations. The query `archived` includes archived ones.",
      body: v.object({ sessions: v.array(SESSION), before: nextPage("conversations after these") }),
    },
  },
};

const MAX_QUERY_CHARS = 200;

const SEARCH: ApiSpec = {
  method: "GET",
  path: "/api/sessions/search",
  access: "read",
  summary: "Finds what was said, the newest first.",
  details:
    "All words must be in one turn; the last one may be the beginning of a word, and a phrase stands in double quotes. Case and " +
    "accents make no difference, and there is no other syntax. A token searches its own conversations; an operator's searches all.",
  query: {
    q: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(MAX_QUERY_CHARS),
      v.description(`1 to ${MAX_QUERY_CHARS} characters to look for`),
    ),
    limit: limit("results"),
    before: pageCursor(),
  },
  answers: {
    200: {
      description: "One result for each turn that has the words.",
      body: v.object({
        results: v.array(
          v.object({
            session: SESSION,
            turn_id: v.string(),
            at: time(),
            role: v.picklist(["user", "assistant"]),
            snippet: v.pipe(
              v.array(v.object({ text: v.string(), hit: v.boolean() })),
              v.description("One line of the message, in parts: those that were looked for, and those around them."),
            ),
          }),
        ),
        before: nextPage("older results"),
      }),
    },
  },
};

const UPDATE: ApiSpec = {
  method: "PATCH",
  path: "/api/sessions/{id}",
  access: "operate",
  summary: "Renames, pins or archives a conversation, or chooses who answers in it.",
  details: "Omitted fields stay unchanged. A new message restores an archived conversation.",
  params,
  body: v.strictObject({
    title: v.optional(
      v.pipe(
        v.nullable(v.string()),
        v.description(`1 to ${TITLE_CHARS} characters in one line; null: the first words of the conversation.`),
      ),
    ),
    pinned: v.optional(v.boolean()),
    archived: v.optional(v.boolean()),
    agent: v.optional(v.pipe(v.nullable(v.string()), v.description("An agent of the config; null: as configured."))),
    model: v.optional(
      v.pipe(v.nullable(v.string()), v.description("One that the agent can answer with; null: as configured.")),
    ),
  }),
  answers: { 200: { description: "The conversation as it is now.", body: SESSION } },
  errors: [...errors, "AGENT_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
};

const READ: ApiSpec = {
  method: "POST",
  path: "/api/sessions/{id}/read",
  access: "operate",
  summary: "Marks turns of a conversation as read, for all operators.",
  params,
  body: v.strictObject({
    turns: v.pipe(integer(0), v.description("How many of its turns were seen: what came meanwhile stays unread.")),
  }),
  answers: { 200: { description: "The conversation as it is now.", body: SESSION } },
  errors: [...errors, "STORE_FULL", "STORE_FAILED"],
};

const EXPORT: ApiSpec = {
  method: "GET",
  path: "/api/sessions/{id}/export",
  access: "read",
  summary: "Answers a whole conversation as a file.",
  params,
  query: { format: oneOf(EXPORT_FORMATS) },
  answers: {
    200: {
      description: "A file to save: Markdown by default, or JSON.",
      type: "application/octet-stream",
      body: v.string(),
      headers: { "Content-Disposition": v.pipe(v.string(), v.description("With the name of the file.")) },
    },
  },
  errors: [...errors, "TOO_LARGE"],
};

const FIND: ApiSpec = {
  method: "GET",
  path: "/api/sessions/{id}",
  access: "read",
  summary: "Tells about one conversation.",
  params,
  answers: { 200: { description: "The conversation.", body: SESSION } },
  errors,
};

const MESSAGES: ApiSpec = {
  method: "GET",
  path: "/api/sessions/{id}/messages",
  access: "read",
  summary: "Reads a conversation, from its end backwards.",
  params,
  query: {
    limit: limit("messages"),
    before: pageCursor(),
  },
  answers: { 200: { description: "A page, the oldest message first.", body: PAGE } },
  errors,
};

const CANCEL: ApiSpec = {
  method: "POST",
  path: "/api/sessions/{id}/cancel",
  access: "operate",
  summary: "Stops what runs and waits in a conversation.",
  params,
  answers: {
    200: {
      description: "Whether there was anything to stop.",
      body: v.object({ id: v.string(), cancelled: v.boolean() }),
    },
  },
  errors,
};

const REMOVE: ApiSpec = {
  method: "DELETE",
  path: "/api/sessions/{id}",
  access: "operate",
  summary: "Stops what runs in a conversation and deletes it.",
  params,
  answers: {
    200: { description: "It is gone from the disk.", body: v.object({ id: v.string(), deleted: v.literal(true) }) },
  },
  errors: [...errors, "STORE_FULL", "STORE_FAILED"],
};

export const SESSION_SPECS = [LIST, SEARCH, FIND, UPDATE, READ, MESSAGES, EXPORT, CANCEL, REMOVE];

export interface SessionRouteDeps extends SessionTurnDeps, FileRouteDeps {
  readonly devices: Pick<Devices, "ofClient" | "ofId">;
  readonly bodies: BodyLimits;
}

export function sessionRoutes(deps: SessionRouteDeps): ApiRoute[] {
  const { sessions, bodies, attachments } = deps;
  const view = new SessionsView(deps);
  return [
    { ...LIST, handle: (request) => jsonReply(200, view.list(request)) },
    { ...SEARCH, handle: (request) => jsonReply(200, view.search(request)) },
    { ...FIND, handle: (request) => jsonReply(200, view.shown(view.find(request))) },
    { ...MESSAGES, handle: (request) => jsonReply(200, view.messages(view.find(request), request)) },
    {
      ...UPDATE,
      async handle(request) {
        const { id } = view.find(request);
        const body = await jsonBody(request, UPDATE.body, bodies);
        if (body instanceof Reply) return body;
        const update = (body ?? {}) as SessionUpdate;
        const { title } = update;
        const changes = typeof title === "string" ? { ...update, title: checkedTitle(title) } : update;
        return jsonReply(200, view.changed(await sessions.update(id, changes)));
      },
    },
    {
      ...READ,
      async handle(request) {
        const { id } = view.find(request);
        const body = await jsonBody(request, READ.body, bodies);
        if (body instanceof Reply) return body;
        return jsonReply(200, view.changed(await sessions.markRead(id, (body as { turns: number }).turns)));
      },
    },
    {
      ...EXPORT,
      async handle(request) {
        const session = view.find(request);
        const format = (request.query["format"] as ExportFormat | undefined) ?? "markdown";
        const { text, fileName } = await exportSession(sessions, session, view.ownerOf(session), format);
        // What people and models wrote is saved, and never drawn as a page of ours.
        return new Reply(200, "application/octet-stream", text, [
          "content-disposition",
          `attachment; filename="${fileName}"`,
        ]);
      },
    },
    {
      ...CANCEL,
      handle: (request) => {
        const { id } = view.find(request);
        return jsonReply(200, { id, cancelled: sessions.cancel(id, BY) });
      },
    },
    {
      ...REMOVE,
      async handle(request) {
        const { id } = view.find(request);
        // Another request may have removed it since `find`.
        if (!(await sessions.remove(id, BY))) throw new SvcError("SESSION_UNKNOWN");
        // What can't be removed now is removed within the hour.
        await attachments.sweep().catch(() => {});
        return jsonReply(200, { id, deleted: true });
      },
    },
    ...sessionTurnRoutes(deps, (request) => view.find(request)),
    ...fileRoutes(deps, (request) => view.find(request)),
  ];
}

class SessionsView {
  readonly #sessions: SessionRouteDeps["sessions"];
  readonly #devices: SessionRouteDeps["devices"];

  constructor({ sessions, devices }: SessionRouteDeps) {
    this.#sessions = sessions;
    this.#devices = devices;
  }

  list({ device, query }: ApiRequest): Json {
    const archived = ARCHIVED[(query["archived"] as keyof typeof ARCHIVED | undefined) ?? "false"];
    const before = query["before"] as string | undefined;
    const page = this.#sessions.page({ ...ownerFor(device), archived }, limitOf(query), before);
    return { sessions: page.sessions.map((session) => this.shown(session)), before: page.before ?? null };
  }

  search({ device, query }: ApiRequest): Json {
    const before = query["before"] as string | undefined;
    const text = query["q"] as string;
    const page = this.#sessions.search({ ...ownerFor(device), query: text, limit: limitOf(query), before });
    const results = page.results.map((found) => foundJson(found, this.ownerOf(found.session)));
    return { results, before: page.before ?? null };
  }

  /** Throws SESSION_UNKNOWN: it was removed meanwhile. */
  changed(session: SessionInfo | undefined): Json {
    if (!session) throw new SvcError("SESSION_UNKNOWN");
    return this.shown(session);
  }

  /** Throws SESSION_UNKNOWN, for a foreign one as for none: what others have is not to be found out. */
  find({ device, params }: ApiRequest): SessionInfo {
    const session = this.#sessions.find(params["id"] ?? "");
    if (!session || (device.scope !== "operator" && session.clientId !== device.clientId)) {
      throw new SvcError("SESSION_UNKNOWN");
    }
    return session;
  }

  messages(info: SessionInfo, { query, device }: ApiRequest): Json {
    const before = query["before"] as string | undefined;
    const page = this.#sessions.messages(info.id, { limit: limitOf(query), ...(before !== undefined && { before }) });
    const messages = page.messages.map((message) => this.#named(message));
    const canFollow = info.channel === undefined && !isOfProcedure(info);
    const shown = { ...page, messages, followUps: canFollow ? page.followUps : undefined };
    return pageJson(shown, device.scope === "operator");
  }

  /** A device's author has the name that it has now. */
  #named(message: SessionMessage): SessionMessage {
    const { author } = message;
    const name = author?.kind === "device" ? this.#devices.ofId(author.id ?? "")?.name : undefined;
    return author && name !== undefined ? { ...message, author: { ...author, name } satisfies Author } : message;
  }

  shown(session: SessionInfo): Json {
    return sessionJson(session, this.ownerOf(session));
  }

  ownerOf(session: SessionInfo): SessionOwner {
    return { device: this.#devices.ofClient(session.clientId), isProcedure: isOfProcedure(session) };
  }
}

const ARCHIVED = { false: false, true: true, all: undefined } as const;

/** An operator's token sees everybody's conversations. */
const ownerFor = ({ scope, clientId }: Device): { readonly clientId?: ClientId } =>
  scope === "operator" ? {} : { clientId };
