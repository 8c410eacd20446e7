/** `svc safety status | stop | reset`. */
import { type FeatureCommandContext, SvcError } from "@svc/contract";
import { RESET_PATH, STATUS_PATH, type StatusJson, STOP_PATH } from "./routes.ts";

/** The words are those of the table of commands, which lets no other through. */
export async function run(context: FeatureCommandContext): Promise<number> {
  switch (context.args[0]) {
    case "stop":
      return await stop(context);
    case "reset":
      return await reset(context);
    default:
      return await status(context);
  }
}

async function status({ ask, options, print, printJson }: FeatureCommandContext): Promise<number> {
  const found = (await ask({ method: "GET", path: STATUS_PATH })) as unknown as StatusJson;
  if (options.flag("json")) printJson(found);
  else for (const line of linesOf(found)) print(line);
  return 0;
}

async function stop({ ask, options, print, printJson }: FeatureCommandContext): Promise<number> {
  const latch = options.flag("latch");
  const answer = (await ask({ method: "POST", path: STOP_PATH, body: { latch } })) as { readonly confirmed: boolean };
  if (options.flag("json")) printJson(answer);
  else {
    const held = latch ? " It is latched; svc safety reset releases it." : "";
    print(
      answer.confirmed
        ? `The robot stands.${held}`
        : `The robot did not confirm the stop; its own timer stops the motors.${held}`,
    );
  }
  return 0;
}

async function reset({ ask, confirm, options, print, printJson }: FeatureCommandContext): Promise<number> {
  if (!options.flag("yes")) {
    const answer = await confirm("Is it safe for the robot to move again?");
    if (answer === undefined) {
      throw new SvcError("USAGE", "A person has to confirm the reset, and there is no terminal.", {
        hint: "Add --yes.",
      });
    }
    if (!answer) throw new SvcError("CANCELLED");
  }
  const answer = (await ask({ method: "POST", path: RESET_PATH })) as { readonly was_latched: boolean };
  if (options.flag("json")) printJson(answer);
  else print(answer.was_latched ? "The emergency stop is reset." : "The emergency stop was not latched.");
  return 0;
}

const STATES: Readonly<Record<StatusJson["state"], string>> = {
  idle: "The robot stands, ready to move.",
  moving: "The robot moves.",
  latched: "The emergency stop is latched.",
  unmonitored: "The safety monitor does not run, so the robot may not move. It runs in the daemon: svc start",
};

function linesOf({ state, movement, latch, last_stop: last, distances, bumpers }: StatusJson): string[] {
  const lines = [STATES[state]];
  if (movement) lines.push(`  moves      ${movement.direction} at ${movement.speed.toFixed(2)} m/s`);
  if (latch) lines.push(`  latched    by ${latch.by} at ${latch.at}; svc safety reset releases it`);
  if (last) {
    const layer = last.layer === null ? "" : `, layer ${last.layer}`;
    lines.push(`  last stop  ${last.reason}${layer}, ${last.at}: ${last.message}`);
  }
  for (const { name, value } of [...distances, ...bumpers]) {
    const text =
      typeof value === "number" ? `${value.toFixed(2)} m` : value === null ? "–" : value ? "pressed" : "free";
    lines.push(`  ${name}: ${text}`);
  }
  return lines;
}
