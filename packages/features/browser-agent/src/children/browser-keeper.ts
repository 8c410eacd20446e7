/** `svc __browser-keeper <folders> <prefix>`: waits until svc is gone, then ends the browsers that it had. */
import { endAll } from "../keeper.ts";

export async function run([folders, prefix]: readonly string[]): Promise<number | undefined> {
  if (folders === undefined || prefix === undefined || !/^[0-9]+-[0-9]+-[0-9a-f]{6}-$/.test(prefix)) return 64;
  // Told to end, it still has to wait: what it waits for comes next.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  await gone(process.stdin);
  await endAll(folders, prefix);
  return 0;
}

function gone(input: NodeJS.ReadStream): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) input.once(event, () => resolve());
    input.resume();
  });
}
