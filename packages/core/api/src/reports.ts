/** What the service reports about itself: status, channels, tools, features, commands. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { anyJson, name, type Output } from "./schema.ts";

const usd = (description: string) => v.pipe(v.number(), v.minValue(0), v.description(description));

export const AgentReport = v.object({
  name: v.string(),
  provider: v.string(),
  model: v.string(),
  models: v.pipe(v.array(v.string()), v.description("Those that can be chosen for a conversation, its own first.")),
  price_known: v.boolean(),
  cost_today_usd: usd("Of the turns whose price is known; days are UTC."),
  max_cost_per_day: v.nullable(usd("US dollars.")),
  client_max_cost_per_day: v.nullable(usd("US dollars, for each client.")),
});
export type AgentReport = Output<typeof AgentReport>;

const LAST_FAILURE = v.pipe(
  v.nullable(v.object({ reason: v.string(), at: v.string() })),
  v.description("Why it last waited or failed; it stays when all is well again, until the next start."),
);

export const UnitReport = v.object({
  id: v.string(),
  state: v.picklist(["constructed", "running", "waiting", "failed", "stopped"]),
  reason: v.nullable(v.string()),
  last_failure: LAST_FAILURE,
  restarts: integer(0),
});
export type UnitReport = Output<typeof UnitReport>;

/** Of a feature beside those of a channel: `probing` and `off` are of sandboxes, which confine nothing then. */
const FEATURE_STATES = [...UnitReport.entries.state.options, "probing", "off"] as const;

export const ChannelStatus = v.object({
  id: name("As in the names of its section and of its conversations."),
  feature: v.string(),
  state: UnitReport.entries.state,
  reason: v.nullable(v.string()),
  last_failure: LAST_FAILURE,
  callback_urls: v.pipe(
    v.array(v.string()),
    v.description("URL that the platform calls; a path while gateway.public_url is not set."),
  ),
  signed: v.pipe(
    v.nullable(v.boolean()),
    v.description("Whether deliveries are signed; null: the channel has no webhook."),
  ),
  last_message_at: v.pipe(v.nullable(v.string()), v.description("When the newest message came in.")),
  last_error: v.pipe(
    v.nullable(v.object({ code: v.string(), message: v.string(), at: v.string() })),
    v.description("Of the newest message that could not be answered or delivered, whose id it names."),
  ),
});
export type ChannelStatus = Output<typeof ChannelStatus>;

const MESSAGES = v.object({
  waiting: v.pipe(integer(0), v.description("Came in, and not answered yet.")),
  locked: v.pipe(integer(0), v.description("Of those: encrypted, and their keys have not come.")),
  failed: v.pipe(integer(0), v.description("Came in, and could not be answered.")),
  outgoing: v.pipe(integer(0), v.description("Not taken by their platform yet.")),
  dead: v.pipe(integer(0), v.description("Could not be delivered; not retried any more.")),
  oldest_waiting_secs: v.pipe(v.nullable(integer(0)), v.description("How long the oldest waits; null: none does.")),
});

export const ActivityMinute = v.object({
  at: v.string(),
  received: integer(0),
  answered: integer(0),
  delivered: integer(0),
  failed: integer(0),
});
export type ActivityMinute = Output<typeof ActivityMinute>;

const ACTIVITY = v.object({
  minutes: v.pipe(
    v.array(ActivityMinute),
    v.description("The last hour, minute by minute; the current minute comes last."),
  ),
});

const SOPS = v.object({
  loaded: v.pipe(integer(0), v.description("Procedures in force.")),
  broken: v.pipe(integer(0), v.description("Procedures whose files, as they are now, are not in force.")),
  running: v.pipe(integer(0), v.description("Runs that have not ended, those that wait for a person apart.")),
  waiting: v.pipe(integer(0), v.description("Runs that wait for a person.")),
});

export const SandboxReport = v.object({
  effective: v.pipe(
    v.string(),
    v.description(
      "The backend in force; `none`: nothing confines commands; `unavailable`: commands are refused; `probing`: they wait.",
    ),
  ),
  confined: v.boolean(),
  summary: name("For a person."),
  fix: v.pipe(
    v.nullable(v.string()),
    v.description("One command or change that adds a sandbox, when none is in force."),
  ),
  warning: v.nullable(v.string()),
  reasons: v.pipe(v.array(v.string()), v.description("Why no stronger sandbox is used, and the limits of this one.")),
});
export type SandboxReport = Output<typeof SandboxReport>;

export const StatusReport = v.object({
  status: v.picklist(["ok", "degraded"]),
  instance: name("Random per start."),
  version: v.string(),
  commit: v.string(),
  profile: v.string(),
  pid: integer(0),
  uptime_secs: integer(0),
  url: v.string(),
  public_url: v.nullable(v.string()),
  home: v.string(),
  config: name("Path of the file."),
  model: v.object({ provider: v.string(), name: v.string(), price_known: v.boolean() }),
  agents: v.array(AgentReport),
  sandbox: SandboxReport,
  pairing: v.object({ required: v.boolean(), devices: integer(0) }),
  turns: v.object({ running: integer(0), waiting: integer(0) }),
  channels: v.array(ChannelStatus),
  messages: MESSAGES,
  approvals: v.object({ waiting: v.pipe(integer(0), v.description("Pending requests.")) }),
  sops: SOPS,
  activity: ACTIVITY,
  transcription: v.pipe(v.boolean(), v.description("Recordings can be transcribed: POST /api/transcriptions.")),
  memory_rss_bytes: integer(0),
  warnings: v.array(v.string()),
  database: v.object({ bytes: integer(0), writable: v.boolean() }),
  unsigned: v.pipe(v.array(v.string()), v.description("Channels that take messages without checking a signature.")),
  features: v.array(v.object({ ...UnitReport.entries, state: v.picklist(FEATURE_STATES) })),
});
export type StatusReport = Output<typeof StatusReport>;

export const ToolInfo = v.object({
  name: v.string(),
  description: v.string(),
  approval: v.picklist(["auto", "ask", "depends on the input"]),
  feature: v.nullable(v.string()),
  enabled: v.boolean(),
});
export type ToolInfo = Output<typeof ToolInfo>;

export const ToolReport = v.object({ tools: v.array(ToolInfo) });
export type ToolReport = Output<typeof ToolReport>;

export const FeatureInfo = v.object({
  id: v.string(),
  flag: v.string(),
  kind: v.string(),
  summary: v.string(),
  included: v.pipe(v.boolean(), v.description("In this build.")),
  planned: v.pipe(v.boolean(), v.description("Not written yet.")),
  profiles: v.array(v.string()),
  build: v.pipe(v.string(), v.description("The command that makes this build with it.")),
  sections: v.array(v.string()),
  tools: v.array(v.string()),
  state: v.picklist([...FEATURE_STATES, "absent"]),
  reason: v.nullable(v.string()),
});
export type FeatureInfo = Output<typeof FeatureInfo>;

export const FeatureReport = v.object({ profile: v.string(), sandbox: SandboxReport, features: v.array(FeatureInfo) });
export type FeatureReport = Output<typeof FeatureReport>;

export const ChannelReport = v.object({ channels: v.array(ChannelStatus) });
export type ChannelReport = Output<typeof ChannelReport>;

export const ConfigReport = v.record(v.string(), anyJson);
export type ConfigReport = Output<typeof ConfigReport>;

export const ConfigSchema = v.record(v.string(), anyJson);
export type ConfigSchema = Output<typeof ConfigSchema>;

/** Commands that can be typed in a conversation. */
export const CommandList = v.object({
  commands: v.array(
    v.object({ usage: name("As it is typed; what stands in <> is to be filled in."), summary: v.string() }),
  ),
});
export type CommandList = Output<typeof CommandList>;
