/** What `svc sop` asks for. */
import type { SopRunDetail } from "@svc/api";
import type { ControlName } from "@svc/api/control";
import { formatProblems } from "@svc/config";
import { SvcError, type SvcEvent } from "@svc/contract";
import type { SopAuthor } from "@svc/gateway";
import type { EventHub } from "@svc/runtime";
import {
  type Approvals,
  calendarJson,
  type CheckedSop,
  isQuestionOf,
  runDetailJson,
  runJson,
  sopJson,
  type Sops,
} from "@svc/sop";
import type { Handlers, Request } from "../control.ts";
import { AN_OPERATOR } from "./input.ts";

export interface SopHandlerDeps {
  readonly sops: Sops;
  readonly author: SopAuthor;
  readonly approvals: Pick<Approvals, "get">;
  /** Every procedure, or one of them, with all that is wrong. */
  readonly check: () => Promise<readonly CheckedSop[]>;
  /** Of a service that runs. Without them no run is started: nothing would work on it. */
  readonly events: EventHub | undefined;
}

type Names = Extract<ControlName, "sops" | `sop-${string}`>;

export function sopHandlers({ sops, author, approvals, check, events }: SopHandlerDeps): Pick<Handlers, Names> {
  const detail = (id: string): SopRunDetail => runDetailJson(sops.readRun(id), (key) => approvals.get(key));
  /** By its id, or by its number: `12` or `#12`. */
  const runIdOf = (given: string): string => {
    const [, digits] = /^#?(\d{1,15})$/.exec(given) ?? [];
    if (digits === undefined || sops.hasRun(given)) return given;
    const [newest] = sops.runs({ before: Number(digits) + 1 }, 1).runs;
    return newest?.n === Number(digits) ? newest.id : given;
  };
  /** Throws NOT_RUNNING. */
  const running = (): EventHub => {
    if (events) return events;
    throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
  };
  const started = async (
    { wait, send, signal }: Following & { readonly wait: boolean },
    start: () => Promise<{ readonly id: string }>,
  ): Promise<SopRunDetail> => {
    const hub = running();
    await sops.reload();
    const id = wait ? await followRun({ events: hub, approvals }, { send, signal }, start) : (await start()).id;
    return detail(id);
  };
  return {
    sops: async () => {
      await sops.reload();
      return { sops: sops.list().map(sopJson), broken: sops.broken().map(({ name, problem }) => ({ name, problem })) };
    },
    "sop-show": async ({ body: { name } }) => {
      if (sops.hasRun(name)) return { run: detail(name) };
      await sops.reload();
      const isProcedure = sops.list().some(({ definition }) => definition.name === name);
      const id = runIdOf(name);
      return !isProcedure && sops.hasRun(id) ? { run: detail(id) } : { sop: sopJson(sops.show(name)) };
    },
    "sop-validate": async ({ body: { name } }) => {
      const checked = (await check()).filter((sop) => name === undefined || sop.name === name);
      if (name !== undefined && checked.length === 0) throw new SvcError("SOP_UNKNOWN");
      return { ok: checked.every(({ problems }) => problems.length === 0), procedures: checked.map(checkedJson) };
    },
    "sop-run": ({ body: { name, payload = null, wait }, send, signal }) =>
      started({ wait, send, signal }, () => sops.run(name, payload, { by: AN_OPERATOR })),
    "sop-test": ({ body: { name, payload = null, trigger, wait }, send, signal }) => {
      const sample = { ...(trigger !== undefined && { trigger }), payload };
      return started({ wait, send, signal }, () => sops.test(name, sample, { by: AN_OPERATOR }));
    },
    "sop-read": ({ body }) => author.read(body.name),
    "sop-draft": ({ body: { name, toml, markdown = null } }) =>
      author.check({ name, ...(toml !== undefined && { toml, markdown }), edits: [] }),
    "sop-save": ({ body: { name, toml, markdown = null, revision = null } }) =>
      author.save(name, { toml, markdown, revision }, AN_OPERATOR),
    "sop-copy": ({ body: { name, to } }) => author.duplicate(name, to, AN_OPERATOR),
    "sop-switch": ({ body: { name, enabled } }) => author.setEnabled(name, enabled, AN_OPERATOR),
    "sop-delete": ({ body }) => author.delete(body.name, AN_OPERATOR),
    "sop-rename": ({ body: { name, to } }) => author.rename(name, to, AN_OPERATOR),
    "sop-versions": async ({ body }) => ({ versions: await author.versions(body.name) }),
    "sop-version": ({ body }) => author.version(body.version),
    "sop-undo": ({ body: { version, revision } }) => author.undo(version, revision, AN_OPERATOR),
    "sop-retry": async ({ body }) => {
      running();
      await sops.reload();
      const { run, asks } = await sops.retry(runIdOf(body.run), body.step, { by: AN_OPERATOR });
      return { ...runJson(run), asks: [...asks] };
    },
    "sop-calendar": async ({ body: { days, name } }) => {
      await sops.reload();
      return calendarJson(await sops.calendar(days, name));
    },
    "sop-runs": ({ body: { name: sop, status, source, test, limit } }) => {
      const filter = {
        ...(sop !== undefined && { sop }),
        ...(status !== undefined && { status }),
        ...(source !== undefined && { source }),
        ...(test === true && { test }),
      };
      return { runs: sops.runs(filter, limit).runs.map(runJson) };
    },
    "sop-cancel": async ({ body }) => runJson(await sops.cancel(runIdOf(body.run), AN_OPERATOR)),
  };
}

const checkedJson = ({ name, problems, warnings }: CheckedSop) => ({
  name,
  problems: problems.map((problem) => formatProblems([problem])),
  warnings: warnings.map((warning) => formatProblems([warning])),
});

/** A run that somebody waits for: what it does, and what it asks people, until it has ended. */
interface FollowDeps {
  readonly events: EventHub;
  readonly approvals: Pick<Approvals, "get">;
}

type Following = Pick<Request<"sop-run">, "send" | "signal">;

/** Resolves with the run's id once it has ended. Rejects when nobody waits any more; the run goes on then. */
async function followRun(
  { events, approvals }: FollowDeps,
  { send, signal }: Following,
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
