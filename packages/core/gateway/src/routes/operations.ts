/** What an operator watches and does in the page beside settings: first steps, usage, the log, checks, backups. */
import { type Clock, integer, type Json } from "@svc/contract";
import * as v from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { SlidingWindow } from "../rate-limit.ts";
import { limit, limitOf, oneOf, time } from "./fields.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody } from "./route.ts";

const day = (description: string) => v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/), v.description(description));

const SETUP_REPORT = v.object({
  model: v.pipe(v.boolean(), v.description("An agent has another model than the built-in echo.")),
  channel: v.pipe(v.boolean(), v.description("A channel runs.")),
  tool: v.pipe(v.boolean(), v.description("A tool was called, and succeeded.")),
  sandbox: v.boolean(),
  service: v.pipe(
    v.picklist(["installed", "absent", "unsupported"]),
    v.description("Whether the system starts it; unsupported: this system's service manager is not known."),
  ),
  backup: v.pipe(
    v.nullable(v.object({ file: v.string(), at: time(), bytes: integer(0) })),
    v.description("The newest that was made on this machine; null: none was."),
  ),
});

const USAGE_LINE = v.object({
  day: day("UTC."),
  agent: v.string(),
  model: v.string(),
  channel: v.pipe(v.string(), v.description("Its id; empty: answers to the page, the command line and procedures.")),
  turns: integer(0),
  input_tokens: integer(0),
  output_tokens: integer(0),
  cost_usd: v.pipe(v.number(), v.minValue(0), v.description("Of the turns whose price is known.")),
  unknown_cost_turns: integer(0),
});

const CLIENT_LINE = v.object({
  agent: v.string(),
  kind: v.pipe(
    v.picklist(["device", "person", "terminal", "procedures", "anonymous", "gone"]),
    v.description("`anonymous`: all callers without a token; `gone`: a device that is not paired any more."),
  ),
  device: v.nullable(v.object({ id: v.string(), name: v.string() })),
  channel: v.pipe(v.string(), v.description("Channel of the person; empty: none.")),
  cost_usd: v.pipe(v.number(), v.minValue(0), v.description("What counts against the limit, estimates included.")),
  limit_usd: v.pipe(v.nullable(v.number()), v.description("client_max_cost_per_day in force; null: none.")),
});

const LEVELS = ["debug", "info", "warn", "error"] as const;

const LOG_LINE = v.object({
  time: v.pipe(v.nullable(v.string()), v.description("null: not a line of the service's own.")),
  level: v.nullable(v.picklist(LEVELS)),
  message: v.string(),
  fields: v.array(v.object({ name: v.string(), value: v.string() })),
});

const FINDING = v.object({
  id: v.pipe(v.string(), v.description("Stable.")),
  group: v.string(),
  level: v.picklist(["ok", "note", "warning", "error"]),
  message: v.string(),
  fix: v.pipe(v.nullable(v.string()), v.description("The command to enter or the key to change; null: it is ok.")),
});

const SETUP: ApiSpec = {
  method: "GET",
  path: "/api/setup",
  access: "operate",
  summary: "Tells which first steps of a new service are done.",
  answers: { 200: { description: "The steps.", body: SETUP_REPORT } },
};

const MAX_DAYS = 366;
const DAYS = 30;

const USAGE: ApiSpec = {
  method: "GET",
  path: "/api/usage",
  access: "operate",
  summary: "Tells tokens and cost per day, agent, model and channel, and what each client spent today.",
  query: {
    days: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,3}$/),
        v.transform(Number),
        integer(1, MAX_DAYS),
        v.description(`1 to ${MAX_DAYS}: how many days, today included; ${DAYS} when left out`),
      ),
    ),
  },
  answers: {
    200: {
      description: "The days that have any, in order.",
      body: v.object({
        since: day("The first of the days."),
        today: day("UTC."),
        usage: v.array(USAGE_LINE),
        clients: v.pipe(
          v.array(CLIENT_LINE),
          v.description("What each client spent today: by agent, the most first, at most 100."),
        ),
      }),
    },
  },
};

const LOGS: ApiSpec = {
  method: "GET",
  path: "/api/logs",
  access: "operate",
  summary: "Reads the newest lines of the log, or those since an earlier answer.",
  query: {
    level: oneOf(LEVELS),
    text: v.optional(v.pipe(v.string(), v.maxLength(200), v.description("at most 200 characters, in any case"))),
    channel: v.optional(v.pipe(v.string(), v.maxLength(64), v.description("a channel's id"))),
    limit: limit("lines"),
    after: v.optional(
      v.pipe(v.string(), v.regex(/^\d{1,20}:\d{1,20}:\d{1,15}$/), v.description("the cursor of an earlier answer")),
    ),
  },
  answers: {
    200: {
      description: "The lines, the oldest first.",
      body: v.object({
        lines: v.array(LOG_LINE),
        cursor: v.pipe(v.nullable(v.string()), v.description("Cursor of the lines written next; null: no file.")),
        cut: v.pipe(v.boolean(), v.description("Older lines were not searched, or lines since then were left out.")),
      }),
    },
  },
  errors: ["LOG_UNREADABLE"],
};

const DOCTOR_BODY = v.strictObject({ security: v.optional(v.boolean()) });

const DOCTOR: ApiSpec = {
  method: "POST",
  path: "/api/doctor",
  access: "operate",
  summary: "Runs the checks of `svc doctor` and tells what fixes each problem. Takes up to five seconds.",
  body: DOCTOR_BODY,
  answers: {
    200: { description: "The findings.", body: v.object({ ok: v.boolean(), findings: v.array(FINDING) }) },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED"],
};

const BACKUP: ApiSpec = {
  method: "POST",
  path: "/api/backups",
  access: "operate",
  summary: "Writes a backup into the folder `backups` of the home. The newest five there are kept.",
  details: "It holds the key of the encrypted secrets; no route reads it.",
  body: v.strictObject({}),
  answers: {
    200: { description: "It is written.", body: v.object({ file: v.string(), at: time(), bytes: integer(0) }) },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "BACKUP_FAILED", "BUSY"],
};

export const OPERATION_SPECS = [SETUP, USAGE, LOGS, DOCTOR, BACKUP];

export interface LogQuery {
  readonly level?: (typeof LEVELS)[number] | undefined;
  readonly text?: string | undefined;
  readonly channel?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Rejects with LOG_UNREADABLE, BACKUP_FAILED, BUSY. */
export interface Operations {
  setup(): Promise<v.InferOutput<typeof SETUP_REPORT>>;
  /** The newest `days` days. */
  usage(days: number): {
    readonly since: string;
    readonly today: string;
    readonly usage: readonly v.InferOutput<typeof USAGE_LINE>[];
    readonly clients: readonly v.InferOutput<typeof CLIENT_LINE>[];
  };
  logs(query: LogQuery): Promise<{
    readonly lines: readonly v.InferOutput<typeof LOG_LINE>[];
    readonly cursor: string | null;
    readonly cut: boolean;
  }>;
  doctor(security: boolean): Promise<{
    readonly ok: boolean;
    readonly findings: readonly v.InferOutput<typeof FINDING>[];
  }>;
  backup(by: string): Promise<{ readonly file: string; readonly at: string; readonly bytes: number }>;
}

/** By device: a check starts a process, a backup writes the whole home once more. */
export interface OperationLimits {
  readonly checks: SlidingWindow;
  readonly backups: SlidingWindow;
}

export interface OperationRouteDeps {
  readonly operations: Operations;
  readonly operationLimits: OperationLimits;
  readonly bodies: BodyLimits;
  readonly clock: Clock;
}

export function operationRoutes({
  operations,
  operationLimits: limits,
  bodies,
  clock,
}: OperationRouteDeps): ApiRoute[] {
  const limited =
    (spec: ApiSpec, window: SlidingWindow, act: (body: Json, request: ApiRequest) => Promise<Json>) =>
    async (request: ApiRequest): Promise<Reply> => {
      const retryAfterMs = window.take(request.device.id, clock.monotonic());
      if (retryAfterMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs });
      const body = await jsonBody(request, spec.body as v.GenericSchema, bodies);
      return body instanceof Reply ? body : jsonReply(200, await act(body, request));
    };
  return [
    { ...SETUP, handle: async () => jsonReply(200, await operations.setup()) },
    {
      ...USAGE,
      handle: ({ query }) => jsonReply(200, operations.usage((query["days"] as number | undefined) ?? DAYS) as Json),
    },
    {
      ...LOGS,
      handle: async ({ query }) =>
        jsonReply(
          200,
          (await operations.logs({ ...(query as Omit<LogQuery, "limit">), limit: limitOf(query) })) as unknown as Json,
        ),
    },
    {
      ...DOCTOR,
      handle: limited(DOCTOR, limits.checks, async (body) => {
        const { security = false } = body as v.InferOutput<typeof DOCTOR_BODY>;
        return (await operations.doctor(security)) as unknown as Json;
      }),
    },
    {
      ...BACKUP,
      handle: limited(BACKUP, limits.backups, async (_, { device }) => ({ ...(await operations.backup(device.name)) })),
    },
  ];
}
