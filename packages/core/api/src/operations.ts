/** What an operator watches and does beside settings: first steps, usage, the log, checks, backups. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { filter, limit, oneOf, time, type Output, type ParametersOutput } from "./schema.ts";

const day = (description: string) => v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/), v.description(description));

export const Backup = v.object({ file: v.string(), at: time(), bytes: integer(0) });
export type Backup = Output<typeof Backup>;

export const SetupReport = v.object({
  model: v.pipe(v.boolean(), v.description("An agent has another model than the built-in echo.")),
  channel: v.pipe(v.boolean(), v.description("A channel runs.")),
  tool: v.pipe(v.boolean(), v.description("A tool was called, and succeeded.")),
  sandbox: v.boolean(),
  service: v.pipe(
    v.picklist(["installed", "absent", "unsupported"]),
    v.description("Whether the system starts it; unsupported: this system's service manager is not known."),
  ),
  backup: v.pipe(v.nullable(Backup), v.description("The newest that was made on this machine; null: none was.")),
});
export type SetupReport = Output<typeof SetupReport>;

export const UsageLine = v.object({
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
export type UsageLine = Output<typeof UsageLine>;

export const ClientUsage = v.object({
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
export type ClientUsage = Output<typeof ClientUsage>;

export const Usage = v.object({
  since: day("The first of the days."),
  today: day("UTC."),
  usage: v.array(UsageLine),
  clients: v.pipe(
    v.array(ClientUsage),
    v.description("What each client spent today: by agent, the most first, at most 100."),
  ),
});
export type Usage = Output<typeof Usage>;

const MAX_DAYS = 366;
export const DEFAULT_DAYS = 30;

export const UsageQuery = {
  days: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/),
      v.transform(Number),
      integer(1, MAX_DAYS),
      v.description(`1 to ${MAX_DAYS}: how many days, today included; ${DEFAULT_DAYS} when left out`),
    ),
  ),
};
export type UsageQuery = ParametersOutput<typeof UsageQuery>;

const LEVELS = ["debug", "info", "warn", "error"] as const;

export const LogLine = v.object({
  time: v.pipe(v.nullable(v.string()), v.description("null: not a line of the service's own.")),
  level: v.nullable(v.picklist(LEVELS)),
  message: v.string(),
  fields: v.array(v.object({ name: v.string(), value: v.string() })),
});
export type LogLine = Output<typeof LogLine>;

export const LogPage = v.object({
  lines: v.array(LogLine),
  cursor: v.pipe(v.nullable(v.string()), v.description("Cursor of the lines written next; null: no file.")),
  cut: v.pipe(v.boolean(), v.description("Older lines were not searched, or lines since then were left out.")),
});
export type LogPage = Output<typeof LogPage>;

export const LogQuery = {
  level: oneOf(LEVELS),
  text: filter("at most 200 characters, in any case", 200),
  channel: filter("a channel's id", 64),
  limit: limit("lines"),
  after: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,20}:\d{1,20}:\d{1,15}$/), v.description("the cursor of an earlier answer")),
  ),
};
export type LogQuery = ParametersOutput<typeof LogQuery>;

export const Finding = v.object({
  id: v.pipe(v.string(), v.description("Stable.")),
  group: v.string(),
  level: v.picklist(["ok", "note", "warning", "error"]),
  message: v.string(),
  fix: v.pipe(v.nullable(v.string()), v.description("The command to enter or the key to change; null: it is ok.")),
});
export type Finding = Output<typeof Finding>;

export const DoctorRequest = v.strictObject({ security: v.exactOptional(v.boolean()) });
export type DoctorRequest = Output<typeof DoctorRequest>;

export const DoctorReport = v.object({ ok: v.boolean(), findings: v.array(Finding) });
export type DoctorReport = Output<typeof DoctorReport>;

export const BackupRequest = v.strictObject({});
export type BackupRequest = Output<typeof BackupRequest>;
