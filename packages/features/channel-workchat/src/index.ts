/** `channel-workchat`: a Lark app, a Feishu app, or both, by long connection or callback. */
import { defineFeature } from "@svc/contract";
import { chinaConfig, globalConfig } from "./config.ts";

const load = async () => {
  const { create } = await import("./workchat.ts");
  return { create: create("workchat") };
};

const loadChina = async () => {
  const { create } = await import("./workchat.ts");
  return { create: create("workchat_cn") };
};

export default [
  defineFeature({ id: "channel-workchat", section: "channels_config.workchat", config: globalConfig, load }),
  defineFeature({
    id: "channel-workchat-cn",
    partOf: "channel-workchat",
    section: "channels_config.workchat_cn",
    config: chinaConfig,
    load: loadChina,
  }),
] as const;
