/** What the service reports about itself: status, channels, tools, features, config, chat commands. */
import { COMMAND_HELP } from "@svc/agent";
import {
  ChannelReport,
  CommandList,
  ConfigReport,
  ConfigSchema,
  FeatureReport,
  StatusReport,
  ToolReport,
} from "@svc/api";
import { apiRoute, type ApiRoute, type ApiSpec, respond } from "./route.ts";

// What the service tells about itself, as data and as routes.

/** What the app tells about itself. */
export interface Reports {
  status(): StatusReport;
  tools(): ToolReport;
  features(): FeatureReport;
  /** Those that are on. */
  channels(): ChannelReport;
  /** No secret in it. */
  configReport(): ConfigReport;
  /** The JSON Schema of the configuration file. */
  configSchema(): Promise<ConfigSchema>;
}

const STATUS = {
  method: "GET",
  path: "/api/status",
  access: "read",
  summary: "Tells how the service is.",
  answers: { 200: { description: "The status.", body: StatusReport } },
} satisfies ApiSpec;

const TOOLS = {
  method: "GET",
  path: "/api/tools",
  access: "read",
  summary: "Lists the tools of the default agent.",
  answers: { 200: { description: "The tools, those that are switched off included.", body: ToolReport } },
} satisfies ApiSpec;

const FEATURES = {
  method: "GET",
  path: "/api/features",
  access: "read",
  summary: "Lists the features of this build, and those it does not have.",
  answers: { 200: { description: "The features.", body: FeatureReport } },
} satisfies ApiSpec;

const CHANNELS = {
  method: "GET",
  path: "/api/channels",
  access: "read",
  summary: "Lists the channels that are on, how each is, and where its platform has to call.",
  answers: { 200: { description: "The channels.", body: ChannelReport } },
} satisfies ApiSpec;

const CONFIG = {
  method: "GET",
  path: "/api/config",
  access: "operate",
  summary: "Shows the configuration in force; every secret as dots.",
  answers: { 200: { description: "Tables of the file, defaults filled in.", body: ConfigReport } },
} satisfies ApiSpec;

const CONFIG_SCHEMA = {
  method: "GET",
  path: "/api/config/schema",
  access: "operate",
  summary: "Tells what the configuration of this build may hold, as a JSON Schema.",
  answers: { 200: { description: "The schema, draft 7.", body: ConfigSchema } },
} satisfies ApiSpec;

export const REPORT_SPECS = [STATUS, CHANNELS, TOOLS, FEATURES, CONFIG, CONFIG_SCHEMA];

export const reportRoutes = (reports: Reports): ApiRoute[] => [
  apiRoute(STATUS, () => respond(STATUS, 200, reports.status())),
  apiRoute(CHANNELS, () => respond(CHANNELS, 200, reports.channels())),
  apiRoute(TOOLS, () => respond(TOOLS, 200, reports.tools())),
  apiRoute(FEATURES, () => respond(FEATURES, 200, reports.features())),
  apiRoute(CONFIG, () => respond(CONFIG, 200, reports.configReport())),
  apiRoute(CONFIG_SCHEMA, async () => respond(CONFIG_SCHEMA, 200, await reports.configSchema())),
];

// Words that a person says to the service instead of to the model: for completion where they are typed.

const LIST = {
  method: "GET",
  path: "/api/commands",
  access: "read",
  summary: "Lists the commands that can be typed in a conversation.",
  answers: {
    200: {
      description: "The commands.",
      body: CommandList,
    },
  },
} satisfies ApiSpec;

export const COMMAND_SPECS = [LIST];

export const commandRoutes = (): ApiRoute[] => [
  apiRoute(LIST, () =>
    respond(LIST, 200, { commands: COMMAND_HELP.map(({ usage, summary }) => ({ usage, summary })) }),
  ),
];
