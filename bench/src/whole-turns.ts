/** Whole turns over POST /webhook of one gateway, which is stopped afterwards. */
import type { BenchGateway } from "./gateway.ts";
import type { LoadResult } from "./load.ts";
import { load } from "./server.ts";

/** The same for one that goes on. `warmSeconds`: before they count. */
export const loadSomeTurns = (
  gateway: BenchGateway,
  connections: number,
  seconds: number,
  warmSeconds = seconds / 5,
): Promise<LoadResult> =>
  load({
    port: gateway.port,
    path: "/webhook",
    connections,
    seconds,
    warmSeconds,
    headers: [`authorization: Bearer ${gateway.token}`, "x-session-id: bench-{{c}}"],
    body: '{"message":"hello from the bench"}',
    pid: gateway.pid,
  });

export async function loadTurns(gateway: BenchGateway, connections: number, seconds: number): Promise<LoadResult> {
  // A new process compiles as it runs: measured sooner, a longer program looks slower than it is.
  const result = await loadSomeTurns(gateway, connections, seconds, seconds);
  await gateway.stop();
  return result;
}
