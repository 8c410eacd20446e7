/** What a model's settings must be to each other: of `[model]`, and of what an agent makes of it. */
import type { ResolvedAgent } from "./agents.ts";
import { badValue, type Finding } from "./finding.ts";
import { keyText, type Path } from "./table.ts";

/** `path`: the table to blame. */
export function modelFaults({ provider, name, base_url, api_key }: ResolvedAgent["model"], path: Path): Finding[] {
  if (provider === "builtin") return [];
  const needed = [
    ["name", name],
    ...(provider === "openai-compatible" ? [["base_url", base_url]] : [["api_key", api_key]]),
  ] as const;
  const missing = needed.filter(([, value]) => (value ?? "").trim() === "");
  const message = `is required when ${keyText([...path, "provider"])} is "${provider}"`;
  const findings = missing.map(([key]) => badValue([...path, key!], message, { at: "key" }));
  if (/^[\x21-\x7e]*$/.test(api_key?.trim() ?? "")) return findings;
  return [...findings, badValue([...path, "api_key"], "has characters that no HTTP header can carry")];
}
