/** What the service tells about itself, as data and as routes. */
import type { Json } from "@svc/contract";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import type { ApiRoute } from "./app.ts";
import {
  CHANNEL_REPORT,
  type ChannelReport,
  CONFIG_REPORT,
  FEATURE_REPORT,
  type FeatureReport,
  STATUS_REPORT,
  type StatusReport,
  TOOL_REPORT,
  type ToolReport,
} from "./report-schemas.ts";

/** What the app tells about itself. */
export interface Reports {
  status(): StatusReport;
  tools(): ToolReport;
  features(): FeatureReport;
  /** Those that are on. */
  channels(): ChannelReport;
  /** No secret in it. */
  configReport(): { readonly [section: string]: Json };
  /** What may stand in the file, and what it means. */
  configSchema(): Promise<Json>;
}

type Spec = Omit<ApiRoute, "handle">;

const STATUS: Spec = {
  method: "GET",
  path: "/api/status",
  access: "read",
  summary: "Tells how the service is.",
  answers: { 200: { description: "The status.", body: STATUS_REPORT } },
};

const TOOLS: Spec = {
  method: "GET",
  path: "/api/tools",
  access: "read",
  summary: "Lists the tools of the default agent.",
  answers: { 200: { description: "The tools, those that are switched off included.", body: TOOL_REPORT } },
};

const FEATURES: Spec = {
  method: "GET",
  path: "/api/features",
  access: "read",
  summary: "Lists the features of this build, and those it does not have.",
  answers: { 200: { description: "The features.", body: FEATURE_REPORT } },
};

const CHANNELS: Spec = {
  method: "GET",
  path: "/api/channels",
  access: "read",
  summary: "Lists the channels that are on, how each is, and where its platform has to call.",
  answers: { 200: { description: "The channels.", body: CHANNEL_REPORT } },
};

const CONFIG: Spec = {
  method: "GET",
  path: "/api/config",
  access: "operate",
  summary: "Shows the configuration in force; every secret as dots.",
  answers: { 200: { description: "Tables of the file, defaults filled in.", body: CONFIG_REPORT } },
};

const CONFIG_SCHEMA: Spec = {
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
