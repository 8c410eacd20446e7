/** What `svc sop` asks for. */
import { formatProblems } from "@svc/config";
import { type Json, SvcError, type SvcEvent } from "@svc/contract";
import type { SopAuthor } from "@svc/gateway";
import type { ControlHandlers, ControlRequest } from "@svc/gateway/control";
import type { EventHub } from "@svc/runtime";
import {
  type Approvals,
  calendarJson,
  type CheckedSop,
  isQuestionOf,
  runDetailJson,
  runJson,
  sopJson,
  type SopRunFilter,
  type Sops,
} from "@svc/sop";
import type { SopRunStatus } from "@svc/store";
import { AN_OPERATOR, limitOf, text } from "./input.ts";

const STATUSES: readonly string[] = ["pending", "running", "waiting_approval", "completed", "failed", "cancelled"];
const SOURCES: readonly string[] = ["webhook", "channel_event", "cron", "mqtt", "peripheral", "manual"];

export interface SopHandlerDeps {
  readonly sops: Sops;
  readonly author: SopAuthor;
  readonly approvals: Pick<Approvals, "get">;
  /** Every procedure, or one of them, with all that is wrong. */
  readonly check: () => Promise<readonly CheckedSop[]>;
  /** Of a service that runs. Without them no run is started: nothing would work on it. */
  readonly events: EventHub | undefined;
}

export function sopHandlers({ sops, author, approvals, check, events }: SopHandlerDeps): ControlHandlers {
  const detail = (id: string): Json => runDetailJson(sops.readRun(id), (key) => approvals.get(key));
  /** By its id, or by its number: `12` or `#12`. */
  const runIdOf = (given: string): string => {
    const [, digits] = /^#?(\d{1,15})$/.exec(given) ?? [];
    if (digits === undefined || sops.hasRun(given)) return given;
    const [newest] = sops.runs({ before: Number(digits) + 1 }, 1).runs;
    return newest?.n === Number(digits) ? newest.id : given;
  };
  return {
    sops: async () => {
      await sops.reload();
      return { sops: sops.list().map(sopJson), broken: sops.broken().map(({ name, problem }) => ({ name, problem })) };
    },
    "sop-show": async ({ body }) => {
      const name = text(body["name"]) ?? "";
      if (sops.hasRun(name)) return { run: detail(name) };
      await sops.reload();
      const isProcedure = sops.list().some(({ definition }) => definition.name === name);
      const id = runIdOf(name);
      return !isProcedure && sops.hasRun(id) ? { run: detail(id) } : { sop: sopJson(sops.show(name)) };
    },
    "sop-validate": async ({ body }) => {
      const name = text(body["name"]);
      const checked = (await check()).filter((sop) => name === undefined || sop.name === name);
      if (name !== undefined && checked.length === 0) throw new SvcError("SOP_UNKNOWN");
      return { ok: checked.every(({ problems }) => problems.length === 0), procedures: checked.map(checkedJson) };
    },
    "sop-run": async (request) => {
      if (!events) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
      await sops.reload();
      const { body } = request;
      const start = (): Promise<{ readonly id: string }> =>
        sops.run(text(body["name"]) ?? "", text(body["payload"]) ?? null, { by: AN_OPERATOR });
      return detail(
        body["wait"] === true ? await followRun({ events, approvals }, request, start) : (await start()).id,
      );
    },
    "sop-read": ({ body }) => author.read(text(body["name"]) ?? ""),
    "sop-draft": ({ body }) => {
      const name = text(body["name"]) ?? "";
      return author.check({ name, ...(text(body["toml"]) !== undefined && filesOf(body)), edits: [] });
    },
    "sop-save": ({ body }) => {
      const revision = text(body["revision"]) ?? null;
      return author.save(text(body["name"]) ?? "", { ...filesOf(body), revision }, AN_OPERATOR);
    },
    "sop-copy": ({ body }) => author.duplicate(text(body["name"]) ?? "", text(body["to"]) ?? "", AN_OPERATOR),
    "sop-switch": ({ body }) => author.setEnabled(text(body["name"]) ?? "", body["enabled"] === true, AN_OPERATOR),
    "sop-delete": ({ body }) => author.delete(text(body["name"]) ?? "", AN_OPERATOR),
    "sop-rename": ({ body }) => author.rename(text(body["name"]) ?? "", text(body["to"]) ?? "", AN_OPERATOR),
    "sop-versions": async ({ body }) => ({ versions: await author.versions(text(body["name"])) }),
    "sop-version": ({ body }) => author.version(Number(body["version"])),
    "sop-undo": ({ body }) => author.undo(Number(body["version"]), text(body["revision"]), AN_OPERATOR),
    "sop-test": async (request) => {
      if (!events) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
      await sops.reload();
      const { body } = request;
      const { trigger } = body;
      const sample = { ...(typeof trigger === "number" && { trigger }), payload: text(body["payload"]) ?? null };
      const start = () => sops.test(text(body["name"]) ?? "", sample, { by: AN_OPERATOR });
      return detail(
        body["wait"] === true ? await followRun({ events, approvals }, request, start) : (await start()).id,
      );
    },
    "sop-retry": async ({ body }) => {
      if (!events) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
      await sops.reload();
      const { run, asks } = await sops.retry(runIdOf(text(body["run"]) ?? ""), Number(body["step"]), {
        by: AN_OPERATOR,
      });
      return { ...runJson(run), asks: [...asks] };
    },
    "sop-calendar": async ({ body }) => {
      await sops.reload();
      const days = typeof body["days"] === "number" ? body["days"] : 7;
      return calendarJson(await sops.calendar(days, text(body["name"])));
    },
    "sop-runs": ({ body }) => ({ runs: sops.runs(filterOf(body), limitOf(body["limit"])).runs.map(runJson) }),
    "sop-cancel": async ({ body }) => runJson(await sops.cancel(runIdOf(text(body["run"]) ?? ""), AN_OPERATOR)),
  };
}

const filesOf = (body: ControlRequest["body"]) => ({
  toml: text(body["toml"]) ?? "",
  markdown: text(body["markdown"]) ?? null,
});

const checkedJson = ({ name, problems, warnings }: CheckedSop): Json => ({
  name,
  problems: problems.map((problem) => formatProblems([problem])),
  warnings: warnings.map((warning) => formatProblems([warning])),
});

function filterOf(body: ControlRequest["body"]): SopRunFilter {
  const sop = text(body["name"]);
  const status = text(body["status"]);
  if (status !== undefined && !STATUSES.includes(status)) {
    throw new SvcError("USAGE", `--status takes ${STATUSES.join(", ")}.`);
  }
  const source = text(body["source"]);
  if (source !== undefined && !SOURCES.includes(source))
    throw new SvcError("USAGE", `--source takes ${SOURCES.join(", ")}.`);
  return {
    ...(sop !== undefined && { sop }),
    ...(status !== undefined && { status: status as SopRunStatus }),
    ...(source !== undefined && { source }),
    ...(body["test"] === true && { test: true }),
  };
}

/** A run that somebody waits for: what it does, and what it asks people, until it has ended. */
interface FollowDeps {
  readonly events: EventHub;
  readonly approvals: Pick<Approvals, "get">;
}

/** Resolves with the run's id once it has ended. Rejects when nobody waits any more; the run goes on then. */
async function followRun(
  { events, approvals }: FollowDeps,
  { send, signal }: ControlRequest,
  start: () => Promise<{ readonly id: string }>,
): Promise<string> {
  const ended = Promise.withResolvers<void>();
  const early: SvcEvent[] = [];
  let id: string | undefined;
  const tell = (event: SvcEvent): void => {
    if (id === undefined) return void early.push(event);
    if (event.type === "human_approval_request" && event.origin !== "external" && isQuestionOf(id, event)) {
      send({ type: "question", run: id, title: event.title, approval: approvals.get(event)?.n ?? null });
    }
    if (event.type === "sop-run-step" && event.runId === id) {
      send({ type: "step", run: id, step: event.step, status: event.status });
    }
    if (event.type === "sop-run-end" && event.runId === id) ended.resolve();
  };
  const subscription = events.subscribe({ tell: ({ event }) => tell(event), dropped: () => {} });
  const stop = (): void => ended.reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    id = (await start()).id;
    early.forEach(tell);
    await ended.promise;
    return id;
  } finally {
    subscription.end();
    signal.removeEventListener("abort", stop);
  }
}
