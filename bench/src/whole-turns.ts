/** Whole turns over POST /webhook of one gateway, which is stopped afterwards. */
import type { BenchGateway } from "./gateway.ts";
import type { LoadResult } from "./load.ts";
import { load } from "./server.ts";

export async function loadTurns(gateway: BenchGateway, connections: number, seconds: number): Promise<LoadResult> {
  const result = await load({
    port: gateway.port,
    path: "/webhook",
    connections,
    seconds,
    // A new process compiles as it runs: measured sooner, a longer program looks slower than it is.
    warmSeconds: seconds,
    headers: [`authorization: Bearer ${gateway.token}`, "x-session-id: bench-{{c}}"],
    body: '{"message":"hello from the bench"}',
    pid: gateway.pid,
  });
  await gateway.stop();
  return result;
}
