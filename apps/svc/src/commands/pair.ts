/** `svc pair`: a pairing code from the running daemon. */
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/config/home";
import type { CommandContext } from "../cli/command.ts";
import { deviceName } from "../service/handlers/device-name.ts";

export async function run(context: CommandContext): Promise<number> {
  const scope = context.options.text("scope");
  const named = context.options.text("name");
  const name = named === undefined ? undefined : deviceName(named);
  const issued = (await callDaemon({
    socketFile: homeOf(context.env).controlSocket,
    name: "pair",
    body: { ...(scope !== undefined && { scope }), ...(name !== undefined && { name }) },
  })) as { code: string; expires_at: string; url: string; link: string; remote_link: string | null };
  if (context.options.flag("json")) context.printJson(issued);
  else {
    context.print(`pairing code: ${issued.code} (one use, until ${issued.expires_at})`);
    const { linkLines } = await import("../service/pairing-text.ts");
    if (scope !== "webhook") {
      context.print("Sign a browser in:");
      for (const line of linkLines({ local: issued.link, remote: issued.remote_link ?? undefined }))
        context.print(line);
    }
    context.print("Pair a program:");
    context.print(`  curl -fsS -X POST ${issued.url}/pair -H 'X-Pairing-Code: ${issued.code}'`);
  }
  return 0;
}
