/** `svc features`: what this build has, and how to get the rest. Works without a daemon: the catalogue is in the binary. */
import { buildCommand, type CatalogueEntry } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";

export async function run(context: CommandContext): Promise<number> {
  const { profile, recipe, catalogue } = await context.build.load();
  const entries = context.options.flag("all") ? catalogue : catalogue.filter((entry) => entry.included);
  if (context.options.flag("json")) {
    context.printJson({ profile, features: entries });
    return 0;
  }
  const width = Math.max(...entries.map((entry) => entry.id.length), 0);
  for (const entry of entries) context.print(`${entry.id.padEnd(width)}  ${state(entry).padEnd(10)}  ${entry.summary}`);
  const others = catalogue.length - entries.length;
  if (others > 0) context.print(`${others} more exist or are planned: svc features --all`);
  else context.print(`Add one with: ${buildCommand(recipe, "<feature>")}`);
  return 0;
}

function state(entry: CatalogueEntry): string {
  if (entry.included) return "in";
  return entry.planned ? "planned" : "not in";
}
