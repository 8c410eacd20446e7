/** Procedures: their files, versions and runs, what cron starts next, and the audit log. */
import {
  AuditPage,
  AuditQuery,
  type Output,
  SopCalendar,
  SopCalendarQuery,
  SopDeleted,
  SopDraft,
  SopDraftRequest,
  SopList,
  SopName,
  SopPayload,
  SopRetried,
  SopRetry,
  SopRun,
  SopRunDetail,
  SopRunPage,
  SopRunQuery,
  SopRunStarted,
  SopSave,
  SopSaved,
  SopSource,
  SopSwitch,
  SopTest,
  SopUndo,
  SopUndone,
  type SopVersion,
  SopVersionDetail,
  SopVersionQuery,
  SopVersions,
  name,
} from "@svc/api";
import { parseJson } from "@svc/kit";
import {
  type AuditLog,
  type SopSummary,
  type Sops,
  auditJson,
  calendarJson,
  runDetailJson,
  runJson,
  sopJson,
} from "@svc/sop";
import type { Device } from "@svc/store";
import { Reply, errorReply } from "../http/reply.ts";
import type { GatewayApprovals } from "./approvals.ts";
import {
  type ApiRequest,
  type ApiRoute,
  type ApiSpec,
  type BodyLimits,
  apiRoute,
  bodyBytes,
  jsonBody,
  limitOf,
  respond,
} from "./route.ts";
import type { ErrorCode } from "@svc/contract";
import type { GenericSchema } from "valibot";
import { type SettingsRouteDeps, versionOf } from "./settings.ts";

/** What the gateway asks of procedures. */
export type GatewaySops = Pick<
  Sops,
  "hasPath" | "dispatchIn" | "run" | "test" | "retry" | "calendar" | "list" | "broken" | "runs" | "readRun" | "cancel"
> & { readonly audit: Pick<Sops["audit"], "list"> };

const runParams = { id: name("The run's id.") };

const LIST_RUNS = {
  method: "GET",
  path: "/api/sop-runs",
  access: "operate",
  summary: "Lists runs of procedures, the newest first.",
  query: SopRunQuery,
  answers: { 200: { description: "A page.", body: SopRunPage } },
} satisfies ApiSpec;

const SHOW_RUN = {
  method: "GET",
  path: "/api/sop-runs/{id}",
  access: "operate",
  summary: "Shows a run and each of its steps.",
  params: runParams,
  answers: { 200: { description: "The run.", body: SopRunDetail } },
  errors: ["SOP_RUN_UNKNOWN"],
} satisfies ApiSpec;

const CANCEL_RUN = {
  method: "POST",
  path: "/api/sop-runs/{id}/cancel",
  access: "operate",
  summary: "Ends a run. The step that runs is called off.",
  params: runParams,
  answers: { 200: { description: "It has ended.", body: SopRun } },
  errors: ["SOP_RUN_UNKNOWN", "SOP_RUN_ENDED", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const SOP_RUN_SPECS = [LIST_RUNS, SHOW_RUN, CANCEL_RUN];

const LIST = {
  method: "GET",
  path: "/api/sops",
  access: "read",
  summary: "Lists procedures, in the order of their names.",
  answers: {
    200: {
      description: "Those that can run, and those whose files never were right.",
      body: SopList,
    },
  },
} satisfies ApiSpec;

const START = {
  method: "POST",
  path: "/api/sops/{name}/runs",
  access: "operate",
  summary: "Starts a procedure that has a manual trigger.",
  details: "The body, if any, is its payload: any JSON.",
  params: { name: name("The procedure's name.") },
  body: SopPayload,
  bodyOptional: true,
  answers: {
    202: { description: "Its run is on disk.", body: SopRunStarted },
  },
  errors: ["SOP_UNKNOWN", "SOP_NOT_MANUAL", "SOP_DISABLED", "SOP_BUSY", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const SOP_SPECS = [LIST, START];

export const sopRoutes = (sops: GatewaySops, limits: BodyLimits): ApiRoute[] => [
  apiRoute(LIST, ({ device: { scope } }) =>
    respond(LIST, 200, {
      sops: sops.list().map((summary) => sopJson(scope === "operator" ? summary : withoutWords(summary))),
      broken: sops.broken().map(({ name, problem }) => ({ name, problem })),
    }),
  ),
  apiRoute(START, (request) => started(sops, request, limits)),
];

/** The reason of a run's end may quote a person's answer: only an operator may read it. */
function withoutWords(summary: SopSummary): SopSummary {
  const { lastRun } = summary;
  return lastRun ? { ...summary, lastRun: { ...lastRun, reason: undefined } } : summary;
}

/** As the audit log has it: who does what a device did. */
const byDevice = ({ name }: Pick<Device, "name">): string => `device ${name}`;

async function started(sops: GatewaySops, request: ApiRequest, limits: BodyLimits): Promise<Reply> {
  const body = await bodyBytes(request, limits);
  if (body instanceof Reply) return body;
  if (body.length > 0 && parseJson(body) === undefined) return errorReply("BAD_JSON");
  const payload = body.length === 0 ? null : body.toString("utf8");
  const run = await sops.run(request.params["name"] ?? "", payload, { by: byDevice(request.device) });
  return respond(START, 202, { sop: run.sop, run_id: run.id });
}

// Runs of procedures. An operator's to see: payloads and outputs are other people's words.

export const sopRunRoutes = (sops: GatewaySops, approvals: Pick<GatewayApprovals, "get">): ApiRoute[] => [
  apiRoute(LIST_RUNS, ({ query }) => respond(LIST_RUNS, 200, listed(sops, query))),
  apiRoute(SHOW_RUN, ({ params }) => {
    const run = sops.readRun(idOf(params));
    return respond(
      SHOW_RUN,
      200,
      runDetailJson(run, (key) => approvals.get(key)),
    );
  }),
  apiRoute(CANCEL_RUN, async ({ params, device }) =>
    respond(CANCEL_RUN, 200, runJson(await sops.cancel(idOf(params), byDevice(device)))),
  ),
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

function listed(sops: GatewaySops, { sop, status, source, test, before, ...query }: SopRunQuery): SopRunPage {
  const filter = {
    ...(sop !== undefined && { sop }),
    ...(status && { status }),
    ...(source !== undefined && { source }),
    ...(test !== undefined && { test: test === "true" }),
    ...(before !== undefined && { before }),
  };
  const page = sops.runs(filter, limitOf(query));
  return { runs: page.runs.map(runJson), before: page.next ?? null };
}

/** Procedures as the page edits them: files, versions, test runs, the calendar. */
// Procedures as the page edits them: files, versions, test runs, the calendar.

const sopParams = { name: name("The procedure's name.") };

const SAVE_ERRORS: ErrorCode[] = ["SOP_INVALID", "SOP_UNWRITABLE", "RATE_LIMITED", "STORE_FULL", "STORE_FAILED"];

const READ = {
  method: "GET",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Reads the files of a procedure, with their errors.",
  params: sopParams,
  answers: { 200: { description: "As they are in the workspace.", body: SopSource } },
  errors: ["SOP_UNKNOWN", "SOP_INVALID"],
} satisfies ApiSpec;

const DRAFT_CHECK = {
  method: "POST",
  path: "/api/sop-drafts",
  access: "operate",
  summary: "Checks the text of a procedure, after the edits of a form, and writes nothing.",
  details: "Without a text, the answer is the template of a new procedure.",
  body: SopDraftRequest,
  answers: { 200: { description: "The text, with its errors.", body: SopDraft } },
  errors: ["SOP_INVALID", "RATE_LIMITED"],
} satisfies ApiSpec;

const SAVE = {
  method: "PUT",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Writes the files of a procedure, which is in force at once.",
  params: sopParams,
  body: SopSave,
  answers: { 200: { description: "They are written.", body: SopSaved } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", "SOP_CHANGED", ...SAVE_ERRORS],
} satisfies ApiSpec;

const COPY = {
  method: "POST",
  path: "/api/sops/{name}/copies",
  access: "operate",
  summary: "Makes a copy of a procedure, which is disabled.",
  params: sopParams,
  body: SopName,
  answers: { 200: { description: "It is written.", body: SopSaved } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", ...SAVE_ERRORS],
} satisfies ApiSpec;

const SWITCH = {
  method: "PATCH",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Enables or disables a procedure.",
  details: "A disabled procedure runs only in tests; a request to its path lists it in `skipped`.",
  params: sopParams,
  body: SopSwitch,
  answers: { 200: { description: "It is written.", body: SopSaved } },
  errors: ["SOP_UNKNOWN", "SOP_CHANGED", ...SAVE_ERRORS],
} satisfies ApiSpec;

const REMOVE = {
  method: "DELETE",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Deletes the files of a procedure.",
  details:
    "Its runs go on with the definition they began with. Other files in its folder stay. An undo of the version brings it back.",
  params: sopParams,
  answers: {
    200: {
      description: "They are gone.",
      body: SopDeleted,
    },
  },
  errors: ["SOP_UNKNOWN", ...SAVE_ERRORS],
} satisfies ApiSpec;

const RENAME = {
  method: "POST",
  path: "/api/sops/{name}/rename",
  access: "operate",
  summary: "Gives a procedure another name.",
  details: "Its runs keep the name they began with, and go on with the definition they began with.",
  params: sopParams,
  body: SopName,
  answers: { 200: { description: "It has the name.", body: SopSaved } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", ...SAVE_ERRORS],
} satisfies ApiSpec;

const TEST = {
  method: "POST",
  path: "/api/sops/{name}/test-runs",
  access: "operate",
  summary: "Starts a run that is marked as a test, with a sample event.",
  details: "It has the gates of any other run, needs no enabling, and neither waits for a cooldown nor starts one.",
  params: sopParams,
  body: SopTest,
  answers: {
    202: { description: "Its run is on disk.", body: SopRunStarted },
  },
  errors: ["SOP_UNKNOWN", "SOP_INVALID", "SOP_NOT_TRIGGERED", "SOP_BUSY", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const RETRY = {
  method: "POST",
  path: "/api/sop-runs/{id}/retry",
  access: "operate",
  summary: "Starts a new run that takes over the finished steps before one, and does the rest again.",
  details: "A step that may have acted in an earlier run waits for a person before it acts again.",
  params: { id: name("The run's id.") },
  body: SopRetry,
  answers: {
    202: {
      description: "The new run is on disk.",
      body: SopRetried,
    },
  },
  errors: [
    "SOP_RUN_UNKNOWN",
    "SOP_RUN_ACTIVE",
    "SOP_RETRY_REFUSED",
    "SOP_UNKNOWN",
    "SOP_INVALID",
    "SOP_DISABLED",
    "SOP_BUSY",
    "STORE_FULL",
    "STORE_FAILED",
  ],
} satisfies ApiSpec;

const CALENDAR = {
  method: "GET",
  path: "/api/sop-calendar",
  access: "read",
  summary: "Lists what cron starts in the next days.",
  query: SopCalendarQuery,
  answers: {
    200: {
      description: "Triggers by their first time.",
      body: SopCalendar,
    },
  },
} satisfies ApiSpec;

export const SOP_EDITOR_SPECS = [READ, DRAFT_CHECK, SAVE, COPY, RENAME, SWITCH, REMOVE, TEST, RETRY, CALENDAR];

const version = { id: name("The version's number.") };

const VERSIONS = {
  method: "GET",
  path: "/api/sop-versions",
  access: "operate",
  summary: "Lists the changes of procedures that were saved, the newest first.",
  query: SopVersionQuery,
  answers: { 200: { description: "The last 200.", body: SopVersions } },
} satisfies ApiSpec;

const VERSION_DIFF = {
  method: "GET",
  path: "/api/sop-versions/{id}",
  access: "operate",
  summary: "Shows what a saved change did to the files, and what an undo would do to them now.",
  params: version,
  answers: {
    200: {
      description: "The change, secrets as dots.",
      body: SopVersionDetail,
    },
  },
  errors: ["VERSION_UNKNOWN", "SOP_INVALID"],
} satisfies ApiSpec;

const UNDO = {
  method: "POST",
  path: "/api/sop-versions/{id}/undo",
  access: "operate",
  summary: "Puts the procedures of a saved change back as they were before it.",
  params: version,
  body: SopUndo,
  answers: {
    200: {
      description: "They are as they were.",
      body: SopUndone,
    },
  },
  errors: ["VERSION_UNKNOWN", "SOP_CHANGED", ...SAVE_ERRORS],
} satisfies ApiSpec;

export const SOP_VERSION_SPECS = [VERSIONS, VERSION_DIFF, UNDO];

/** Where procedures are written. Rejects with SOP_*, VERSION_UNKNOWN, STORE_*. */
export interface SopAuthor {
  read(name: string): Promise<SopSource>;
  check(draft: SopDraftRequest): Promise<SopDraft>;
  save(name: string, files: SopSave, by: string): Promise<SopSaved>;
  duplicate(name: string, copy: string, by: string): Promise<SopSaved>;
  setEnabled(name: string, enabled: boolean, by: string): Promise<SopSaved>;
  delete(name: string, by: string): Promise<SopUndone>;
  rename(name: string, to: string, by: string): Promise<SopSaved>;
  versions(name: string | undefined): Promise<readonly SopVersion[]>;
  version(number: number): Promise<SopVersionDetail>;
  undo(number: number, revision: string | undefined, by: string): Promise<SopUndone>;
}

export interface SopEditorRouteDeps extends Pick<SettingsRouteDeps, "bodies" | "clock" | "settingsLimits"> {
  readonly sops: GatewaySops;
  readonly sopAuthor: SopAuthor;
}

export function sopEditorRoutes({
  sops,
  sopAuthor: author,
  bodies,
  clock,
  settingsLimits,
}: SopEditorRouteDeps): ApiRoute[] {
  const limited = ({ device }: ApiRequest): Reply | undefined => {
    const waitMs = settingsLimits.changes.take(device.id, clock.monotonic());
    return waitMs > 0 ? errorReply("RATE_LIMITED", { retryAfterMs: waitMs }) : undefined;
  };
  /** The limit is that of settings, because a draft is checked while the operator types. */
  const writing = <const Spec extends ApiSpec & { readonly body: GenericSchema }>(
    spec: Spec,
    act: (body: Output<Spec["body"]>, request: ApiRequest) => Promise<Reply>,
  ): ApiRoute =>
    apiRoute(spec, async (request) => {
      const refused = limited(request);
      if (refused) return refused;
      const body = await jsonBody<Spec["body"]>(request, spec.body, bodies);
      return body instanceof Reply ? body : act(body, request);
    });
  return [
    apiRoute(READ, async ({ params }) => respond(READ, 200, await author.read(nameOf(params)))),
    writing(DRAFT_CHECK, async (body) => respond(DRAFT_CHECK, 200, await author.check(body))),
    writing(SAVE, async (body, { params, device }) =>
      respond(SAVE, 200, await author.save(nameOf(params), body, byDevice(device))),
    ),
    writing(COPY, async ({ name }, { params, device }) =>
      respond(COPY, 200, await author.duplicate(nameOf(params), name, byDevice(device))),
    ),
    writing(SWITCH, async ({ enabled }, { params, device }) =>
      respond(SWITCH, 200, await author.setEnabled(nameOf(params), enabled, byDevice(device))),
    ),
    writing(RENAME, async ({ name }, { params, device }) =>
      respond(RENAME, 200, await author.rename(nameOf(params), name, byDevice(device))),
    ),
    apiRoute(REMOVE, async (request) => {
      const { device, params } = request;
      const refused = limited(request);
      if (refused) return refused;
      const { name, version } = await author.delete(nameOf(params), byDevice(device));
      return respond(REMOVE, 200, { name, deleted: true, version });
    }),
    apiRoute(VERSIONS, async ({ query }) => respond(VERSIONS, 200, { versions: await author.versions(query.sop) })),
    apiRoute(VERSION_DIFF, async ({ params }) => respond(VERSION_DIFF, 200, await author.version(versionOf(params)))),
    writing(UNDO, async ({ revision }, { params, device }) =>
      respond(UNDO, 200, await author.undo(versionOf(params), revision, byDevice(device))),
    ),
    apiRoute(TEST, async (request) => {
      const body = await jsonBody(request, SopTest, bodies);
      if (body instanceof Reply) return body;
      const { trigger, payload } = body;
      const sample = {
        ...(trigger !== undefined && { trigger }),
        payload: payload === undefined ? null : JSON.stringify(payload),
      };
      const run = await sops.test(nameOf(request.params), sample, { by: byDevice(request.device) });
      return respond(TEST, 202, { sop: run.sop, run_id: run.id });
    }),
    apiRoute(RETRY, async (request) => {
      const body = await jsonBody(request, SopRetry, bodies);
      if (body instanceof Reply) return body;
      const { run, asks } = await sops.retry(request.params["id"] ?? "", body.step, { by: byDevice(request.device) });
      return respond(RETRY, 202, { ...runJson(run), asks });
    }),
    apiRoute(CALENDAR, async ({ query: { days = 7, sop } }) =>
      respond(CALENDAR, 200, calendarJson(await sops.calendar(days, sop))),
    ),
  ];
}

const nameOf = (params: ApiRequest["params"]): string => params["name"] ?? "";

// The audit log of procedures and approvals. An operator's to read.

const READ_LOG = {
  method: "GET",
  path: "/api/audit",
  access: "operate",
  summary: "Reads the audit log of procedures and approvals, the newest line first.",
  query: AuditQuery,
  answers: { 200: { description: "A page.", body: AuditPage } },
} satisfies ApiSpec;

export const AUDIT_SPECS = [READ_LOG];

export const auditRoutes = (audit: Pick<AuditLog, "list">): ApiRoute[] => [
  apiRoute(READ_LOG, ({ query }) => {
    const page = audit.list(limitOf(query), query.before);
    return respond(READ_LOG, 200, { entries: page.entries.map(auditJson), before: page.next ?? null });
  }),
];
