/** What the daemon wrote about it all. */

/** Lines that must not be there, as sentences. */
export function judgeLog(output: string, secrets: readonly string[], forbidden: readonly string[]): string[] {
  const found: string[] = [];
  if (secrets.some((secret) => output.includes(secret))) found.push("the log tells a secret");
  if (forbidden.some((text) => output.includes(text))) found.push("the log quotes what was sent");
  for (const line of output.split("\n")) {
    // A line that is not JSON comes from the start of the daemon, or from a crashing runtime.
    const entry = line.startsWith("{") ? entryOf(line) : undefined;
    if (/^\s+at |^node:|Uncaught|Error:|\(node:\d+\)/.test(line))
      found.push(`the log has a stack or a warning of Node: ${line}`);
    if (entry === undefined) continue;
    if (entry.level === "error" || /unexpected/i.test(line)) found.push(`the log says: ${line}`);
  }
  return [...new Set(found)];
}

function entryOf(line: string): { readonly level?: unknown } | undefined {
  try {
    return JSON.parse(line) as { readonly level?: unknown };
  } catch {
    return undefined;
  }
}
