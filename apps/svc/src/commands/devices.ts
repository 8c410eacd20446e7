/** `svc devices list|rename|revoke`, which works without a daemon too, and `svc pair`. */
import type { DeviceLine } from "@svc/api/control";
import { homeOf } from "@svc/config/home";
import { DEVICE_NAME_PATTERN, EXIT, SvcError } from "@svc/contract";
import { type Call, daemonAt } from "../service/control.ts";
import { columns, minute } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { callHere } from "../service/handlers/call-here.ts";
import { byPrefix } from "../service/handlers/input.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action, id = "", name = ""] = context.args;
  if (action === "rename") return await rename(context, id, name);
  if (action === "revoke") return await revoke(context, id);
  const devices = await list(context);
  if (context.options.flag("json")) context.printJson({ devices });
  else context.print(devices.length === 0 ? "no device is paired\nPair one with: svc pair" : table(devices));
  return EXIT.ok;
}

const callOf = ({ env }: CommandContext): Call => callHere({ home: homeOf(env) });

const list = async (context: CommandContext): Promise<readonly DeviceLine[]> =>
  (await callOf(context)({ name: "devices" })).devices;

async function rename(context: CommandContext, id: string, name: string): Promise<number> {
  const renamed = await callOf(context)({ name: "device-rename", body: { id, name } });
  if (context.options.flag("json")) context.printJson(renamed);
  else context.print(`${renamed.id} is now called ${renamed.name}`);
  return EXIT.ok;
}

async function revoke(context: CommandContext, given: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const device = byPrefix(await list(context), given, "DEVICE_UNKNOWN", ({ name }) => name);
  const question = `Revoke ${device.name} (${device.scope}, ${seen(device)})? Its token stops working at once.`;
  if (atTerminal() && !context.options.flag("yes") && !(await confirmed(question))) {
    context.print("nothing was changed");
    return EXIT.failure;
  }
  await callOf(context)({ name: "device-revoke", body: { id: device.id } });
  if (context.options.flag("json")) context.printJson(device);
  else context.print(`${device.name} (${device.id}) is revoked`);
  return EXIT.ok;
}

function table(devices: readonly DeviceLine[]): string {
  const rows = devices.map((device) => [
    device.id,
    device.name,
    device.scope,
    `paired ${minute(device.created_at)}`,
    seen(device),
  ]);
  return columns(rows);
}

const seen = ({ last_seen_at: at }: DeviceLine): string => (at === null ? "never seen" : `last seen ${minute(at)}`);

/** `svc pair`: a pairing code from the running daemon. */
export async function pair(context: CommandContext): Promise<number> {
  const scope = context.options.text("scope");
  const named = context.options.text("name");
  const name = named === undefined ? undefined : deviceName(named);
  const issued = await daemonAt(homeOf(context.env).controlSocket)({
    name: "pair",
    body: { ...(scope !== undefined && { scope }), ...(name !== undefined && { name }) },
  });
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

/** Before a code is made for it. Throws USAGE. */
function deviceName(name: string): string {
  if (DEVICE_NAME_PATTERN.test(name)) return name.trim();
  throw new SvcError("USAGE", "A device's name is 1 to 64 printable characters.");
}
