/** `svc init`: writes a working config, and never touches one that is there. */
import { homeOf, writeDefaultConfig } from "@svc/kernel";
import { SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";

export async function run(context: CommandContext): Promise<number> {
  if (!context.options.flag("yes") && process.stdin.isTTY) {
    const { confirm, isCancel } = await import("@clack/prompts");
    const answer = await confirm({ message: `Write ${homeOf(context.env).config} with the built-in model?` });
    if (isCancel(answer) || !answer) throw new SvcError("USAGE", "Nothing was written.");
  }
  const home = homeOf(context.env);
  const { features } = await context.build.load();
  await writeDefaultConfig(home, features);
  context.print(`wrote ${home.config}\nNext: svc daemon`);
  return 0;
}
