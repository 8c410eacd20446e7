/** `@svc/fuzz`: hostile requests, made and judged. Never in a binary. */
export type { Attack, Exchange } from "./attack.ts";
export { type CampaignReport, runCampaign } from "./campaign.ts";
export { attackControl } from "./control/campaign.ts";
export { type FloodReport, runFloods } from "./floods/campaign.ts";
export { type IdleConnections, openIdle } from "./idle.ts";
export { judge } from "./judge/judge.ts";
export { violationLines } from "./report-lines.ts";
