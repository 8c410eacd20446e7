/** The platforms of the channels that people use every day. */
import { discord } from "./discord/everyday.ts";
import { slack } from "./slack/everyday.ts";
import { telegram } from "./telegram/everyday.ts";

export type { EverydayPlatform } from "./everyday-platform.ts";

export const EVERYDAY = { telegram, discord, slack } as const;
