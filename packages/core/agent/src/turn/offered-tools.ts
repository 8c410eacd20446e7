/** A turn that has only some of its agent's tools: the model is told of no other, and what it calls all the same is refused. */
import { type Logger, SvcError } from "@svc/contract";
import type { TurnSettings } from "../models/agent-models.ts";
import type { AgentProfile } from "../profiles.ts";
import type { ToolEnvironment } from "../tools/environment.ts";

/** `only`: names; undefined for all. */
export function offered(settings: TurnSettings, only: readonly string[] | undefined): TurnSettings {
  if (!only) return settings;
  return { ...settings, functionTools: settings.functionTools.filter(({ name }) => only.includes(name)) };
}

export function onlyOffered(environment: ToolEnvironment, only: readonly string[] | undefined): ToolEnvironment {
  if (!only) return environment;
  const tools = environment.tools.filter(({ name }) => only.includes(name));
  return {
    ...environment,
    tools,
    find(name) {
      if (only.includes(name)) return environment.find(name);
      const has = tools.length === 0 ? "it has none" : `it has: ${tools.map((tool) => tool.name).join(", ")}`;
      throw new SvcError("TOOL_REFUSED", `This turn does not have this tool; ${has}.`);
    },
  };
}

/** What is named and not there is left out: whoever wrote the names may have meant another agent, or another build. */
export function noteMissing(
  log: Logger,
  { name: agent, environment }: AgentProfile,
  only: readonly string[] | undefined,
): void {
  const missing = only?.filter((name) => !environment.tools.some((tool) => tool.name === name)) ?? [];
  if (missing.length > 0) {
    log.warn("a turn names tools that its agent does not have", { agent, tools: missing.join(", ") });
  }
}
