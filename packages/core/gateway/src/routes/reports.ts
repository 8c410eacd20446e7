/** What the service reports about itself: status, channels, tools, features, config, chat commands. */
import { COMMAND_HELP } from "@svc/agent";
import { integer, type Json } from "@svc/contract";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import { name } from "./fields.ts";
import type { ApiRoute, ApiSpec } from "./route.ts";

const usd = (description: string) => v.pipe(v.number(), v.minValue(0), v.description(description));

const AGENT = v.object({
  name: v.string(),
  provider: v.string(),
  model: v.string(),
  models: v.pipe(v.array(v.string()), v.description("Those that can be chosen for a conversation, its own first.")),
  price_known: v.boolean(),
  cost_today_usd: usd("Of the turns whose price is known; days are UTC."),
  max_cost_per_day: v.nullable(usd("US dollars.")),
  client_max_cost_per_day: v.nullable(usd("US dollars, for each client.")),
});

const LAST_FAILURE = v.pipe(
  v.nullable(v.object({ reason: v.string(), at: v.string() })),
  v.description("Why it last waited or failed; it stays when all is well again, until the next start."),
);

const UNIT = v.object({
  id: v.string(),
  state: v.picklist(["constructed", "running", "waiting", "failed", "stopped"]),
  reason: v.nullable(v.string()),
  last_failure: LAST_FAILURE,
  restarts: integer(0),
});

/** Of a feature beside those of a channel: `probing` and `off` are of sandboxes, which confine nothing then. */
const FEATURE_STATES = [...UNIT.entries.state.options, "probing", "off"] as const;

const CHANNEL = v.object({
  id: name("As in the names of its section and of its conversations."),
  feature: v.string(),
  state: UNIT.entries.state,
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

const MESSAGES = v.object({
  waiting: v.pipe(integer(0), v.description("Came in, and not answered yet.")),
  locked: v.pipe(integer(0), v.description("Of those: encrypted, and their keys have not come.")),
  failed: v.pipe(integer(0), v.description("Came in, and could not be answered.")),
  outgoing: v.pipe(integer(0), v.description("Not taken by their platform yet.")),
  dead: v.pipe(integer(0), v.description("Could not be delivered; not retried any more.")),
  oldest_waiting_secs: v.pipe(v.nullable(integer(0)), v.description("How long the oldest waits; null: none does.")),
});

const ACTIVITY = v.object({
  minutes: v.pipe(
    v.array(
      v.object({
        at: v.string(),
        received: integer(0),
        answered: integer(0),
        delivered: integer(0),
        failed: integer(0),
      }),
    ),
    v.description("The last hour, minute by minute; the current minute comes last."),
  ),
});

const SOPS = v.object({
  loaded: v.pipe(integer(0), v.description("Procedures in force.")),
  broken: v.pipe(integer(0), v.description("Procedures whose files, as they are now, are not in force.")),
  running: v.pipe(integer(0), v.description("Runs that have not ended, those that wait for a person apart.")),
  waiting: v.pipe(integer(0), v.description("Runs that wait for a person.")),
});

const SANDBOX = v.object({
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

const STATUS_REPORT = v.object({
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
  agents: v.array(AGENT),
  sandbox: SANDBOX,
  pairing: v.object({ required: v.boolean(), devices: integer(0) }),
  turns: v.object({ running: integer(0), waiting: integer(0) }),
  channels: v.array(CHANNEL),
  messages: MESSAGES,
  approvals: v.object({ waiting: v.pipe(integer(0), v.description("Pending requests.")) }),
  sops: SOPS,
  activity: ACTIVITY,
  transcription: v.pipe(v.boolean(), v.description("Recordings can be transcribed: POST /api/transcriptions.")),
  memory_rss_bytes: integer(0),
  warnings: v.array(v.string()),
  database: v.object({ bytes: integer(0), writable: v.boolean() }),
  unsigned: v.pipe(v.array(v.string()), v.description("Channels that take messages without checking a signature.")),
  features: v.array(v.object({ ...UNIT.entries, state: v.picklist(FEATURE_STATES) })),
});

const TOOL = v.object({
  name: v.string(),
  description: v.string(),
  approval: v.picklist(["auto", "ask", "depends on the input"]),
  feature: v.nullable(v.string()),
  enabled: v.boolean(),
});

const TOOL_REPORT = v.object({ tools: v.array(TOOL) });

const FEATURE = v.object({
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

const FEATURE_REPORT = v.object({ profile: v.string(), sandbox: SANDBOX, features: v.array(FEATURE) });

const CHANNEL_REPORT = v.object({ channels: v.array(CHANNEL) });

const CONFIG_REPORT = v.record(v.string(), v.unknown());

export type StatusReport = v.InferOutput<typeof STATUS_REPORT>;
export type ToolReport = v.InferOutput<typeof TOOL_REPORT>;
export type ChannelReport = v.InferOutput<typeof CHANNEL_REPORT>;
export type FeatureReport = v.InferOutput<typeof FEATURE_REPORT>;

// What the service tells about itself, as data and as routes.

/** What the app tells about itself. */
export interface Reports {
  status(): StatusReport;
  tools(): ToolReport;
  features(): FeatureReport;
  /** Those that are on. */
  channels(): ChannelReport;
  /** No secret in it. */
  configReport(): { readonly [section: string]: Json };
  /** The JSON Schema of the configuration file. */
  configSchema(): Promise<Json>;
}

const STATUS: ApiSpec = {
  method: "GET",
  path: "/api/status",
  access: "read",
  summary: "Tells how the service is.",
  answers: { 200: { description: "The status.", body: STATUS_REPORT } },
};

const TOOLS: ApiSpec = {
  method: "GET",
  path: "/api/tools",
  access: "read",
  summary: "Lists the tools of the default agent.",
  answers: { 200: { description: "The tools, those that are switched off included.", body: TOOL_REPORT } },
};

const FEATURES: ApiSpec = {
  method: "GET",
  path: "/api/features",
  access: "read",
  summary: "Lists the features of this build, and those it does not have.",
  answers: { 200: { description: "The features.", body: FEATURE_REPORT } },
};

const CHANNELS: ApiSpec = {
  method: "GET",
  path: "/api/channels",
  access: "read",
  summary: "Lists the channels that are on, how each is, and where its platform has to call.",
  answers: { 200: { description: "The channels.", body: CHANNEL_REPORT } },
};

const CONFIG: ApiSpec = {
  method: "GET",
  path: "/api/config",
  access: "operate",
  summary: "Shows the configuration in force; every secret as dots.",
  answers: { 200: { description: "Tables of the file, defaults filled in.", body: CONFIG_REPORT } },
};

const CONFIG_SCHEMA: ApiSpec = {
  method: "GET",
  path: "/api/config/schema",
  access: "operate",
  summary: "Tells what the configuration of this build may hold, as a JSON Schema.",
  answers: { 200: { description: "The schema, draft 7.", body: v.record(v.string(), v.unknown()) } },
};

export const REPORT_SPECS = [STATUS, CHANNELS, TOOLS, FEATURES, CONFIG, CONFIG_SCHEMA];

export const reportRoutes = (reports: Reports): ApiRoute[] => [
  { ...STATUS, handle: () => jsonReply(200, reports.status()) },
  { ...CHANNELS, handle: () => jsonReply(200, reports.channels()) },
  { ...TOOLS, handle: () => jsonReply(200, reports.tools()) },
  { ...FEATURES, handle: () => jsonReply(200, reports.features()) },
  { ...CONFIG, handle: () => jsonReply(200, reports.configReport()) },
  { ...CONFIG_SCHEMA, handle: async () => jsonReply(200, await reports.configSchema()) },
];

// Words that a person says to the service instead of to the model: for completion where they are typed.

const LIST: ApiSpec = {
  method: "GET",
  path: "/api/commands",
  access: "read",
  summary: "Lists the commands that can be typed in a conversation.",
  answers: {
    200: {
      description: "The commands.",
      body: v.object({
        commands: v.array(
          v.object({ usage: name("As it is typed; what stands in <> is to be filled in."), summary: v.string() }),
        ),
      }),
    },
  },
};

export const COMMAND_SPECS = [LIST];

export const commandRoutes = (): ApiRoute[] => [
  {
    ...LIST,
    handle: () => jsonReply(200, { commands: COMMAND_HELP.map(({ usage, summary }) => ({ usage, summary })) }),
  },
];
