/** `svc tools list` and `svc tools run`: under the agent's policy and sandbox, exactly as in a turn. */
import type { ToolInfo } from "@svc/api";
import { EXIT } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { printable } from "../cli/output.ts";
import { callAtTerminal } from "../cli/question.ts";
import { openBackend } from "../service/backend.ts";

export async function run(context: CommandContext): Promise<number> {
  await using backend = await openBackend(context);
  const json = context.options.flag("json");
  if (context.args[0] === "list") {
    const listed = await backend.call({ name: "tools" });
    if (json) context.printJson(listed);
    else for (const tool of listed.tools) context.print(line(tool));
    return EXIT.ok;
  }
  const name = context.args[1] ?? "";
  const agent = context.options.text("agent");
  const interactive = process.stdin.isTTY && process.stdout.isTTY;
  const input = context.options.text("input") ?? "{}";
  const call = { name: "tool" as const, body: { name, input, ...(agent !== undefined && { agent }), interactive } };
  const done = interactive ? callAtTerminal(backend.call, call) : backend.call(call);
  const outcome = await done;
  if (json) context.printJson(outcome);
  else {
    const text = typeof outcome.output === "string" ? outcome.output : JSON.stringify(outcome.output, null, 2);
    // JSON escapes the control characters of ASCII, but not DEL and C1, which drive terminals as well.
    context.print(process.stdout.isTTY ? printable(text) : text);
  }
  return outcome.ok ? EXIT.ok : EXIT.failure;
}

function line(tool: ToolInfo): string {
  const state = tool.enabled ? tool.approval : "disabled";
  return `${tool.name.padEnd(14)} ${state.padEnd(8)} ${tool.description.split("\n")[0]}`;
}
