/** What an operator watches and does in the page beside settings: first steps, usage, the log, checks, backups. */
import {
  Backup,
  BackupRequest,
  DEFAULT_DAYS,
  DoctorReport,
  DoctorRequest,
  LogPage,
  LogQuery,
  type Output,
  SetupReport,
  Usage,
  UsageQuery,
} from "@svc/api";
import type { Clock } from "@svc/contract";
import type { GenericSchema } from "valibot";
import { errorReply, Reply } from "../http/reply.ts";
import type { SlidingWindow } from "../client.ts";
import {
  type ApiRequest,
  apiRoute,
  type ApiRoute,
  type ApiSpec,
  type BodyLimits,
  jsonBody,
  limitOf,
  respond,
} from "./route.ts";

const SETUP = {
  method: "GET",
  path: "/api/setup",
  access: "operate",
  summary: "Tells which first steps of a new service are done.",
  answers: { 200: { description: "The steps.", body: SetupReport } },
} satisfies ApiSpec;

const USAGE = {
  method: "GET",
  path: "/api/usage",
  access: "operate",
  summary: "Tells tokens and cost per day, agent, model and channel, and what each client spent today.",
  query: UsageQuery,
  answers: {
    200: {
      description: "The days that have any, in order.",
      body: Usage,
    },
  },
} satisfies ApiSpec;

const LOGS = {
  method: "GET",
  path: "/api/logs",
  access: "operate",
  summary: "Reads the newest lines of the log, or those since an earlier answer.",
  query: LogQuery,
  answers: {
    200: {
      description: "The lines, the oldest first.",
      body: LogPage,
    },
  },
  errors: ["LOG_UNREADABLE"],
} satisfies ApiSpec;

const DOCTOR = {
  method: "POST",
  path: "/api/doctor",
  access: "operate",
  summary: "Runs the checks of `svc doctor` and tells what fixes each problem. Takes up to five seconds.",
  body: DoctorRequest,
  answers: {
    200: { description: "The findings.", body: DoctorReport },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED"],
} satisfies ApiSpec;

const BACKUP = {
  method: "POST",
  path: "/api/backups",
  access: "operate",
  summary: "Writes a backup into the folder `backups` of the home. The newest five there are kept.",
  details: "It holds the key of the encrypted secrets; no route reads it.",
  body: BackupRequest,
  answers: {
    200: { description: "It is written.", body: Backup },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "BACKUP_FAILED", "BUSY"],
} satisfies ApiSpec;

export const OPERATION_SPECS = [SETUP, USAGE, LOGS, DOCTOR, BACKUP];

export type LogSearch = LogQuery & { readonly limit: number };

/** Rejects with LOG_UNREADABLE, BACKUP_FAILED, BUSY. */
export interface Operations {
  setup(): Promise<SetupReport>;
  /** The newest `days` days. */
  usage(days: number): Usage;
  logs(query: LogSearch): Promise<LogPage>;
  doctor(security: boolean): Promise<DoctorReport>;
  backup(by: string): Promise<Backup>;
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
  const limited = <const Spec extends ApiSpec & { readonly body: GenericSchema }>(
    spec: Spec,
    window: SlidingWindow,
    act: (body: Output<Spec["body"]>, request: ApiRequest) => Promise<Reply>,
  ): ApiRoute =>
    apiRoute(spec, async (request) => {
      const retryAfterMs = window.take(request.device.id, clock.monotonic());
      if (retryAfterMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs });
      const body = await jsonBody<Spec["body"]>(request, spec.body, bodies);
      return body instanceof Reply ? body : act(body, request);
    });
  return [
    apiRoute(SETUP, async () => respond(SETUP, 200, await operations.setup())),
    apiRoute(USAGE, ({ query: { days = DEFAULT_DAYS } }) => respond(USAGE, 200, operations.usage(days))),
    apiRoute(LOGS, async ({ query }) => respond(LOGS, 200, await operations.logs({ ...query, limit: limitOf(query) }))),
    limited(DOCTOR, limits.checks, async ({ security = false }) =>
      respond(DOCTOR, 200, await operations.doctor(security)),
    ),
    limited(BACKUP, limits.backups, async (_body, { device }) =>
      respond(BACKUP, 200, await operations.backup(device.name)),
    ),
  ];
}
