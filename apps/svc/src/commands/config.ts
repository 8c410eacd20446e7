/** `svc config check|show|schema`. */
import { EXIT } from "@svc/contract";
import { configJsonSchema } from "@svc/kernel";
import type { CommandContext } from "../cli/command.ts";
import { openContext } from "../service/context.ts";

export async function run(context: CommandContext): Promise<number> {
  if (context.args[0] === "schema") {
    const { features } = await context.build.load();
    context.printJson(await configJsonSchema(features));
    return EXIT.ok;
  }
  const { config } = await openContext(context);
  const json = context.options.flag("json");
  if (context.args[0] === "show") context.printJson(config.redacted());
  else if (json) context.printJson({ ok: true, file: config.file, warnings: config.warnings });
  else context.print(`${config.file}: no problems`);
  return EXIT.ok;
}
